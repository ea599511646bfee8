"""The Newton system of the barrier as a matrix: for few knots.

The negative Hessian of sum lam + mu int log F is, with C_k = (c_ik)_i for piece k,

    S = mu sum_k int_k [C_k; Y_k] [C_k; Y_k]^T / F^2  +  sum over rows and their roots r of theta [1; r-x] [1; r-x]^T,

Y_k = (c_ik (y - x_i))_i and theta = (E - 1) mu / (F(r) |g_i'(r)|): what the kinks of F add where a window's end moves.
Four products of (n, K) by (K, n), a Cholesky factorisation of the scaled matrix, one refinement: O(n^2 K).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import Array
from .column_value import ColumnValue


class DenseNewton:
    """S at a point, factorised.

    Raises
    ------
    numpy.linalg.LinAlgError
        Rounding has made S indefinite.
    """

    def __init__(self, F: ColumnValue, mu: float) -> None:
        self.F = F
        n, k = len(F.p), np.arange(F.pieces)
        self.factors = 1 + (F.E - 1) * ((k >= F.start[:, None]) & (k < F.end[:, None]))
        offsets = self.factors * (F.centre - F.x[:, None])
        mass, spread = mu * F.integrals.zero_squared, mu * F.integrals.spread
        zero, one = ((self.factors * mass) @ other.T for other in (self.factors, offsets))
        two = (offsets * mass) @ offsets.T + (self.factors * spread) @ self.factors.T
        S = np.empty((2 * n, 2 * n))
        S[:n, :n], S[:n, n:], S[n:, :n], S[n:, n:] = zero, one, one.T, two
        self.kinks = kinks(F, mu)
        i = np.arange(n)
        for root, theta in self.kinks:
            offset = root - F.x
            S[i, i] += theta
            S[i, n + i] += theta * offset
            S[n + i, i] += theta * offset
            S[n + i, n + i] += theta * offset * offset
        self.S, self.scale = S, 1 / np.sqrt(np.diag(S))
        self.factor = cho_factor(self.scale[:, None] * S * self.scale, check_finite=False)

    def solve(self, sides: Array) -> Array:
        """Return S^-1 of each row of sides (s, 2n)."""
        found = self._once(sides.T)
        return (found + self._once(sides.T - self.S @ found)).T

    def _once(self, sides: Array) -> Array:
        scale = self.scale[:, None]
        return scale * cho_solve(self.factor, scale * sides, check_finite=False)


def kinks(F: ColumnValue, mu: float) -> list[tuple[Array, Array]]:
    """Return (roots, theta) of the left and of the right ends of the windows."""
    return [(root, (F.E - 1) * mu / (value * F.slope)) for root, value in F.at_roots()]
