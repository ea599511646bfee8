"""The channel program as HiGHS gets it: any cone, by its few rows."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from ..arrays import Array
from ..linear_program import LinearProgram, solve_linear_program
from .channel_program import ChannelProgram


def solve_with_highs(program: ChannelProgram, time_limit: float | None = None) -> tuple[Array, dict[str, Array], int]:
    """Return HiGHS's table (n, m), which is off by its tolerances, multipliers for the program's bound, and steps.

    Raises
    ------
    SolverError
        It found none, or not within so many seconds.
    """
    solved = solve_linear_program(lowered(program), time_limit=time_limit or math.inf)
    n, m = program.losses.shape
    nodes = solved.x[: program.cone.nodes * m].reshape(program.cone.nodes, m)
    duals = solved.row_duals[: n * _kinds(program)].reshape(-1, n)
    proof = {"lam": duals[0]}
    if program.deviations is not None:
        each = program.deviations.shape[:-1]
        proof["nu"] = duals[1 : 1 + math.prod(each[:-1])].reshape(each)
    if program.share:
        proof["worst"] = -duals[-1]
    return nodes[program.cone.places], proof, solved.iterations


def _kinds(program: ChannelProgram) -> int:
    """How many rows each value has: that it sums to one, is unbiased, is not worse than the worst."""
    unbiased = 0 if program.deviations is None else math.prod(program.deviations.shape[:-2])
    return 1 + unbiased + (program.share > 0)


def lowered(program: ChannelProgram) -> LinearProgram:
    """Return rows of values first, then those of the cone; columns node by node, then the worst loss."""
    cone, (n, m) = program.cone, program.losses.shape
    place = sparse.csr_array((np.ones(n), (np.arange(n), cone.places)), (n, cone.nodes))

    def per_value(factors: Array) -> sparse.csr_array:
        each = sparse.csr_array((factors.ravel(), np.arange(n * m), np.arange(0, n * m + 1, m)), (n, n * m))
        return sparse.csr_array(each @ sparse.kron(place, sparse.eye_array(m)))

    blocks, low, high = [per_value(np.ones((n, m)))], [np.ones(n)], [np.ones(n)]
    if program.deviations is not None:
        for deviations in program.deviations.reshape(-1, n, m):
            blocks.append(per_value(deviations))
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
