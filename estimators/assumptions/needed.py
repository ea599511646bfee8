"""How many people must be exempt from an assumption for weights to meet it: measured on earlier years."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...solvers.linear_program import LinearProgram, solve_linear_program
from .base import Assumption


def exempt_needed(assumption: Assumption, knots: np.ndarray, weights: np.ndarray) -> float:
    r"""Return the least share of people whom an assumption must exempt for weights to meet it.

    It is the total variation distance of the weights from the class; weights of few people add chance to it.

    Parameters
    ----------
    assumption : Assumption
        Its own share of exempt people does not count.
    knots, weights : (K,) ndarray of float

    Returns
    -------
    share : float
        In [0, 1].

    Raises
    ------
    InputError
        Knots that the assumption does not fit.
    SolverError
        No weights meet the assumption.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.assumptions.needed import exempt_needed
    >>> from optldp.estimators.assumptions.shapes import Monotone
    >>> round(exempt_needed(Monotone(1.0), np.arange(4.0), np.array([0.1, 0.2, 0.6, 0.1])), 3)
    0.2
    """
    rows, k = assumption.rows(knots), knots.size
    one = sparse.eye_array(k)
    # u of the class and d >= weights - u, least \sum d: what is taken away is as much as what is added.
    matrix = sparse.csc_array(
        sparse.block_array([[sparse.csr_array(rows), None], [one, one], [sparse.csr_array(np.ones((1, k))), None]])
    )
    free = np.full(len(rows) + k, np.inf)
    program = LinearProgram(
        np.concatenate([np.zeros(k), np.ones(k)]),
        matrix,
        np.concatenate([np.zeros(len(rows)), weights / weights.sum(), [1.0]]),
        np.concatenate([free, [1.0]]),
        np.zeros(2 * k),
        np.full(2 * k, np.inf),
    )
    return min(1.0, max(0.0, solve_linear_program(program).objective))
