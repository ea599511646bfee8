"""What a user gets who merely clips: the unbiased optimum of a shorter interval, whatever lies outside at its ends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...mechanisms.table.provenance import Provenance
from ...mechanisms.table.table import TabulatedMechanism
from ..priors.prior import Prior
from .base import Problem
from .variance import Variance

CLIP_TOLERANCE = 1e-4
"""Relative gap of the table that is returned; its error is off by half of it."""

FEW = 17
"""Knots of the tables that a search compares, at most: they cost a tenth, and rounding adds nearly the same to all."""

SEARCH_TOLERANCE = 1e-2
"""Relative gap of the tables that a search compares: near the best clip points the error is flat."""


def clipped(problem: Problem, low: int, high: int, *, roughly: bool = False) -> TabulatedMechanism:
    """Return the unbiased optimum for what is left of the prior between two knots, with the same row beyond each.

    Parameters
    ----------
    problem : Problem
    low, high : int
        Knots that values are moved to from outside, low < high.
    roughly : bool
        Whether a few of the knots between will do, others being rounded to them, and a wide gap.

    Example
    -------
    >>> prior = Prior.on_knots([0, 1, 2, 3], [4, 2, 1, 1], source="public")
    >>> (clipped(Problem(prior, 1.0), 0, 2).knot_means.round(9) + 0.0).tolist()
    [0.0, 1.0, 2.0, 2.0]
    """
    all_knots, weights = problem.prior.knots, problem.solved.weights.copy()
    weights[low] += weights[:low].sum()
    weights[high] += weights[high + 1 :].sum()
    left = Prior.on_knots(all_knots[low : high + 1], weights[low : high + 1], source=problem.prior.source)
    if roughly and left.knots.size > FEW:
        left = left.coarsened(left.knots[np.linspace(0, high - low, FEW).round().astype(int)])
    tolerance = SEARCH_TOLERANCE if roughly else CLIP_TOLERANCE
    inner = Variance().solve(Problem(left, problem.epsilon, tolerance=tolerance)).mechanism
    rows = inner.pmf(np.clip(all_knots, *inner.domain))
    told = Provenance("clip", {"clip": list(inner.domain)})
    return replace(inner, knots=all_knots, probabilities=rows, provenance=told)


def best_clip(
    value: Callable[[TabulatedMechanism], float], problem: Problem, near: tuple[float, float]
) -> tuple[float, tuple[float, float]]:
    """Return the least value of a clip at two knots, and the two: downhill from a start, by steps of halving length.

    Parameters
    ----------
    value : callable
        Judges a table on the problem's knots.
    problem : Problem
    near : tuple of float
        Where to start.
    """
    knots = problem.prior.knots
    last = len(knots) - 1
    seen: dict[tuple[int, int], float] = {}

    def cost(ends: tuple[int, int]) -> float:
        if ends not in seen:
            seen[ends] = value(clipped(problem, *ends, roughly=True))
        return seen[ends]

    low, high = (int(np.argmin(np.abs(knots - end))) for end in near)
    low = min(low, last - 1)
    best = min([(low, max(high, low + 1)), (0, last)], key=cost)
    step = max(1, (best[1] - best[0]) // 4)
    while step:
        moves = [(best[0] + a * step, best[1] + b * step) for a, b in ((-1, 0), (1, 0), (0, -1), (0, 1))]
        around = min((each for each in moves if 0 <= each[0] < each[1] <= last), key=cost, default=best)
        if cost(around) < cost(best):
            best = around
        else:
            step //= 2
    return value(clipped(problem, *best)), (float(knots[best[0]]), float(knots[best[1]]))
