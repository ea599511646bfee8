r"""A cone whose pairs of neighbours are the edges of a tree, some of whose nodes are no values but stand between them.

Adding a node to the graph of log-ratios changes nothing as long as the shortest paths between values stay what they
are. Pure privacy is a star around one such node, whose edges are epsilon / 2 either way: 2n rows where pairs of values
are n (n - 1). Along the edge from a node v to its parent p

    s_v <= e^up_v s_p,        s_p <= e^down_v s_v.

What is computed from the leaves to the root, or back, takes one pass over the depths; nodes of one depth, and any
number of columns, go together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array, Indices

FARTHEST = 700.0
"""Log-ratio from the root to a node: beyond it e^D overflows."""


class Depth(NamedTuple):
    """Nodes of one depth in the order of their parents, these parents, each once, and where their children start."""

    nodes: Indices
    parents: Indices
    starts: Indices


@dataclass(frozen=True, eq=False)
class Tree:
    """A rooted tree of log-ratios.

    Parameters
    ----------
    parents : (N,) ndarray of int
        Of each node; -1 of the one root.
    up, down : (N,) ndarray
        Log-ratios of the edge to the parent, positive and finite, but that a leaf's `up` may be infinite; not looked
        at for the root.
    """

    parents: Indices
    up: Array
    down: Array

    def __post_init__(self) -> None:
        farthest = np.zeros(len(self.parents))
        for depth in self.depths:
            above = self.parents[depth.nodes]
            leaf = np.where(np.isfinite(self.up[depth.nodes]), self.up[depth.nodes], 0.0)
            farthest[depth.nodes] = farthest[above] + np.maximum(leaf, self.down[depth.nodes])
        if farthest.max() > FARTHEST:
            raise InputError(
                f"log-ratios must add up to at most {FARTHEST:g} from the middle to any value, got {farthest.max():g}: "
                "at such a distance nothing is kept private, so cut the values into parts"
            )

    @property
    def root(self) -> int:
        """The node without a parent."""
        return int(np.flatnonzero(self.parents < 0)[0])

    @cached_property
    def depths(self) -> tuple[Depth, ...]:
        """From the root's children to the deepest leaves."""
        found, above = [], np.array([self.root])
        while len(nodes := np.flatnonzero(np.isin(self.parents, above))):
            nodes = nodes[np.argsort(self.parents[nodes], kind="stable")]
            parents, starts = np.unique(self.parents[nodes], return_index=True)
            found.append(Depth(nodes, parents, starts))
            above = nodes
        return tuple(found)

    @cached_property
    def free(self) -> Indices:
        """Leaves that may have any entry, however small their parent's is."""
        return np.flatnonzero(np.isinf(self.up) & (self.parents >= 0))

    def least(self, g: Array) -> tuple[Array, Array]:
        r"""Return the least g.s with s_root = 1 for each column of g (N, m), and the columns s that have it.

        From the leaves on, V_v = g_v + sum over children c of V_c e^up_c if V_c < 0, else V_c e^-down_c; from the root
        on, s_c is s_p times the factor that was chosen. Prices of free leaves must not be negative.
        """
        V, chosen = g.copy(), np.ones_like(g)
        above, below = np.exp(self.up)[:, None], np.exp(-self.down)[:, None]
        above[self.free] = below[self.free]
        for nodes, parents, starts in reversed(self.depths):
            chosen[nodes] = np.where(V[nodes] < 0, above[nodes], below[nodes])
            V[parents] += np.add.reduceat(V[nodes] * chosen[nodes], starts, axis=0)
        for nodes, _, _ in self.depths:
            chosen[nodes] *= chosen[self.parents[nodes]]
        return V[self.root], chosen
