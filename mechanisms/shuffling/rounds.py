"""The privacy of several shuffled rounds together, from the privacy of each at any delta.

Of one round only an upper bound h(E) on its divergence is known, at some E = e^epsilon. The lower convex hull of these
points is a divergence of two laws on few outcomes, whose log-ratios are multiples of one step: it is a sum of hinges
(A - E B)_+, one at each corner, with B what the slope rises there and A = E B. Such laws dominate the round, and T
independent draws of them dominate T rounds. Log-ratios add up, so T rounds are a convolution of non-negative numbers.

Corners are computed in fractions and rounded up; sums of non-negative doubles have small relative errors, which are
counted. What is cut off above counts as certain to fail, what is cut off below is moved up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .binomials import UNIT, rounding

ROOM = 1e-12
"""For the few operations that make a sum or a root."""

STEPS = 96
"""Of log-ratios, from 0 to the largest that is kept: more of them change epsilon by less than a thousandth."""

LEFT = 1e-3
"""Of delta, for all log-ratios that are cut off in each round, and as much in convolutions."""

MOST_ROUNDS = 10_000
"""Whose convolution takes about a second; more are composed by the two rules alone."""

HALVINGS = 40
LOGARITHM = 4 * UNIT
"""By which the logarithm of a rounded ratio may be off."""

TINY = 1e-250
"""No less than what numbers too small for doubles add up to."""


class Loss(NamedTuple):
    """Masses of log-ratios (first + i) * step, and of an infinite one, each at least the true one."""

    first: int
    mass: np.ndarray
    infinite: float


def composed(
    epsilon_at: Callable[[float], float], delta_at: Callable[[float], float], rounds: int, delta: float
) -> float:
    """Return an epsilon of all rounds together, at delta for all of them.

    The smallest one of three: rounds add up at a delta of delta / T each; by advanced composition, at delta / (2 T)
    each, T e (e^e - 1) / (e^e + 1) + e sqrt(2 T log(2 / delta)); and, up to `MOST_ROUNDS`, by their log-ratios.

    Parameters
    ----------
    epsilon_at : callable
        The epsilon of one round at a delta.
    delta_at : callable
        The delta of one round at an epsilon: for either of two neighbours over the other.
    rounds : int
        T.
    delta : float

    Source: Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy", theorem 3.4;
    Zhu, Dong and Wang (2022), "Optimal accounting of differential privacy via characteristic function", theorem 10;
    Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), "Connect the dots", for the hull.

    Example
    -------
    Rounds of randomised response at epsilon 1, of which all is known:

    >>> def delta_at(epsilon):
    ...     return max(0.0, (math.e - math.exp(epsilon)) / (math.e + 1))
    >>> composed(lambda delta: 1.0, delta_at, 1, 1e-6), round(composed(lambda delta: 1.0, delta_at, 50, 1e-6), 1)
    (1.0, 47.6)
    """
    added = rounds * epsilon_at(delta / rounds)
    if rounds == 1:
        return added
    each = epsilon_at(delta / (2 * rounds))
    advanced = rounds * each * math.tanh(each / 2) + each * math.sqrt(2 * rounds * math.log(2 / delta))
    found = min(added, advanced)
    if rounds <= MOST_ROUNDS and found > 0:
        found = min(found, _by_log_ratios(epsilon_at, delta_at, rounds, delta))
    return found * (1 + ROOM)


def _by_log_ratios(
    epsilon_at: Callable[[float], float], delta_at: Callable[[float], float], rounds: int, delta: float
) -> float:
    largest = epsilon_at(LEFT * delta / rounds)
    if largest == 0:
        return math.inf  # a bound that is met at 0 has no log-ratios; rounds add up
    step = largest / STEPS
    together = _times(dominating(delta_at, step), rounds, LEFT * delta / (4 * rounds))
    losses = (together.first + np.arange(together.mass.size)) * step

    def kept(epsilon: float) -> bool:
        above = losses > epsilon
        told = float(together.mass[above] @ -np.expm1(epsilon - losses[above]))
        return together.infinite + told * (1 + ROOM + rounding(together.mass.size)) + TINY <= delta

    low, high = 0.0, max(float(losses[-1]), step)
    if not kept(high):
        return math.inf
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if kept(middle) else (middle, high)
    return high * (1 + ROOM) + LOGARITHM * rounds


def dominating(delta_at: Callable[[float], float], step: float) -> Loss:
    """Return the log-ratios of two laws whose divergence is no less than a round's, from `STEPS` points of its bound.

    Parameters
    ----------
    delta_at : callable
        A bound on the divergence of two laws at E = e^epsilon, either way round: at 1 / E it is 1 - 1 / E + delta / E.
    step : float

    Example
    -------
    >>> found = dominating(lambda epsilon: max(0.0, (2 - math.exp(epsilon)) / 3), math.log(2) / STEPS)
    >>> found.mass.round(3)[[0, -1]].tolist(), round(float(found.mass.sum()), 6)
    ([0.333, 0.667], 1.0)
    """
    points = [(Fraction(0), Fraction(1))]
    for k in range(STEPS, 0, -1):
        ratio = Fraction(math.exp(k * step))
        points.append((1 / ratio, 1 - (1 - _bound(delta_at, k * step)) / ratio))
    points += [(Fraction(math.exp(k * step)), _bound(delta_at, k * step)) for k in range(STEPS + 1)]
    corners = _lower_hull(points)
    slopes = [(y - x) / (b - a) for (a, x), (b, y) in pairwise(corners)] + [Fraction(0)]
    masses = np.zeros(2 * STEPS + 1)
    places = {point[0]: place for place, point in enumerate(points[1:])}
    for (ratio, _), before, after in zip(corners[1:], slopes[:-1], slopes[1:], strict=True):
        masses[places[ratio]] = float(ratio * (after - before)) * (1 + 4 * UNIT)
    return Loss(-STEPS, masses, float(points[-1][1]) * (1 + 4 * UNIT))


def _bound(delta_at: Callable[[float], float], epsilon: float) -> Fraction:
    """The bound at no more than this epsilon, which an exponential may be off by a little."""
    return Fraction(min(delta_at(epsilon * (1 - ROOM)), 1.0))


def _lower_hull(points: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """The corners of the largest convex function that is at most these values; the last value is the least."""
    least = points[-1][1]
    corners: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        y = max(y, least)
        while len(corners) > 1:
            (a, u), (b, v) = corners[-2:]
            if (v - u) * (x - a) < (y - u) * (b - a):
                break
            corners.pop()
        corners.append((x, y))
    return corners


def _times(loss: Loss, rounds: int, cut: float) -> Loss:
    """The log-ratios of so many rounds together, by repeated squaring."""
    made = None
    power = loss
    while True:
        if rounds % 2:
            made = power if made is None else _added(made, power, cut)
        rounds //= 2
        if not rounds:
            assert made is not None
            return made
        power = _added(power, power, cut)


def _added(one: Loss, other: Loss, cut: float) -> Loss:
    """The log-ratios of both together; ends of at most a mass of `cut` are cut off."""
    mass = np.convolve(one.mass, other.mass) * (1 + rounding(min(one.mass.size, other.mass.size)))
    first = one.first + other.first
    infinite = (one.infinite + other.infinite) * (1 + ROOM)
    upper = np.cumsum(mass[::-1])[::-1]
    last = int(np.count_nonzero(upper > cut)) or 1
    infinite += float(upper[last]) * (1 + rounding(mass.size)) if last < mass.size else 0.0
    lower = np.cumsum(mass)
    begin = min(int(np.count_nonzero(lower <= cut)), last - 1)
    moved = float(lower[begin]) * (1 + rounding(begin + 1))  # what lies below is moved up to where it begins
    return Loss(first + begin, np.concatenate([[moved], mass[begin + 1 : last]]), infinite)
