"""Numbers of users: whole, not negative, and together small enough that no sum of them leaves its type."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError

MOST_USERS = 2**53
"""Users that counts may have together: a million times mankind, a double still tells each from the next, and two such
numbers add up within 64 bits."""

HALF = 26
"""Sums of the lower and of the upper bits of 2^36 counts stay within 64 bits."""


def whole_counts(name: str, values: ArrayLike, *, least: int, together: bool = True) -> np.ndarray:
    """Return counts as a read-only int64 array, or raise InputError.

    Parameters
    ----------
    name : str
        What they are called in messages.
    values : array_like of int
    least : int
        The smallest that each may be.
    together : bool
        Whether no user is counted twice, so that the sum is bounded, too.

    Raises
    ------
    InputError
        No integers, one that is too small, or more than `MOST_USERS`.

    Example
    -------
    >>> whole_counts("counts", [3, 1], least=1)
    array([3, 1])
    """
    counts = whole_numbers(name, values, np.int64)
    if counts.size and counts.min() < least:
        raise InputError(f"{name} must be at least {least}, got {counts.min()}: leave out what nobody reported")
    if counts.size:
        total_users([exact_sum(counts) if together else int(counts.max())])
    return counts


def counts_of_rows(values: ArrayLike, rows: int) -> np.ndarray:
    """Return positive counts, one for each of some rows, as `whole_counts` does.

    Example
    -------
    >>> counts_of_rows([3, 1], 2)
    array([3, 1])
    """
    counts = whole_counts("counts", values, least=1)
    if counts.shape != (rows,):
        raise InputError(f"there must be a count for each of {rows} rows of reports, got shape {counts.shape}")
    return counts


def whole_numbers(name: str, values: ArrayLike, kind: type[np.signedinteger]) -> np.ndarray:
    """Return a read-only array of that integer type, or raise InputError for what is none or does not fit it.

    Example
    -------
    >>> whole_numbers("outputs", np.array([[0, 1]]), np.int32).dtype
    dtype('int32')
    """
    given = np.asarray(values)
    if not np.issubdtype(given.dtype, np.integer):
        raise InputError(f"{name} must be integers, got {given.dtype}: count users, without weights or shares")
    limits = np.iinfo(kind)
    if given.size and not (limits.min <= int(given.min()) and int(given.max()) <= limits.max):
        raise InputError(f"{name} must fit in {limits.dtype}, got {given.min()} to {given.max()}")
    array = given.astype(kind, copy=False).view()
    array.setflags(write=False)
    return array


def exact_sum(counts: np.ndarray) -> int:
    """Return the sum of an int64 array without negative numbers, whatever its size.

    Example
    -------
    >>> exact_sum(np.array([2**62] * 4)) == 2**64
    True
    """
    return (int((counts >> HALF).sum()) << HALF) + int((counts & (2**HALF - 1)).sum())


def total_users(numbers: Iterable[int]) -> int:
    """Return the sum of numbers of users, or raise InputError where they are too many.

    Example
    -------
    >>> total_users([2**53 - 1, 1]) == 2**53
    True
    """
    total = 0
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 0:
            raise InputError(f"a number of users must be a whole number from 0 on, got {number!r:.60}")
        total += int(number)
    if total > MOST_USERS:
        raise InputError(f"counts must have at most 2^53 users together, got {total}: they are no counts of users")
    return total
