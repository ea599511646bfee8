"""What is said of rows that another table made: by the engine, while it reads them, and then in one line."""

from __future__ import annotations

import re
from collections.abc import Callable

from ....mechanisms.errors import InputError
from ....mechanisms.files.identifier import PATTERN

TABLE = "table"
"""The column that names the table which made the reports of a row, or those that it counts."""

BETWEEN = "+"
"""Between the names of several services' tables, whose reports were counted together."""

NAMES = f"{PATTERN}(\\{BETWEEN}{PATTERN})*"
"""What the column holds, as a regular expression."""

Made = Callable[[], str]
"""Says which table rows have to be of: to name a large one takes a while, and many rows name none."""

MARK = "\x1f"
"""Around the parts of what the engine says of a row of another table."""


def other_table(error: Exception) -> InputError | None:
    """Return what to raise instead of the engine's error of a row of another table; None for all other errors.

    Example
    -------
    >>> other_table(OSError("disk on fire")) is None
    True
    """
    parts = str(error).split(MARK)
    return wrong_table(*parts[1:4]) if len(parts) == 5 else None


def require_table(found: str, name: str, where: str) -> None:
    """Raise InputError unless rows are of the table of this name.

    Example
    -------
    >>> require_table("t0123456789ab", "t0123456789ab", "'day.parquet'")
    """
    if found != name:
        raise wrong_table(found if re.fullmatch(NAMES, found) else "", name, where)


def wrong_table(found: str, name: str, where: str) -> InputError:
    """Return the refusal of rows that another table made, or whose column holds no names, of which none is repeated.

    Example
    -------
    >>> print(wrong_table("", "t0123456789ab", "'day.csv'"))
    column 'table' of 'day.csv' must name the table of the reports, t0123456789ab, got no name: rename or drop it
    """
    if not found:
        return InputError(
            f"column {TABLE!r} of {where} must name the table of the reports, {name}, got no name: rename or drop it"
        )
    return InputError(
        f"{where} must hold reports of table {name} alone, got some of table {found}: give the file of that table, "
        "which optldp show tells, or part a file that mixes tables"
    )
