"""The members of exact documents that must be whole numbers: the denominator, the numerators, lists of them."""

import numpy as np

from ..errors import TableError
from ..integers.numerators import DENOMINATOR, check_numerators


def require_denominator(value: object) -> None:
    """Raise TableError unless the denominator is 2^53, as a whole number.

    Example
    -------
    >>> require_denominator(2**53)
    """
    if type(value) is not int or value != DENOMINATOR:
        raise TableError(f"denominator must be {DENOMINATOR}, got {value!r:.40}")


def numerators_from_document(value: object) -> np.ndarray:
    """Return the (n, m) int64 matrix of a document, from lists or an array, or raise TableError at its first fault.

    Example
    -------
    >>> numerators_from_document([[2**53]]).tolist()
    [[9007199254740992]]
    """
    if isinstance(value, np.ndarray):
        if value.dtype != np.int64 or value.ndim != 2:
            raise TableError(f"numerators must be a matrix of int64, got {value.dtype} of shape {value.shape}")
        return check_numerators(value)
    if not isinstance(value, list) or not all(isinstance(row, list) for row in value):
        raise TableError("numerators must be a list of rows")
    for i, row in enumerate(value):
        if len(row) != len(value[0]):
            raise TableError(f"numerators must have rows of equal length, got {len(row)} in row {i}")
        if not set(map(type, row)) <= {int}:
            j = next(j for j, entry in enumerate(row) if type(entry) is not int)
            raise TableError(f"numerators must be whole numbers, got {row[j]!r:.40} at row {i}, output {j}")
        if row and (min(row) < 0 or max(row) > DENOMINATOR):
            j = next(j for j, entry in enumerate(row) if not 0 <= entry <= DENOMINATOR)
            raise TableError(f"numerators must lie in 0..2^53, got {row[j]!r:.40} at row {i}, output {j}")
    return check_numerators(np.array(value, dtype=np.int64).reshape(len(value), -1 if value and value[0] else 0))


def whole_numbers(name: str, value: object, least: int, most: int) -> np.ndarray:
    """Return the (k,) int64 vector of a document, from a list or an array, or raise TableError at its first fault.

    Example
    -------
    >>> whole_numbers("places", [-3, 2**53], -(2**53), 2**53).tolist()
    [-3, 9007199254740992]
    """
    if isinstance(value, np.ndarray):
        if value.dtype != np.int64 or value.ndim != 1:
            raise TableError(f"{name} must be a vector of int64, got {value.dtype} of shape {value.shape}")
        value = value.tolist()
    if not isinstance(value, list):
        raise TableError(f"{name} must be a list of whole numbers")
    for j, entry in enumerate(value):
        if type(entry) is not int or not least <= entry <= most:
            raise TableError(f"{name} must be whole numbers from {least} to {most}, got {entry!r:.40} at place {j}")
    return np.array(value, dtype=np.int64)
