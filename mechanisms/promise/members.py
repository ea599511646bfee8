"""What the member `promise` of a file may hold, read out of JSON values and written; files come from anyone."""

from __future__ import annotations

import math
from typing import Any

from ..errors import TableError

INFINITE = "inf"
"""JSON has no number for it."""


def number(value: object) -> float:
    """Return a number of a file, or raise TableError."""
    if type(value) not in (int, float):
        raise TableError(f"a promise must have numbers, got {value!r:.60}")
    try:
        return float(value)  # pyright: ignore[reportArgumentType] -- it is one
    except OverflowError:
        raise TableError("a promise must have numbers that fit in a double, got a larger one") from None


def numbers(value: object) -> tuple[float, ...]:
    """Return the numbers of a list, or raise TableError.

    Example
    -------
    >>> numbers([1, 2.5])
    (1.0, 2.5)
    """
    return tuple(map(number, _listed(value)))


def matrix(value: object) -> tuple[tuple[float, ...], ...]:
    """Return the rows of numbers of a list of lists, the text "inf" standing for infinity, or raise TableError.

    Example
    -------
    >>> matrix([[0, "inf"], [1.5, 0]])
    ((0.0, inf), (1.5, 0.0))
    """
    return tuple(
        tuple(math.inf if entry == INFINITE else number(entry) for entry in _listed(row)) for row in _listed(value)
    )


def wholes(value: object) -> tuple[int, ...]:
    """Return the whole numbers of a list, or raise TableError."""
    given = _listed(value)
    if not all(type(entry) is int for entry in given):
        raise TableError(f"a promise must have whole numbers here, got {given!r:.60}")
    return tuple(given)


def flags(value: object) -> tuple[bool, ...]:
    """Return the truth values of a list, or raise TableError."""
    given = _listed(value)
    if not all(type(entry) is bool for entry in given):
        raise TableError(f"a promise must have true and false here, got {given!r:.60}")
    return tuple(given)


def text(value: object) -> str:
    """Return a text, or raise TableError."""
    if type(value) is not str:
        raise TableError(f"a promise must have a text here, got {value!r:.60}")
    return value


def written(value: Any) -> Any:
    """Return what a promise holds as JSON values.

    Example
    -------
    >>> written(((0.0, math.inf), (1.5, 0.0)))
    [[0.0, 'inf'], [1.5, 0.0]]
    """
    if isinstance(value, tuple):
        return [written(entry) for entry in value]
    return INFINITE if value == math.inf else value


def _listed(value: object) -> list[Any]:
    if type(value) is not list:
        raise TableError(f"a promise must have a list here, got {value!r:.60}")
    return value
