"""A file that somebody else may have made: opened, looked at and read no further than its kind allows."""

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from ..errors import InputError
from .json_text import MAX_JSON_BYTES

ZIP_START = b"PK"

LONGEST_MESSAGE = 400
"""Of what is said of a file's content, which may be of any length."""


@contextmanager
def opened(path: str | os.PathLike[str], what: str) -> Iterator[BinaryIO]:
    """Yield a file that can be read at any place; of a pipe or a device no more is read than a JSON text may be.

    Raises
    ------
    InputError
        A file that cannot be read.
    """
    try:
        with open(path, "rb") as stream:
            regular = stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
            yield stream if regular else io.BytesIO(stream.read(MAX_JSON_BYTES + 1))
    except OSError as error:
        found = f"{str(path)!r}: {error.strerror or error}"
        raise InputError(f"the {what} must be a readable file, got {found}") from None


def starts_zip(stream: BinaryIO) -> bool:
    """Whether the file begins as an archive does; nothing else tells the two forms apart."""
    stream.seek(0)
    return stream.read(len(ZIP_START)) == ZIP_START


def json_content(stream: BinaryIO) -> bytes:
    """Return the bytes of a JSON file, or one more than it may have."""
    stream.seek(0)
    return stream.read(MAX_JSON_BYTES + 1)


def one_line(error: Exception) -> str:
    """Return what an error says, without what a terminal takes for an order, and not too much of it.

    Example
    -------
    >>> one_line(ValueError("two\\nlines"))
    'two lines'
    """
    text = " ".join("".join(c if c.isprintable() else " " for c in str(error)[: 2 * LONGEST_MESSAGE]).split())
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]} ..."
