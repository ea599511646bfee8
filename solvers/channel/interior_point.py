r"""The channel program on a tree by a primal-dual interior point: a predictor and some correctors a step.

Source: Mehrotra (1992), "On the implementation of a primal-dual interior point method"; Gondzio (1996), "Multiple
centrality correctors in a primal-dual method for linear programming".
"""

from __future__ import annotations

import numpy as np

from .newton import Newton
from .tree_program import Missing, Point, TreeProgram
from .weighted_step import AIM, drawn_to, weighted_step

STEPS = 120
"""At most; ten to forty are usual, and seventy are needed for the worst of 301 values."""

CORRECTORS = 2
"""Centrality correctors at most; each costs two solutions with the step's factors."""

WORTH_IT = 0.05
"""By which both lengths together must grow for a corrector to be taken."""

LOST = 100.0
"""Times what was missing at the best point: from there on numbers are lost, and that point is the answer."""

ROWS_OFF = 1e-6
"""By which rows may be off when the gap closes: mended at the end."""

MENDED = 1e-14
"""By which they may be off in the end."""

MENDING = 12
"""Steps of that, at most: one or two, unless values are very near each other."""


def interior_point(tree: TreeProgram, tolerance: float) -> tuple[Point, int]:
    """Return the best point found, whose rows may be off by `ROWS_OFF`, and how many steps led there.

    Raises
    ------
    SolverError
        The numbers are lost.
    """
    at = best = start(tree)
    least, k = np.inf, 0
    for k in range(STEPS):  # noqa: B007 -- told
        missing = tree.missing(at)
        off, worth, proved = np.abs(missing.rows).max(), tree.worth(at, missing), tree.size * float(at.y[0].sum())
        scale = max(abs(worth), abs(proved)) or 1.0  # either may pass through zero
        open_, products = abs(worth - proved) / scale, tree.size * at.mean_product * at.products / scale
        lacking = open_ + products + off
        if lacking < least:
            best, least = at, lacking
        closed = off <= ROWS_OFF and open_ <= tolerance
        if closed and worth - tree.program.bound(**tree.proof(at)) <= tolerance * abs(worth):
            break
        if lacking > LOST * least:
            break
        at = (weighted_step if tree.weighted else step_from)(tree, at, missing)
    return best, k


def start(tree: TreeProgram) -> Point:
    """Return a point inside: the program's first table, with all products of slacks and multipliers equal."""
    s = tree.first
    r, y = tree.cone_rows[0] @ s, np.zeros(tree.factors.shape[:2])
    each = (tree.losses * s[tree.program.cone.places]).sum(1)
    share = tree.program.share
    if not share:
        mu, none = tree.start * (np.abs(tree.costs) * s).sum() / r.size, np.zeros(0)
        return Point(s, r, mu / r, y, none, none, 0.0)
    # Above every loss: the slacks w must be positive.
    t = each.max() + 0.3 * np.abs(each).max()
    w = t - each
    mu = tree.start * share / (1 / w).sum()
    y[-1] = -share / len(each)
    return Point(s, r, mu / r, y, w, mu / w, float(t))


def step_from(tree: TreeProgram, at: Point, missing: Missing) -> Point:
    """Return the next point."""
    newton, mu = Newton(tree, at), at.mean_product
    affine = newton.step(missing, -at.r * at.u, -at.w * at.z)
    target = mu * (at.moved(affine, *at.lengths(affine)).mean_product / mu) ** 3
    product, other = target - at.r * at.u - affine.r * affine.u, target - at.w * at.z - affine.w * affine.z
    step = newton.step(missing, product, other)
    primal, dual = at.lengths(step)
    for _ in range(CORRECTORS):
        trial = at.moved(step, min(primal + AIM, 1.0), min(dual + AIM, 1.0))
        further = product + drawn_to(target, trial.r * trial.u), other + drawn_to(target, trial.w * trial.z)
        corrected = newton.step(missing, *further)
        lengths = at.lengths(corrected)
        if sum(lengths) < primal + dual + WORTH_IT:
            break
        step, (primal, dual), (product, other) = corrected, lengths, further
    kept = 1 - tree.kept_back
    return at.moved(step, kept * primal, kept * dual)


def mended(tree: TreeProgram, at: Point) -> Point:
    """Return the point with its rows right, to rounding if numbers allow: the least change as shares of its slacks."""
    best, least = at, np.inf
    for _ in range(MENDING):
        missing = tree.missing(at)
        off = float(np.abs(missing.rows).max())
        if off < least:
            best, least = at, off
        if off <= MENDED:
            break
        near = Point(at.s, at.r, 1 / at.r, at.y, at.w, 1 / at.w, at.t)
        alone = Missing(missing.rows, np.zeros_like(at.s), np.zeros_like(at.w), 0.0)
        step = Newton(tree, near, closely=True).step(alone, np.zeros_like(at.r), np.zeros_like(at.w))
        kept = 1 - tree.kept_back
        whole = (step.r >= -kept * at.r).all() and (step.w >= -kept * at.w).all()
        at = at.moved(step, 1.0 if whole else kept * near.lengths(step)[0], 0.0)
    return best
