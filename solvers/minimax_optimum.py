"""The unbiased mechanism of least largest variance, outputs free, with its certificate and its least favourable prior.

One interior-point path as in `unbiased_optimum`, with `minimax_newton` for the steps: steps on the present outputs
until what they cost is comparable to the complementarity gap, then refined outputs, and on.  Refinement, pricing and
certificate are those of the unbiased ratio program under the mixed prior of the moment.  For a given floor the window
rows have the least variance at every knot at once (`window_rows`), so the end is theirs too.

Measured at 101 knots: 40 to 70 steps of O(n^2 m + n^3), where m ends between 8n and 12n.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ..mechanisms.errors import SolverError
from .exact_pricing import price
from .minimax_newton import MinimaxIterate, minimax_step
from .minimax_program import MinimaxProgram
from .minimax_support import sparse_minimax
from .output_refinement import refine_outputs
from .starting_point import starting_outputs, starting_point
from .unbiased_optimum import CLOSED, FIRST_PRICING, OUTPUTS_PER_KNOT, REFINE_AT, Progress, Status
from .unbiased_program import Array
from .window_rows import two_outputs

MAX_STEPS = 400
"""Newton steps allowed; four times what the hardest measured design takes."""

HEADROOM = 1.1
"""The path starts with tau this many times the largest variance."""


@dataclass(frozen=True, eq=False)
class MinimaxOptimum:
    """A mechanism, multipliers and the certificate that joins them.

    Attributes
    ----------
    outputs : (k,) ndarray
        Increasing, in the program's scale; at most 3n unless rounding stopped the clean-up.
    probabilities : (n, k) ndarray
        Rows sum to one, unbiased, columns within the ratio.
    variances : (n,) ndarray
        At the knots.
    objective, lower_bound : float
        (1 - w) expected + w largest variance on the knots; certified bound for every unbiased mechanism.
    rho, lam, nu : (n,) ndarray
        The multipliers behind the bound; rho sums to w.
    status : Status
        OPTIMAL when the relative gap is within the tolerance asked for.
    steps, refinements : int
    seconds : float
    """

    outputs: Array
    probabilities: Array
    variances: Array
    objective: float
    lower_bound: float
    rho: Array
    lam: Array
    nu: Array
    status: Status
    steps: int
    refinements: int
    seconds: float

    @property
    def relative_gap(self) -> float:
        """(objective - lower bound) / objective."""
        return (self.objective - self.lower_bound) / self.objective

    @property
    def least_favourable(self) -> Array:
        """The weights rho / w, (n,): at w = 1 the prior under which the best expected variance is the minimax."""
        return self.rho / self.rho.sum()


def solve_minimax(
    knots: Array,
    ratio: float,
    *,
    prior: Array | None = None,
    share: float = 1.0,
    tolerance: float = 1e-6,
    progress: Callable[[Progress], None] | None = None,
) -> MinimaxOptimum:
    """Derive the unbiased mechanism of least (1 - w) sum_i p_i V_i + w max_i V_i, outputs free, with its certificate.

    Where rounding spoils the interior point the two-output mechanism is returned instead if it is better, with the
    same certificate.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing, from -1 to 1.
    ratio : float
        E = e^epsilon.
    prior : (n,) ndarray, optional
        Weights p of the expected variance, summing to 1; even where not given.
    share : float
        w, in (0, 1]; 1 is the worst case alone, for 0 see `solve_unbiased`.
    tolerance : float
        Relative gap to reach.
    progress : callable, optional
        Called after each step.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Source: linear programming duality; least favourable priors: Wald (1950), "Statistical decision functions".

    Example
    -------
    >>> import numpy as np
    >>> best = solve_minimax(np.array([-1.0, 1.0]), np.e)
    >>> round(best.objective, 4) == round(((np.e + 1) / (np.e - 1)) ** 2 - 1, 4)   # Duchi is optimal at the two ends
    True
    >>> wider = solve_minimax(np.linspace(-1, 1, 9), np.e)
    >>> best.objective < wider.objective < ((np.e + 1) / (np.e - 1)) ** 2   # ... but not between them
    True
    """
    weights = np.full(len(knots), 1 / len(knots)) if prior is None else prior
    return _Path(MinimaxProgram(knots, weights, ratio, share), tolerance, progress).run()


class _Path:
    """The interior-point path with its best bound."""

    def __init__(self, program: MinimaxProgram, tolerance: float, progress: Callable[[Progress], None] | None) -> None:
        self.program, self.tolerance, self.progress = program, tolerance, progress
        self.started = time.perf_counter()
        n = len(program.knots)
        # Without multipliers of the rows any prior certifies that no variance is negative.
        self.bound, self.multipliers = 0.0, (np.full(n, program.share / n), np.zeros(n), np.zeros(n))
        self.steps = self.refinements = 0

    def run(self) -> MinimaxOptimum:
        program = self.program
        rho = self.multipliers[0]
        mixed = program.mixed(rho)
        point = starting_point(mixed, starting_outputs(mixed, max(OUTPUTS_PER_KNOT * len(rho), 16)))
        variances = program.variances(point.outputs, point.probabilities)
        tau = HEADROOM * float(variances.max())
        return self._result(self._close_gap(MinimaxIterate(point, rho, tau - variances, tau)))

    def _close_gap(self, it: MinimaxIterate) -> MinimaxIterate:
        """Return the cheapest iterate of a path that ends with a closed gap, by rounding or after MAX_STEPS."""
        best, cheapest = it, np.inf
        with suppress(SolverError):
            while self.steps < MAX_STEPS:
                gap = it.complementarity
                objective = self._objective(it)
                if objective < cheapest:
                    best, cheapest = it, objective
                if gap < FIRST_PRICING * objective:
                    loss = it.point.dual_objective - self._improve_bound(it)
                    self._report(it, (objective - self.bound) / objective)
                    if objective - self.bound <= CLOSED * self.tolerance * objective:
                        break
                    if loss > REFINE_AT * gap:
                        it = self._refine(it, gap, loss)
                else:
                    self._report(it, 1.0)
                it = self._step(it)
        return best

    def _objective(self, it: MinimaxIterate) -> float:
        return self.program.objective(self.program.variances(it.point.outputs, it.point.probabilities))

    def _refine(self, it: MinimaxIterate, gap: float, loss: float) -> MinimaxIterate:
        """Refine the outputs; what that adds to the variances is left to the next steps to take out of the room."""
        self.refinements += 1
        mixed = self.program.mixed(it.rho)
        pricing = price(mixed, it.point.lam, it.point.nu)
        return replace(it, point=refine_outputs(mixed, it.point, pricing, gap, loss))

    def _step(self, it: MinimaxIterate) -> MinimaxIterate:
        self.steps += 1
        after = minimax_step(self.program, it)
        if not np.isfinite(after.complementarity):
            raise SolverError("the interior point's step is not finite")
        return after

    def _improve_bound(self, it: MinimaxIterate) -> float:
        """Return the certified bound of this iterate's multipliers, keeping the best seen."""
        multipliers = it.rho, it.point.lam, it.point.nu
        bound = self.program.bound(*multipliers)
        if bound > self.bound:
            self.bound, self.multipliers = bound, multipliers
        return bound

    def _report(self, it: MinimaxIterate, gap: float) -> None:
        if self.progress is not None:
            elapsed = time.perf_counter() - self.started
            self.progress(Progress(self.steps, len(it.point.outputs), gap, elapsed))

    def _result(self, it: MinimaxIterate) -> MinimaxOptimum:
        program, rho = self.program, self.multipliers[0]
        outputs, P = two_outputs(program.mixed(rho))
        variances = program.variances(outputs, P)
        with suppress(SolverError):
            found = sparse_minimax(program, it.point.outputs, it.point.t)
            if program.objective(program.variances(*found)) < program.objective(variances):
                (outputs, P), variances = found, program.variances(*found)
        objective = program.objective(variances)
        done = objective - self.bound <= self.tolerance * objective
        return MinimaxOptimum(
            outputs,
            P,
            variances,
            objective,
            self.bound,
            *self.multipliers,
            Status.OPTIMAL if done else Status.GAP_OPEN,
            self.steps,
            self.refinements,
            time.perf_counter() - self.started,
        )
