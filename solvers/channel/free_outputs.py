"""The least squared error of unbiased reports for any privacy that is a cone, with outputs wherever they are best.

A channel program on a grid of outputs has multipliers that price every output on the line (`line_bound`). Those that
are used stay, those that price out join, and the program is solved again, until the bound over all real outputs is as
near as asked.
"""

from __future__ import annotations

import time
from contextlib import suppress

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Optimum, check_tolerance
from ..cone import Cone
from ..unbiased.unbiased_program import Rows
from .channel_program import ChannelProgram
from .line_bound import LinePrices
from .optimal_table import Solver, solve_channel
from .reach import reach

ROUNDS = 25
"""At most; eight or ten are usual: each finds places to half the distance."""

INNER = 0.2
"""Share of the tolerance that programs on the way may leave."""

SLACK = 0.05
"""Share of the tolerance, of the value, by which the bound may miss the least price on the line."""

FIRST = (41, 201)
"""Outputs of the first grid, at least and at most; between, two for each value."""

BEYOND = 0.25
"""Share of the range that reports need by which the first grid goes farther, to either side."""

MOVING = 0.1
"""Share of the gap by which a round must better the value for unused outputs to be dropped: else the same ones may join
and leave for ever."""

USED = 1e-7
"""Probability from which on an output counts as used."""

SAME = 1e-7
"""Share of the range within which two outputs are one."""

OF_OUTPUTS = ("pairs", "flow")
"""Multipliers that price given outputs alone."""

POLISHING = 3
"""Steps from a place of low price to the output that its column is cheapest at."""


def solve_free_outputs(
    cone: Cone, weights: Array, knots: Array, *, share: float = 0.0, tolerance: float = 1e-6
) -> Optimum[Rows]:
    """Solve for the unbiased table of least squared error over all real outputs.

    Parameters
    ----------
    cone : Cone
        A tree in which each of n values has a node of its own, or of finite log-ratios between few values.
    weights, knots : (n,) ndarray
        Prior weights that sum to one, and increasing values.
    share : float
        Weight of the worst value's error in the objective; the rest is the expected error's.
    tolerance : float
        Relative gap to reach.

    Returns
    -------
    found : Optimum of Rows
        The bound holds for every unbiased table in the cone with any outputs; `LinePrices` proves it again from the
        multipliers.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1, weights that do not fit, or a cone that is none of these.
    SolverError
        No table was found. Once a table is found, lost precision leaves its gap open.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.channel import solve_free_outputs
    >>> from optldp.solvers.cone import line
    >>> x = np.linspace(-1, 1, 5)
    >>> found = solve_free_outputs(line(x, 2.0), np.full(5, 0.2), x)
    >>> found.gap < 1e-6, bool(np.allclose(found.solution.probabilities @ found.solution.outputs, x))
    (True, True)
    """
    started = time.perf_counter()
    check_tolerance(tolerance)
    run = _Run(cone, np.asarray(weights, dtype=np.float64), np.asarray(knots, dtype=np.float64), share, tolerance)
    try:
        for _ in range(ROUNDS):
            if run.round():
                break
        run.fewer()
    except SolverError:
        if not run.proof:
            raise
    used = run.table.any(axis=0)
    rows, seconds = Rows(run.outputs[used], run.table[:, used]), time.perf_counter() - started
    return Optimum(rows, run.value, run.bound, run.proof, tolerance, run.steps, seconds, run.solver)


class _Run:
    """The best table and the best bound so far."""

    def __init__(self, cone: Cone, weights: Array, knots: Array, share: float, tolerance: float) -> None:
        self.cone, self.weights, self.knots, self.share, self.tolerance = cone, weights, knots, share, tolerance
        self.solver: Solver = "tree" if cone.tree is not None else "graph"  # vertices, of HiGHS, price badly
        low, high = reach(cone, knots)
        self.width = high - low
        more = BEYOND * self.width
        self.asked = np.linspace(low - more, high + more, int(np.clip(2 * len(knots), *FIRST)))
        self.outputs, self.table = self.asked, np.zeros((len(knots), 0))
        self.value, self.bound, self.steps = np.inf, -np.inf, 0
        self.proof: dict[str, Array] = {}

    @property
    def closed(self) -> bool:
        return self.value - self.bound <= self.tolerance * abs(self.value)

    def solved(self, outputs: Array) -> Optimum[Array]:
        """Solve on these outputs and keep the table if it is better."""
        program = ChannelProgram.unbiased(self.cone, self.weights, self.knots, outputs, self.share)
        found = solve_channel(program, tolerance=INNER * self.tolerance, solver=self.solver)
        self.steps += found.steps
        if found.value < self.value:
            self.outputs, self.table, self.value = outputs, found.solution, found.value
        return found

    def round(self) -> bool:
        """Solve on the outputs asked for, price the line, and ask for those that are used and those that price out.

        Returns
        -------
        done : bool
            The gap is as asked for, or the next round would be the same.
        """
        before, found = self.value, self.solved(self.asked)
        proof = {name: each for name, each in found.multipliers.items() if name not in OF_OUTPUTS}
        prices = LinePrices(self.cone, self.weights, self.knots, self.share, **proof)
        line = prices.over_the_line(SLACK * self.tolerance * abs(found.value))
        if line.bound > self.bound:
            self.bound, self.proof = line.bound, proof
        cheap = line.minima
        for _ in range(POLISHING):
            cheap = prices.best_of(prices.at(cheap)[1])
        moving = before - self.value > MOVING * (self.value - self.bound)
        kept = self.asked[found.solution.max(0) > USED] if moving else self.asked
        every = np.unique(np.r_[kept, cheap, self.asked[[0, -1]]])
        asked = every[np.r_[True, np.diff(every) > SAME * self.width]]
        still, self.asked = np.array_equal(asked, self.asked), asked
        return self.closed or still

    def fewer(self) -> None:
        """Put outputs that are nearly one into one, if the table is then as good as asked.

        Two at a distance h cost at most h^2 / 4 less than the one between them, as much as the tolerance at this h.
        """
        used = self.table.max(0) > USED
        outputs, masses = self.outputs[used], self.weights @ self.table[:, used]
        near = 2 * np.sqrt(self.tolerance * abs(self.value))
        for apart in (near, near / 4):
            group = np.cumsum(np.r_[0.0, np.diff(outputs)] > apart)
            merged = np.bincount(group, masses * outputs) / np.bincount(group, masses)
            merged[[0, -1]] = outputs[[0, -1]]
            best = self.outputs, self.table, self.value
            self.value = np.inf
            with suppress(SolverError):  # too few
                self.solved(merged)
            if self.closed:
                return
            self.outputs, self.table, self.value = best
