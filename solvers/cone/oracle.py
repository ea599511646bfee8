r"""The one question that decides everything: the cheapest column of a cone, per unit of weight.

    cheapest(g, w) = min { g.s : s in the cone, w.s = 1 },    w > 0.

Multipliers of any program over tables prove a bound by the answer for each output, whoever found them.

On a tree it is exact, and O(n) for a column. The least ratio of two linear functions is where the least of
(g - price w).s vanishes: Dinkelbach's iteration lowers the price to the ratio of the column that has the least, and
ends after three to five rounds, with that column. Elsewhere it is a linear program with the cone's rows for each
column.

Source: Dinkelbach (1967), "On nonlinear fractional programming".
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..linear_program import LinearProgram, solve_linear_program
from .cone import Cone
from .tree import Tree

ROUNDS = 60
"""Of Dinkelbach's iteration, which takes a handful."""


def cheapest(cone: Cone, costs: Array, weights: Array) -> tuple[Array, Array]:
    """Return the price of the cheapest column of the cone for each of m costs, and these columns.

    Parameters
    ----------
    cone : Cone
    costs : (n, m) ndarray
        g, a column each.
    weights : (n,) ndarray
        w, all positive.

    Returns
    -------
    prices : (m,) ndarray
    columns : (n, m) ndarray
        In the cone, with w.s = 1.

    Raises
    ------
    InputError
        Weights that are not all positive, or another shape.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import cheapest, pure
    >>> prices, columns = cheapest(pure(3, np.log(2)), np.array([[1.0], [2.0], [6.0]]), np.full(3, 1 / 3))
    >>> prices.round(12), columns.ravel().round(12)  # twice as often where it is cheap
    (array([7.2]), array([1.2, 1.2, 0.6]))
    """
    g, w = np.asarray(costs, dtype=np.float64), np.asarray(weights, dtype=np.float64)
    if g.ndim != 2 or w.shape != (cone.values,) or len(g) != cone.values:
        raise InputError(f"costs and weights must have {cone.values} rows, got shapes {g.shape} and {w.shape}")
    if not (w > 0).all():
        raise InputError(f"weights must all be positive, got {w.min()!r}")
    if cone.tree is not None:
        prices, columns = _on_tree(cone.tree, cone.on_nodes(g), cone.on_nodes(w))
    else:
        prices, columns = _by_programs(cone, cone.on_nodes(g), cone.on_nodes(w))
    return prices, columns[cone.places]


def _on_tree(tree: Tree, g: Array, w: Array) -> tuple[Array, Array]:
    columns = np.full_like(g, 1 / w.sum())
    prices = g.sum(0) / w.sum()
    if len(tree.free):  # a leaf alone: no other price may be higher, or its own would be negative below
        alone = g[tree.free] / w[tree.free, None]
        leaf, each = alone.argmin(0), np.arange(g.shape[1])
        lower = alone[leaf, each] < prices
        single = np.zeros_like(g)
        single[tree.free[leaf], each] = 1 / w[tree.free[leaf]]
        prices, columns = np.where(lower, alone[leaf, each], prices), np.where(lower, single, columns)
    open_ = np.arange(g.shape[1])
    for _ in range(ROUNDS):
        _, s = tree.least(g[:, open_] - prices[open_] * w[:, None])
        s = s / (w @ s)
        ratio = np.einsum("vy,vy->y", g[:, open_], s)
        lower = ratio < prices[open_]
        open_ = open_[lower]
        if not open_.size:
            break
        prices[open_], columns[:, open_] = ratio[lower], s[:, lower]
    return prices, columns


def _by_programs(cone: Cone, g: Array, w: Array) -> tuple[Array, Array]:
    matrix = sparse.csc_array(sparse.vstack([w[None] / w.max(), cone.rows]))
    lower = np.r_[1.0, np.zeros(len(cone.logs))]
    upper = np.r_[1.0, np.full(len(cone.logs), np.inf)]
    columns = np.empty_like(g)
    for y, costs in enumerate(g.T):
        size = np.abs(costs).max() or 1.0
        program = LinearProgram(costs / size, matrix, lower, upper, np.zeros(cone.nodes), np.full(cone.nodes, np.inf))
        s = solve_linear_program(program, solver="simplex").x
        columns[:, y] = s / (w @ s)
    return np.einsum("vy,vy->y", g, columns), columns
