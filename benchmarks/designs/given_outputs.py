"""The unbiased program on given, even outputs as general solvers get it, each in a process that limits can stop.

Columns s >= 0 (row by row) and t of P = t + s, rows sum_y P = 1, sum_y (y - x_i) P = 0 and s <= (E - 1) t: the smallest
form known, half the rows of the one with t <= P <= E t. Solvers are called directly, so that no modelling is timed.
"""

import importlib

import numpy as np
from measured import memory, timed
from optldp.solvers import UnbiasedProgram, solve_on_outputs
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse

from designs.many_knots import bell

GAP = 1e-6
REACH = 1.6
"""Of the given outputs, in units of (E + 1) / (E - 1): the optimum on the whole line has none beyond."""


def even_outputs(program: UnbiasedProgram, m: int) -> np.ndarray:
    reach = REACH * (program.ratio + 1) / (program.ratio - 1)
    return np.linspace(-reach, reach, m)


def linear_program(program: UnbiasedProgram, outputs: np.ndarray) -> LinearProgram:
    """The program on these outputs (m,): (n + 1) m columns, s and then t; of 2 n + n m rows the 2 n equations first."""
    deviations = outputs - program.knots[:, None]
    n, m = deviations.shape
    sums = sparse.kron(sparse.eye_array(n), np.ones((1, m)), format="csc")
    every = sparse.kron(np.ones((n, 1)), sparse.eye_array(m), format="csc")
    matrix = sparse.block_array(
        [
            [sums, np.ones((n, m))],
            [sums @ sparse.diags_array(deviations.ravel()), deviations],
            [-sparse.eye_array(n * m), (program.ratio - 1) * every],
        ],
        format="csc",
    )
    cost = program.weights[:, None] * deviations**2
    equal = np.r_[np.ones(n), np.zeros(n)]
    return LinearProgram(
        cost=np.r_[cost.ravel(), cost.sum(axis=0)],
        matrix=sparse.csc_array(matrix),
        row_lower=np.r_[equal, np.zeros(n * m)],
        row_upper=np.r_[equal, np.full(n * m, np.inf)],
        lower=np.zeros((n + 1) * m),
        upper=np.full((n + 1) * m, np.inf),
    )


def with_clarabel(lowered: LinearProgram, equations: int) -> float:
    """Return the objective that Clarabel reaches, by its own word to the gap."""
    clarabel = importlib.import_module("clarabel")  # compiled, and without stubs
    rows, columns = lowered.row_lower.size, lowered.cost.size
    sign = np.r_[np.ones(equations), -np.ones(rows - equations)]
    above = -sparse.eye_array(columns, format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_rel = settings.tol_gap_abs = settings.tol_feas = GAP
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix((columns, columns)),
        lowered.cost,
        sparse.csc_matrix(sparse.vstack([sparse.diags_array(sign) @ lowered.matrix, above])),
        np.r_[lowered.row_lower, np.zeros(columns)],
        [clarabel.ZeroConeT(equations), clarabel.NonnegativeConeT(rows - equations + columns)],
        settings,
    )
    solved = solver.solve()
    if str(solved.status) != "Solved":
        raise RuntimeError(f"Clarabel ended with {solved.status}")
    return solved.obj_val


def with_highs(lowered: LinearProgram) -> float:
    """Return the objective of HiGHS's interior point method, without crossover."""
    return solve_linear_program(lowered, solver="ipm", crossover=False, tolerance=GAP).objective


def one(way: str, n: int, m: int) -> dict[str, float]:
    """Processor seconds, the objective and peak megabytes of one way: "Clarabel", "HiGHS", or the library's own."""
    program = bell(n)
    outputs = even_outputs(program, m)
    if way == "Clarabel":
        lowered = linear_program(program, outputs)
        value, seconds = timed(lambda: with_clarabel(lowered, 2 * n))
    elif way == "HiGHS":
        lowered = linear_program(program, outputs)
        value, seconds = timed(lambda: with_highs(lowered))
    else:
        found, seconds = timed(
            lambda: solve_on_outputs(program.knots, program.weights, outputs, program.ratio, tolerance=GAP)
        )
        value = found.value
    return {"value": value, "seconds": seconds, "megabytes": memory("VmHWM")}
