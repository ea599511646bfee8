"""A solution on coarse knots becomes a start on fine ones.

A coarse point's windows are interpolated between its knots: per unit of weight a parabola is (y - r)(y - s) = y^2 - m y
+ r s, with r s and m = r + s linear in between. F is then at least what it was, since min(g, E g) is concave and lies
above its chord, if the fine weights are projected to the coarse knots by hats, as here; so the fine start is inside the
barrier. What rows reach beyond the stretch stays with their own knots: it does not shrink with their weights.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .problem import Problem, State

KNOTS = (33, 129, 513)
"""Of the coarse grids."""

MOST = 0.6
"""Grids of more than this share of the knots are left out."""


def grids(problem: Problem) -> list[Problem]:
    """Return the problem on ever more of its knots, itself last."""
    return [*(coarser(problem, count) for count in KNOTS if count <= MOST * len(problem.x)), problem]


def coarser(problem: Problem, count: int) -> Problem:
    """Return the problem on so many of its knots."""
    x = problem.x[np.unique(np.round(np.linspace(0, len(problem.x) - 1, count)).astype(np.intp))]
    p, even = (_hats(x, problem.x, weights) for weights in (problem.p, problem.even))
    return Problem(x, p, even, problem.E, problem.reach)


def _hats(knots: Array, x: Array, weights: Array) -> Array:
    """Share every weight out between the two knots around it, so that means stay."""
    k = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
    up = (x - knots[k]) / (knots[k + 1] - knots[k])
    n = len(knots)
    shared = np.bincount(k, (1 - up) * weights, n) + np.bincount(k + 1, up * weights, n)
    return shared.astype(np.float64)


def refined(coarse: Problem, state: State, fine: Problem) -> State:
    """Return a coarse point on the fine knots, which hold the coarse ones."""
    F = coarse.at(state)
    left, right = np.clip(F.left, -F.reach, F.reach), np.clip(F.right, -F.reach, F.reach)
    product, total = left * right, left + right
    p = fine.weights(state.share)
    lam, nu = _multipliers(fine.x, p, *(np.interp(fine.x, coarse.x, values) for values in (product, total)))
    kept_lam, kept_nu = _multipliers(coarse.x, F.p, product, total)
    own = np.searchsorted(fine.x, coarse.x)
    lam[own] += state.lam - kept_lam
    nu[own] += state.nu - kept_nu
    return state._replace(lam=lam, nu=nu)


def _multipliers(x: Array, p: Array, product: Array, total: Array) -> tuple[Array, Array]:
    """Of parabolas p (y^2 - total y + product), around the knots."""
    return p * ((total - x) * x - product), p * (total - 2 * x)
