"""From an interior point to a basic mechanism: at most 2n outputs, the same feasibility, no higher cost.

The floor t of an interior point fixes the best rows (`window_rows`), each with at most two fractional entries.  An
output whose rows have k different fractions is a mixture of k + 1 staircase columns with entries in {theta, E theta}:
nested patterns, peeled off in order.  So the mechanism is a non-negative combination theta of at most m + 2n columns
A with A theta = b, 2n equations.  *Pushing* (the primal half of a crossover) walks the columns outside a basis to zero,
or into the basis when that lowers the cost, until only a basis is left, with at most 2n outputs; the tableau costs
O(n K) per pivot.  The rows are then computed afresh from the floor that is left, so no rounding is inherited.

Source: Megiddo (1991), on finding an optimal basis from an interior solution.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from scipy.linalg import qr, solve_triangular

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from .unbiased_program import UnbiasedProgram
from .window_rows import stretched_rows

NEGLIGIBLE = 1e-13
"""Staircase columns, and outputs, whose largest probability is below this are rounding."""

PIVOT = 1e-9
"""Smallest tableau entry that may decide a ratio test."""

COST_SLACK = 1e-7
"""A clean-up that raises the objective by more than this share (a tenth of the default gap) is not used."""


def sparse_mechanism(program: UnbiasedProgram, outputs: Array, floor: Array) -> tuple[Array, Array]:
    """Return (outputs (k,), probabilities (n, k)), k <= 2n, of a basic mechanism no dearer than the floor's best.

    Parameters
    ----------
    outputs, floor : (m,) ndarray
        Increasing outputs and the floor t > 0 of each.

    Raises
    ------
    SolverError
        The floor admits no unbiased rows.
    """
    outputs, P = stretched_rows(program, outputs, floor)
    position, pattern, theta = staircases(program, floor, P)
    offsets = program.offsets(outputs[position])
    columns = np.concatenate([pattern, pattern * offsets])
    cost = program.weights @ (pattern * offsets**2)
    basis, weight = push_to_basis(columns, cost, theta)
    lighter = np.zeros(len(outputs))
    np.add.at(lighter, position[basis], np.maximum(weight, 0))
    used = lighter * program.ratio > NEGLIGIBLE
    try:
        fewer, sparse = stretched_rows(program, outputs[used], lighter[used])
    except SolverError:
        return outputs, P
    if program.objective(fewer, sparse) > program.objective(outputs, P) * (1 + COST_SLACK):
        return outputs, P
    return fewer, sparse


def staircases(program: UnbiasedProgram, floor: Array, P: Array) -> tuple[Indices, Array, Array]:
    """Return, per staircase column, the output's position, the pattern in {1, E} (n, K) and the weight theta."""
    m = len(floor)
    level = np.clip((P - floor) / ((program.ratio - 1) * floor), 0.0, 1.0)
    edges = np.concatenate([np.zeros((1, m)), np.sort(level, axis=0), np.ones((1, m))])
    weight = np.diff(edges, axis=0) * floor  # pattern k raises the rows whose level exceeds edges[k]
    k, position = np.nonzero(weight * program.ratio > NEGLIGIBLE)
    pattern = np.where(level[:, position] > edges[k, position], program.ratio, 1.0)
    return position, pattern, weight[k, position]


def push_to_basis(columns: Array, cost: Array, theta: Array) -> tuple[Indices, Array]:
    """Return a basis, and its weights, reached from theta > 0 by moves that keep columns @ theta, lowering the cost."""
    # scipy's annotations do not follow the options.
    r, order = cast("tuple[Array, Indices]", qr(columns * theta, mode="r", pivoting=True))
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > diagonal[0] * np.finfo(float).eps * len(theta)))
    basis, rest = order[:rank].copy(), order[rank:].copy()
    tableau = solve_triangular(r[:rank, :rank], r[:rank, rank:]) * theta[basis][:, None] / theta[rest]
    value = theta[basis].copy()
    for k in range(len(rest)):
        column = tableau[:, k]
        reduced = cost[rest[k]] - cost[basis] @ column
        leaving, value, entering = _push_one(column, value, float(theta[rest[k]]), down=reduced >= 0)
        if leaving < 0:
            continue
        pivot = column[leaving]
        row = tableau[leaving, k + 1 :] / pivot
        tableau[:, k + 1 :] -= np.outer(column, row)
        tableau[leaving, k + 1 :] = row
        basis[leaving] = rest[k]
        value[leaving] = entering
    return basis, value


def _push_one(column: Array, value: Array, weight: float, *, down: bool) -> tuple[int, Array, float]:
    """Move one nonbasic weight down to zero, or up, until a basic weight reaches zero first.

    Returns the leaving position (-1: none, the weight reached zero), the new basic values, the entering weight.
    """
    slope = column if not down else -column
    falling = slope > PIVOT
    limit = np.full(len(value), np.inf)
    limit[falling] = np.maximum(value[falling], 0) / slope[falling]
    leaving = int(np.argmin(limit))
    step = limit[leaving]
    if not np.isfinite(step) or (down and step >= weight):
        return -1, value + column * weight, 0.0
    moved = value - slope * step
    moved[leaving] = 0.0
    return leaving, moved, weight - step if down else weight + step
