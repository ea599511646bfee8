"""The Newton system of the barrier as a matrix: for few knots.

The negative Hessian of sum lam + mu int log F is, with C_k = (c_ik)_i for piece k,

    S = mu sum_k int_k [C_k; Y_k] [C_k; Y_k]^T / F^2  +  sum over rows and their roots r of theta [1; r-x] [1; r-x]^T,

Y_k = (c_ik (y - x_i))_i and theta = (E - 1) mu / (F(r) |g_i'(r)|): what the kinks of F add where a window's end moves.
Symmetric products of (2n, K) and of (n, K), a Cholesky factorisation of the scaled matrix, one refinement: O(n^2 K).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- made at import

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
        rows = np.empty((2, n, F.pieces))  # in place: memory that is new each time costs more than what is done in it
        np.multiply((k >= F.start[:, None]) & (k < F.end[:, None]), F.E - 1, out=rows[0])
        rows[0] += 1
        np.subtract(F.centre, F.x[:, None], out=rows[1])
        rows[1] *= rows[0]
        spread = rows[0] * np.sqrt(mu * F.integrals.spread)
        rows *= np.sqrt(mu * F.integrals.zero_squared)
        flat = rows.reshape(2 * n, -1)
        S = flat @ flat.T
        S[n:, n:] += spread @ spread.T
        self.kinks = kinks(F, mu)
        i = np.arange(n)
        for root, theta in self.kinks:
            offset = root - F.x
            S[i, i] += theta
            S[i, n + i] += theta * offset
            S[n + i, i] += theta * offset
            S[n + i, n + i] += theta * offset * offset
        self.scale = 1 / np.sqrt(np.diag(S))
        S *= self.scale[:, None]
        S *= self.scale
        self.scaled = S
        self.factor, failed = dpotrf(S.T, clean=0)  # symmetric, and its transpose is in LAPACK's order
        if failed:
            raise np.linalg.LinAlgError("the Newton system is indefinite")

    def solve(self, sides: Array) -> Array:
        """Return S^-1 of each row of sides (s, 2n)."""
        left = (self.scale * sides).T
        found = dpotrs(self.factor, left)[0]
        found += dpotrs(self.factor, left - self.scaled @ found)[0]
        return self.scale * found.T


def kinks(F: ColumnValue, mu: float) -> list[tuple[Array, Array]]:
    """Return (roots, theta) of the left and of the right ends of the windows."""
    return [(root, (F.E - 1) * mu / (value * F.slope)) for root, value in F.at_roots()]
