"""What stands between the cells of a text file, by its first rows."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from ....mechanisms.errors import InputError
from .overrides import DELIMITERS, overrides

SAMPLE = 2**16
"""Characters at the start of a file that are looked at."""

ROWS = 100
"""Rows that are looked at."""

CANDIDATES = ",;\t|"

_NAMES = {mark: name for name, mark in DELIMITERS.items()}
_ALONE = re.compile(r"[+-]?[0-9. ']*,[0-9]+")


def delimiter_of(file: Path, shown: str) -> str:
    """Return the mark between the cells of a file in UTF-8, a comma unless the first rows say otherwise.

    Parameters
    ----------
    file : Path
    shown : str
        What messages call it.

    Raises
    ------
    InputError
        Two marks of which either would do.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name;income\\nAnn;1200,5\\n")
    >>> delimiter_of(path, "people.csv")
    ';'
    """
    if (given := overrides().delimiter) is not None:
        return given
    with file.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = stream.read(SAMPLE).splitlines()[: ROWS + 1]
    first = lines[0] if lines else ""
    there = [mark for mark in CANDIDATES if mark in first]
    if not there:
        return ";" if len(lines) > 1 and all(_ALONE.fullmatch(line.strip()) for line in lines[1:]) else ","
    if there == [","]:
        return ","
    fitting = [mark for mark in there if _fits(lines[:-1] if len(lines) > ROWS else lines, mark)]
    if len(fitting) > 1:
        named = " or ".join(_NAMES[mark] for mark in fitting)
        raise InputError(
            f"cells of {shown!r} may be separated by {named}: say which, by --format csv:delimiter=MARK or read_as"
        )
    return fitting[0] if fitting else ","


def delimiter_name(mark: str) -> str:
    """Return what a delimiter is called.

    Example
    -------
    >>> delimiter_name("\\t"), delimiter_name("#")
    ('tab', "'#'")
    """
    return _NAMES.get(mark, repr(mark))


def _fits(lines: list[str], mark: str) -> bool:
    """Whether the mark divides most of the first rows into as many cells as the names, at least two."""
    try:
        names, *rows = (len(row) for row in csv.reader(lines, delimiter=mark) if row)
    except (csv.Error, ValueError):
        return False
    return names > 1 and 2 * rows.count(names) >= len(rows)
