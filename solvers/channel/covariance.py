r"""What couples the outputs: sums over them of the inverses of their tree matrices, in O(n^2 m).

From the root on, K^-1 has

    cov[v, i] = f_v cov[p, i] for a value i that is no descendant of v,    cov[v, v] = 1 / q_v + f_v^2 cov[p, p],

so a node needs its parent's row alone. Nodes are visited a parent before its children and a subtree in one go; leaves
of one parent are one product of matrices, and where a parent has several subtrees its row is kept for the next.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Indices
from ..cone.tree import Tree
from .elimination import Eliminated


class Visit(NamedTuple):
    """Of a node that is no leaf, or is the root.

    Attributes
    ----------
    node : int
    leaves : ndarray of int
        Those of its children.
    more : bool
        Whether its parent has further subtrees, which come later.
    """

    node: int
    leaves: Indices
    more: bool


def visits(tree: Tree) -> list[Visit]:
    """Return a tree's visits from the root on, a subtree in one go."""
    order = np.argsort(tree.parents, kind="stable")
    starts = np.searchsorted(tree.parents[order], np.arange(len(order) + 1))
    children = [order[low:high] for low, high in itertools.pairwise(starts)]
    leaf = np.diff(starts) == 0
    found, stack = [], [(tree.root, False)]
    while stack:
        node, more = stack.pop()
        found.append(Visit(node, children[node][leaf[children[node]]], more))
        inner = children[node][~leaf[children[node]]]
        stack.extend((int(child), k > 0) for k, child in enumerate(inner))  # the last one is visited first
    return found


def coupled(order: list[Visit], places: Indices, of: Eliminated, factors: Array) -> Array:
    """Return sum over y of a_kiy (K_y^-1)_ij a_ljy for all values i and j and kinds k and l of factors a.

    Parameters
    ----------
    order : list of Visit
        Of the tree.
    places : (n,) ndarray of int
        The node of each value, no two the same.
    of : Eliminated
    factors : (kinds, n, m) ndarray

    Returns
    -------
    sums : (kinds, n, kinds, n) ndarray
    """
    walk = _Walk(order, places, of, factors)
    for place in range(len(order)):
        walk.visit(place)
    lower = walk.sums + walk.sums.transpose(2, 3, 0, 1)
    back = np.argsort(walk.values)
    return lower[:, back][:, :, :, back]


class _Walk:
    """The values visited so far, and the row of the node at hand: its covariance with each times that one's factors."""

    def __init__(self, order: list[Visit], places: Indices, of: Eliminated, factors: Array) -> None:
        kinds, n, m = factors.shape
        self.order, self.of, self.factors = order, of, factors
        self.value = np.full(len(of.q), -1)
        self.value[places] = np.arange(n)
        self.values = np.empty(n, dtype=np.intp)
        self.done = 0
        self.row = np.empty((kinds, n, m))
        self.own: dict[int, Array] = {}
        self.kept: dict[int, tuple[int, int, Array]] = {}
        self.sums = np.zeros((kinds, n, kinds, n))  # half of them

    def visit(self, place: int) -> None:
        node, leaves, more = self.order[place]
        parent, q, f = int(self.of.tree.parents[node]), self.of.q, self.of.f
        if parent < 0:
            self.own[node] = 1 / q[node]
        else:
            if parent in self.kept:
                self._resume(parent, place)
            if more:
                self.kept[parent] = place, self.done, self.row[:, : self.done].copy()
            self.row[:, : self.done] *= f[node]
            self.own[node] = 1 / q[node] + f[node] ** 2 * self.own[parent]
        self._add(np.array([node]), np.ones_like(q[:1]), self.own[node], None)
        self._add(leaves, f[leaves], self.own[node], 1 / q[leaves])

    def _resume(self, parent: int, place: int) -> None:
        """Take up a row where it was left, and go on to what has been visited below since."""
        since, done, row = self.kept.pop(parent)
        self.row[:, :done] = row
        along = {parent: self.own[parent]}
        for node, leaves, _ in self.order[since:place]:
            along[node] = self.of.f[node] * along[int(self.of.tree.parents[node])]
            for nodes, times in ((np.array([node]), along[node][None]), (leaves, self.of.f[leaves] * along[node])):
                kept = self.value[nodes] >= 0
                at = self.value[nodes][kept]
                self.row[:, done : done + len(at)] = self.factors[:, at] * times[kept]
                done += len(at)

    def _add(self, nodes: Indices, along: Array, own: Array, rest: Array | None) -> None:
        """Visit nodes whose rows are `along` times the one at hand, and among themselves along^2 own + rest."""
        kept = self.value[nodes] >= 0
        if not kept.any():
            return
        at, along = self.value[nodes][kept], along[kept]
        factors = self.factors[:, at]
        kinds, count, m = factors.shape
        left = (along * factors).reshape(kinds * count, m)
        old, new = slice(self.done), slice(self.done, self.done + count)
        before = np.matmul(left, self.row[:, old].transpose(0, 2, 1))  # (l, k count, done)
        self.sums[:, new, :, old] = before.reshape(kinds, kinds, count, self.done).transpose(1, 2, 0, 3)
        among = ((left * own) @ left.T).reshape(kinds, count, kinds, count)
        if rest is not None:
            own_factors = np.einsum("kiy,liy->ikl", factors * rest[kept], factors)
            among[:, np.arange(count), :, np.arange(count)] += own_factors
        self.sums[:, new, :, new] = among / 2
        self.row[:, new] = left.reshape(kinds, count, m) * own
        self.values[new] = at
        self.done += count
