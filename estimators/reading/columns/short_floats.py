"""Columns of short floats, whose numbers are others than the same digits in doubles."""

from __future__ import annotations

from ....mechanisms.sampling.short_floats import short_floats
from .files import UNREADABLE_FILE, FilePath, connected, extension_of, open_file, unreadable


def require_doubles_in(path: FilePath, column: str) -> None:
    """Raise InputError for a file whose column is of floats shorter than doubles; see `short_floats`.

    Example
    -------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = file.write_text("income\\n0.5\\n")
    >>> require_doubles_in(file, "income")
    """
    if str(path) == "-" or extension_of(path) == ".csv":  # digits, which are read as doubles
        return
    try:
        with connected() as connection:
            relation, names = open_file(connection, path)
            kinds = {str(kind) for name, kind in zip(names, relation.types, strict=True) if name == column}
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None
    if "FLOAT" in kinds:
        raise short_floats("FLOAT of 32 bits")
