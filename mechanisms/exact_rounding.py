"""What a table is rounded to when it is made exact: the limits on its ratios, the means it must keep, its bias."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from .cell_law import RowFreeLaw, WithinCell
from .errors import InputError, TableError
from .exact_exponential import exponential_below
from .integer_rounding import round_rows
from .numerators import row_means

MAX_EXACT_BIAS = Fraction(1, 10**12)
"""Largest bias of an exact table that claims to be unbiased, as a share of the domain."""

RELATIVE_ROOM, ABSOLUTE_ROOM = Fraction(1, 10**13), Fraction(4, 10**16)
"""Budget left unspent, so that the logarithm of a ratio in doubles also comes out below epsilon."""


def rounded_numerators(
    knots: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    probabilities: np.ndarray,
    epsilon: float,
    within: WithinCell,
    wanted_means: np.ndarray,
) -> np.ndarray:
    """Return a private table's probabilities as whole numbers over 2^53, keeping its means.

    Parameters
    ----------
    knots, low, high, probabilities, epsilon, within
        Those of the table.
    wanted_means : (n,) ndarray
        The mean report wanted at each knot: the knot itself if the table claims to be unbiased.

    Returns
    -------
    (n, m) ndarray of int64

    Raises
    ------
    InputError
        A law within outputs that differs between rows.
    TableError
        The table is not private, or its means cannot be kept within 1e-12 of the domain.

    Example
    -------
    >>> from .cell_law import Uniform
    >>> knots, matrix = np.array([0.0, 10.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> ends = np.array([-5.0, 15.0])
    >>> rounded_numerators(knots, ends, ends, matrix, 1.1, Uniform(), knots).tolist()[0]
    [6755399441055744, 2251799813685248]
    """
    if not isinstance(within, RowFreeLaw):
        raise InputError(
            f"exact sampling needs reports that tell no more than their output, got the {within.kind} law within: "
            "make_exact turns cells into points, and a numpy Generator draws a simulation"
        )
    means = within.exact_means(low, high)
    targets = [Fraction(mean) for mean in wanted_means.tolist()]
    limit = exponential_below(Fraction(epsilon) * (1 - RELATIVE_ROOM) - ABSOLUTE_ROOM)
    numerators = round_rows(probabilities, limit, means, targets)
    error = largest_distance(row_means(numerators, means), targets)[0]
    width = Fraction(float(knots[-1])) - Fraction(float(knots[0]))
    if error > MAX_EXACT_BIAS * width:
        raise TableError(
            f"rounding to 2^53 must keep means within {float(MAX_EXACT_BIAS):g} of the domain, "
            f"got {float(error / width):.1e}: raise epsilon or use fewer knots"
        )
    return numerators


def largest_distance(means: Sequence[Fraction], targets: Sequence[Fraction]) -> tuple[Fraction, int]:
    """Return the largest distance between means and targets, and where it is.

    Example
    -------
    >>> largest_distance([Fraction(1), Fraction(2)], [Fraction(1), Fraction(5, 2)])
    (Fraction(1, 2), 1)
    """
    distance = [abs(mean - target) for mean, target in zip(means, targets, strict=True)]
    return max(distance), distance.index(max(distance))
