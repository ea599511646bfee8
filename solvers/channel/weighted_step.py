r"""A step whose corrections are weighted, for programs where steps to the nearest boundary are short.

A correction is made for a whole step. Where the cone has many rows a step is a tenth of that, and the correction more
harm than use: so its primal and its dual part are each added with the share that lets the step go farthest.

Source: Colombo and Gondzio (2008), "Further development of multiple centrality correctors for interior point methods".
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .newton import Newton
from .tree_program import Missing, Point, TreeProgram

AIM = 0.3
"""How much farther than the step at hand the second correction tries to go."""

NEAR = 0.1
"""Products below this share of the target, or above its inverse, are drawn to it by that one."""

SHARES = np.linspace(0.0, 1.0, 17)
"""Of the way from the least share of a correction to all of it: those that are tried."""

BLOCK = 64
"""Rows of the cone that are looked at in one go: what is made of them stays in the cache."""


def weighted_step(tree: TreeProgram, at: Point, missing: Missing) -> Point:
    """Return the next point: a predictor, its correction, and one that draws products to the middle."""
    newton, mu = Newton(tree, at), at.mean_product
    step = newton.step(missing, -at.r * at.u, -at.w * at.z)
    lengths = at.lengths(step)
    target = mu * (at.moved(step, *lengths).mean_product / mu) ** 3
    nothing = Missing(np.zeros_like(missing.rows), np.zeros_like(missing.costs), np.zeros_like(missing.weights), 0.0)
    correction = newton.step(nothing, target - step.r * step.u, target - step.w * step.z)
    step = _corrected(at, step, correction, least=lengths[0] * lengths[1])
    primal, dual = at.lengths(step)
    trial = at.moved(step, min(primal + AIM, 1.0), min(dual + AIM, 1.0))
    drawn = drawn_to(target, trial.r * trial.u), drawn_to(target, trial.w * trial.z)
    step = _corrected(at, step, newton.step(nothing, *drawn), least=0.0)
    primal, dual = at.lengths(step)
    kept = 1 - tree.kept_back
    return at.moved(step, kept * primal, kept * dual)


def drawn_to(target: float, products: Array) -> Array:
    """Return what brings products near the target; of large ones not all at once."""
    return np.maximum(np.clip(products, NEAR * target, target / NEAR) - products, -target / NEAR)


def _corrected(at: Point, step: Point, more: Point, least: float) -> Point:
    """Return a step with shares of a correction, from the least one on, that lets either part of it go farthest."""
    primal = _share([(at.r, step.r, more.r), (at.w, step.w, more.w)], least)
    dual = _share([(at.u, step.u, more.u), (at.z, step.z, more.z)], least)
    return step.moved(more, primal, dual)


def _share(numbers: list[tuple[Array, Array, Array]], least: float) -> float:
    """Return the share of a correction, from `least` to 1, with which no number at a point falls fast.

    Parameters
    ----------
    numbers : list of (at, step, correction)
    """
    lines, floor = [], -np.inf
    for at, step, more in numbers:
        for k in range(0, len(at), BLOCK):
            block = slice(k, k + BLOCK)
            fixed, added = step[block] / -at[block], more[block] / -at[block]
            low, high = fixed + least * added, fixed + added
            # Speeds are linear in the share: one that is nowhere above the largest of all least ones decides nothing.
            floor = max(floor, float(np.minimum(low, high).max()))
            decides = np.maximum(low, high) >= floor
            lines.append((low[decides], high[decides]))
    low, high = (np.concatenate(ends) for ends in zip(*lines, strict=True))
    decides = np.maximum(low, high) >= floor
    low, high = low[decides], high[decides]
    fastest = [((1 - share) * low + share * high).max() for share in SHARES]
    return float(least + SHARES[int(np.argmin(fastest))] * (1 - least))
