r"""Positive definite matrices on the edges of a tree, one for each output, eliminated from the leaves.

The rows of a tree's cone, weighted by W > 0, make K = G' diag(W) G. Along the edge from a node v to its parent p

    W_up (s_p - a s_v)^2 + W_down (s_v - b s_p)^2,    a = e^-up_v,  b = e^-down_v,

so that with e, what the children of v leave to it, v is eliminated by

    q_v = e + a^2 W_up + W_down,    f_v = (a W_up + b W_down) / q_v,
    to p: [e (W_up + b^2 W_down) + W_up W_down (1 - a b)^2] / q_v.

Nothing is subtracted: near an optimum weights differ by twenty orders of magnitude, and what is left to the parent
would be lost in the difference of two large numbers. All is done for all outputs at once, depth by depth.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Indices
from ..cone import Cone
from ..cone.tree import Tree


@dataclass(frozen=True, eq=False)
class Elimination:
    """What does not depend on weights, of a cone that has a tree."""

    cone: Cone
    tree: Tree

    @cached_property
    def below(self) -> Indices:
        """Nodes that have a parent: whose rows `down` come last among the cone's."""
        return np.flatnonzero(self.tree.parents >= 0)

    @cached_property
    def held(self) -> Indices:
        """Nodes whose rows `up` come first among the cone's."""
        return self.below[np.isfinite(self.tree.up[self.below])]

    @cached_property
    def factors(self) -> tuple[Array, Array, Array]:
        """Of each node a, b and 1 - a b (N, 1)."""
        up, down = self.tree.up[:, None], self.tree.down[:, None]
        return np.exp(-up), np.exp(-down), -np.expm1(-up - down)

    def of(self, weights: Array) -> Eliminated:
        """Return the matrices of weights (r, m) on the cone's rows, eliminated."""
        a, b, apart = self.factors
        q = np.zeros((self.cone.nodes, weights.shape[1]))
        f, up, down = q.copy(), q.copy(), q.copy()
        up[self.held], down[self.below] = np.split(weights, [len(self.held)])
        for v, parents, starts in reversed(self.tree.depths):
            e, high, low = q[v], up[v], down[v]
            q[v] = e + a[v] ** 2 * high + low
            f[v] = (a[v] * high + b[v] * low) / q[v]
            left = (e * (high + b[v] ** 2 * low) + high * low * apart[v] ** 2) / q[v]
            q[parents] += np.add.reduceat(left, starts, axis=0)
        return Eliminated(self.tree, q, f)


@dataclass(frozen=True, eq=False)
class Eliminated:
    """Matrices K of m outputs, ready to be solved with.

    Attributes
    ----------
    tree : Tree
    q, f : (N, m) ndarray
    """

    tree: Tree
    q: Array
    f: Array

    def solve(self, given: Array) -> Array:
        """Return the x of K x = given (N, m)."""
        x = given.copy()
        for v, parents, starts in reversed(self.tree.depths):
            x[parents] += np.add.reduceat(self.f[v] * x[v], starts, axis=0)
        x /= self.q
        for v, _, _ in self.tree.depths:
            x[v] += self.f[v] * x[self.tree.parents[v]]
        return x
