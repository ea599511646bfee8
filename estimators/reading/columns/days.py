"""Days as columns of reports and of counts have them: ten characters, the same in every engine."""

from __future__ import annotations

import re
from datetime import date

from ....mechanisms.errors import InputError

TIME = r"^(\d{4}-\d\d-\d\d)[ T][0-9:.]+([+-][0-9:]+|Z)?$"
"""A time as engines write it, whose day is its first group; the same expression in Python and in DuckDB."""


def day_of(text: str) -> date:
    """Return the day that a text of ten characters names, as in 2026-05-01; InputError for another text.

    Example
    -------
    >>> day_of("2026-05-01").day
    1
    """
    try:
        if re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII):
            return date.fromisoformat(text)
    except ValueError:
        pass
    raise InputError(f"a day must be written as 2026-05-01, got {text!r:.40}")


def day_of_time(text: str) -> str:
    """Return the day of a time as text, and any other text as it is: what is no day is for others to refuse.

    Example
    -------
    >>> day_of_time("2026-05-01 10:30:00+02"), day_of_time("2026-05-01'; --")
    ('2026-05-01', "2026-05-01'; --")
    """
    return re.sub(TIME, r"\1", text, flags=re.ASCII)
