"""The unbiased mechanism of least largest variance, outputs free, with its certificate and its least favourable prior.

The largest variance, or a mixture of it and the expected one, is the guarantee over the mixtures of the prior and any
other (`MixedSet`): the path is that of `optimum`, and the worst prior it ends with is (1 - w) p + rho.

Measured at 101 knots: 40 to 70 steps of O(n^2 m + n^3), where m ends between 8n and 12n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..certificate import Progress, Status, relative_gap
from .minimax_program import MinimaxProgram
from .optimum import RobustOptimum, solve_robust
from .program import RobustProgram
from .sets import MixedSet


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
    program = MinimaxProgram(knots, weights, ratio, share)
    mixtures = MixedSet(program.prior, share)
    found = solve_robust(RobustProgram(program.knots, ratio, mixtures), tolerance=tolerance, progress=progress)
    return _certified(program, mixtures, found, tolerance)


def _certified(program: MinimaxProgram, mixtures: MixedSet, found: RobustOptimum, tolerance: float) -> MinimaxOptimum:
    """Return the mechanism found with objective and bound computed from it anew, as the program defines them."""
    rho = np.maximum(found.worst_prior - mixtures.base, 0)
    rho *= program.share / rho.sum()
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
