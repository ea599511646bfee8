"""The unbiased optimum by the barrier: grids from coarse to fine, on each a walk along the path.

Ten to forty Newton steps on the last grid, whatever its size, of O(n) each but for sorting.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Flags
from .grids import grids, refined
from .path import MOST_STEPS, Here, Walk, least_share
from .primal import Floor, floor_at
from .problem import Problem, State, widest_output
from .start import start

NEGLECTED = 2e-8
"""Total weight of inner knots that are left out, in units of 1 - 1/C^2: they can change the optimum by this share."""

KEPT_AT_ENDS = 0.05
"""Share of the neglected weight, over e^{eps/2}, that the ends are given at least: they bind whatever they weigh."""

MOST_BUDGET = 25.0
"""Epsilon beyond which F is lost in its own rounding."""

CLOSE, NEARLY_CENTRED = 1e-2, 5.0
"""A floor is asked for once 2 mu Y is below this share of the bound, and the Newton decrement below the second."""

SHARE_GONE = 10.0
"""And the share of even weights within this factor of its end."""

COARSE, SEES_KNOTS = 0.05, 1.2
"""A coarse walk ends once 2 mu Y is below this share of the bound and F grows so much over half of its pieces."""

EVERY, MOST_LOST, NEAR, PATIENCE = 2, 4, 4.0, 12
"""Of a coarse walk's centred states every second is a start, from the last, until so many that were near enough to the
path, by their Newton decrement, have lost it or made no guess in so many steps."""


@dataclass(frozen=True, eq=False)
class Centre:
    """What the path has led to: multipliers (n,) around the knots, and a floor."""

    lam: Array
    nu: Array
    floor: Floor


Report = Callable[[float, tuple[Array, Array] | None, int], None]


def solve_by_barrier(knots: Array, weights: Array, ratio: float, tolerance: float, report: Report) -> Centre | None:
    """Return the optimum to a relative gap, or None where the path was lost.

    Parameters
    ----------
    knots, weights : (n,) ndarray
        Increasing from -1 to 1; non-negative, summing to one.
    ratio, tolerance : float
        E; relative gap of the floor's expected variance and the dual objective, under weights that leave out knots of
        no weight.
    report : callable
        Called at every point: what the objective is, less at most, whether multipliers, and on how many pieces.
    """
    if math.log(ratio) > MOST_BUDGET:
        return None
    kept = _kept(weights, ratio)
    spare = NEGLECTED * (1 - widest_output(ratio) ** -2)
    p = weights[kept]
    p[[0, -1]] = np.maximum(p[[0, -1]], KEPT_AT_ENDS * spare / math.sqrt(ratio))

    def on_all(values: Array) -> Array:
        every = np.zeros_like(knots)
        every[kept] = values
        return every

    def told(here: Here, last: bool) -> None:
        state = here.state
        multipliers = (on_all(state.lam), on_all(state.nu)) if last else None
        report(here.problem.bound(state) + 2 * state.mu * here.problem.reach, multipliers, here.F.pieces)

    problem = Problem.of(knots[kept], p, ratio)
    walks = _Grids(problem, tolerance, told)
    walks.run()
    if (found := walks.found) is None:
        return None
    # Where a weight was raised, a line keeps the row's parabola where it was, or higher, on the stretch.
    raised = np.maximum(p - weights[kept], 0.0) * problem.reach**2
    return Centre(on_all(found.lam - raised), on_all(found.nu), found.floor)


def _kept(weights: Array, ratio: float) -> Flags:
    """Which knots are not left out: their multipliers are zero, any windows serve them."""
    spare = NEGLECTED * (1 - widest_output(ratio) ** -2)
    inner = np.argsort(weights[1:-1], kind="stable") + 1
    kept = np.ones(len(weights), dtype=bool)
    kept[inner[np.cumsum(weights[inner]) <= spare]] = False
    return kept


class _Grids:
    """Walks on ever finer grids."""

    def __init__(self, problem: Problem, tolerance: float, report: Callable[[Here, bool], None]) -> None:
        self.grids, self.tolerance, self.report = grids(problem), tolerance, report
        self.found: Centre | None = None

    def run(self) -> None:
        """From the coarsest to the last; what it leads to is `found`."""
        centred: list[State] = []
        coarse = None
        for problem in self.grids:
            done = self._closed if problem is self.grids[-1] else self._close_enough
            centred = self._walk(problem, coarse, centred, done)
            coarse = problem

    def _walk(
        self, problem: Problem, coarse: Problem | None, centred: list[State], done: Callable[[Here], bool]
    ) -> list[State]:
        """Walk to where it is done, from a coarse grid's states or from nothing; return its states, none where lost."""
        if coarse is not None:
            lost = 0
            for state in centred[::-EVERY]:
                walk = Walk(problem, refined(coarse, state, problem))
                if self._arrives(walk, done, patience=PATIENCE, nearest=NEAR):
                    return walk.centred
                lost += walk.entered
                if lost == MOST_LOST:
                    break
        if (first := start(problem)) is None:
            return []
        walk = Walk(problem, first)
        return walk.centred if self._arrives(walk, done) else []

    def _arrives(
        self, walk: Walk, done: Callable[[Here], bool], *, patience: int = MOST_STEPS, nearest: float = np.inf
    ) -> bool:
        """Walk, telling of every point."""

        def told(here: Here) -> bool:
            last = here.problem is self.grids[-1]
            self.report(here, last)
            return done(here) and (last or bool(walk.centred))

        return walk.until(told, patience=patience, nearest=nearest)

    def _close_enough(self, here: Here) -> bool:
        """Whether a coarse grid has nothing more to say: F feels its knots."""
        F, mu = here.F, here.state.mu
        gap, bound = 2 * mu * F.reach, here.problem.bound(here.state)
        sees = float(np.median(F.most / F.least)) > SEES_KNOTS
        return gap < COARSE * bound and (sees or gap < self.tolerance * bound)

    def _closed(self, here: Here) -> bool:
        """Whether there is a floor within the tolerance; the best so far is kept."""
        problem, state = here.problem, here.state
        bound = problem.bound(state)
        if not (2 * state.mu * problem.reach < CLOSE * abs(bound) and here.directions.decrement < NEARLY_CENTRED):
            return False
        if state.share > SHARE_GONE * least_share(problem, state) or (floor := floor_at(here)) is None:
            return False
        gap = floor.objective - bound
        if not np.isfinite(gap):
            return False
        self.found = Centre(state.lam, state.nu, floor)
        return gap <= self.tolerance * abs(bound)
