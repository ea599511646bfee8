"""The minimax program: the unbiased ratio program with the largest variance in its objective, as data.

For knots x_1 < ... < x_n, a ratio E = e^epsilon > 1, a prior p and a share w in (0, 1], over all unbiased mechanisms
with entries t_y <= P(y | x_i) <= E t_y at any real outputs y (see `unbiased.program`):

    minimise    (1 - w) sum_i p_i V_i + w tau
    subject to  V_i = sum_y (y - x_i)^2 P(y | x_i) <= tau       multiplier rho_i >= 0,  sum rho = w.

At w = 1 this is the least largest variance.  Its Lagrangian is the expected variance under the *mixed prior*
q = (1 - w) p + rho, so for any rho the certified bound of the unbiased ratio program with weights q is a bound here:

    (1 - w) sum p_i V_i + w max V  >=  sum q_i V_i  >=  certified_bound(q, lambda, nu).

The best rho / w is the *least favourable prior*: a designer who knew only it could do no better than the minimax.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..unbiased.pricing import certified_bound
from ..unbiased.unbiased_program import UnbiasedProgram, variances
from .robust_program import ROUNDING


@dataclass(frozen=True, eq=False)
class MinimaxProgram:
    """Knots, prior, ratio and the share of the worst case.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing inputs, n >= 2, scaled to [-1, 1].
    prior : (n,) ndarray
        Weights p, non-negative, summing to 1; without effect where share is 1.
    ratio : float
        E = e^epsilon > 1.
    share : float
        w, in (0, 1].

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import MinimaxProgram
    >>> program = MinimaxProgram(np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3), np.e, 1.0)
    >>> program.share
    1.0
    """

    knots: Array
    prior: Array
    ratio: float
    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError(f"the share of the worst case must lie in (0, 1], got {self.share!r}")
        checked = UnbiasedProgram(self.knots, self.prior, self.ratio)
        object.__setattr__(self, "knots", checked.knots)
        object.__setattr__(self, "prior", checked.weights)

    def mixed(self, rho: Array) -> UnbiasedProgram:
        """Return the unbiased ratio program whose weights are the mixed prior q = (1 - w) p + rho."""
        weights = (1 - self.share) * self.prior + rho
        return UnbiasedProgram(self.knots, weights / weights.sum(), self.ratio)

    def variances(self, outputs: Array, probabilities: Array) -> Array:
        """Return V_i, (n,), of an unbiased mechanism."""
        return variances(self.knots, outputs, probabilities)

    def objective(self, variances: Array) -> float:
        """Return (1 - w) sum_i p_i V_i + w max V."""
        return float((1 - self.share) * (self.prior @ variances) + self.share * variances.max())

    def bound(self, rho: Array, lam: Array, nu: Array) -> float:
        """Return a certified lower bound on the objective of every unbiased mechanism on these knots.

        Parameters
        ----------
        rho : (n,) ndarray
            Multipliers of the variance rows, non-negative with a positive sum; scaled to sum to w.
        lam, nu : (n,) ndarray
            Multipliers of normalisation and unbiasedness under the mixed prior.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.solvers import MinimaxProgram
        >>> program = MinimaxProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3.0)
        >>> round(program.bound(np.array([0.5, 0.5]), np.array([1.5, 1.5]), np.array([-3.0, 3.0])), 9)
        3.0
        """
        program = self.mixed(rho * (self.share / rho.sum()))
        found = certified_bound(program, lam, nu)
        # The weights sum to one up to rounding: what is above one would count the worst case too much.
        return found - abs(found) * ROUNDING * len(rho)
