"""The optimum of the channel program: an interior point where the cone is a tree, HiGHS elsewhere and where that fails.

Whoever solves it, the table is repaired, its value is the program's, and the bound is proved by the program from the
multipliers alone.
"""

from __future__ import annotations

import time
from typing import Literal

import numpy as np

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from ..certificate import Optimum, check_tolerance
from .highs import solve_with_highs
from .interior_point import interior_point
from .program import ChannelProgram
from .repair import repaired
from .thinning import thinned
from .tree_program import TreeProgram

Solver = Literal["choose", "tree", "highs"]

WITHIN = 0.5
"""Share of the tolerance that the interior point may leave: the rest is for outputs that are left out, and repair."""

PATIENCE = 60.0
"""Seconds that HiGHS has to better a table whose gap the interior point has left open."""


def solve_channel(program: ChannelProgram, *, tolerance: float = 1e-6, solver: Solver = "choose") -> Optimum[Array]:
    """Solve the channel program.

    Parameters
    ----------
    program : ChannelProgram
    tolerance : float
        Relative gap to reach.
    solver : {"choose", "tree", "highs"}
        "tree": the interior point for cones that are trees in which every value has a node of its own. "highs": rows
        to HiGHS. By default the first where it can, and the second where that fails or leaves the gap open, and where
        ratios may be infinite: its zeros are zeros.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        The table: its columns are in the cone and its rows sum to one, to rounding; unbiased reports deviate by a
        billionth of the range at most. The bound holds for every table on these outputs. `solver` says whose it is.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1, or a cone that is no tree for the solver of trees.
    SolverError
        No table was found, or none whose reports are unbiased.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.channel import ChannelProgram, solve_channel
    >>> from optldp.solvers.cone import line
    >>> x = np.linspace(0, 1, 5)
    >>> found = solve_channel(ChannelProgram(line(x, 4.0), np.full(5, 0.2), abs(x - x[:, None])))
    >>> round(found.value, 6), found.status.value, found.solver
    (0.145876, 'optimal', 'tree')
    """
    check_tolerance(tolerance)
    takes = TreeProgram.takes(program)
    finite = np.isfinite(program.cone.closed).all()  # else values may report what others never do
    if solver == "highs" or (solver == "choose" and not (takes and finite)):
        return _with_highs(program, tolerance)
    if not takes:
        raise InputError("the solver of trees takes cones that are trees with a node for each value: choose HiGHS")
    if solver == "tree":
        return _on_tree(program, tolerance)
    try:
        found = _on_tree(program, tolerance)
    except SolverError:
        return _with_highs(program, tolerance)
    if found.gap <= tolerance:
        return found
    try:
        other = _with_highs(program, tolerance, PATIENCE)
    except SolverError:
        return found
    return min(found, other, key=lambda one: one.gap)


def _on_tree(program: ChannelProgram, tolerance: float) -> Optimum[Array]:
    started, tree = time.perf_counter(), TreeProgram(program)
    at, steps = interior_point(tree, WITHIN * tolerance)
    proof = tree.proof(at)
    bound = program.bound(**proof)
    table = thinned(tree, at, bound + tolerance * abs(bound), tolerance)
    seconds = time.perf_counter() - started
    return Optimum(table, program.value(table), bound, proof, tolerance, steps, seconds, "tree")


def _with_highs(program: ChannelProgram, tolerance: float, time_limit: float | None = None) -> Optimum[Array]:
    started = time.perf_counter()
    raw, proof, steps = solve_with_highs(program, time_limit)
    table = repaired(program, raw)
    seconds = time.perf_counter() - started
    return Optimum(table, program.value(table), program.bound(**proof), proof, tolerance, steps, seconds, "highs")
