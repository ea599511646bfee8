"""Binomial probabilities by products and quotients alone, so that their rounding errors are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

UNIT = 2.0**-53
"""Relative error of one rounded operation."""

STEP_ERRORS, MORE_ERRORS = 12, 64
"""Rounded operations that an entry takes for each of the entries, and beside them: a step has four (the quotient, the
odds, their product, the running product), in the entry and in the total that it is divided by; a running sum has one;
the rest is room."""

WIDTH = 2e-4
"""Of a block, as a share of the numbers in it: bounds on epsilon move by about half of it."""

FEWEST, MOST = 8, 384
"""Blocks, where there are that many numbers: fewest unless more are asked for."""


def rounding(entries: int) -> float:
    """Return by how much, relatively, numbers may be off that `bulk` or a sum makes of so many entries.

    Example
    -------
    >>> rounding(1000) < 2e-12
    True
    """
    return (STEP_ERRORS * entries + MORE_ERRORS) * UNIT


@dataclass(frozen=True, eq=False)
class Bulk:
    """The probabilities of a binomial where nearly all of them are, with what they may be off by.

    Attributes
    ----------
    first : int
        The number of successes that the first of them is of.
    mass : (m,) ndarray
        The true one, given that it is in the bulk, is within a relative `slack` of each.
    beyond : float
        At least the mass above the bulk, with the bulk as 1.
    beyond_excess : float
        At least the sum of mass times (successes - last of the bulk) above the bulk.
    below : float
        At least the mass below the bulk.
    slack : float
    """

    first: int
    mass: np.ndarray
    beyond: float
    beyond_excess: float
    below: float
    slack: float

    @property
    def outside(self) -> float:
        """At least the mass outside of the bulk, with the bulk as 1."""
        return self.beyond + self.below


def block_edges(first: int, last: int, fewest: int = FEWEST) -> np.ndarray:
    """Return the edges of some blocks of the whole numbers from the first to below the last.

    Example
    -------
    >>> block_edges(3, 6).tolist(), block_edges(10**6, 10**6 + 1000).tolist()
    ([3, 4, 5, 6], [1000000, 1000125, 1000250, 1000375, 1000500, 1000625, 1000750, 1000875, 1001000])
    """
    wanted = math.ceil((last - first) / (WIDTH * max(last, 1)))
    blocks = min(last - first, max(fewest, min(MOST, wanted)))
    return np.linspace(first, last, blocks + 1).round().astype(np.int64)


def bulk(trials: int, probability: Fraction, cut: float) -> Bulk:
    """Return the probabilities of a binomial, outwards from its mode until they are below a share of the mode's.

    Each is its neighbour's times a ratio of whole numbers and the odds; no logarithm is taken. They are divided by
    their sum. Beyond the last one they fall at least as fast as a geometric series of the last ratio, which bounds what
    is left out.

    Parameters
    ----------
    trials : int
        From 0 to 2^53.
    probability : Fraction
        From 0 to 1.
    cut : float
        Strictly between 0 and 1.

    Returns
    -------
    Bulk

    Example
    -------
    >>> found = bulk(4, Fraction(1, 2), 1e-9)
    >>> found.first, (16 * found.mass).tolist(), found.outside
    (0, [1.0, 4.0, 6.0, 4.0, 1.0], 0.0)
    >>> found = bulk(10**8, Fraction(1, 2), 1e-18)
    >>> found.mass.size < 100_000, found.outside < 1e-15, found.slack < 1e-9
    (True, True, True)
    """
    if probability in (0, 1) or trials == 0:
        return Bulk(trials if probability == 1 else 0, np.ones(1), 0.0, 0.0, 0.0, rounding(1))
    odds, mode = float(probability / (1 - probability)), math.floor((trials + 1) * probability)
    mode = min(mode, trials)
    reach = 16 + math.ceil(math.sqrt(2 * -math.log(cut) * max(float(trials * probability * (1 - probability)), 1.0)))
    above, up_ratio = _run(lambda k: (trials - mode - k) / (mode + 1.0 + k) * odds, trials - mode, reach, cut)
    down, down_ratio = _run(lambda k: (mode - k) / ((trials - mode + 1.0 + k) * odds), mode, reach, cut)
    mass = np.concatenate([down[::-1], [1.0], above])
    slack, total = rounding(mass.size), float(mass.sum())
    beyond, excess = _left_out(float(mass[-1]), up_ratio, slack)
    below, _ = _left_out(float(mass[0]), down_ratio, slack)
    up = (1 + slack) / total
    return Bulk(mode - down.size, mass / total, beyond * up, excess * up, below * up, slack)


def _run(ratio: Callable[[np.ndarray], np.ndarray], most: int, reach: int, cut: float) -> tuple[np.ndarray, float]:
    """Running products of ratios, most of them or until they are below the cut, and the ratio that would be next."""
    while True:
        size = min(most, reach)
        found = np.cumprod(ratio(np.arange(float(size))))
        if size == most:
            return found, 0.0
        if found[-1] < cut:
            last = int(np.argmax(found < cut)) + 1
            return found[:last], float(ratio(np.array(float(last))))
        reach *= 2


def _left_out(last: float, ratio: float, slack: float) -> tuple[float, float]:
    """At least what follows the last mass, and the sum of it times the distance from the last: geometric series."""
    ratio *= 1 + slack
    return (1 + slack) * last * ratio / (1 - ratio), (1 + slack) * last * ratio / (1 - ratio) ** 2


class Excesses:
    """Sums of mass times (x - t) over all x above t, of several binomials at once, for any thresholds.

    Parameters
    ----------
    binomials : sequence of Bulk
    centres : sequence of float
        Of each, a number of successes or half of one, from which x is counted; only x >= 0 is ever summed.
    """

    def __init__(self, binomials: Sequence[Bulk], centres: Sequence[float]) -> None:
        masses, places, more = [], [], []
        for each, centre in zip(binomials, centres, strict=True):
            places.append(np.arange(each.mass.size) + (each.first - centre))
            masses.append(each.mass)
            last = float(places[-1][-1])
            more.append(each.beyond_excess + max(last, 0.0) * each.beyond)
        sizes = np.array([each.size for each in masses])
        self.first = np.array([each[0] for each in places])
        self.size, self.start = sizes, np.concatenate([[0], np.cumsum(sizes + 1)[:-1]])
        self.mass = np.concatenate([_sums_from(mass) for mass in masses])
        self.moment = np.concatenate(
            [_sums_from(mass * np.maximum(x, 0)) for mass, x in zip(masses, places, strict=True)]
        )
        self.beyond, self.slack = np.array(more), 2 * rounding(int(sizes.max()))
        self.outside = np.array([each.outside for each in binomials])

    def at_most(self, threshold: np.ndarray) -> np.ndarray:
        """Return no less than the sums, for thresholds (..., k) that are not negative, of k binomials."""
        mass, moment = self._sums(threshold)
        found = moment * (1 + self.slack) - threshold * mass * (1 - self.slack)
        return np.maximum(found, 0.0) + self.beyond * (1 + self.slack)

    def at_least(self, threshold: np.ndarray) -> np.ndarray:
        """Return no more than the sums, for thresholds (..., k), of k binomials."""
        mass, moment = self._sums(np.maximum(threshold, 0.0))
        wrong = np.where(threshold > 0, 1 + self.slack, 1 - self.slack)
        found = moment * (1 - self.slack) - threshold * mass * wrong
        return np.maximum(found, 0.0) / (1 + self.outside) * (1 - self.slack)

    def _sums(self, threshold: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        index = np.floor(np.minimum(threshold - self.first, 2.0**52)).astype(np.int64) + 1
        at = self.start + np.clip(index, 0, self.size)
        return self.mass[at], self.moment[at]


def _sums_from(values: np.ndarray) -> np.ndarray:
    """The sum of all values from each on, and 0 after the last; small ones are added first."""
    return np.concatenate([np.cumsum(values[::-1])[::-1], [0.0]])
