"""The unbiased mechanism of least largest variance, outputs free, with its certificate and its least favourable prior.

The largest variance, or a mixture of it and the expected one, is the guarantee over the mixtures of the prior and any
other (`MixedSet`), and the worst prior is (1 - w) p + rho. From `MANY` knots on it is found by a barrier over the
output line (`line_path`), in 40 to 100 steps of O(n^3) with no outputs in them; below, and where that does not close
the gap, on the path of `saddle_point`: 40 to 70 steps of O(n^2 m + n^3), where m ends between 8n and 12n.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import Optimum, Progress, Status, check_tolerance
from ..unbiased.optimal_mechanism import CLOSED
from ..unbiased.unbiased_program import Rows, UnbiasedProgram
from ..unbiased.window_rows import stretched_rows, two_outputs
from .line_path import solve_on_the_line
from .minimax_program import MinimaxProgram
from .robust_program import RobustProgram
from .saddle_point import solve_robust
from .sets import MixedSet

Told = Callable[[Progress], None] | None

MANY = 34
"""Knots from which the barrier over the output line is the faster way: at 101 five times as fast."""


def solve_minimax(
    knots: Array,
    ratio: float,
    *,
    prior: Array | None = None,
    share: float = 1.0,
    tolerance: float = 1e-6,
    progress: Told = None,
) -> Optimum[Rows]:
    """Derive the unbiased mechanism of least (1 - w) sum_i p_i V_i + w max_i V_i, outputs free, with its certificate.

    If rounding spoils the path and the two-output mechanism is better, that one is returned, with the same certificate.

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
    best : Optimum of Rows
        At most 3n outputs unless rounding stopped the clean-up. Its value is (1 - w) expected + w largest variance on
        the knots; its bound holds for every unbiased mechanism. Its multipliers rho sum to w. At w = 1 they are the
        least favourable prior, under which the best expected variance is the minimax.

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
    >>> round(best.value, 3), round(duchi - 1, 3)  # Duchi's is optimal at the two ends
    (3.683, 3.683)
    >>> round(wider.value, 3), round(duchi, 3)  # ... but not between them
    (3.988, 4.683)
    """
    weights = np.full(len(knots), 1 / len(knots)) if prior is None else prior
    program = MinimaxProgram(knots, weights, ratio, share)
    mixtures = MixedSet(program.prior, share)
    if len(program.knots) >= MANY:
        found = _on_the_line(program, check_tolerance(tolerance), progress)
        best = None if found is None else _certified(program, found)
        if best is not None and best.status is Status.OPTIMAL:
            return best
    found = solve_robust(RobustProgram(program.knots, ratio, mixtures), tolerance=tolerance, progress=progress)
    return _certified(program, found)


def _on_the_line(program: MinimaxProgram, tolerance: float, progress: Told) -> Optimum[Rows] | None:
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
        made.append(stretched_rows(mixed, found.floor.outputs, found.floor.masses))
    values = [program.objective(program.variances(*rows)) for rows in made]
    best = int(np.argmin(values))
    lam, nu = _around_knots(mixed, found.lam, found.nu)
    proof, seconds = {"worst": mixed.weights, "lam": lam, "nu": nu}, time.perf_counter() - started
    return Optimum(Rows(*made[best]), values[best], 0.0, proof, tolerance, steps, seconds)


def _around_knots(program: UnbiasedProgram, lam: Array, nu: Array) -> tuple[Array, Array]:
    """From multipliers of 1 and y, for p y^2 - lam - nu y, to those of 1 and y - x."""
    x, p = program.knots, program.weights
    return lam + (nu - p * x) * x, nu - 2 * p * x


def _rho(program: MinimaxProgram, weights: Array) -> tuple[Array, UnbiasedProgram]:
    """The worst case's part of a mixed prior, and the program of the mixed prior."""
    rho = np.maximum(weights - (1 - program.share) * program.prior, 0)
    rho *= program.share / rho.sum()
    return rho, program.mixed(rho)


def _certified(program: MinimaxProgram, found: Optimum[Rows]) -> Optimum[Rows]:
    """Return the rows found with value and bound computed from them anew, as the program defines them."""
    worst, lam, nu = (found.multipliers[name] for name in ("worst", "lam", "nu"))
    multipliers = {"rho": _rho(program, worst)[0], "lam": lam, "nu": nu}
    value = program.objective(program.variances(*found.solution))
    return replace(found, value=value, bound=max(0.0, program.bound(**multipliers)), multipliers=multipliers)
