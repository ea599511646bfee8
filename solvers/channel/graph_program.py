r"""The channel program as an interior point sees it where the cone is no tree: a dense matrix for each output.

K_y = G' diag(W_y) G is inverted output by output, n^3 m a step, and its inverse is refined on the rows themselves: near
an optimum weights differ by twenty orders of magnitude. Where a cone has many rows, those of the longest log-ratios are
left out at first: fewer limits allow more, so what is proved of them is proved of all, and the table is repaired.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri  # pyright: ignore[reportAttributeAccessIssue] -- compiled

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from ..cone import Cone
from .channel_program import ChannelProgram
from .tree_program import Point, TreeProgram

ROWS_EACH = 64
"""Rows for each value, at most: of a grid 10 x 10 all, of one of 20 x 20 those of points within five steps."""

REGULAR = (0.0, 1e-14, 1e-12, 1e-10)
"""Shares of its diagonal that are added to a matrix, the first with which it has a factor; refinement takes it back."""

REFINED = 1
"""Times that a solution is refined on the rows."""


class GraphProgram(TreeProgram):
    """A program whose cone is of rows between values, in any pattern."""

    @staticmethod
    def takes(program: ChannelProgram) -> bool:
        """Return whether every value has a node of its own, there are no others, and every ratio is finite."""
        cone = program.cone
        alone = cone.nodes == cone.values == len(np.unique(cone.places))
        return alone and bool(np.isfinite(cone.closed).all())

    @cached_property
    def elimination(self) -> Inversion:  # pyright: ignore[reportIncompatibleVariableOverride] -- solved with alike
        return Inversion(self)

    def coupled(self, eliminated: Inverted) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        kinds, n, m = self.factors.shape
        places = self.program.cone.places
        sums = np.zeros((kinds, n, kinds, n))
        for y in range(m):
            inverse = eliminated.inverses[y][np.ix_(places, places)]
            for k in range(kinds):
                for j in range(kinds):
                    sums[k, :, j] += self.factors[k, :, y, None] * inverse * self.factors[j, :, y]
        return sums

    def proof(self, at: Point) -> dict[str, Array]:
        """Return a point's multipliers, those of the cone's rows too: they prove prices without an oracle."""
        cone = self.program.cone
        of_node = np.argsort(cone.places)  # each has its own value
        pairs = np.stack([of_node[cone.below], of_node[cone.above]]).astype(np.float64)
        return super().proof(at) | {"pairs": pairs, "flow": self.size * at.u}


@dataclass(frozen=True, eq=False)
class Inversion:
    """What does not depend on weights."""

    graph: GraphProgram

    @cached_property
    def places(self) -> tuple[Indices, Indices]:
        """Of each row, its place in the matrix, and in the transposed."""
        cone = self.graph.program.cone
        return cone.above * cone.nodes + cone.below, cone.below * cone.nodes + cone.above

    def of(self, weights: Array) -> Inverted:
        """Return the matrices of weights (r, m) on the cone's rows, inverted."""
        cone, m = self.graph.program.cone, weights.shape[1]
        n, factor = cone.nodes, np.exp(-cone.logs)
        inverses = np.empty((m, n, n))
        for y, w in enumerate(weights.T):
            matrix = np.zeros(n * n)
            for places in self.places:
                matrix -= np.bincount(places, factor * w, n * n)
            matrix = matrix.reshape(n, n)
            diagonal = np.zeros(n) + np.bincount(cone.above, w, n) + np.bincount(cone.below, factor**2 * w, n)
            matrix[np.diag_indices(n)] = diagonal
            inverses[y] = _inverse(matrix, diagonal)
        return Inverted(self.graph, weights, inverses)


def _inverse(matrix: Array, diagonal: Array) -> Array:
    """Return the inverse of a positive definite matrix; SolverError where it has none to speak of."""
    if not (np.isfinite(matrix).all() and (diagonal > 0).all()):
        raise SolverError("the interior point left the numbers that there are: use HiGHS")
    scale = 1 / np.sqrt(diagonal)
    scaled = matrix * scale[:, None] * scale
    for share in REGULAR:
        scaled[np.diag_indices(len(scale))] = 1 + share
        factor, wrong = dpotrf(scaled, lower=1)
        if not wrong:
            lower, _ = dpotri(factor, lower=1)
            lower = np.tril(lower)
            return (lower + np.tril(lower, -1).T) * scale[:, None] * scale
    raise SolverError("the interior point's matrices have no inverse: use HiGHS")


@dataclass(frozen=True, eq=False)
class Inverted:
    """Matrices K of m outputs, ready to be solved with.

    Attributes
    ----------
    graph : GraphProgram
    weights : (r, m) ndarray
    inverses : (m, n, n) ndarray
    """

    graph: GraphProgram
    weights: Array
    inverses: Array

    def solve(self, given: Array) -> Array:
        """Return the x of K x = given (n, m)."""
        rows, across = self.graph.cone_rows
        x = self._nearly(given)
        for _ in range(REFINED):
            x = x + self._nearly(given - across @ (self.weights * (rows @ x)))
        return x

    def _nearly(self, given: Array) -> Array:
        return np.matmul(self.inverses, given.T[:, :, None])[:, :, 0].T


def near(program: ChannelProgram) -> ChannelProgram:
    """Return the program with the rows of the least log-ratios alone, if there are many.

    Example
    -------
    >>> from ..cone import ratios
    >>> x = np.random.default_rng(1).normal(size=(90, 2))
    >>> cone = ratios(np.hypot(*(x[:, None] - x).T))
    >>> len(cone.logs), len(near(ChannelProgram(cone, np.full(90, 1 / 90), cone.closed)).cone.logs)
    (8010, 5760)
    """
    cone = program.cone
    most = ROWS_EACH * cone.values
    if len(cone.logs) <= most:
        return program
    # Ties at the limit are all kept: rounding must not decide which of equal neighbours is left out.
    limit = np.sort(cone.logs)[most - 1] * (1 + 1e-9)
    kept = cone.logs <= limit
    few: Cone = replace(cone, below=cone.below[kept], above=cone.above[kept], logs=cone.logs[kept])
    return replace(program, cone=few)
