"""The optimal unbiased mechanism on given outputs, as a linear program for general solvers.

With p the weights of the knots x and y the outputs,

    minimise    sum_i p_i sum_y (y - x_i)^2 P[i, y]
    subject to  sum_y P[i, y] = 1,   sum_y (y - x_i) P[i, y] = 0,   t_y <= P[i, y] <= e^epsilon t_y.

The auxiliary t_y stands for all n (n - 1) m pairwise ratio constraints, without relaxing any. Here P = t + s
with s >= 0, so that t_y <= P is a bound and not a row: half the rows, and half the time, of the form with
both. Centring the objective at x_i changes nothing on the feasible set (under unbiasedness it is the
variance) and keeps digits when the domain is far from zero. Both solvers get the knots scaled to [-1, 1], by
this file alone: an oracle shares nothing with what it judges.

This is the oracle for the structured interior point, and the route for objectives without a special solver.

Source: Wei et al. (2024), AAA, eq. (9) and (15), on free output points instead of a noise lattice.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError, SolverError
from ..certificate import Optimum
from ..linear_program import DEFAULT_TOLERANCE, LinearProgram, Solver, solve_linear_program

MAX_EPSILON = 16.0
"""Beyond it e^epsilon stands beside 1 in one matrix with more range than a double has digits."""


PROVED = 1e-6
"""Relative gap within which an answer counts as optimal: what Clarabel still calls an optimum that is inaccurate."""


@dataclass(frozen=True, eq=False)
class _Scaled:
    """The program with knots on [-1, 1]; `half` is the half-width that was divided out."""

    knots: np.ndarray
    weights: np.ndarray
    outputs: np.ndarray
    ratio: float
    half: float

    @property
    def deviations(self) -> np.ndarray:
        """y - x_i, (n, m)."""
        return self.outputs - self.knots[:, None]

    def optimum(
        self, probabilities: np.ndarray, duals: tuple[np.ndarray, np.ndarray], start: float, iterations: int
    ) -> Optimum[np.ndarray]:
        """Back in the caller's units.

        The bound for these outputs is sum(lambda) + min(0, min over y of sum_i min(g_iy, e^epsilon g_iy)) with the
        reduced costs g: a floor has a mass of at most one.
        """
        (lam, nu), square = duals, self.half**2
        costs = self.weights[:, None] * self.deviations**2
        reduced = costs - lam[:, None] - nu[:, None] * self.deviations
        least = float(np.minimum(reduced, self.ratio * reduced).sum(axis=0).min())
        value, bound = float(np.sum(costs * probabilities)), float(lam.sum()) + min(0.0, least)
        multipliers = {"lam": square * lam, "nu": self.half * nu}
        seconds = time.perf_counter() - start
        return Optimum(probabilities, square * value, square * bound, multipliers, PROVED, iterations, seconds)


def solve_with_highs(
    knots: ArrayLike,
    weights: ArrayLike,
    outputs: ArrayLike,
    epsilon: float,
    *,
    solver: Solver = "choose",
    crossover: bool = True,
    time_limit: float = math.inf,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Optimum[np.ndarray]:
    """Solve the program with HiGHS.

    Parameters
    ----------
    knots : (n,) array_like of float
        x, at least two different ones.
    weights : (n,) array_like of float
        p, non-negative.
    outputs : (m,) array_like of float
        y, in the units of the knots.
    epsilon : float
        Positive.
    solver, crossover, time_limit, tolerance
        As in `solve_linear_program`.

    Returns
    -------
    solution : Optimum of (n, m) ndarray
        P as the solver returned it, feasible to its tolerance only, so the value, sum_i p_i sum_y (y - x_i)^2 P[i, y],
        may lie slightly below the bound. The bound holds on these outputs and is proved from the multipliers of the
        rows sum_y P[i, y] = 1 and sum_y (y - x_i) P[i, y] = 0; all in the units of the knots.

    Raises
    ------
    SolverError
        No unbiased mechanism on these outputs, or the solver failed.

    Example
    -------
    >>> import math
    >>> from optldp.solvers import solve_with_highs
    >>> solution = solve_with_highs([-1, 1], [0.5, 0.5], [-2, 0, 2], math.log(3))
    >>> round(solution.value, 6)
    3.0
    """
    start = time.perf_counter()
    scaled = _scale(knots, weights, outputs, epsilon)
    solved = solve_linear_program(
        _sparse_program(scaled),
        solver=solver,
        crossover=crossover,
        time_limit=time_limit,
        tolerance=tolerance,
    )
    n, m = scaled.deviations.shape
    shares, least = solved.x[: n * m].reshape(n, m), solved.x[n * m :]
    duals = solved.row_duals[:n], solved.row_duals[n : 2 * n]
    return scaled.optimum(shares + least, duals, start, solved.iterations)


def solve_with_cvxpy(
    knots: ArrayLike,
    weights: ArrayLike,
    outputs: ArrayLike,
    epsilon: float,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Optimum[np.ndarray]:
    """Solve the program with Clarabel through cvxpy; parameters and errors as `solve_with_highs`.

    Source: Goulart and Chen (2024), "Clarabel: an interior-point solver for conic programs".

    Parameters
    ----------
    knots, weights, outputs, epsilon
        As of `solve_with_highs`.
    tolerance : float
        Of Clarabel: relative gap and feasibility.

    Returns
    -------
    solution : Optimum of (n, m) ndarray
        As of `solve_with_highs`.

    Example
    -------
    >>> import math
    >>> from optldp.solvers import solve_with_cvxpy
    >>> solution = solve_with_cvxpy([-1, 1], [0.5, 0.5], [-2, 0, 2], math.log(3))
    >>> round(solution.value, 6)
    3.0
    """
    import cvxpy as cp  # half a second to import, and only oracles need it

    start = time.perf_counter()
    scaled = _scale(knots, weights, outputs, epsilon)
    deviations = scaled.deviations
    n, m = deviations.shape
    shares, least = cp.Variable((n, m), nonneg=True), cp.Variable((1, m), nonneg=True)
    probabilities = shares + np.ones((n, 1)) @ least
    normalised = cp.Zero(cp.sum(probabilities, axis=1) - 1)
    unbiased = cp.Zero(cp.sum(cp.multiply(deviations, probabilities), axis=1))
    within = cp.NonNeg((scaled.ratio - 1) * (np.ones((n, 1)) @ least) - shares)
    cost = cp.sum(cp.multiply(scaled.weights[:, None] * deviations**2, probabilities))
    problem = cp.Problem(cp.Minimize(cost), [normalised, unbiased, within])
    try:
        problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance, max_iter=500
        )
    except cp.SolverError as error:
        raise SolverError(f"a ratio program must have an optimum, but Clarabel failed: {error}") from None
    if problem.status not in (cp.OPTIMAL, cp.OPTIMAL_INACCURATE):
        raise SolverError(f"a ratio program must have an optimum, but Clarabel ended with: {problem.status}")
    # cvxpy adds dual * (left - right) to a minimised objective: the opposite sign of a shadow price.
    duals = -np.asarray(normalised.dual_value), -np.asarray(unbiased.dual_value)
    iterations = int(problem.solver_stats.num_iters or 0)
    return scaled.optimum(np.asarray(probabilities.value), duals, start, iterations)


def _sparse_program(scaled: _Scaled) -> LinearProgram:
    """Columns s (row by row of P), then t; rows: normalisation, unbiasedness, s <= (e^epsilon - 1) t."""
    deviations = scaled.deviations
    n, m = deviations.shape
    every_row = sparse.kron(np.ones((n, 1)), sparse.eye_array(m), format="csc")
    sums = sparse.kron(sparse.eye_array(n), np.ones((1, m)), format="csc")
    means = sums @ sparse.diags_array(deviations.ravel())
    matrix = sparse.block_array(
        [
            [sums, np.ones((n, m))],
            [means, deviations],
            [-sparse.eye_array(n * m), (scaled.ratio - 1.0) * every_row],
        ],
        format="csc",
    )
    cost = scaled.weights[:, None] * deviations**2
    equal = np.concatenate([np.ones(n), np.zeros(n)])
    return LinearProgram(
        cost=np.concatenate([cost.ravel(), cost.sum(axis=0)]),
        matrix=sparse.csc_array(matrix),
        row_lower=np.concatenate([equal, np.zeros(n * m)]),
        row_upper=np.concatenate([equal, np.full(n * m, math.inf)]),
        lower=np.zeros((n + 1) * m),
        upper=np.full((n + 1) * m, math.inf),
    )


def _scale(knots: ArrayLike, weights: ArrayLike, outputs: ArrayLike, epsilon: float) -> _Scaled:
    x, p, y = (np.asarray(a, dtype=np.float64) for a in (knots, weights, outputs))
    if x.ndim != 1 or p.shape != x.shape or y.ndim != 1 or x.size < 2 or y.size < 1:
        raise InputError(
            "a ratio program must have n >= 2 knots, n weights and some outputs, "
            f"got shapes {x.shape}, {p.shape} and {y.shape}"
        )
    if not (np.isfinite(x).all() and np.isfinite(y).all() and np.isfinite(p).all() and (p >= 0).all()):
        raise InputError("knots, outputs and weights must be finite and weights non-negative")
    if not 0 < epsilon <= MAX_EPSILON:
        raise InputError(f"epsilon must be positive and at most {MAX_EPSILON:g}, got {epsilon!r}")
    half = float(x.max() - x.min()) / 2
    if half == 0:
        raise InputError(f"knots must differ, got only {x[0]!r}")
    middle = float(x.max() + x.min()) / 2
    return _Scaled((x - middle) / half, p, (y - middle) / half, math.exp(epsilon), half)
