"""The points of a projective space over a finite field, by their numbers: each line through the origin once.

A point is the one vector of its line whose first entry that is not zero is one. Those that start with the most zeros
are numbered first, then as numbers to the base q: (0, .., 0, 1), (0, .., 1, 0), (0, .., 1, 1), and so on.
"""

from collections.abc import Iterator

import numpy as np

from .finite_field import FiniteField


def many_points(q: int, length: int) -> int:
    """Return how many points there are of vectors of this length over q elements, (q^length - 1) / (q - 1).

    Example
    -------
    >>> many_points(2, 3), many_points(3, 2), many_points(5, 0)
    (7, 4, 0)
    """
    return (q**length - 1) // (q - 1)


def points(numbers: np.ndarray, q: int, length: int) -> np.ndarray:
    """Return the vectors (N, length) int64 of points by their numbers.

    Parameters
    ----------
    numbers : (N,) ndarray of int64
        From 0 to `many_points` - 1.
    q : int
        The elements of the field.
    length : int

    Example
    -------
    >>> points(np.array([0, 1, 3]), 3, 2)
    array([[0, 1],
           [1, 0],
           [1, 2]])
    """
    return np.array([*point_entries(numbers, q, length)]).T


def point_entries(numbers: np.ndarray, q: int, length: int) -> Iterator[np.ndarray]:
    """Yield the entries of `points` one by one, each (N,) int64, the first first.

    Example
    -------
    >>> [entry.tolist() for entry in point_entries(np.array([0, 1, 3]), 3, 2)]
    [[0, 1, 1], [1, 0, 2]]
    """
    starts = (q ** np.arange(length) - 1) // (q - 1)  # the points whose one stands before the last j entries
    free = np.searchsorted(starts, numbers, side="right") - 1
    rest = numbers - starts[free]
    return (rest // q**place % q + (free == place) for place in reversed(range(length)))


def point_numbers(vectors: np.ndarray, field: FiniteField) -> np.ndarray:
    """Return the numbers (N,) int64 of the points on whose lines vectors lie.

    Parameters
    ----------
    vectors : (N, length) ndarray of int
        Elements of the field, none of the vectors zero.
    field : FiniteField

    Example
    -------
    >>> from .finite_field import finite_field
    >>> point_numbers(np.array([[0, 2], [2, 1]]), finite_field(3))
    array([0, 3])
    """
    length = vectors.shape[1]
    first = np.argmax(vectors != 0, axis=1)
    leading = vectors[np.arange(len(vectors)), first]
    scaled = field.products[field.inverses[leading][:, None], vectors].astype(np.int64)
    before = field.order ** (length - 1 - first)
    return (before - 1) // (field.order - 1) + scaled @ field.order ** np.arange(length)[::-1] - before
