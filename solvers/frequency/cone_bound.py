r"""What no table of any promise answers linear queries better than: one inequality over the columns of a cone.

Queries W (q, n), less their means at the prior, have C = W^T W = R R for the symmetric root R. For any Z (n, n),
tr(C M^-1) >= 2 tr(R Z) - tr(Z^T M Z), so that with

    |Z^T s|^2 <= (lambda . s)(pi . s)  for all columns s of the cone,                                             (*)

no table has tr(C M^-1) < tr(R Z)^2 / sum(lambda). The gain |Z^T s|^2 / (pi . s) is convex, so that (*) need be shown of
extreme rays alone. *Few rays of a tree* are listed. *Elsewhere* every column obeys G s >= 0, a row g for each limit
(nodes of no value included), and products of rows are not negative either: whenever

    Q = (pi lambda^T + lambda pi^T) / 2 - Z Z^T - sum_k y_k (g_a g_b^T + g_b g_a^T) / 2,   y >= 0,

is positive semidefinite, (*) holds. On a tree an extreme ray meets one of the two rows of every edge, and y is free for
their product. What Q lacks is added: with s_i <= c_i pi . s, c_i = 1 / sum_j pi_j e^-D_ij, and -e the least eigenvalue
of (c_i Q_ij c_j), lambda + N e pi obeys (*) for N nodes. So any numbers prove something, whoever found them.

Source: weak duality for A-optimal design (Pukelsheim, 1993, chapter 7); the products: Sherali and Adams (1990).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.promise.closure import closure
from ..arrays import Array, Indices
from ..cone import Cone
from .frequency_program import ROUNDING
from .workload import checked_queries

MOST_EDGES = 16
"""Edges of a tree whose rays are listed: 65 536 of them."""

MOST_NODES = 6
"""Values whose rays are listed whatever their limits are: of 1296 trees."""

NEAR = 1e-9
"""By what a log-ratio may exceed its limit and count as within: rays too many only make a bound looser."""


@dataclass(frozen=True, eq=False)
class ConeCertificate:
    """What proves (*) of this module.

    Attributes
    ----------
    numbers : (n, n) ndarray
        Z.
    multipliers : (n,) ndarray
        lambda.
    first, second : (k,) ndarray of int
        Rows of the cone whose products are used; none where rays are listed.
    weights : (k,) ndarray
        y.
    """

    numbers: Array
    multipliers: Array
    first: Indices
    second: Indices
    weights: Array


def certified_cone_bound(cone: Cone, prior: ArrayLike, queries: ArrayLike, certificate: ConeCertificate) -> float:
    """Return what privacy costs the answers at least, with any table of the cone, whatever the certificate's numbers.

    Parameters
    ----------
    cone : Cone
        Of n values.
    prior : (n,) array_like
    queries : (q, n) array_like
    certificate : ConeCertificate

    Raises
    ------
    InputError
        A certificate that does not fit, or with a negative weight where none may be.
    """
    weights, matrix = checked_queries(prior, queries)
    root, sampling = centred_root(weights, matrix)
    _check(cone, certificate)
    trace = float((root * certificate.numbers).sum())
    total = float(certificate.multipliers.sum()) + lacking(cone, weights, certificate)
    if not (trace > 0 and 0 < total < math.inf):
        return 0.0
    return max(0.0, trace**2 / total * (1 - 4 * weights.size * ROUNDING) - sampling)


def centred_root(prior: Array, queries: Array) -> tuple[Array, float]:
    """Return R (n, n) of the queries less their means, and sum_x |W_x|^2 pi_x of these.

    Example
    -------
    >>> from optldp.solvers.frequency.cone_bound import centred_root
    >>> centred_root(np.array([0.5, 0.5]), np.array([[1.0, 0.0]]))[1]
    0.25
    """
    centred = queries - (queries @ prior)[:, None]
    _, sizes, right = np.linalg.svd(centred, full_matrices=False)
    return (right.T * sizes) @ right, float((centred**2).sum(0) @ prior)


def lists_rays(cone: Cone) -> bool:
    """Return whether all extreme rays can be listed: of a small tree, or of very few values whatever their limits."""
    if cone.tree is not None:
        return len(cone.logs) - (cone.nodes - 1) <= MOST_EDGES  # edges with two limits
    return cone.nodes == cone.values <= MOST_NODES and bool(np.isfinite(cone.closed).all())


def rays(cone: Cone) -> Array:
    """Return columns (n, r), all extreme rays among them, of a cone that `lists_rays`.

    On a tree each edge is at one of its two limits; a leaf with one limit is there, or alone. Elsewhere the edges of
    some tree on the values are: of all trees those are kept that obey every limit.

    Example
    -------
    >>> from optldp.solvers.cone import line, ratios
    >>> from optldp.solvers.frequency.cone_bound import rays
    >>> rays(line([0.0, 1.0], np.log(2))).tolist()
    [[0.5, 2.0], [1.0, 1.0]]
    >>> rays(ratios(1 - np.eye(3))).shape[1]  # one value or two of the three at e
    6
    """
    if cone.tree is None:
        return _of_all_trees(cone)
    tree, both = cone.tree, np.flatnonzero(np.isfinite(cone.tree.up) & (cone.tree.parents >= 0))
    marks = dict(zip(both, (np.arange(2**both.size) >> np.arange(both.size)[:, None]) & 1, strict=True))
    logs = np.zeros((cone.nodes, 2**both.size))
    for depth in tree.depths:
        for v in depth.nodes:
            chosen = np.where(marks[v], tree.up[v], -tree.down[v]) if v in marks else -tree.down[v]
            logs[v] = logs[tree.parents[v]] + chosen
    return np.hstack([np.exp(logs), np.eye(cone.nodes)[:, tree.free]])[cone.places]


def _of_all_trees(cone: Cone) -> Array:
    n, D = cone.values, cone.closed
    signs = (np.arange(2 ** (n - 1)) >> np.arange(n - 1)[:, None]) & 1
    found = []
    for code in itertools.product(range(n), repeat=n - 2):
        logs = np.zeros((n, 2 ** (n - 1)))
        for (v, parent), up in zip(_edges(code, n), signs, strict=True):
            logs[v] = logs[parent] + np.where(up, D[v, parent], -D[parent, v])
        kept = (logs[:, None] - logs <= D[:, :, None] + NEAR).all((0, 1))
        found.append(logs[:, kept])
    every = np.hstack(found)
    # Trees share rays; each stays as it was computed, since a rounded one would prove a bound of another cone.
    _, first = np.unique(every.round(10), axis=1, return_index=True)
    return np.exp(every[:, first])


def _edges(code: tuple[int, ...], n: int) -> list[tuple[int, int]]:
    """Return the edges (node, parent) of Pruefer's tree with root n - 1, parents first."""
    degrees = np.bincount(code, minlength=n) + 1
    edges = []
    for parent in code:
        leaf = int(np.flatnonzero(degrees == 1)[0])
        edges.append((leaf, parent))
        degrees[[leaf, parent]] -= 1
    left = np.flatnonzero(degrees == 1)
    edges.append((int(left[0]), int(left[1])))
    return edges[::-1]


def lacking(cone: Cone, prior: Array, certificate: ConeCertificate) -> float:
    """Return t with which lambda and a line of sum t obey (*), rounding included."""
    Z, line = certificate.numbers, certificate.multipliers
    if lists_rays(cone):
        s = rays(cone)
        mean, gain, charge = prior @ s, ((Z.T @ s) ** 2).sum(0), line @ s
        rounding = 16 * prior.size * ROUNDING * (gain + (np.abs(line) @ s) * mean)
        return max(0.0, float(((gain - charge * mean + rounding) / mean**2).max()))
    between = distances(cone)
    with np.errstate(divide="ignore"):
        c = 1 / (np.exp(-between[:, cone.places]) @ prior)
    if not np.isfinite(c).all():  # a value without weight, and none that says how large its entry may be
        return math.inf
    taken, sizes = products(cone, certificate)
    charged, squared = np.outer(cone.on_nodes(prior), cone.on_nodes(line)), spread(cone, Z @ Z.T)
    scaled = c[:, None] * ((charged + charged.T) / 2 - squared - taken) * c
    sizes = c[:, None] * (sizes + np.abs(charged) + spread(cone, np.abs(Z) @ np.abs(Z).T)) * c
    rounding = 16 * cone.nodes * ROUNDING * float(np.linalg.norm(sizes))
    return cone.nodes * max(0.0, rounding - float(np.linalg.eigvalsh(scaled)[0]))


def spread(cone: Cone, per_value: Array) -> Array:
    """Return a matrix of values (n, n) as one of nodes (N, N)."""
    return cone.on_nodes(cone.on_nodes(per_value).T).T


def products(cone: Cone, certificate: ConeCertificate) -> tuple[Array, Array]:
    """Return the weighted sum of products of rows (N, N), and the sum of its absolute terms."""
    rows = cone.rows.toarray()
    sums = np.zeros((len(rows), len(rows)))
    np.add.at(sums, (certificate.first, certificate.second), certificate.weights)
    whole, terms = rows.T @ sums @ rows, np.abs(rows).T @ np.abs(sums) @ np.abs(rows)
    return (whole + whole.T) / 2, (terms + terms.T) / 2


def distances(cone: Cone) -> Array:
    """Return log-ratios (N, N) between all nodes."""
    between = np.full((cone.nodes, cone.nodes), np.inf)
    np.minimum.at(between, (cone.below, cone.above), cone.logs)
    return closure(between)


def of_an_edge(cone: Cone, first: Indices, second: Indices) -> np.ndarray:
    """Return which pairs of rows are the two of an edge of a tree: one of them is met by every extreme ray."""
    if cone.tree is None:
        return np.zeros(len(first), dtype=bool)
    return (cone.below[first] == cone.above[second]) & (cone.above[first] == cone.below[second])


def _check(cone: Cone, certificate: ConeCertificate) -> None:
    n, k, rows = cone.values, len(certificate.weights), len(cone.logs)
    shapes = {"numbers": (n, n), "multipliers": (n,), "first": (k,), "second": (k,), "weights": (k,)}
    for name, shape in shapes.items():
        value = getattr(certificate, name)
        if np.shape(value) != shape or not np.isfinite(value).all():
            raise InputError(f"{name} must be finite numbers of shape {shape}, got shape {np.shape(value)}")
    first, second = certificate.first, certificate.second
    if k and not (min(first.min(), second.min()) >= 0 and max(first.max(), second.max()) < rows):
        raise InputError(f"products must be of rows 0 to {rows - 1} of the cone")
    if (certificate.weights[~of_an_edge(cone, first, second)] < 0).any():
        raise InputError(f"weights of products must not be negative, got a least of {certificate.weights.min()}")
