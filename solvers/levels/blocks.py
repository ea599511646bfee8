r"""One Newton step of the levels program costs little more than a product of two matrices of its equations.

Of the unknowns P, a and u of one output y (see `levels_program`) only the equations know those of other outputs. With
w = z / s the weights of the inequalities, s their slacks, the matrix of one output's unknowns is

    H = [ W   -alpha  -beta ]     W = w_1 + w_2 + w_3 + w_4,  alpha = w_1 + E w_2,  beta = w_3 + F w_4,
        [ ..   A_a     .    ]     A_a = sum_i (w_1 + E^2 w_2),  A_u = sum_l (w_3 + F^2 w_4),
        [ ..   .      A_u   ]

with one alpha and one beta in the row of each P_li. Eliminating P leaves diagonals and one matrix C_li = alpha beta / W
between a and u, eliminating u a t x t matrix for each output, S = R^-T R^-1. Then H^-1, as far as P is concerned, is

    diag(1 / W)  +  (h h^T / A_u at the same knot)  +  (V R) (V R)^T,   g = alpha / W,  h = beta / W,

and the matrix of the 2 t n equations, all outputs together, is one product of the stacked V R, 2 t n by t m numbers:
O((t n)^2 t m) a step in BLAS, where a general solver factors a sparse matrix of 4 t n m rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_solve

from ..arrays import Array
from .levels_program import LevelsProgram

JITTERS = (0.0, 1e-14, 1e-13, 1e-12, 1e-10, 1e-8, 1e-6)
"""Shares of its diagonal added to a matrix until it is positive definite, which rounding takes from some near the end
of the path; a step that is a little off is corrected by the next."""


class Unknowns(NamedTuple):
    """P (t, n, m), a (t, m) and u (n, m), or changes of them."""

    tables: Array
    by_level: Array
    by_knot: Array


class Blocks:
    """The matrix H of all outputs, factored; LinAlgError where it is not positive definite at any jitter.

    Parameters
    ----------
    program : LevelsProgram
    weights : (4, t, n, m) ndarray
        Positive; the last two are not looked at where levels are not tied.
    """

    def __init__(self, program: LevelsProgram, weights: Array) -> None:
        self.program = program
        w1, w2, w3, w4 = weights if program.bounded else (*weights[:2], *np.zeros((2, *weights[0].shape)))
        E, F = program.ratios[:, None, None], program.between if program.bounded else 1.0
        self.whole = w1 + w2 + w3 + w4
        self.g, self.h = (w1 + E * w2) / self.whole, (w3 + F * w4) / self.whole
        # A - alpha^2 / W without its cancellation.
        levels = ((w1 * w2 * (E - 1) ** 2 + (w1 + E**2 * w2) * (w3 + w4)) / self.whole).sum(1)
        knots = ((w3 * w4 * (F - 1) ** 2 + (w3 + F**2 * w4) * (w1 + w2)) / self.whole).sum(0)
        self.knots = knots if program.bounded else np.ones_like(knots)
        self.across = self.g * self.h * self.whole  # C
        self.share = self.across / self.knots
        schur = -np.einsum("lim,kim->mlk", self.across, self.share, optimize=True)
        each = np.arange(len(program.ratios))
        schur[:, each, each] += levels.T
        inverse = np.linalg.inv(_cholesky(schur, levels.T))
        self.root = inverse.transpose(0, 2, 1)  # R
        self.inverse = self.root @ inverse

    def solve(self, tables: Array, by_level: Array | float = 0.0, by_knot: Array | float = 0.0) -> Unknowns:
        """Return H^-1 of a right side, output by output."""
        a = by_level + (self.g * tables).sum(1)
        u = by_knot + (self.h * tables).sum(0)
        found_a = np.einsum("mlk,km->lm", self.inverse, a + (self.share * u).sum(1))
        found_u = (u + (self.across * found_a[:, None]).sum(0)) / self.knots
        return Unknowns(tables / self.whole + self.g * found_a[:, None] + self.h * found_u, found_a, found_u)

    def equations(self) -> Equations:
        """Return the matrix of the equations, factored; LinAlgError where rounding hides that it can be."""
        offsets = self.program.offsets
        t, n, m = self.program.costs.shape
        each = np.arange(t)
        columns = np.einsum("lim,kim->likm", self.h, self.share)
        columns[each, :, each] += self.g
        columns = np.einsum("likm,mkq->limq", columns, self.root, optimize=True)
        stacked = np.stack([columns, offsets[:, :, None] * columns]).reshape(2 * t * n, m * t)
        matrix = stacked @ stacked.T
        parts = matrix.reshape(2, t, n, 2, t, n)
        for row in (0, 1):
            for column in (0, 1):
                power = offsets ** (row + column)
                same_knot = np.einsum("lim,kim->ilk", self.h * power / self.knots, self.h, optimize=True)
                same_knot[:, each, each] += (power / self.whole).sum(2).T
                for i in range(n):
                    parts[row, :, i, column, :, i] += same_knot[i]
        return Equations(matrix)


class Equations:
    """The positive definite matrix of normalisation and unbiasedness, factored."""

    def __init__(self, matrix: Array) -> None:
        self._scale = 1 / np.sqrt(np.diag(matrix))
        scaled = (matrix * self._scale[:, None] * self._scale)[None]
        self._factor = _cholesky(scaled, np.ones((1, len(matrix))))[0], True

    def solve(self, right: Array) -> Array:
        """Return multipliers (2, t, n) for a right side of that shape."""
        found = self._scale * cho_solve(self._factor, self._scale * right.ravel())
        return found.reshape(right.shape)


def _cholesky(matrices: Array, diagonal: Array) -> Array:
    """Return the Cholesky factors of symmetric matrices (m, t, t), a little of their diagonal added if need be."""
    each = np.arange(diagonal.shape[1])
    for jitter in JITTERS:
        tried = matrices.copy()
        tried[:, each, each] += jitter * diagonal
        try:
            return np.linalg.cholesky(tried).astype(np.float64, copy=False)
        except LinAlgError:
            continue
    raise LinAlgError("a matrix of the levels' program must be positive definite")
