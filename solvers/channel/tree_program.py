"""The channel program as an interior point sees it where the cone is a tree: nodes of columns, slacks, multipliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..arrays import Array
from .channel_program import ChannelProgram
from .covariance import Visit, coupled, visits
from .elimination import Eliminated, Elimination


class Point(NamedTuple):
    """Values of all variables, or a step of theirs.

    Attributes
    ----------
    s : (N, m) ndarray
        The nodes of every column.
    r, u : (r, m) ndarray
        Slacks on the cone's rows, and their multipliers.
    y : (k, n) ndarray
        Multipliers of sums, of deviations and of losses.
    w, z : (n,) ndarray
        By how much each value's loss is below the worst, and multipliers; of size zero where the worst does not count.
    t : float
        The worst loss.
    """

    s: Array
    r: Array
    u: Array
    y: Array
    w: Array
    z: Array
    t: float

    def moved(self, by: Point, primal: float, dual: float) -> Point:
        """Return where a step of these lengths leads; or a step with these shares of another one."""
        s, r, w, t = self.s + primal * by.s, self.r + primal * by.r, self.w + primal * by.w, self.t + primal * by.t
        return Point(s, r, self.u + dual * by.u, self.y + dual * by.y, w, self.z + dual * by.z, t)

    def lengths(self, by: Point) -> tuple[float, float]:
        """Return how far a step can go, primal and dual, at most 1, before a slack or a multiplier is negative."""
        with np.errstate(over="ignore"):
            primal, dual = _length(self.r, by.r), _length(self.u, by.u)
            if self.w.size:
                primal, dual = min(primal, _length(self.w, by.w)), min(dual, _length(self.z, by.z))
        return primal, dual

    @property
    def mean_product(self) -> float:
        """Of slacks and their multipliers: what remains of the gap, for each of them."""
        return float(((self.r * self.u).sum() + self.w @ self.z) / self.products)

    @property
    def products(self) -> int:
        """How many of these there are."""
        return self.r.size + self.w.size


def _length(at: Array, by: Array) -> float:
    fastest = float((by / at).min(initial=0.0))
    return min(-1 / fastest, 1.0) if fastest < 0 else 1.0


class Missing(NamedTuple):
    """How far a point misses the equations of rows, of nodes' costs, of the worst values' weights and of their sum."""

    rows: Array
    costs: Array
    weights: Array
    total: float


@dataclass(frozen=True, eq=False)
class TreeProgram:
    """A program whose cone is a tree, in which every value has a node of its own."""

    program: ChannelProgram
    kept_back: ClassVar[float] = 0.005
    """Share of the way to the nearest boundary that a step does not go."""
    weighted: ClassVar[bool] = False
    """Whether a step's corrections are weighted."""
    start: ClassVar[float] = 10.0
    """Complementarity at the start, as a multiple of what the first table costs."""

    @staticmethod
    def takes(program: ChannelProgram) -> bool:
        """Return whether a program is such a one."""
        cone = program.cone
        return cone.tree is not None and len(np.unique(cone.places)) == cone.values

    @cached_property
    def elimination(self) -> Elimination:
        assert self.program.cone.tree is not None  # or it were not taken
        return Elimination(self.program.cone, self.program.cone.tree)

    @cached_property
    def visits(self) -> list[Visit]:
        return visits(self.elimination.tree)

    @cached_property
    def size(self) -> float:
        """Of the losses, which are solved for as shares of it."""
        return float(np.abs(self.program.losses).max()) or 1.0

    @cached_property
    def reach(self) -> float:
        """Of the deviations."""
        return 1.0 if self.program.deviations is None else float(np.abs(self.program.deviations).max()) or 1.0

    @cached_property
    def losses(self) -> Array:
        return self.program.losses / self.size

    @cached_property
    def costs(self) -> Array:
        """Of the nodes (N, m)."""
        return self.program.cone.on_nodes((1 - self.program.share) * self.program.weights[:, None] * self.losses)

    @cached_property
    def factors(self) -> Array:
        """A: of sums, of deviations and of losses, if there are such rows (k, n, m)."""
        kinds = [np.ones_like(self.losses)]
        if self.program.deviations is not None:
            kinds.extend(self.program.deviations.reshape(-1, *self.losses.shape) / self.reach)
        if self.program.share:
            kinds.append(self.losses)
        return np.stack(kinds)

    @property
    def first(self) -> Array:
        """A table's nodes (N, m) to start from: the table that tells nothing."""
        return np.full_like(self.costs, 1 / self.losses.shape[1])

    @cached_property
    def cone_rows(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """G and G'."""
        rows = self.program.cone.rows
        return rows, sparse.csr_array(rows.T)

    def coupled(self, eliminated: Eliminated) -> Array:
        """Return A K^-1 A' of all outputs (kinds, n, kinds, n)."""
        return coupled(self.visits, self.program.cone.places, eliminated, self.factors)

    def rows(self, s: Array) -> Array:
        """Return A s (k, n)."""
        return np.einsum("kiy,iy->ki", self.factors, s[self.program.cone.places])

    def across(self, y: Array) -> Array:
        """Return A' y (N, m)."""
        out = np.zeros((self.program.cone.nodes, self.losses.shape[1]))
        out[self.program.cone.places] = np.einsum("kiy,ki->iy", self.factors, y)
        return out

    def missing(self, at: Point) -> Missing:
        """Return what a point lacks; its slacks are right."""
        rows = -self.rows(at.s)
        rows[0] += 1
        costs = self.costs - self.across(at.y) - self.cone_rows[1] @ at.u
        if not self.program.share:
            return Missing(rows, costs, at.z, 0.0)
        rows[-1] -= at.w - at.t
        return Missing(rows, costs, -at.y[-1] - at.z, -self.program.share - float(at.y[-1].sum()))

    def worth(self, at: Point, missing: Missing | None = None) -> float:
        """Return what the table of a point is worth once its rows are right, to first order."""
        missing = self.missing(at) if missing is None else missing
        reached = (self.costs * at.s).sum() + self.program.share * at.t
        return self.size * float(reached + (at.y * missing.rows).sum())

    def proof(self, at: Point) -> dict[str, Array]:
        """Return a point's multipliers, as the program's bound takes them."""
        proof = {"lam": self.size * at.y[0]}
        if self.program.deviations is not None:
            each = self.program.deviations.shape[:-1]
            proof["nu"] = self.size / self.reach * at.y[1 : 1 + int(np.prod(each[:-1]))].reshape(each)
        if self.program.share:
            proof["worst"] = -at.y[-1]
        return proof
