"""The robust program: the unbiased ratio program for a prior that is known to lie in a set, as data.

For knots x_1 < ... < x_n, a ratio E = e^epsilon > 1 and a closed convex set U of priors, over all unbiased mechanisms
with entries t_y <= P(y | x_i) <= E t_y at any real outputs y (see `unbiased.program`):

    minimise    h(V) = max over q in U of sum_i q_i V_i,      V_i = sum_y (y - x_i)^2 P(y | x_i).

h is what the mechanism guarantees.  One prior makes it the expected variance, all priors make it the largest variance.
For any q in U the certified bound of the unbiased ratio program with weights q is a bound here:

    h(V)  >=  sum q_i V_i  >=  certified_bound(q, lambda, nu).

The best such q is the *worst prior* of U: mechanisms form a convex set, for a mixture of two is one, and U is convex
and compact, so by Sion's theorem the least guarantee is the largest over q in U of the best expected variance under q.

Source: Sion (1958), "On general minimax theorems"; Wald (1950).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..unbiased.pricing import certified_bound
from ..unbiased.unbiased_program import UnbiasedProgram, variances
from .sets import PriorSet

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative rounding of the sum of n weights, per weight; what the bound gives up to be safe from it."""


@dataclass(frozen=True, eq=False)
class RobustProgram:
    """Knots, ratio and the set of priors.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing inputs, n >= 2, scaled to [-1, 1].
    ratio : float
        E = e^epsilon > 1.
    priors : PriorSet
        On these knots, in their scale.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import RobustProgram
    >>> from optldp.solvers.robust.sets import MovedSet
    >>> program = RobustProgram(np.array([-1.0, 0.0, 1.0]), np.e, MovedSet(np.full(3, 1 / 3), 0.1))
    >>> program.priors.radius
    0.1
    """

    knots: Array
    ratio: float
    priors: PriorSet

    def __post_init__(self) -> None:
        checked = UnbiasedProgram(self.knots, self.priors.some_prior, self.ratio)
        object.__setattr__(self, "knots", checked.knots)

    def under(self, prior: Array) -> UnbiasedProgram:
        """Return the unbiased ratio program whose weights are this prior."""
        return UnbiasedProgram(self.knots, prior / prior.sum(), self.ratio)

    def variances(self, outputs: Array, probabilities: Array) -> Array:
        """Return V_i, (n,), of an unbiased mechanism."""
        return variances(self.knots, outputs, probabilities)

    def objective(self, variances: Array) -> float:
        """Return h(V), rounded up."""
        return self.priors.largest(variances)[0]

    def bound(self, worst: Array, lam: Array, nu: Array) -> float:
        """Return a certified lower bound on the guarantee of every unbiased mechanism on these knots.

        Parameters
        ----------
        worst : (n,) ndarray
            A prior in the set.
        lam, nu : (n,) ndarray
            Multipliers of normalisation and unbiasedness under it.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.solvers import RobustProgram
        >>> from optldp.solvers.robust.sets import BoxSet
        >>> program = RobustProgram(np.array([-1.0, 1.0]), 3.0, BoxSet(np.full(2, 0.4), np.full(2, 0.6)))
        >>> round(program.bound(np.array([0.5, 0.5]), np.array([1.5, 1.5]), np.array([-3.0, 3.0])), 9)
        3.0
        """
        found = certified_bound(self.under(worst), lam, nu)
        # The prior lies in the set up to rounding: what is outside would count too much.
        return found - abs(found) * ROUNDING * len(worst)
