"""What a table is rounded to when it is made exact: the limits on its ratios, the means it must keep, its bias."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR, row_means
from ..integers.rounding import round_rows
from ..laws.law import RowFreeLaw, WithinCell

MAX_EXACT_BIAS = Fraction(1, 10**12)
"""Largest bias of an exact table that claims to be unbiased, as a share of the domain, unless a unit moves more."""

BIAS_OF_REPORTS = Fraction(8, DENOMINATOR)
"""That share of the largest report it may be in any case. At epsilon 1e-6 reports lie a million domains apart, and one
unit of probability moves a mean by 2e-10 of the domain; on a domain far from zero a double has no more digits."""

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
    TableError
        A law within outputs that differs between rows; a table that is not private, or whose means cannot be kept
        within `bias_limit`.

    Example
    -------
    >>> from ..laws.law import Uniform
    >>> knots, matrix = np.array([0.0, 10.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> ends = np.array([-5.0, 15.0])
    >>> rounded_numerators(knots, ends, ends, matrix, 1.1, Uniform(), knots).tolist()[0]
    [6755399441055744, 2251799813685248]
    """
    if not isinstance(within, RowFreeLaw):
        raise TableError(
            f"reports must tell no more than their output, got the {within.kind} law within: use to_points"
        )
    means = within.exact_means(low, high)
    targets = [Fraction(mean) for mean in wanted_means.tolist()]
    limit = exponential_below(Fraction(epsilon) * (1 - RELATIVE_ROOM) - ABSOLUTE_ROOM)
    numerators = round_rows(probabilities, limit, means, targets)
    error = largest_distance(row_means(numerators, means), targets)[0]
    width = Fraction(float(knots[-1])) - Fraction(float(knots[0]))
    if error > (limit := bias_limit(width, means)):
        raise TableError(
            f"rounding to 2^53 must keep means within {float(limit / width):.1e} of the domain, "
            f"got {float(error / width):.1e}: raise epsilon or use fewer knots"
        )
    return numerators


def bias_limit(width: Fraction, means: Sequence[Fraction]) -> Fraction:
    """Return the largest bias of an exact table that claims to be unbiased, for a domain so wide and these reports.

    Example
    -------
    >>> float(bias_limit(Fraction(1), [Fraction(-3), Fraction(3)]))
    1e-12
    """
    return max(MAX_EXACT_BIAS * width, BIAS_OF_REPORTS * max(map(abs, means)))


def largest_distance(means: Sequence[Fraction], targets: Sequence[Fraction]) -> tuple[Fraction, int]:
    """Return the largest distance between means and targets, and where it is.

    Example
    -------
    >>> largest_distance([Fraction(1), Fraction(2)], [Fraction(1), Fraction(5, 2)])
    (Fraction(1, 2), 1)
    """
    distance = [abs(mean - target) for mean, target in zip(means, targets, strict=True)]
    return max(distance), distance.index(max(distance))
