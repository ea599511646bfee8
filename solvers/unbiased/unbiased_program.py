"""The unbiased ratio program: the best unbiased mechanism for a prior, as data.

For knots x_1 < ... < x_n with weights p and a ratio E = e^epsilon > 1, over all real outputs y:

    minimise    sum_i p_i sum_y (y - x_i)^2 P(y | x_i)
    subject to  sum_y P(y | x_i) = 1                        multiplier lambda_i
                sum_y (y - x_i) P(y | x_i) = 0              multiplier nu_i
                t_y <= P(y | x_i) <= E t_y.

The auxiliary floor t_y replaces the n(n-1) pairwise ratio constraints of every output; it is exact.  The
objective is written around the knots: under unbiasedness it is the expected variance, without the cancellation
of E[Y^2] - x^2.

Dual: g_i(y) = p_i (y - x_i)^2 - lambda_i - nu_i (y - x_i), and F(y) = sum_i min(g_i(y), E g_i(y)) >= 0 for all y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array

PRIOR_SHARE = 0.5
"""Barrier weights mix the prior with 1/n in this share: neither a rare knot nor a common one stalls the method."""

LEAST_WEIGHT = 1e-100
"""Weights below it count as zero: bounds stay valid, objectives lose nothing, and squares of roots do not overflow."""

ROUNDING = 1e-9
"""How far knots may lie outside [-1, 1], and the sum of weights from 1."""


class Rows(NamedTuple):
    """Solution of a program of free outputs: the outputs, and a row of probabilities for each knot.

    Attributes
    ----------
    outputs : (k,) ndarray
        Increasing, in the program's scale.
    probabilities : (n, k) ndarray
        Rows sum to one, columns are within the ratio.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import solve_unbiased
    >>> outputs, P = solve_unbiased(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e).solution
    >>> outputs.round(4), P.round(4)
    (array([-2.164,  2.164]), array([[0.7311, 0.2689],
           [0.2689, 0.7311]]))
    """

    outputs: Array
    probabilities: Array


@dataclass(frozen=True, eq=False)
class UnbiasedProgram:
    """Knots, weights and ratio.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing inputs, n >= 2, scaled to [-1, 1].
    weights : (n,) ndarray
        Prior weights, non-negative, summing to 1.
    ratio : float
        E = e^epsilon > 1, the largest ratio of two entries of a column.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers import UnbiasedProgram
    >>> program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), np.e)
    >>> program.knots, program.weights
    (array([-1.,  1.]), array([0.5, 0.5]))
    """

    knots: Array
    weights: Array
    ratio: float

    def __post_init__(self) -> None:
        x, p = (np.array(a, dtype=np.float64) for a in (self.knots, self.weights))
        if x.ndim != 1 or len(x) < 2 or p.shape != x.shape:
            raise InputError(f"a program must have n >= 2 knots and n weights, got {x.shape} and {p.shape}")
        if not (np.all(np.diff(x) > 0) and np.abs(x[[0, -1]]).max() <= 1 + ROUNDING):
            raise InputError(
                f"knots must increase within [-1, 1], got {len(x)} from {x[0]:g} to {x[-1]:g}: scale the domain"
            )
        if not (np.all(p >= 0) and abs(p.sum() - 1) <= ROUNDING):
            raise InputError(
                f"weights must be non-negative and sum to 1, got a sum of {p.sum():.15g} and a least of {p.min():g}"
            )
        if not 1 < self.ratio < math.inf:
            raise InputError(f"the ratio e^epsilon must be finite and above 1, got {self.ratio!r}")
        p[p < LEAST_WEIGHT] = 0
        for name, value in (("knots", x), ("weights", p)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def barrier_weights(self) -> Array:
        """Weights w_i > 0, summing to 1, of the complementarity products of each row."""
        return PRIOR_SHARE * self.weights + (1 - PRIOR_SHARE) / len(self.knots)

    def offsets(self, outputs: Array) -> Array:
        """Return y - x_i, (n, m)."""
        return outputs[None, :] - self.knots[:, None]

    def reduced_costs(self, offsets: Array, lam: Array, nu: Array) -> Array:
        """Return g_i(y), (n, m), for offsets y - x_i."""
        return (self.weights[:, None] * offsets - nu[:, None]) * offsets - lam[:, None]

    def column_values(self, g: Array) -> Array:
        """Return F(y) = sum_i min(g_i, E g_i), (m,)."""
        return np.minimum(g, self.ratio * g).sum(0)

    def objective(self, outputs: Array, probabilities: Array) -> float:
        """Return sum_i p_i sum_y (y - x_i)^2 P[i, y]."""
        return float(self.weights @ variances(self.knots, outputs, probabilities))


def variances(knots: Array, outputs: Array, probabilities: Array) -> Array:
    """Return V_i = sum_y (y - x_i)^2 P[i, y], (n,): of unbiased rows their variances, of others squared errors."""
    return ((outputs - knots[:, None]) ** 2 * probabilities).sum(1)
