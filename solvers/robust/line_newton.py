"""The Newton system of the barrier over the output line where weights move along with multipliers.

A row's parabola changes by -d_i(y), d_i(y) = dlam_i + y dnu_i - y^2 dq_i. Written by what it is at the row's two roots
and by the change of its weight with these roots held,

    d_i(y) = a_i (s_i - y)/(s_i - r_i) + b_i (y - r_i)/(s_i - r_i) + e_i (y - r_i)(s_i - y),

the kinks of F at the roots, whose terms grow without bound as a weight vanishes, stand on the diagonal. With C_k =
(c_ik)_i on piece k and theta as in `barrier.dense_newton`, the negative Hessian is

    S = mu sum_k int_k (C_k d)(C_k d)' / F^2 + diag(theta) + diag(barrier of the weights),

the integral a sum of squares: d is taken apart along the polynomials of degree two that are orthogonal under 1/F^2 on
the piece. Sum dq = 0 borders it. The right sides have a large part along that border, the multiplier of sum q = 1; it
is taken out before anything is solved, since S hardly resists it and it would drown the rest in rounding.

For knots and weights that are symmetric about zero half of the rows and of the pieces say all.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- made at import

from ..arrays import Array
from ..barrier.column_value import FAR, ColumnValue
from ..barrier.dense_newton import kinks
from .line_moments import squared_moments

SHIFT, MORE, LARGEST = 1e-15, 30.0, 1e-9
"""First shift of the scaled matrix's diagonal, what it grows by where the factorisation fails, and where it ends."""

REFINEMENTS = 3
"""Solutions added up, each for what the ones before have left: by the squares, whose rounding S resists."""


class LineNewton:
    """S at a point, factorised.

    Parameters
    ----------
    F : ColumnValue
    mu : float
    of_weights : (n,) ndarray
        What the barrier of the weights adds to the diagonal.
    mirrored : bool
        Whether everything is symmetric about zero, to the last digit.

    Attributes
    ----------
    moments : Moments
        Of 1/F^2.
    parts : (3, K + 1) ndarray
        The first move that `solve` returned, along the orthogonal polynomials of every piece.

    Raises
    ------
    numpy.linalg.LinAlgError
        Rounding has made S indefinite.
    """

    def __init__(self, F: ColumnValue, mu: float, of_weights: Array, mirrored: bool) -> None:
        self.F, self.mirrored, n = F, mirrored, len(F.p)
        self.moments = squared_moments(F)
        self.left, self.right = (np.clip(root, -FAR * F.reach, FAR * F.reach) for root in (F.left, F.right))
        self.gap = self.right - self.left
        self.squares = self._folded(self._squares(mu))
        self.squares = self.squares.reshape(-1, self.squares.shape[2] * self.squares.shape[3])
        one, two = (theta for _, theta in kinks(F, mu))
        kink, barrier = np.stack([one, two, np.zeros(n)]), np.zeros((3, n))
        barrier[2] = of_weights
        self.kink = self._once(kink)
        self.unknown = np.ones(len(self.kink), dtype=bool)
        if mirrored and n % 2:  # the middle row's window opens to both sides alike
            self.unknown[n - n // 2] = False
        self.diagonal = (self.kink + self._once(barrier))[self.unknown]
        self.squares = self.squares[self.unknown]
        self.scale = 1 / np.sqrt((self.squares**2).sum(1) + self.diagonal)
        self.squares *= self.scale[:, None]
        self.diagonal *= self.scale**2
        self._factorise()
        border = np.zeros((3, n, 1))
        border[2] = 1
        self.border = self.scale * self._folded(border).reshape(-1)[self.unknown]
        self.border /= np.linalg.norm(self.border)
        self.along = dpotrs(self.factor, self.border)[0]

    def _factorise(self) -> None:
        S, shift = self.squares @ self.squares.T, SHIFT
        on = np.arange(len(S))
        diagonal = S[on, on] + self.diagonal
        while True:
            S[on, on] = diagonal + shift
            self.factor, failed = dpotrf(S.T, clean=0)  # symmetric, and its transpose is in LAPACK's order
            if not failed:
                return
            shift *= MORE
            if shift > LARGEST:
                raise np.linalg.LinAlgError("the Newton system is indefinite")

    def _squares(self, mu: float) -> Array:
        """What a_i, b_i, e_i add to the three orthogonal parts on each piece, (3, n, 3, K + 1) or half the pieces."""
        F, n = self.F, len(self.F.p)
        half = F.pieces // 2 if self.mirrored else 0
        mass, centre, second, third, fourth = (moment[half:] for moment in self.moments)
        twice = np.full(len(mass), 2.0 if self.mirrored else 1.0)
        if self.mirrored:
            twice[0] = 1
        rest = np.maximum(fourth - third**2 / second - second**2 / mass, 0.0)
        sizes = np.sqrt(mu * twice * np.stack([mass, second, rest]))
        k = np.arange(half, F.pieces)
        factors = 1 + (F.E - 1) * ((k >= F.start[:, None]) & (k < F.end[:, None]))
        low, high, gap = centre - self.left[:, None], self.right[:, None] - centre, self.gap[:, None]
        by_gap = factors / gap
        parts = np.zeros((3, n, 3, len(k)))
        np.multiply(by_gap, high, out=parts[0, :, 0])
        np.multiply(by_gap, low, out=parts[1, :, 0])
        by_gap *= sizes[1]
        parts[0, :, 1] -= by_gap
        parts[1, :, 1] = by_gap
        np.multiply(low, high, out=parts[2, :, 0])
        parts[2, :, 0] -= second / mass
        high -= low
        np.subtract(high, third / second, out=parts[2, :, 1])
        parts[2, :, :2] *= factors[:, None, :]
        parts[:, :, 0] *= sizes[0]
        parts[2, :, 1] *= sizes[1]
        np.multiply(factors, -sizes[2], out=parts[2, :, 2])
        return parts

    def _folded(self, values: Array) -> Array:
        """From values (3, n, ...) of all rows to those of the upper half, with what their mirror images add."""
        if not self.mirrored:
            return values
        n = values.shape[1]
        upper, lower = values[:, n // 2 :], values[:, : n - n // 2][:, ::-1]
        return upper + lower[[1, 0, 2]]

    def _once(self, diagonal: Array) -> Array:
        """The diagonal (3, n) of the unknowns, flat; the middle row's weight is half of its own unknown."""
        folded = self._folded(diagonal).copy()
        if self.mirrored and diagonal.shape[1] % 2:
            folded[2, 0] *= 2
        return folded.reshape(-1)

    def _on_all_pieces(self, parts: Array) -> Array:
        """The orthogonal parts (3, K + 1) of a move on every piece."""
        parts = parts.reshape(3, -1)
        if not self.mirrored:
            return parts
        parts = parts / np.sqrt(np.append(1.0, np.full(parts.shape[1] - 1, 2.0)))
        return np.concatenate([(parts * [[1], [-1], [1]])[:, :0:-1], parts], 1)

    def _unfolded(self, found: Array) -> Array:
        """From unknowns (u, s) to all rows (3, n, s)."""
        n, count = len(self.F.p), found.shape[1]
        full = np.zeros((len(self.unknown), count))
        full[self.unknown] = found
        half = full.reshape(3, -1, count)
        if not self.mirrored:
            return half
        every = np.zeros((3, n, count))
        every[:, n // 2 :] += half
        every[:, : n - n // 2] += half[[1, 0, 2], ::-1]
        return every

    def by_roots(self, sides: Array) -> Array:
        """From derivatives (s, 3n) by lambda, nu and q to those by a, b and e, (3, n, s)."""
        n = len(self.F.p)
        lam, nu, q = sides.T[:n], sides.T[n : 2 * n], sides.T[2 * n :]
        left, right, gap = self.left[:, None], self.right[:, None], self.gap[:, None]
        e = (left + right) * nu - left * right * lam + q
        return np.stack([(right * lam - nu) / gap, (nu - left * lam) / gap, e])

    def from_roots(self, found: Array) -> Array:
        """From changes (3, n, s) by a, b and e to those of lambda, nu and q, (s, 3n)."""
        a, b, e = found
        left, right, gap = self.left[:, None], self.right[:, None], self.gap[:, None]
        lam, nu = (right * a - left * b) / gap - left * right * e, (b - a) / gap + (left + right) * e
        return np.concatenate([lam, nu, e]).T

    def resisted(self, change: Array) -> Array:
        """What S without the barrier of the weights makes of e (n,) alone, by unknowns (u,)."""
        n = len(change)
        full = np.zeros((3, n - n // 2 if self.mirrored else n))
        full[2] = change[n // 2 :] if self.mirrored else change
        if self.mirrored and n % 2:
            full[2, 0] *= 0.5
        flat = full.reshape(-1)[self.unknown] / self.scale
        return (self.squares @ (self.squares.T @ flat)) / self.scale

    def solve(self, sides: Array, *more: Array) -> Array:
        """Return the moves (s, 3n) of lambda, nu and q, of sum dq = 0, with S move = side up to the border.

        Parameters
        ----------
        sides : (s, 3n) ndarray
        more : (u,) ndarray
            Further sides, by unknowns as `resisted` has them.
        """
        own = self._folded(self.by_roots(sides)).reshape(-1, len(sides))[self.unknown]
        left = self.scale[:, None] * np.column_stack([own, *more])
        found = np.zeros_like(left)
        for _ in range(REFINEMENTS):
            left -= np.outer(self.border, self.border @ left)
            step = dpotrs(self.factor, left)[0]
            step -= np.outer(self.along, (self.border @ step) / (self.border @ self.along))
            step -= np.outer(self.border, self.border @ step)
            found += step
            left -= self.squares @ (self.squares.T @ step) + self.diagonal[:, None] * step
        self.parts = self._on_all_pieces(self.squares.T @ found[:, 0])
        return self.from_roots(self._unfolded(self.scale[:, None] * found))
