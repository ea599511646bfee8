"""The levels program said anew for cvxpy, pair by pair and without floors: slow, and right by inspection."""

import math
from itertools import permutations

import cvxpy as cp
import numpy as np
from optldp.solvers.levels import LevelsProgram


def least_mean_variance(program: LevelsProgram) -> float:
    """Return the optimum by Clarabel: every pair of knots of a level, every pair of levels at a knot."""
    n, m = program.offsets.shape
    tables = [cp.Variable((n, m), nonneg=True) for _ in program.ratios]
    rows = []
    for table, ratio in zip(tables, program.ratios, strict=True):
        rows += [cp.sum(table, axis=1) == 1, table @ program.outputs == program.knots]
        rows += [table[i] <= ratio * table[k] for i, k in permutations(range(n), 2)]
    if math.isfinite(program.between):
        rows += [one <= program.between * other for one, other in permutations(tables, 2)]
    variances = [cp.sum(cp.multiply(program.weights[:, None] * program.offsets**2, table)) for table in tables]
    problem = cp.Problem(cp.Minimize(sum(s * v for s, v in zip(program.shares, variances, strict=True))), rows)
    problem.solve(solver=cp.CLARABEL, tol_gap_rel=1e-9, tol_feas=1e-9)
    assert isinstance(problem.value, float)
    return problem.value


def random_levels(seed: int) -> LevelsProgram:
    """Return a small program: 2 to 5 knots, 2 or 3 levels, 9 outputs, levels bounded loosely to tightly."""
    rng = np.random.default_rng(seed)
    n, t = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    knots = np.concatenate([[-1.0], np.sort(rng.uniform(-1, 1, n - 2)), [1.0]])
    ratios = np.exp(np.cumsum(rng.uniform(0.3, 1.0, t)))
    reach = 1 + 2 / (ratios[0] - 1)
    outputs = np.sort(
        np.concatenate([rng.uniform(-1, 1, 7) * reach, np.array([-1.0, 1.0]) * reach * rng.uniform(1.2, 2)])
    )
    between = float(np.exp(rng.choice([0.1, 0.5, 1.0, 3.0])))
    return LevelsProgram(knots, rng.dirichlet(np.ones(n)), ratios, rng.dirichlet(np.full(t, 3.0)), between, outputs)
