"""A primal-dual path with outputs refined on the way: for programs of few knots, and for stubborn ones.

Steps on the present outputs until what they cost (the dual objective minus the certified bound) is comparable to the
complementarity gap, then refined outputs, and on. It needs no barrier over the line and few conditions, and its steps
cost O(n^2 m + n^3), where the number m of outputs ends between 3n and 10n; about 40 to 140 of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import BestBound, relative_gap
from .interior_point import Iterate, finite, newton_step
from .pricing import certified_bound, price
from .refinement import refine_outputs
from .starting_point import starting_outputs, starting_point
from .unbiased_program import UnbiasedProgram

OUTPUTS_PER_KNOT = 2
"""Starting outputs per knot: coarse, since the refinement decides."""

FIRST_PRICING = 0.1
"""Pricing starts when the complementarity gap is below this share of the objective."""

REFINE_AT = 0.5
"""The outputs are refined when they cost more than this share of the complementarity gap."""

MAX_STEPS = 400
"""Newton steps allowed; three times what the hardest measured design takes."""


class PrimalDualPath(BestBound[tuple[Array, Array]]):
    """The interior-point path with its best bound.

    Parameters
    ----------
    program : UnbiasedProgram
    tolerance : float
        Relative gap at which it ends.
    report : callable
        Called before each step and at the end with the steps so far, the objective, the bound and the outputs.
    """

    def __init__(
        self, program: UnbiasedProgram, tolerance: float, report: Callable[[int, float, float, int], None]
    ) -> None:
        # No multipliers at all certify that no variance is negative.
        super().__init__(None, (np.zeros(len(program.knots)), np.zeros(len(program.knots))))
        self.program, self.tolerance, self.report = program, tolerance, report

    def run(self) -> Iterate:
        """Return the cheapest iterate of a path that ends with a closed gap, by rounding or after MAX_STEPS."""
        outputs = starting_outputs(self.program, max(OUTPUTS_PER_KNOT * len(self.program.knots), 16))
        it = starting_point(self.program, outputs)
        best, cheapest = it, np.inf
        with suppress(SolverError, OverflowError), np.errstate(all="ignore"):  # what is not finite ends the path
            while self.steps < MAX_STEPS:
                gap = it.complementarity
                objective = it.dual_objective + gap
                if objective < cheapest:
                    best, cheapest = it, objective
                near = gap < FIRST_PRICING * objective
                loss = it.dual_objective - self._improve_bound(it) if near else 0.0
                self.report(self.steps, objective, self.bound, len(it.outputs))
                if near and relative_gap(objective, self.bound) <= self.tolerance:
                    break
                if loss > REFINE_AT * gap:
                    it = refine_outputs(self.program, it, price(self.program, it.lam, it.nu), gap, loss)
                self.steps += 1
                it = finite(newton_step(self.program, it))
        return best

    def _improve_bound(self, it: Iterate) -> float:
        """Return the certified bound of this iterate's multipliers, keeping the best seen."""
        return self.improve(certified_bound(self.program, it.lam, it.nu), (it.lam, it.nu))
