"""Where the counts of a window stand: a folder that says its column and its cell, as engines name parts of tables."""

from urllib.parse import quote

from ...mechanisms.errors import InputError

LONGEST = 200
"""Bytes of a folder's name that any file system takes."""


def window_folder(column: str, cell: str) -> str:
    """Return the name of the folder of a window; InputError for a cell that is too long for one.

    Example
    -------
    >>> window_folder("region", "north / east"), window_folder("hour", "")
    ('region=north%20%2F%20east', 'hour=')
    """
    name = f"{quote(column, safe='')}={quote(cell, safe='')}"
    if len(name) > LONGEST:
        raise InputError(f"a window of column {column!r:.60} must be a short text, got one of {len(cell)} characters")
    return name
