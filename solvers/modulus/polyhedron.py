"""Convex classes of weights on knots, as images of a cone: what an honest interval may assume."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array


@dataclass(frozen=True, eq=False)
class Polyhedron:
    r"""The weights p = L v of v >= 0 with R v >= 0, E v = 0 and \sum p = 1; all p are at least zero.

    Parameters
    ----------
    lift : (K, N) ndarray
        L.
    above : (R, N) ndarray
        R.
    equal : (Q, N) ndarray
        E.
    mass : float
        The most that any v sums to: what an error of a dual vector costs at most.

    Example
    -------
    >>> Polyhedron.simplex(3).lift.shape, Polyhedron.simplex(3).mass
    ((3, 3), 1.0)
    """

    lift: Array
    above: Array
    equal: Array
    mass: float

    @classmethod
    def simplex(cls, size: int) -> Polyhedron:
        """All weights of so many knots."""
        return cls(np.eye(size), np.empty((0, size)), np.empty((0, size)), 1.0)

    @classmethod
    def of_rows(cls, above: Array) -> Polyhedron:
        """The weights p with R p >= 0.

        Example
        -------
        >>> Polyhedron.of_rows(np.array([[1.0, -1.0]])).above  # of two knots, the first has no less
        array([[ 1., -1.]])
        """
        size = above.shape[1]
        return cls(np.eye(size), above, np.empty((0, size)), 1.0)

    @property
    def size(self) -> int:
        """Number of knots."""
        return len(self.lift)

    @property
    def is_simplex(self) -> bool:
        """Whether it holds all weights."""
        return len(self.above) + len(self.equal) == 0

    def with_exempt(self, share: float) -> Polyhedron:
        """The same for all but a share of the people, who may be anywhere: p = u + v - w, v and w of that mass at most.

        Example
        -------
        >>> Polyhedron.of_rows(np.array([[1.0, -1.0]])).with_exempt(0.1).lift.shape
        (2, 8)
        """
        if share == 0.0 or self.is_simplex:
            return self
        k, n = self.lift.shape
        one, none = np.eye(k), np.zeros((k, k))
        whole, size = self.lift.sum(axis=0), n + 3 * k
        added, taken, limit = np.zeros(size), np.zeros(size), np.zeros(size)
        added[n : n + k], taken[n + k : n + 2 * k], limit[:n] = 1.0, 1.0, share * whole
        above = np.vstack([np.hstack([self.above, np.zeros((len(self.above), 3 * k))]), limit - added])
        equal = np.vstack(
            [
                np.hstack([self.equal, np.zeros((len(self.equal), 3 * k))]),
                np.hstack([self.lift, one, -one, -one]),
                added - taken,
            ]
        )
        # Weights of their own keep the matrix sparse: four times as fast.
        lift = np.hstack([np.zeros((k, n)), none, none, one])
        return Polyhedron(lift, above, equal, self.mass + 1.0 + 2.0 * share)

    def seen_through(self, rounding: Array) -> Polyhedron:
        """Return the weights p of more places whose image R p, (K, P) R, is of this class.

        Example
        -------
        >>> falling = Polyhedron.of_rows(np.array([[1.0, -1.0]]))
        >>> falling.seen_through(np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])).size
        3
        """
        size = rounding.shape[1]
        if self.is_simplex:
            return Polyhedron.simplex(size)
        n = self.lift.shape[1]
        return Polyhedron(
            np.hstack([np.zeros((size, n)), np.eye(size)]),
            np.hstack([self.above, np.zeros((len(self.above), size))]),
            np.vstack([np.hstack([self.equal, np.zeros((len(self.equal), size))]), np.hstack([self.lift, -rounding])]),
            self.mass + 1.0,
        )


def intersection(classes: Sequence[Polyhedron]) -> Polyhedron:
    """Return the weights that lie in all of several classes of the same knots.

    Example
    -------
    >>> falling = Polyhedron.of_rows(np.array([[1.0, -1.0, 0.0]]))
    >>> intersection([falling, Polyhedron.of_rows(np.array([[0.0, 1.0, -1.0]]))]).above
    array([[ 1., -1.,  0.],
           [ 0.,  1., -1.]])
    """
    every = [one for one in classes if not one.is_simplex] or list(classes[:1])
    if all(one.lift.shape[0] == one.lift.shape[1] and not len(one.equal) for one in every):  # of p itself
        return Polyhedron.of_rows(np.vstack([one.above for one in every]))
    sizes = [one.lift.shape[1] for one in every]
    starts, total = np.cumsum([0, *sizes]), sum(sizes)

    def placed(rows: Array, which: int) -> Array:
        full = np.zeros((len(rows), total))
        full[:, starts[which] : starts[which + 1]] = rows
        return full

    lifts = [placed(one.lift, which) for which, one in enumerate(every)]
    above = np.vstack([placed(one.above, which) for which, one in enumerate(every)])
    equal = [placed(one.equal, which) for which, one in enumerate(every)]
    alike = [lifts[0] - other for other in lifts[1:]]
    return Polyhedron(lifts[0], above, np.vstack([*equal, *alike]), sum(one.mass for one in every))
