"""The certified optimum over all unbiased mechanisms with free real outputs.

One interior-point path: steps on the present outputs until what they cost (the dual objective minus the certified
bound) is comparable to the complementarity gap, then refined outputs, and on; at the end the outputs are fixed, the
path is followed a little further and the result is cleaned up to a basic mechanism.  Every number returned is
recomputed from the returned mechanism and multipliers.

With n knots about 40 to 140 steps of O(n^2 m + n^3) each, where m ends between 3n and 10n: measured growth is in
docs/benchmarks.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Progress, Status, check_tolerance, relative_gap
from .interior_point import Iterate, newton_step
from .pricing import certified_bound, price
from .program import UnbiasedProgram
from .refinement import refine_outputs
from .sparse_support import sparse_mechanism
from .starting_point import starting_outputs, starting_point
from .window_rows import two_outputs

OUTPUTS_PER_KNOT = 2
"""Starting outputs per knot: coarse, since the refinement decides."""

FIRST_PRICING = 0.1
"""Pricing starts when the complementarity gap is below this share of the objective."""

REFINE_AT = 0.5
"""The outputs are refined when they cost more than this share of the complementarity gap."""

CLOSED = 0.8
"""Share of the tolerance to reach on the path; the rest is room for the clean-up's rounding."""

MAX_STEPS = 400
"""Newton steps allowed; three times what the hardest measured design takes."""


@dataclass(frozen=True, eq=False)
class UnbiasedOptimum:
    """A mechanism, multipliers and the certificate that joins them.

    Attributes
    ----------
    outputs : (k,) ndarray
        Increasing, in the program's scale.
    probabilities : (n, k) ndarray
        Rows sum to one, unbiased, columns within the ratio.
    objective, lower_bound : float
        Expected variance of the mechanism on the knots; certified bound for every unbiased mechanism.
    lam, nu : (n,) ndarray
        The multipliers behind the bound.
    status : Status
        OPTIMAL when the relative gap is within the tolerance asked for.
    steps, refinements : int
    seconds : float
    """

    outputs: Array
    probabilities: Array
    objective: float
    lower_bound: float
    lam: Array
    nu: Array
    status: Status
    steps: int
    refinements: int
    seconds: float

    @property
    def relative_gap(self) -> float:
        """Of objective and lower bound."""
        return relative_gap(self.objective, self.lower_bound)


def solve_unbiased(
    knots: Array,
    weights: Array,
    ratio: float,
    *,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> UnbiasedOptimum:
    """Derive the unbiased mechanism of least expected variance, outputs free, with its certificate.

    Where rounding spoils the interior point (epsilon below about 0.01, where the optimum tends to two outputs)
    the two-output mechanism is returned instead if it is better, with the same certificate.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing, from -1 to 1.
    weights : (n,) ndarray
        Prior weights, non-negative, summing to 1.
    ratio : float
        E = e^epsilon.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each step.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> best = solve_unbiased(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> round(best.objective, 4) == round(((np.e + 1) / (np.e - 1)) ** 2 - 1, 4)   # Duchi is optimal here
    True
    """
    program = UnbiasedProgram(knots, weights, ratio)
    return _Path(program, check_tolerance(tolerance), progress).run()


class _Path:
    """The interior-point path with its best bound."""

    def __init__(self, program: UnbiasedProgram, tolerance: float, progress: Callable[[Progress], None] | None) -> None:
        self.program, self.tolerance, self.progress = program, tolerance, progress
        self.started = time.perf_counter()
        # No multipliers at all certify that no variance is negative.
        self.bound, self.lam, self.nu = 0.0, np.zeros(len(program.knots)), np.zeros(len(program.knots))
        self.steps = self.refinements = 0

    def run(self) -> UnbiasedOptimum:
        outputs = starting_outputs(self.program, max(OUTPUTS_PER_KNOT * len(self.program.knots), 16))
        return self._result(self._close_gap(starting_point(self.program, outputs)))

    def _close_gap(self, it: Iterate) -> Iterate:
        """Return the cheapest iterate of a path that ends with a closed gap, by rounding or after MAX_STEPS."""
        best, cheapest = it, np.inf
        with suppress(SolverError):
            while self.steps < MAX_STEPS:
                gap = it.complementarity
                objective = it.dual_objective + gap
                if objective < cheapest:
                    best, cheapest = it, objective
                if gap < FIRST_PRICING * objective:
                    loss = it.dual_objective - self._improve_bound(it)
                    self._report(it, objective)
                    if relative_gap(objective, self.bound) <= CLOSED * self.tolerance:
                        break
                    if loss > REFINE_AT * gap:
                        it = self._refine(it, gap, loss)
                else:
                    self._report(it, objective)
                it = self._step(it)
        return best

    def _refine(self, it: Iterate, gap: float, loss: float) -> Iterate:
        self.refinements += 1
        return refine_outputs(self.program, it, price(self.program, it.lam, it.nu), gap, loss)

    def _step(self, it: Iterate) -> Iterate:
        self.steps += 1
        after = newton_step(self.program, it)
        if not np.isfinite(after.complementarity):
            raise SolverError("the interior point's step is not finite")
        return after

    def _improve_bound(self, it: Iterate) -> float:
        """Return the certified bound of this iterate's multipliers, keeping the best seen."""
        bound = certified_bound(self.program, it.lam, it.nu)
        if bound > self.bound:
            self.bound, self.lam, self.nu = bound, it.lam, it.nu
        return bound

    def _report(self, it: Iterate, objective: float) -> None:
        if self.progress is not None:
            elapsed = time.perf_counter() - self.started
            self.progress(Progress(self.steps, objective, self.bound, len(it.outputs), elapsed))

    def _result(self, it: Iterate) -> UnbiasedOptimum:
        outputs, P = two_outputs(self.program)
        with suppress(SolverError):
            found = sparse_mechanism(self.program, it.outputs, it.t)
            if self.program.objective(*found) < self.program.objective(outputs, P):
                outputs, P = found
        objective = self.program.objective(outputs, P)
        return UnbiasedOptimum(
            outputs,
            P,
            objective,
            self.bound,
            self.lam,
            self.nu,
            Status.of(relative_gap(objective, self.bound), self.tolerance),
            self.steps,
            self.refinements,
            time.perf_counter() - self.started,
        )
