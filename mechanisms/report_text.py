"""Reports as numbers or bytes, and as text in a file's column."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .errors import InputError

LONGEST_INTEGER = 19
"""Digits of a whole number that may fit 64 bits."""


def report_numbers(reports: ArrayLike, many: int) -> np.ndarray:
    """Return reports (N,) as int64 if all are whole numbers from 0 to many - 1, else raise InputError.

    Example
    -------
    >>> report_numbers([0, 2], 3)
    array([0, 2])
    """
    given = np.asarray(reports)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(f"reports must be one-dimensional integers, got shape {given.shape} of {given.dtype}")
    bad = (given < 0) | (given >= many)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"reports must lie in 0..{many - 1}, got {int(given[row])} in row {row + 1}: another mechanism made it"
        )
    return given.astype(np.int64)


def require_possible(possible: np.ndarray, reports: np.ndarray) -> None:
    """Raise InputError unless every report (N,), of those that are `possible`, has a probability above 0.

    Example
    -------
    >>> require_possible(np.array([True, True]), np.array([0, 2]))
    """
    if not possible.all():
        row = int(np.argmin(possible))
        raise InputError(
            f"reports must have a positive probability, got {int(reports[row])} in row {row + 1}, which no input "
            "gives: another mechanism made it"
        )


def integers_of_text(texts: Sequence[str]) -> np.ndarray:
    """Return the whole numbers (N,) that are written as these texts, or raise InputError at the first that is none.

    Digits alone are a number: no underscores, spaces, or digits of other scripts, which Python would take.

    Example
    -------
    >>> integers_of_text(["3", "10"])
    array([ 3, 10])
    """
    wrong = next((i for i, text in enumerate(texts) if not _is_integer(text)), None)
    if wrong is not None:
        raise InputError(f"reports must be whole numbers, got {texts[wrong]!r:.40} in row {wrong + 1}")
    return np.array([int(text) for text in texts], dtype=np.int64)


def _is_integer(text: str) -> bool:
    digits = text.removeprefix("-")
    if not (digits.isascii() and digits.isdigit() and len(digits) <= LONGEST_INTEGER):
        return False
    return -(2**63) <= int(text) < 2**63


def doubles_of_text(texts: Sequence[str]) -> np.ndarray:
    """Return the doubles (N,) that are written as these decimals, or raise InputError at the first that is none.

    Example
    -------
    >>> doubles_of_text(["-1.5", "1e3"])
    array([  -1.5, 1000. ])
    """
    found = []
    for row, text in enumerate(texts, 1):
        try:
            found.append(float(text))
        except ValueError:
            raise InputError(f"reports must be numbers, got {text!r:.40} in row {row}") from None
    return np.array(found, dtype=float)


def bits_of_text(texts: Sequence[str], n_bytes: int) -> np.ndarray:
    """Return the bytes (N, n_bytes) that are written in hexadecimal digits, or raise InputError at the first fault.

    Example
    -------
    >>> bits_of_text(["0aff"], 2)
    array([[ 10, 255]], dtype=uint8)
    """
    try:
        joined = bytes.fromhex("".join(texts))
    except ValueError:
        joined = b""
    if len(joined) != n_bytes * len(texts) or any(len(text) != 2 * n_bytes for text in texts):
        row = next(i for i, text in enumerate(texts) if not _is_hex(text, n_bytes))
        raise InputError(f"reports must be {2 * n_bytes} hexadecimal digits, got {texts[row]!r:.40} in row {row + 1}")
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(texts), n_bytes)


def _is_hex(text: str, n_bytes: int) -> bool:
    return len(text) == 2 * n_bytes and all(digit in "0123456789abcdefABCDEF" for digit in text)
