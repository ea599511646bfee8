"""The unbiased mechanism of least largest variance, outputs free, with its certificate and its least favourable prior.

The largest variance, or a mixture of it and the expected one, is the guarantee over the mixtures of the prior and any
other (`MixedSet`), and the worst prior is (1 - w) p + rho. From `MANY` knots on it is found by a barrier over the
output line (`line_path`), in 40 to 100 steps of O(n^3) with no outputs in them; below, and where that does not close
the gap, on the path of `optimum`: 40 to 70 steps of O(n^2 m + n^3), where m ends between 8n and 12n.
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
from ..unbiased.optimum import CLOSED
from ..unbiased.program import UnbiasedProgram
from ..unbiased.window_rows import stretched_rows, two_outputs
from .line_path import solve_on_the_line
from .minimax_program import MinimaxProgram
from .optimum import RobustOptimum, solve_robust
from .program import RobustProgram
from .sets import MixedSet

Told = Callable[[Progress], None] | None

MANY = 34
"""Knots from which the barrier over the output line is the faster way: at 101 five times as fast."""


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

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_minimax
    >>> best = solve_minimax(np.linspace(-1, 1, 5), np.e)
    >>> round(best.objective, 3), round(best.lower_bound, 3), best.variances.round(3)
    (3.98, 3.98, array([3.98, 3.98, 3.98, 3.98, 3.98]))
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
        """Of objective and lower bound."""
        return relative_gap(self.objective, self.lower_bound)

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
    progress: Told = None,
) -> MinimaxOptimum:
    """Derive the unbiased mechanism of least (1 - w) sum_i p_i V_i + w max_i V_i, outputs free, with its certificate.

    Where rounding spoils the path the two-output mechanism is returned instead if it is better, with the
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

    Returns
    -------
    best : MinimaxOptimum

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Source: linear programming duality; least favourable priors: Wald (1950), "Statistical decision functions".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_minimax
    >>> duchi = ((np.e + 1) / (np.e - 1)) ** 2
    >>> best, wider = solve_minimax(np.array([-1.0, 1.0]), np.e), solve_minimax(np.linspace(-1, 1, 9), np.e)
    >>> round(best.objective, 3), round(duchi - 1, 3)  # Duchi's is optimal at the two ends
    (3.683, 3.683)
    >>> round(wider.objective, 3), round(duchi, 3)  # ... but not between them
    (3.988, 4.683)
    """
    weights = np.full(len(knots), 1 / len(knots)) if prior is None else prior
    program = MinimaxProgram(knots, weights, ratio, share)
    mixtures = MixedSet(program.prior, share)
    if len(program.knots) >= MANY:
        found = _on_the_line(program, check_tolerance(tolerance), progress)
        best = None if found is None else _certified(program, found, tolerance)
        if best is not None and best.status is Status.OPTIMAL:
            return best
    found = solve_robust(RobustProgram(program.knots, ratio, mixtures), tolerance=tolerance, progress=progress)
    return _certified(program, found, tolerance)


def _on_the_line(program: MinimaxProgram, tolerance: float, progress: Told) -> RobustOptimum | None:
    """Return what the barrier over the output line finds, its claims to be judged; None where it was lost."""
    started, steps, shown = time.perf_counter(), 0, 0.0
    x, p, w = program.knots, program.prior, program.share

    def report(value: float, weights: Array, lam: Array, nu: Array, outputs: int) -> None:
        nonlocal steps, shown
        if progress is not None:
            rho, own = _rho(program, weights)
            shown = max(shown, program.bound(rho, *_around_knots(own, lam, nu)))
            progress(Progress(steps, max(value, shown), shown, outputs, time.perf_counter() - started))
        steps += 1

    found = solve_on_the_line(x, p, program.ratio, w, CLOSED * tolerance, report)
    if found is None:
        return None
    _, mixed = _rho(program, found.weights)
    made = [two_outputs(mixed)]
    with suppress(SolverError):
        made.append(stretched_rows(mixed, found.outputs, found.masses))
    outputs, P = min(made, key=lambda rows: program.objective(program.variances(*rows)))
    variances = program.variances(outputs, P)
    lam, nu = _around_knots(mixed, found.lam, found.nu)
    objective, seconds = program.objective(variances), time.perf_counter() - started
    return RobustOptimum(
        outputs, P, variances, objective, 0.0, mixed.weights, lam, nu, Status.GAP_OPEN, steps, 0, seconds
    )


def _around_knots(program: UnbiasedProgram, lam: Array, nu: Array) -> tuple[Array, Array]:
    """From multipliers of 1 and y, for p y^2 - lam - nu y, to those of 1 and y - x."""
    x, p = program.knots, program.weights
    return lam + (nu - p * x) * x, nu - 2 * p * x


def _rho(program: MinimaxProgram, weights: Array) -> tuple[Array, UnbiasedProgram]:
    """The worst case's part of a mixed prior, and the program of the mixed prior."""
    rho = np.maximum(weights - (1 - program.share) * program.prior, 0)
    rho *= program.share / rho.sum()
    return rho, program.mixed(rho)


def _certified(program: MinimaxProgram, found: RobustOptimum, tolerance: float) -> MinimaxOptimum:
    """Return the mechanism found with objective and bound computed from it anew, as the program defines them."""
    rho, _ = _rho(program, found.worst_prior)
    objective = program.objective(found.variances)
    bound = max(0.0, program.bound(rho, found.lam, found.nu))
    return MinimaxOptimum(
        found.outputs,
        found.probabilities,
        found.variances,
        objective,
        bound,
        rho,
        found.lam,
        found.nu,
        Status.of(relative_gap(objective, bound), tolerance),
        found.steps,
        found.refinements,
        found.seconds,
    )
