"""The Newton system of the barrier without its matrix: for many knots, O(n) to factorise.

S d = b (`dense_newton`) is the least value of a quadratic in few and local unknowns. With d = (dlam, dnu) and l_i =
dlam_i - x_i dnu_i, these are per row the changes a, b of g_i / p_i at its two roots (a p_i = l_i + r_i dnu_i, b p_i =
l_i + s_i dnu_i), where what the kinks add is diagonal; per piece the sums (alpha, beta)_k = sum_i c_ik (l, dnu)_i,
centred at the mean c_k of y under 1/F^2 so that they are diagonal too, xi_k = (alpha_k + c_k beta_k, beta_k).
Neighbouring pieces differ by one row only,

    (alpha, beta)_k - (alpha, beta)_{k-1} = +-(E - 1) (l, dnu)_{i(k)},

so that the Karush-Kuhn-Tucker matrix has some ten entries per row. The two equations of the first piece, (alpha,
beta)_0 = sum_i base_i (l, dnu)_i, are dense; they stay outside as a border of two columns (Schur complement), since
with them inside the factors fill up.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from ..arrays import Array, Indices
from .column_value import ColumnValue
from .dense_newton import kinks

PIVOTS = 0.1
"""A diagonal entry of this share of its column's largest may be a pivot: between stability and few new entries."""


class SparseNewton:
    """S at a point, factorised through the quadratic program's optimality system.

    Raises
    ------
    RuntimeError
        The matrix is exactly singular.
    """

    def __init__(self, F: ColumnValue, mu: float) -> None:
        self.F = F
        n, K = len(F.p), F.pieces - 1
        self.kinks = kinks(F, mu)
        (self.left, theta_left), (self.right, theta_right) = self.kinks
        self.gap = self.right - self.left
        # Unknowns: a, b of the rows, the pieces' two, and the multipliers of the two equations of each inner edge.
        self.piece = 2 * n
        diagonal = np.concatenate([theta_left, theta_right, mu * F.integrals.zero_squared, mu * F.integrals.spread])
        self.size = len(diagonal) + 2 * K
        self.scale = np.ones(self.size)
        self.scale[: 2 * n] = np.tile(F.p, 2)
        rows, columns, values = self._differences(len(diagonal))
        values = values * self.scale[columns]
        on = np.arange(len(diagonal))
        entries = np.concatenate([diagonal * self.scale[on] ** 2, values, values])
        places = np.concatenate([on, rows, columns]), np.concatenate([on, columns, rows])
        self.matrix = coo_matrix((entries, places), shape=(self.size, self.size)).tocsc()
        self.factor = splu(self.matrix, permc_spec="COLAMD", diag_pivot_thresh=PIVOTS)
        self.border = self._border() * self.scale[:, None]
        self.reached = self.factor.solve(self.border)
        self.schur = self.border.T @ self.reached

    def _differences(self, first: int) -> tuple[Indices, Indices, Array]:
        """Entries (row, column, value) of the equations between neighbouring pieces, from row `first` on."""
        F, n, K = self.F, len(self.F.p), self.F.pieces - 1
        edge, k = F.edges[1:-1], np.arange(1, K + 1)
        one, two = first + k - 1, first + K + k - 1
        sums, slopes = self.piece + k, self.piece + F.pieces + k
        gap, ones = self.gap[F.who], np.ones(K)
        own = np.where(F.growth > 0, F.who, n + F.who)
        entries = [
            (one, sums, ones),
            (one, slopes, edge - F.centre[1:]),
            (one, sums - 1, -ones),
            (one, slopes - 1, F.centre[:-1] - edge),
            (one, own, -F.growth),
            (two, slopes, ones),
            (two, slopes - 1, -ones),
            (two, n + F.who, -F.growth / gap),
            (two, F.who, F.growth / gap),
        ]
        rows = np.concatenate([row for row, _, _ in entries])
        columns = np.concatenate([column for _, column, _ in entries])
        return rows, columns, np.concatenate([value for _, _, value in entries])

    def _border(self) -> Array:
        """The two equations of the first piece (size, 2)."""
        F, n = self.F, len(self.F.p)
        border, base = np.zeros((self.size, 2)), self.F.base / self.gap
        border[self.piece] = 1, 0
        border[self.piece + F.pieces] = -F.centre[0], 1
        border[:n, 0], border[n : 2 * n, 0] = -base * self.right, base * self.left
        border[:n, 1], border[n : 2 * n, 1] = base, -base
        return border

    def solve(self, sides: Array) -> Array:
        """Return S^-1 of each row of sides (s, 2n), refined once."""
        n, gap = len(self.F.p), self.gap[:, None]
        left, right = (self.left - self.F.x)[:, None], (self.right - self.F.x)[:, None]
        of_lam, of_nu = sides.T[:n], sides.T[n:]
        full = np.zeros((self.size, len(sides)))
        full[:n], full[n : 2 * n] = (right * of_lam - of_nu) / gap, (of_nu - left * of_lam) / gap
        full *= self.scale[:, None]
        found, below = self._bordered(full, np.zeros((2, len(sides))))
        missing = full - (self.matrix @ found + self.border @ below)
        found = found + self._bordered(missing, -(self.border.T @ found))[0]
        found *= self.scale[:, None]
        a, b = found[:n], found[n : 2 * n]
        return np.concatenate([(right * a - left * b) / gap, (b - a) / gap]).T

    def _bordered(self, sides: Array, below: Array) -> tuple[Array, Array]:
        found = self.factor.solve(sides)
        multipliers = np.linalg.solve(self.schur, self.border.T @ found - below)
        return found - self.reached @ multipliers, multipliers
