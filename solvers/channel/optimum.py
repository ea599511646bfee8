"""The optimum of the channel program by HiGHS on the cone's few rows, judged by the program alone."""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Optimum, check_tolerance
from ..linear_program import LinearProgram, solve_linear_program
from .program import ChannelProgram

UNBIASED = 1e-7
"""What reports may be off their values on average, as a share of the largest deviation: HiGHS's own is less."""


def solve_channel(program: ChannelProgram, *, tolerance: float = 1e-6) -> Optimum[Array]:
    """Solve the channel program.

    Parameters
    ----------
    program : ChannelProgram
    tolerance : float
        Relative gap to reach.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        The table: its columns are in the cone and its rows sum to one, to rounding. The bound holds for every table on
        these outputs.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1.
    SolverError
        HiGHS found no table, or none whose reports are unbiased.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.channel import ChannelProgram, solve_channel
    >>> from optldp.solvers.cone import line
    >>> x = np.linspace(0, 1, 5)
    >>> found = solve_channel(ChannelProgram(line(x, 4.0), np.full(5, 0.2), abs(x - x[:, None])))
    >>> round(found.value, 6), found.status.value
    (0.145876, 'optimal')
    """
    started = time.perf_counter()
    check_tolerance(tolerance)
    solved = solve_linear_program(_lowered(program))
    n, m = program.losses.shape
    nodes = solved.x[: program.cone.nodes * m].reshape(program.cone.nodes, m)
    table = _mended(program, nodes[program.cone.places])
    duals = iter(np.split(solved.row_duals[: n * _kinds(program)], _kinds(program)))
    proof = {"lam": next(duals)}
    if program.deviations is not None:
        proof["nu"] = next(duals)
    if program.share:
        proof["worst"] = -next(duals)
    value, seconds = program.value(table), time.perf_counter() - started
    return Optimum(table, value, program.bound(**proof), proof, tolerance, solved.iterations, seconds)


def _kinds(program: ChannelProgram) -> int:
    """How many rows each value has: that it sums to one, is unbiased, is not worse than the worst."""
    return 1 + (program.deviations is not None) + (program.share > 0)


def _lowered(program: ChannelProgram) -> LinearProgram:
    """Rows of values first, then those of the cone; columns node by node, then the worst loss."""
    cone, (n, m) = program.cone, program.losses.shape
    place = sparse.csr_array((np.ones(n), (np.arange(n), cone.places)), (n, cone.nodes))

    def per_value(factors: Array) -> sparse.csr_array:
        each = sparse.csr_array((factors.ravel(), np.arange(n * m), np.arange(0, n * m + 1, m)), (n, n * m))
        return sparse.csr_array(each @ sparse.kron(place, sparse.eye_array(m)))

    blocks, low, high = [per_value(np.ones((n, m)))], [np.ones(n)], [np.ones(n)]
    if program.deviations is not None:
        blocks.append(per_value(program.deviations))
        low.append(np.zeros(n))
        high.append(np.zeros(n))
    if program.share:
        blocks.append(per_value(program.losses))
        low.append(np.full(n, -np.inf))
        high.append(np.zeros(n))
    pairs = len(cone.logs) * m
    blocks.append(sparse.csr_array(sparse.kron(cone.rows, sparse.eye_array(m))))
    low.append(np.zeros(pairs))
    high.append(np.full(pairs, np.inf))
    matrix = sparse.vstack(blocks)
    cost = cone.on_nodes((1 - program.share) * program.weights[:, None] * program.losses).ravel()
    lower = np.zeros(cost.size)
    if program.share:
        worst = np.zeros((n * _kinds(program) + pairs, 1))
        worst[n * (_kinds(program) - 1) : n * _kinds(program)] = -1
        matrix, cost, lower = sparse.hstack([matrix, worst]), np.r_[cost, program.share], np.r_[lower, -np.inf]
    ends = np.concatenate(low), np.concatenate(high)
    return LinearProgram(cost, sparse.csc_array(matrix), *ends, lower, np.full(cost.size, np.inf))


def _mended(program: ChannelProgram, table: Array) -> Array:
    """Return the table with its columns in the cone and its rows one.

    What rows lack is given by a column of all that they lack and as much beside it as puts that into the cone, added to
    the largest column, before all is divided by the one number that rows then sum to.
    """
    cone = program.cone
    raised = cone.raised(np.maximum(table, 0.0))
    apart = cone.closed[(cone.closed > 0) & np.isfinite(cone.closed)]
    lacks = raised.sum(1).max() - raised.sum(1)
    beside = 2 * lacks.max() / np.expm1(apart.min(initial=1.0))
    raised[:, int(raised.sum(0).argmax())] += cone.raised((lacks + beside)[:, None])[:, 0]
    raised /= raised.sum(1).mean()
    if program.deviations is not None:
        off = np.abs((program.deviations * raised).sum(1)).max()
        if off > UNBIASED * np.abs(program.deviations).max():
            raise SolverError(
                f"reports must be unbiased, but HiGHS left them off by {off:.1g}: add outputs farther out"
            )
    return raised
