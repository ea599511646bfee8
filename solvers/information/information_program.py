"""The information program: the private table whose reports tell most about values drawn from a prior.

n knots with prior p, a table with columns q_y.  The mutual information of value and report, in nats, is

    I = sum_y phi(q_y),    phi(q) = sum_i p_i q_i ln(q_i / p . q),

and phi is homogeneous and subadditive, so cutting a column into extreme rays of the cone of columns that privacy allows
never hurts: columns are theta c with staircase patterns c in {1, E}^n.  With s = p(S) the mass of the marked knots
S = {i : c_i = E} and z = p . c = 1 + (E - 1) s,

    phi(c) = K (z - 1) - z ln z,    K = E ln E / (E - 1),

so the program is linear: maximise sum_c theta_c phi(c) over theta >= 0 with sum_c theta_c c = 1.

Bound: theta_c z_c are the reports' probabilities and sum to one, so for every lambda, whatever solver it comes from,

    I <= sum(lambda) + max_c (phi(c) - lambda . c) / z_c.                                                          (*)

The maximum over intervals takes O(n^2) by running sums (`interval_bound`); over all 2^n patterns see
`masses`.  lambda = 0 gives a bound for every prior and every number of knots, `most_information`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import entr

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..frequency.frequency_program import ROUNDING, checked_prior

SMALL_EXCESS = 1e-2
"""Of K - 1: below it K - 1 - ln K, the difference of nearly equal numbers, is summed as a series. Its square plays that
part for the terms of a table's information, of which fewer are summed."""


@dataclass(frozen=True, eq=False)
class InformationProgram:
    """Prior and ratio.

    Parameters
    ----------
    prior : (n,) array_like
        Non-negative, summing to 1; n >= 2. Zeros are welcome.
    ratio : float
        E = e^epsilon > 1.

    Raises
    ------
    InputError
        Not a prior, or not a ratio.

    Source: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for local differential privacy", theorems 2 and 4.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import InformationProgram
    >>> program = InformationProgram([0.5, 0.5], 3.0)
    >>> round(program.information(np.array([[0.75, 0.25], [0.25, 0.75]])), 6)   # randomised response, epsilon = ln 3
    0.130812
    """

    prior: Array
    ratio: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", checked_prior(self.prior, self.ratio, "knots"))

    @property
    def size(self) -> int:
        """Number of knots n."""
        return len(self.prior)

    @property
    def slope(self) -> float:
        """K = E ln E / (E - 1)."""
        return self.ratio * math.log(self.ratio) / (self.ratio - 1)

    def patterns(self, marks: Array) -> Array:
        """Return the staircase patterns (n, m): E where marked 1, 1 where marked 0."""
        return 1 + (self.ratio - 1) * marks

    def values(self, mass: ArrayLike) -> Array:
        """Return phi of patterns whose marked knots have this mass: E s ln E - z ln z, never negative.

        Example
        -------
        >>> from optldp.solvers import InformationProgram
        >>> InformationProgram([0.5, 0.5], 3.0).values([0.0, 0.5, 1.0]).round(6)
        array([0.      , 0.261624, 0.      ])
        """
        s = np.clip(np.asarray(mass, dtype=np.float64), 0, 1)
        z = 1 + (self.ratio - 1) * s
        return np.maximum(self.ratio * math.log(self.ratio) * s - z * np.log1p((self.ratio - 1) * s), 0)

    def information(self, columns: Array) -> float:
        """Return the mutual information in nats of a table (n, m): H(Y) - H(Y | X), term by term non-negative.

        Columns may hold zeros; those that are zero throughout count nothing.
        """
        means = self.prior @ columns
        excess = np.divide(columns - means, means, out=np.zeros_like(columns), where=means > 0)
        # q ln(q / mean) - q + mean is non-negative for each entry and sums to the same; a series near the mean.
        near = excess**2 * (1 / 2 - excess * (1 / 6 - excess * (1 / 12 - excess / 20)))
        terms = np.where(np.abs(excess) < SMALL_EXCESS**2, near, -entr(1 + excess) - excess)
        return max(0.0, float((self.prior @ terms) @ means))

    @property
    def entropy(self) -> float:
        """Return that of the prior, nats: not even the value itself tells more."""
        return float(entr(self.prior).sum())

    def bound(self, multipliers: Array, worst: float) -> float:
        """Return (*) of this module: the sum of the multipliers and the largest violation, rounding included."""
        size = np.abs(multipliers).sum() + math.log(self.ratio) * self.ratio
        return float(multipliers.sum()) + worst + 8 * self.size * ROUNDING * float(size)


def most_information(epsilon: float) -> float:
    """Return K - 1 - ln K with K = epsilon E / (E - 1): no epsilon-LDP report tells more, in nats, about anything.

    It is (*) at lambda = 0, where the maximum over all masses is at z = K; for small epsilon epsilon^2 / 8.
    A uniform prior comes as near as its knots allow.

    Example
    -------
    >>> round(most_information(1.0), 6), round(most_information(1e-3) / 1e-6, 6)
    (0.123302, 0.125)
    """
    excess = epsilon / -math.expm1(-epsilon) - 1
    if excess < SMALL_EXCESS:
        return sum((-1) ** k * excess**k / k for k in range(2, 9))
    return excess - math.log1p(excess)


def interval_masses(prior: Array) -> Array:
    """Return the masses (n + 1, n + 1) of the intervals [a, b) of knots; of use for a <= b.

    Example
    -------
    >>> interval_masses(np.array([0.25, 0.75]))[0]
    array([0.  , 0.25, 1.  ])
    """
    rising = np.append(0.0, np.cumsum(prior))
    return rising - rising[:, None]


def interval_violation(program: InformationProgram, multipliers: Array) -> float:
    """Return max over intervals c of (phi(c) - lambda . c) / z_c, exactly; the empty interval, all ones, among them."""
    first, last = np.triu_indices(program.size + 1)
    mass = interval_masses(program.prior)[first, last]
    charge = multipliers.sum() + (program.ratio - 1) * interval_masses(multipliers)[first, last]
    return float(((program.values(mass) - charge) / (1 + (program.ratio - 1) * np.clip(mass, 0, 1))).max())


def certified_interval_bound(prior: ArrayLike, ratio: float, lam: ArrayLike) -> float:
    """Return an upper bound on the information of every table whose columns rise to one peak and fall, for any lambda.

    Such a column is a mixture of interval patterns: cut it at every height.

    Parameters
    ----------
    prior : (n,) array_like
    ratio : float
        E = e^epsilon.
    lam : (n,) array_like
        lambda, any numbers.

    Example
    -------
    >>> round(certified_interval_bound([0.5, 0.5], 3.0, [0.0654, 0.0654]), 3)
    0.131
    """
    program = InformationProgram(np.asarray(prior), ratio)
    lam = checked_multipliers(lam, program.size)
    found = program.bound(lam, interval_violation(program, lam))
    return min(found, most_information(math.log(ratio)), program.entropy)


def checked_multipliers(multipliers: ArrayLike, size: int) -> Array:
    """Return multipliers as an array, or raise InputError unless they are one finite number for each knot."""
    lam = np.asarray(multipliers, dtype=np.float64)
    if lam.shape != (size,) or not np.isfinite(lam).all():
        raise InputError(f"multipliers must be {size} finite numbers, got shape {lam.shape}")
    return lam
