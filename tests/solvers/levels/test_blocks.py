"""The block algebra of the levels program against dense matrices."""

import math
from dataclasses import replace

import numpy as np
import pytest
from optldp.solvers.levels import LevelsProgram
from optldp.solvers.levels.blocks import Blocks

from ..levels_oracle import random_levels


def inequalities(program: LevelsProgram) -> np.ndarray:
    """The rows P - a, E a - P, P - u, F u - P in the unknowns (P, a, u) of one output, written out one by one."""
    t, n = len(program.ratios), len(program.knots)
    rows = []
    for level in range(t):
        for knot in range(n):
            P, a, u = level * n + knot, t * n + level, t * n + t + knot
            own = [(P, 1.0, a, -1.0), (P, -1.0, a, program.ratios[level])]
            tied = [(P, 1.0, u, -1.0), (P, -1.0, u, program.between)]
            for i, x, k, y in own + (tied if program.bounded else []):
                row = np.zeros(t * n + t + n)
                row[i], row[k] = x, y
                rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("between", [1.3, 20.0, math.inf])
def test_a_step_solves_the_equations_of_the_whole_matrix(between):
    """H = C' diag(w) C of every output, inverted and reduced to the equations, dense against block by block."""
    program = replace(random_levels(5), between=between)
    t, n, m = program.costs.shape
    rng = np.random.default_rng(1)
    weights = np.exp(rng.uniform(-3, 3, (4, t, n, m)))
    blocks, C = Blocks(program, weights), inequalities(program)
    right = rng.standard_normal((t, n, m)), rng.standard_normal((t, m)), rng.standard_normal((n, m))
    if not program.bounded:
        right[2][:] = 0.0
    found = blocks.solve(*right)
    equations = np.zeros((2 * t * n, 2 * t * n))
    for j in range(m):
        order = weights[:, :, :, j] if program.bounded else weights[:2, :, :, j]
        H = C.T @ (order.transpose(1, 2, 0).ravel()[:, None] * C)
        used = np.diag(H) > 0  # without a tie nothing knows u
        dense = np.zeros(len(H))
        everything = np.concatenate([part[..., j].ravel() for part in right])
        dense[used] = np.linalg.solve(H[np.ix_(used, used)], everything[used])
        assert np.concatenate([part[..., j].ravel() for part in found]) == pytest.approx(dense, rel=1e-9, abs=1e-12)
        inverse = np.linalg.inv(H[np.ix_(used, used)])[: t * n, : t * n]
        A = np.concatenate([np.eye(t * n), np.diag(np.tile(program.offsets[:, j], t))])
        equations += A @ inverse @ A.T
    given = rng.standard_normal((2, t, n))
    solved = blocks.equations().solve(given).ravel()
    assert solved == pytest.approx(np.linalg.solve(equations, given.ravel()), rel=1e-8)
