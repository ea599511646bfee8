r"""One Newton step of the channel program on a tree.

With multipliers u on the slacks r = G s of the cone's rows, z on the slacks w below the worst loss t, and y on the
coupling rows A s = b (sums are one, deviations vanish, losses + w = t), a step solves

    K ds = A' dy + h,    K = G' diag(u / r) G,    (A K^-1 A' + diag(w / z)) dy - dt = what is missing,

K by elimination from the leaves, output by output, and the few coupling rows by one Cholesky factor. Near an optimum
that factor is a poor inverse, so dy is refined on the operator itself, which elimination keeps exact.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- compiled

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .tree_program import Missing, Point, TreeProgram

REFINEMENTS = 3
"""Of dy, at most; each costs a solution by elimination."""

REFINED = 1e-10
"""Share of a right side that may be left of it."""

GRADIENTS = 40
"""Conjugate gradients for a dy that is wanted closely, at most."""

CLOSE = 1e-12
"""Share of a right side that they may leave of it."""

REGULAR = (1e-14, 1e-11, 1e-8)
"""Shares of its diagonal that are added to the coupling matrix, the first with which there is a factor: at an optimum
its rows depend on each other, to rounding. Refinement takes back what that changes."""


class Newton:
    """The Newton system at a point, factored once for any right sides."""

    def __init__(self, tree: TreeProgram, at: Point, closely: bool = False) -> None:
        self.tree, self.at, self.closely = tree, at, closely
        self.eliminated = tree.elimination.of(at.u / at.r)
        kinds, n, _ = tree.factors.shape
        self.beside = np.zeros((kinds, n))
        if at.w.size:
            self.beside[-1] = at.w / at.z
        sums = tree.coupled(self.eliminated).reshape(kinds * n, -1)
        self.scale, self.factor = _factored(sums + np.diag(self.beside.ravel()))
        border = np.zeros((kinds, n))
        border[-1] = 1
        self.along_t, self.moved_by_t = self._coupling(border) if at.w.size else (border, np.zeros_like(at.s))

    def step(self, missing: Missing, product: Array, other: Array) -> Point:
        """Return the step that removes what is missing, with u dr + r du = product and w dz + z dw = other."""
        tree, at = self.tree, self.at
        G, across = tree.cone_rows
        h = across @ (product / at.r) - missing.costs
        s = self.eliminated.solve(h)
        rows = missing.rows - tree.rows(s)
        if at.w.size:
            rows[-1] -= (other - at.w * missing.weights) / at.z
        (y, moved), t = self._coupling(rows), 0.0
        s += moved
        if at.w.size:
            t = float((missing.total - y[-1].sum()) / self.along_t[-1].sum())
            y = y + t * self.along_t
            s += t * self.moved_by_t
        if self.closely:  # terms that cancel cost digits, which mending is for
            s = self.eliminated.solve(tree.across(y) + h)
        r = G @ s
        z = missing.weights - y[-1] if at.w.size else at.z
        u = at.u * r
        np.subtract(product, u, out=u)
        u /= at.r
        return Point(s, r, u, y, (other - at.w * z) / at.z, z, t)

    def _coupling(self, rows: Array) -> tuple[Array, Array]:
        """Return the y of (A K^-1 A' + diag(w / z)) y = rows, and K^-1 A' y."""
        return self._by_gradients(rows) if self.closely else self._refined(rows)

    def _refined(self, rows: Array) -> tuple[Array, Array]:
        y = self._nearly(rows)
        moved = self._across(y)
        for _ in range(REFINEMENTS):
            left = rows - self._operator(y, moved)
            if np.abs(left).max() <= REFINED * np.abs(rows).max():
                break
            more = self._nearly(left)
            y, moved = y + more, moved + self._across(more)
        return y, moved

    def _by_gradients(self, rows: Array) -> tuple[Array, Array]:
        """By conjugate gradients: slower, and right even where the factor's rows depend on each other."""
        y, left = np.zeros_like(rows), rows
        along = self._nearly(left)
        power = float((left * along).sum())
        for _ in range(GRADIENTS):
            moved = self._operator(along, self._across(along))
            with np.errstate(over="ignore", invalid="ignore"):
                bend = float((along * moved).sum())
            if not np.isfinite(bend):  # beyond doubles, as at budgets near zero: what was found so far is mended
                break
            length = power / (bend or 1.0)
            y, left = y + length * along, left - length * moved
            if np.abs(left).max() <= CLOSE * np.abs(rows).max():
                break
            near = self._nearly(left)
            with np.errstate(over="ignore", invalid="ignore"):
                before, power = power, float((left * near).sum())
            if not np.isfinite(power):
                break
            along = near + power / before * along
        return y, self._across(y)

    def _across(self, y: Array) -> Array:
        """Return K^-1 A' y."""
        return self.eliminated.solve(self.tree.across(y))

    def _operator(self, y: Array, moved: Array) -> Array:
        """Return what the coupling rows make of y, given K^-1 A' y."""
        return self.tree.rows(moved) + self.beside * y

    def _nearly(self, rows: Array) -> Array:
        scaled, _ = dpotrs(self.factor, self.scale * rows.ravel(), lower=1)
        return (self.scale * scaled).reshape(rows.shape)


def _factored(matrix: Array) -> tuple[Array, Array]:
    """Return the scale that makes a matrix's diagonal one, and its factor."""
    diagonal = np.diag(matrix)
    if not (np.isfinite(matrix).all() and (diagonal > 0).all()):
        raise SolverError("the interior point left the numbers that there are: use HiGHS")
    scale = 1 / np.sqrt(diagonal)
    scaled = matrix * scale[:, None] * scale
    for share in REGULAR:
        factor, wrong = dpotrf(scaled + share * np.eye(len(scale)), lower=1, clean=0)
        if not wrong:
            return scale, factor
    raise SolverError("the interior point's coupling rows depend on each other: use HiGHS")
