r"""The proof of a price by multipliers on the rows of a cone: it asks no oracle, and costs a product with the rows.

A cost g is nowhere negative on the cone exactly when g = G'u for some u >= 0 on its rows: a flow along the edges of the
graph, with gains e^D (Farkas). With any u >= 0 and r = g - G'u every column of the cone has

    g.s >= r.s >= min_i (r_i / w_i) w.s.

A node of no value has no weight: what is negative there is charged to its nearest value, s_h <= e^D_hi s_i.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from ..arrays import Array, Indices
from .cone import Cone


def nearest_values(cone: Cone) -> tuple[Indices, Array]:
    """Return for each node of no value its nearest value, and how many times that one's entry it is at most.

    Parameters
    ----------
    cone : Cone
        With h such nodes.

    Returns
    -------
    values : (h,) ndarray of int
    factors : (h,) ndarray

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import pure
    >>> from optldp.solvers.cone.flow import nearest_values
    >>> values, factors = nearest_values(pure(3, 2 * np.log(3)))
    >>> values, factors.round(9)
    (array([0]), array([3.]))
    """
    graph = csr_array((cone.logs, (cone.below, cone.above)), (cone.nodes, cone.nodes))
    distance = dijkstra(graph, indices=cone.hidden)[:, cone.places]
    return distance.argmin(1), np.exp(distance.min(1))


def flow_prices(cone: Cone, costs: Array, weights: Array, multipliers: Array) -> Array:
    """Return, for each of m costs, a lower bound on the price of every column of the cone, from multipliers on its
    rows.

    Parameters
    ----------
    cone : Cone
    costs : (n, m) ndarray
    weights : (n,) ndarray
        All positive.
    multipliers : (r, m) ndarray
        On the cone's rows; any numbers are valid, and negative ones count as zero. Better ones prove a higher price.

    Returns
    -------
    prices : (m,) ndarray
        At most those of `cheapest`.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import cheapest, flow_prices, ratios
    >>> cone, costs, even = ratios(np.log([[1.0, 2.0], [3.0, 1.0]])), np.array([[-1.0], [1.0]]), np.full(2, 0.5)
    >>> cheapest(cone, costs, even)[0].round(9)
    array([-0.66666667])
    >>> flow_prices(cone, costs, even, np.array([[4 / 3], [0.0]])).round(9)
    array([-0.66666667])
    """
    u = np.maximum(multipliers, 0.0)
    rest = cone.on_nodes(np.asarray(costs, dtype=np.float64)) - cone.rows.T @ u
    weight = cone.on_nodes(np.asarray(weights, dtype=np.float64))
    if cone.hidden.size:
        values, factors = nearest_values(cone)
        charged = np.minimum(rest[cone.hidden], 0.0) * factors[:, None]
        np.add.at(rest, cone.places[values], charged)
    at = np.unique(cone.places)
    return (rest[at] / weight[at, None]).min(0)
