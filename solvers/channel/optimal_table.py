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
from .channel_program import ChannelProgram
from .graph_program import GraphProgram, near
from .highs import solve_with_highs
from .interior_point import interior_point, mended
from .repair import repaired
from .thinning import thinned
from .tree_program import Point, TreeProgram

Solver = Literal["choose", "tree", "graph", "highs"]

WITHIN = 0.5
"""Share of the tolerance that the interior point may leave: the rest is for outputs that are left out, and repair."""

LARGE, HOPELESS = 2**14, 2**17
"""Rows that HiGHS solves in a few seconds; and from which on its patience is in vain."""

ROUGH = 5e-3
"""Relative gap that is small enough where rows are left out: what all rows cost in the end is more."""

FAR = 0.1
"""What a table may be changed by where rows were left out."""

PATIENCE = 60.0
"""Seconds that HiGHS has to better a table whose gap the interior point has left open."""


def solve_channel(program: ChannelProgram, *, tolerance: float = 1e-6, solver: Solver = "choose") -> Optimum[Array]:
    """Solve the channel program.

    Parameters
    ----------
    program : ChannelProgram
    tolerance : float
        Relative gap to reach.
    solver : {"choose", "tree", "graph", "highs"}
        "tree": the interior point for cones that are trees in which every value has a node of its own. "highs": rows
        to HiGHS. "graph": an interior point with a matrix for each output, for large cones of any other form. Of many
        rows it takes the nearest alone. By default "tree" where it applies, and "highs" where that fails or leaves the
        gap open. "highs" also solves infinite ratios, since its zeros are exact.

    Returns
    -------
    found : Optimum of (n, m) ndarray
        The table: its columns are in the cone and its rows sum to one, to rounding; unbiased reports deviate by a
        billionth of the range at most. The bound holds for every table on these outputs. `solver` names the solver.

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
    if solver == "graph":
        return _on_graph(program, tolerance)
    takes = TreeProgram.takes(program)
    finite = np.isfinite(program.cone.closed).all()  # else values may report what others never do
    large = solver == "choose" and _is_large(program)
    if solver == "highs" or (solver == "choose" and not (takes and finite) and not large):
        return _with_highs(program, tolerance)
    if not takes and not large:
        raise InputError("the solver of trees takes cones that are trees with a node for each value: choose HiGHS")
    if solver == "tree":
        return _on_tree(program, tolerance)
    try:
        found = _on_graph(program, tolerance) if large else _on_tree(program, tolerance)
    except SolverError:
        return _with_highs(program, tolerance)
    if found.gap <= tolerance or len(program.cone.logs) * program.losses.shape[1] > HOPELESS:
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


def _is_large(program: ChannelProgram) -> bool:
    """Whether HiGHS would take long, and matrices do not."""
    rows = len(program.cone.logs) * program.losses.shape[1]
    return program.cone.tree is None and rows > LARGE and GraphProgram.takes(program)


def _on_graph(program: ChannelProgram, tolerance: float) -> Optimum[Array]:
    started = time.perf_counter()
    if not GraphProgram.takes(program):
        raise InputError("the solver of graphs takes cones with a node for each value and finite ratios: choose HiGHS")
    few = near(program)
    graph = GraphProgram(few)
    at, steps = interior_point(graph, WITHIN * tolerance if few is program else max(tolerance, ROUGH))
    proof = graph.proof(at)
    if few is program:
        table = repaired(program, mended(graph, at).s[program.cone.places])
    else:
        table = repaired(program, at.s[program.cone.places] / _excess(program, at), most=FAR)
    seconds = time.perf_counter() - started
    bound = program.bound(**proof)
    return Optimum(table, program.value(table), bound, proof, tolerance, steps, seconds, "graph")


def _excess(program: ChannelProgram, at: Point) -> float:
    """The largest sum of a row once its columns are raised into the cone, at least one."""
    raised = program.cone.raised(np.maximum(at.s[program.cone.places], 0.0))
    return max(float(raised.sum(1).max()), 1.0)


def _with_highs(program: ChannelProgram, tolerance: float, time_limit: float | None = None) -> Optimum[Array]:
    started = time.perf_counter()
    raw, proof, steps = solve_with_highs(program, time_limit)
    table = repaired(program, raw)
    seconds = time.perf_counter() - started
    return Optimum(table, program.value(table), program.bound(**proof), proof, tolerance, steps, seconds, "highs")
