"""What a table is rounded to when it is made exact: the limits on its ratios, the means it must keep, its bias."""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from ..errors import TableError, unwired
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR, over_one_denominator, row_means
from ..integers.rounding import round_rows, round_within
from ..promise import Approximate, OfPairs, Promise, Pure
from ..sampling.law import RowFreeLaw, WithinCell

MAX_EXACT_BIAS = Fraction(1, 10**12)
"""Largest bias of an exact table that claims to be unbiased, as a share of the domain, unless a unit moves more."""

BIAS_OF_REPORTS = Fraction(8, DENOMINATOR)
"""That share of the largest report it may be in any case. At epsilon 1e-6 reports lie a million domains apart, and one
unit of probability moves a mean by 2e-10 of the domain; on a domain far from zero a double has no more digits."""

NEAR_UNITS = 4
"""Units of 2^-53 by which rounding may change a probability where no ratio is promised."""

LOG_MARGIN = 1e-12
"""Of a log-ratio per step, relative and absolute: above the rounding of logarithms, far below the room that is left."""

FARTHEST = 40.0
"""Log-ratio by which no numerator but zero can grow below 2^53."""

RELATIVE_ROOM, ABSOLUTE_ROOM = Fraction(1, 10**13), Fraction(4, 10**16)
"""Budget left unspent, so that the logarithm of a ratio in doubles also comes out below epsilon."""


def rounded_numerators(
    knots: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    probabilities: np.ndarray,
    promise: Promise,
    within: WithinCell,
    wanted_means: np.ndarray,
) -> np.ndarray:
    """Return the probabilities of a table that keeps its promise as whole numbers over 2^53, keeping its means.

    Pure promises are kept by construction, those of pairs by the room that the table leaves; of `Approximate`, the
    divergence changes by a few units of 2^-53, and it is for the caller to prove that it is still within delta.

    Parameters
    ----------
    knots, low, high, probabilities, promise, within
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
    >>> from ..sampling.law import Uniform
    >>> knots, matrix = np.array([0.0, 10.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> ends = np.array([-5.0, 15.0])
    >>> rounded_numerators(knots, ends, ends, matrix, Pure(1.1), Uniform(), knots).tolist()[0]
    [6755399441055744, 2251799813685248]
    """
    if not isinstance(within, RowFreeLaw):
        raise TableError(
            f"reports must tell no more than their output, got the {within.kind} law within: use to_points"
        )
    means = within.exact_means(low, high)
    targets = [Fraction(mean) for mean in wanted_means.tolist()]
    if isinstance(promise, Pure):
        limit = exponential_below(Fraction(promise.epsilon) * (1 - RELATIVE_ROOM) - ABSOLUTE_ROOM)
        numerators = round_rows(probabilities, limit, means, targets)
    elif isinstance(promise, Approximate):
        numerators = round_within(probabilities, *_near_boxes(probabilities), means, targets)
    elif isinstance(promise, OfPairs):
        numerators = round_within(probabilities, *pair_boxes(knots, probabilities, promise), means, targets)
    else:
        raise unwired("promise", promise)
    error = largest_distance(row_means(numerators, means), targets)[0]
    width = Fraction(float(knots[-1])) - Fraction(float(knots[0]))
    if error > (limit := bias_limit(width, means)):
        raise TableError(
            f"rounding to 2^53 must keep means within {float(limit / width):.1e} of the domain, "
            f"got {float(error / width):.1e}: raise epsilon or use fewer knots"
        )
    return numerators


def _near_boxes(probabilities: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A few units on either side of each probability (n, m), but none where there is none."""
    units = probabilities * float(DENOMINATOR)
    return np.maximum(np.floor(units) - NEAR_UNITS, 0).astype(np.int64), np.where(
        units > 0, np.minimum(np.ceil(units) + NEAR_UNITS, DENOMINATOR), 0
    ).astype(np.int64)


def pair_boxes(knots: np.ndarray, probabilities: np.ndarray, promise: OfPairs) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest numerator (n, m) that keep a promise of pairs, whichever are chosen of them.

    What an output leaves, between two rows, of the log-ratio that they may have is shared by the two: one may grow by
    half of it, the other shrink. So a table on the limit everywhere needs little mixed into it evenly: where t grows by
    a factor r to another row, (r t + f) / (t + f) leaves some f / t of the log-ratio, and t times that is f.

    Raises
    ------
    TableError
        A probability that has no whole number so near.

    Example
    -------
    >>> from ..promise import Metric
    >>> matrix = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> least, most = pair_boxes(np.array([0.0, 1.0]), matrix, Metric(1.2))
    >>> (least / 2**53).round(3).tolist()[0], (most / 2**53).round(3).tolist()[0]
    ([0.238, 0.238], [0.789, 0.789])
    """
    said = promise.said(knots)
    grow, shrink = np.full(probabilities.shape, np.inf), np.full(probabilities.shape, np.inf)
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    for i, k in zip(*(side.tolist() for side in promise.pairs(said)), strict=True):
        with np.errstate(invalid="ignore"):
            steep = logs[i] - logs[k]
        steep[np.isnan(steep)] = -np.inf  # impossible in both rows, and so it stays
        half = (said[i, k] * (1 - LOG_MARGIN) - steep - LOG_MARGIN) / 2
        np.minimum(grow[i], half, out=grow[i])
        np.minimum(shrink[k], half, out=shrink[k])
    units = probabilities * float(DENOMINATOR)
    with np.errstate(over="ignore", invalid="ignore"):
        least, most = np.ceil(units * np.exp(-shrink)), np.floor(units * np.exp(np.minimum(grow, FARTHEST)))
    if (none := np.argwhere(~(least <= most))).size:
        i, j = none[0]
        raise TableError(
            f"probabilities must leave room to be rounded to whole numbers over 2^53 within {promise}, got "
            f"{probabilities[i, j]:.3g} at row {i}, output {j}: raise the smallest ones, or epsilon"
        )
    return least.astype(np.int64), np.minimum(most, DENOMINATOR).astype(np.int64)


def bias_limit(width: Fraction, means: Sequence[Fraction]) -> Fraction:
    """Return the largest bias of an exact table that claims to be unbiased, for a domain so wide and these reports.

    Example
    -------
    >>> float(bias_limit(Fraction(1), [Fraction(-3), Fraction(3)]))
    1e-12
    """
    places, scale = over_one_denominator(means)
    return max(MAX_EXACT_BIAS * width, BIAS_OF_REPORTS * Fraction(max(map(abs, places)), scale))


def largest_distance(means: Sequence[Fraction], targets: Sequence[Fraction]) -> tuple[Fraction, int]:
    """Return the largest distance between means and targets, and where it is.

    Example
    -------
    >>> largest_distance([Fraction(1), Fraction(2)], [Fraction(1), Fraction(5, 2)])
    (Fraction(1, 2), 1)
    """
    places, scale = over_one_denominator([*means, *targets])
    distance = [abs(one - two) for one, two in zip(places[: len(means)], places[len(means) :], strict=True)]
    largest = max(distance)
    return Fraction(largest, scale), distance.index(largest)
