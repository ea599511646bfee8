r"""The channel program as an interior point sees it where the cone is no tree: a dense matrix for each output.

K_y = G' diag(W_y) G is inverted output by output, n^3 m a step, and its inverse is refined on the rows themselves: near
an optimum weights differ by twenty orders of magnitude. Where a cone has many rows, those of the longest log-ratios are
left out at first: fewer limits allow more, so what is proved of them is proved of all, and the table is repaired.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

import numpy as np
from scipy import sparse
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

SPREAD = 0.3
"""Share of log-ratios by which the first table tells values apart: it must be below a half."""

REFINED = 1
"""Times that a solution is refined on the rows."""


class GraphProgram(TreeProgram):
    """A program whose cone is of rows between values, in any pattern."""

    kept_back = 0.1  # Many rows hold a column: steps to their edge leave products uneven, and the next ones are short.
    weighted = True
    start = 0.3

    @staticmethod
    def takes(program: ChannelProgram) -> bool:
        """Return whether every value has a node of its own, there are no others, and every ratio is finite."""
        cone = program.cone
        alone = cone.nodes == cone.values == len(np.unique(cone.places))
        return alone and bool(np.isfinite(cone.closed).all())

    @cached_property
    def elimination(self) -> Inversion:  # pyright: ignore[reportIncompatibleVariableOverride] -- solved with alike
        return Inversion(self)

    @property
    def first(self) -> Array:
        """A table's nodes to start from: an output by its log-ratio from the value that it is best for, if inside.

        Where log-ratios are a distance d, exp(-a d) differs by e^(a D) at most, and so do the sums of rows.
        """
        cone = self.program.cone
        apart = np.minimum(cone.closed, cone.closed.T)[:, self.program.losses.argmin(0)]
        table = np.exp(-SPREAD * apart)
        s = np.empty((cone.nodes, table.shape[1]))
        s[cone.places] = table / table.sum(1, keepdims=True)
        inside = self.program.deviations is None and (self.cone_rows[0] @ s > 0).all()
        return s if inside else super().first

    def coupled(self, eliminated: Inverted) -> Array:  # pyright: ignore[reportIncompatibleMethodOverride]
        kinds, n, m = self.factors.shape
        places = self.program.cone.places
        factors = np.empty_like(self.factors)
        factors[:, places] = self.factors  # of nodes
        sums = np.zeros((kinds, kinds, n, n))
        sums[0, 0] = eliminated.inverses.sum(0)  # rows of sums have ones
        for k, j in product(range(kinds), repeat=2):
            for y in range(m if k or j else 0):
                sums[k, j] += factors[k, :, y, None] * eliminated.inverses[y] * factors[j, :, y]
        return sums[:, :, places[:, None], places].transpose(0, 2, 1, 3)

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
    def sums(self) -> tuple[Indices, Indices, sparse.csr_array, sparse.csr_array]:
        """Of each two nodes that share a row the larger and the smaller, and what sums weights between and on nodes."""
        cone = self.graph.program.cone
        n, r, factor = cone.nodes, len(cone.logs), np.exp(-cone.logs)
        ends = np.maximum(cone.above, cone.below) * n + np.minimum(cone.above, cone.below)
        pairs, pair = np.unique(ends, return_inverse=True)
        rows = np.arange(r)
        between = sparse.csr_array((factor, (pair, rows)), (len(pairs), r))
        on = np.r_[np.ones(r), factor**2], (np.r_[cone.above, cone.below], np.r_[rows, rows])
        return *np.divmod(pairs, n), between, sparse.csr_array(on, (n, r))

    def of(self, weights: Array) -> Inverted:
        """Return the matrices of weights (r, m) on the cone's rows, inverted."""
        i, j, between, on = self.sums
        diagonals = on @ weights
        if not (np.isfinite(diagonals).all() and (diagonals > 0).all()):
            raise SolverError("the interior point left the numbers that there are: use HiGHS")
        scales = 1 / np.sqrt(diagonals)
        entries = (-(between @ weights) * scales[i] * scales[j]).T.copy()
        n, m = scales.shape
        inverses = np.empty((m, n, n))
        for entry, scale, inverse in zip(entries, scales.T, inverses, strict=True):
            _invert(j * n + i, entry, inverse)
            inverse *= scale[:, None]
            inverse *= scale
        return Inverted(self.graph, weights, inverses)


def _invert(places: Indices, entries: Array, out: Array) -> None:
    """Write the inverse of a positive definite matrix of ones on the diagonal, given by entries below it.

    `places` counts along columns, as LAPACK does. SolverError where there is no inverse to speak of.
    """
    n = len(out)
    diagonal = np.arange(n) * (n + 1)
    for share in REGULAR:
        flat = np.zeros(n * n)
        flat[places], flat[diagonal] = entries, 1 + share
        factor, wrong = dpotrf(flat.reshape(n, n).T, lower=1, clean=0, overwrite_a=1)
        if not wrong:
            lower, _ = dpotri(factor, lower=1, overwrite_c=1)  # and zeros above
            np.add(lower, lower.T, out=out)
            np.fill_diagonal(out, np.diag(lower))
            return
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
