"""The minimax program on given outputs as a plain linear program, solved by HiGHS through scipy."""

import numpy as np
from optldp.solvers import MinimaxProgram
from scipy import sparse
from scipy.optimize import linprog

FEASIBILITY = 1e-10
"""What HiGHS is asked for; the optima are compared to 1e-7."""


def minimax_with_highs(program: MinimaxProgram, outputs: np.ndarray) -> float:
    """Return the optimum; unknowns P row by row, floors t, tau, and every constraint as in the program's text."""
    n, m = len(program.knots), len(outputs)
    offsets = outputs - program.knots[:, None]
    rows = sparse.kron(sparse.eye_array(n), np.ones((1, m)), format="csr")
    every = sparse.kron(np.ones((n, 1)), sparse.eye_array(m), format="csr")
    square = rows @ sparse.diags_array(offsets.ravel() ** 2)
    none = sparse.csr_array((n * m, 1))
    equations = sparse.hstack(
        [sparse.vstack([rows, rows @ sparse.diags_array(offsets.ravel())]), sparse.csr_array((2 * n, m + 1))]
    )
    entries = sparse.eye_array(n * m)
    bounds = sparse.vstack(
        [
            sparse.hstack([-entries, every, none]),
            sparse.hstack([entries, -program.ratio * every, none]),
            sparse.hstack([square, sparse.csr_array((n, m)), -np.ones((n, 1))]),
        ]
    )
    cost = np.concatenate(
        [(1 - program.share) * (program.prior[:, None] * offsets**2).ravel(), np.zeros(m), [program.share]]
    )
    found = linprog(
        cost,
        A_ub=sparse.csc_array(bounds),
        b_ub=np.zeros(2 * n * m + n),
        A_eq=sparse.csc_array(equations),
        b_eq=np.repeat([1.0, 0.0], n),
        options={"primal_feasibility_tolerance": FEASIBILITY, "dual_feasibility_tolerance": FEASIBILITY},
    )
    assert found.status == 0, found.message
    return float(found.fun)
