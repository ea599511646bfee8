r"""The privacy cone: the columns s >= 0 of a table with s_i <= e^D_ij s_j for all values i and j.

Everything that is known of privacy stands here: what the log-ratios promise in the end (`closed`), the rows that say
all of it, few of them where nodes between values help (`below`, `above`, `logs`), and the tree of these rows if they
are one. Values that must be alike share a node.

A column is an extreme ray of the cone exactly when the rows that it meets with equality connect all nodes:
s = exp(+-D) along a spanning tree. So there are 2^n - 2 of pure privacy and 2^(n - 1) of a line, and nobody lists them:
`oracle` finds the cheapest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError
from ...mechanisms.promise.closure import closure
from ..arrays import Array, Indices
from .closure import checked, classes, needed
from .tree import Tree

KEPT = 1e-12
"""Share by which an entry may exceed what its row allows, for a table of floating point numbers to count as inside."""


@dataclass(frozen=True, eq=False)
class Cone:
    """The columns that a promise of privacy allows.

    Attributes
    ----------
    closed : (n, n) ndarray
        D: P(y | i) <= e^D_ij P(y | j) for every output y, closed by shortest paths; inf where nothing is promised.
    places : (n,) ndarray of int
        The node of each value; values that must be alike share one, and nodes without a value lie between values.
    nodes : int
    below, above, logs : (r,) ndarray
        The rows: s_below <= e^logs s_above between nodes. They imply `closed`.
    tree : Tree, optional
        Whether these rows are the edges of a tree.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import Cone
    >>> cone = Cone.of([[0.0, 1.0, 5.0], [1.0, 0.0, 2.0], [5.0, 2.0, 0.0]])
    >>> cone.closed[0, 2]  # not 5: value 1 stands between
    np.float64(3.0)
    >>> len(cone.logs), cone.excess(np.array([[1.0], [1.0], [9.0]])) > 0
    (4, True)
    >>> cone.raised(np.array([[1.0], [1.0], [9.0]])).ravel().round(3)
    array([1.   , 1.218, 9.   ])
    """

    closed: Array
    places: Indices
    nodes: int
    below: Indices
    above: Indices
    logs: Array
    tree: Tree | None = None

    @classmethod
    def of(cls, matrix: ArrayLike) -> Cone:
        """Return the cone of any matrix of log-ratios, with the rows of the pairs that no others imply.

        Raises
        ------
        InputError
            The matrix is not square, has negative entries, or makes values alike by a cycle of zeros.
        """
        given = checked(matrix)
        closed = closure(given)
        places = classes(given, closed)
        _, first = np.unique(places, return_index=True)
        apart = closed[np.ix_(first, first)]
        below, above = np.nonzero(needed(apart))
        return cls(closed, places, len(first), below, above, apart[below, above])

    @classmethod
    def of_tree(cls, tree: Tree, places: Indices) -> Cone:
        """Return the cone of a tree, some of whose nodes are the places of values."""
        v = np.flatnonzero(tree.parents >= 0)
        held = v[np.isfinite(tree.up[v])]
        below, above = np.r_[held, tree.parents[v]], np.r_[tree.parents[held], v]
        logs = np.r_[tree.up[held], tree.down[v]]
        nodes = len(tree.parents)
        between = np.full((nodes, nodes), np.inf)
        between[below, above] = logs
        return cls(closure(between)[np.ix_(places, places)], places, nodes, below, above, logs, tree)

    @property
    def values(self) -> int:
        """How many there are, n."""
        return len(self.places)

    @property
    def rows(self) -> sparse.csr_array:
        """G (r, nodes): s_above - e^-logs s_below >= 0; no entry is larger than one, whatever the log-ratio."""
        r = np.arange(len(self.logs))
        data = np.r_[np.ones(len(r)), -np.exp(-self.logs)]
        return sparse.csr_array((data, (np.r_[r, r], np.r_[self.above, self.below])), (len(r), self.nodes))

    @property
    def hidden(self) -> Indices:
        """Nodes of no value."""
        return np.setdiff1d(np.arange(self.nodes), self.places)

    def on_nodes(self, per_value: Array) -> Array:
        """Return what stands for each value (n, ...) summed on the nodes (N, ...); zero on those of no value."""
        out = np.zeros((self.nodes, *per_value.shape[1:]))
        np.add.at(out, self.places, per_value)
        return out

    def raised(self, table: Array) -> Array:
        """Return the least columns of the cone that are nowhere below these (n, m): max over j of s_j e^-D_ji.

        This is what mends what any solver's tolerance, or its absolute rounding of small entries, has left outside.
        """
        raised = self._checked(table)
        for j, column in enumerate(raised.copy()):
            np.maximum(raised, np.exp(-self.closed[j])[:, None] * column, out=raised)
        return raised

    def excess(self, table: Array) -> float:
        """Return by what share an entry of the columns (n, m) exceeds what the others allow, at most; 0 if none."""
        s = self._checked(table)
        allowed = np.full_like(s, np.inf)
        for j in range(self.values):
            with np.errstate(over="ignore", invalid="ignore"):
                most = np.exp(self.closed[:, j])[:, None] * s[j]  # inf * 0 is NaN: nothing is promised
            np.minimum(allowed, np.where(np.isfinite(most), most, np.inf), out=allowed)
        positive = s > 0
        # A value that nobody may give leaves nothing to allow: it counts as any excess, not as a division by zero.
        return float((s[positive] / np.maximum(allowed[positive], 1e-300) - 1).max(initial=0.0))

    def holds(self, table: Array) -> bool:
        """Return whether all columns (n, m) are in the cone, up to rounding."""
        return bool(np.asarray(table).min() >= 0) and self.excess(table) <= KEPT

    def _checked(self, table: Array) -> Array:
        s = np.array(table, dtype=np.float64)
        if s.ndim != 2 or len(s) != self.values:
            raise InputError(f"columns must have an entry for each of {self.values} values, got shape {s.shape}")
        return s
