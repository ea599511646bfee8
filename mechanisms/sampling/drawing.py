"""Drawing outputs from many rows at once: users are grouped by row; loops run over knots, never users."""

from collections.abc import Callable

import numpy as np

from .domain import rounding_weights
from .guide import row_places

BLOCK = 2**20
"""Users drawn at a time: large enough for vector speed, small enough for memory to stay flat."""

FINE_BELOW = 2.0**-20
"""Uniforms below it are drawn again on a grid 2^20 times finer; one in a million, so it costs nothing."""


def in_blocks(values: np.ndarray, draw: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return one report for each value (N,), drawn a block of values at a time.

    Example
    -------
    >>> in_blocks(np.array([1.0, 2.0]), lambda block: block + 1)
    array([2., 3.])
    """
    return np.concatenate([draw(block) for block in np.split(values, range(BLOCK, values.size, BLOCK))])


def round_to_knots(knots: np.ndarray, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the row (N,) that each value is rounded to at random, linear in the value.

    Example
    -------
    >>> round_to_knots(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.random.default_rng(1)).tolist()
    [0, 1]
    """
    index, right = rounding_weights(knots, values)
    return index + (rng.random(index.size) < right)


def fine_uniform(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw uniforms in [0, 1) whose grid is 2^-53, and 2^-73 near zero.

    On the plain grid an output of probability 1e-12 comes out up to 1e-4 too often or too rarely, so the
    ratio of two rows is off by as much; budgets near their upper limit have such outputs.

    Example
    -------
    >>> fine_uniform(2, np.random.default_rng(1)).shape
    (2,)
    """
    uniform = rng.random(size)
    small = np.flatnonzero(uniform < FINE_BELOW)
    if small.size:
        uniform[small] = FINE_BELOW * rng.random(small.size)
    return uniform


def rising_distribution(probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return, per row, the outputs from least to most likely and the running sum in that order.

    Small probabilities then lie near zero, where doubles (and `fine_uniform`) are finest. The last entry of
    each running sum is set to exactly one; it belongs to the likeliest output, so rounding never reaches an
    output of probability zero.

    Parameters
    ----------
    probabilities : (n, m) ndarray
        Rows that sum to one.

    Returns
    -------
    order : (n, m) ndarray of int
    cumulative : (n, m) ndarray

    Example
    -------
    >>> order, cumulative = rising_distribution(np.array([[0.75, 0.0, 0.25]]))
    >>> order.tolist(), cumulative.tolist()
    ([[1, 2, 0]], [[0.0, 0.25, 1.0]])
    """
    order = np.argsort(probabilities, axis=1, kind="stable")
    cumulative = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    cumulative[:, -1] = 1.0
    return order, cumulative


def draw_outputs(order: np.ndarray, cumulative: np.ndarray, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw one output for each user.

    Parameters
    ----------
    order, cumulative : (n, m) ndarray
        From `rising_distribution`.
    rows : (N,) ndarray of int
        The row of each user.
    rng : numpy.random.Generator

    Returns
    -------
    (N,) ndarray of int

    Example
    -------
    >>> order, cumulative = rising_distribution(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> draw_outputs(order, cumulative, np.array([1, 0, 1]), np.random.default_rng(0)).tolist()
    [0, 1, 0]
    """
    drawn = invert_rows(cumulative, rows, fine_uniform(rows.size, rng))
    return order[rows, drawn]


def invert_rows(cumulative: np.ndarray, rows: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return, for each user, the first place in their row whose running sum is above their random number.

    The numbers are dealt to the users in the order of their rows.

    Parameters
    ----------
    cumulative : (n, m) ndarray
        Running sums, of doubles or of whole numbers.
    rows : (N,) ndarray of int
    uniform : (N,) ndarray
        Below the last entry of every row.

    Returns
    -------
    (N,) ndarray of int

    Example
    -------
    >>> invert_rows(np.array([[1, 1, 4], [0, 2, 4]]), np.array([1, 0, 0]), np.array([0, 1, 1])).tolist()
    [1, 0, 2]
    """
    n = len(cumulative)
    narrow = rows.astype(np.uint16 if n <= 2**16 else np.intp)  # 16 bits sort by radix, in linear time
    users = np.argsort(narrow, kind="stable")
    counts = np.bincount(rows)
    ends = np.cumsum(counts)
    places = np.empty(rows.size, dtype=np.intp)
    if cumulative.dtype == uniform.dtype == np.int64:
        guided = row_places(cumulative, np.repeat(np.arange(counts.size), counts), uniform)
        if guided is not None:
            places[users] = guided
            return places
    for row in np.flatnonzero(counts):
        group = slice(ends[row] - counts[row], ends[row])
        places[users[group]] = np.searchsorted(cumulative[row], uniform[group], side="right")
    return places
