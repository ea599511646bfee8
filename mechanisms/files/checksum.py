"""SHA-256 over a table document, the same whatever file form it came in and whatever language computes it.

The bytes that are hashed (docs/table-format.md has a worked example):

    object   "o", number of members, then key (a string) and value, by the order of the keys' UTF-8 bytes
    array    "a", number of elements, then the elements
    string   "s", number of bytes in UTF-8, then those bytes
    number   "n", then the number as a double; -0 becomes 0
    others   "t" for true, "f" for false, "z" for null

Counts are 8 bytes, doubles are IEEE 754; both little-endian. The document's member "checksum" is left out.
"""

import hashlib
import struct
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import TableError

PREFIX = "sha256:"
_TAGGED_NUMBER = np.dtype([("tag", "S1"), ("value", "<f8")])  # packed: nine bytes


def checksum(document: Mapping[str, Any]) -> str:
    """Return "sha256:" and 64 hexadecimal digits for a document of plain JSON values or numpy arrays.

    Raises
    ------
    TableError
        A number that is not finite or too large for a double, or text that is not Unicode.

    Example
    -------
    >>> checksum({"a": [1, 2.5]}) == checksum({"a": np.array([1.0, 2.5]), "checksum": "ignored"})
    True
    """
    digest = hashlib.sha256()
    _encode({k: v for k, v in document.items() if k != "checksum"}, digest.update)
    return PREFIX + digest.hexdigest()


def _encode(value: object, write: Callable[[bytes], object]) -> None:
    if isinstance(value, Mapping):
        write(b"o" + _count(len(value)))
        for key in sorted(value):  # by code points, which is the order of their bytes
            _encode(key, write)
            _encode(value[key], write)
    elif isinstance(value, np.ndarray) and value.ndim == 1:
        write(b"a" + _count(value.size) + _numbers(value))
    elif isinstance(value, list | np.ndarray):
        write(b"a" + _count(len(value)))
        if isinstance(value, list) and set(map(type, value)) <= {float, int}:
            write(_numbers(value))
        else:
            for element in value:
                _encode(element, write)
    elif isinstance(value, str):
        text = _utf8(value)
        write(b"s" + _count(len(text)) + text)
    elif value is None or isinstance(value, bool):
        write(b"z" if value is None else b"t" if value else b"f")
    elif isinstance(value, int | float):
        write(_numbers([value]))
    else:
        raise TableError(f"a table document must hold JSON values, got {type(value).__name__}")


def _count(number: int) -> bytes:
    return struct.pack("<Q", number)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise TableError(f"text must be Unicode, got {text!r}") from None


def _numbers(values: list | np.ndarray) -> bytes:
    try:
        doubles = np.asarray(values, dtype=float) + 0.0  # -0 + 0 is 0
    except OverflowError:
        raise TableError("numbers must fit in a double, got a larger one") from None
    if not np.isfinite(doubles).all():
        raise TableError(f"numbers must be finite, got {doubles[~np.isfinite(doubles)][0]}")
    tagged = np.empty(doubles.size, dtype=_TAGGED_NUMBER)
    tagged["tag"], tagged["value"] = b"n", doubles
    return tagged.tobytes()
