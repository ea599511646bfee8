"""The semidefinite program that finds what proves a bound of `cone_bound`, by products of a cone's rows."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy import sparse

from ...mechanisms.errors import SolverError
from ..arrays import Array, Indices
from ..channel.channel_program import even_weights
from ..cone import Cone
from .cone_bound import ConeCertificate, distances, of_an_edge

ROWS = 160
"""Of the cone, those of the least log-ratios, whose products are looked at: far values hardly bind each other."""


def relaxed(
    cone: Cone, prior: Array, root: Array, columns: Array, c: Array, value: float, most: int
) -> ConeCertificate:
    """Return what the semidefinite program finds with so many products of rows; SolverError if it fails."""
    import cvxpy as cp  # half a second, and only here

    first, second, free = _chosen(cone, prior, columns, c, most)
    N, n, places = cone.nodes, prior.size, cone.places
    # In units of what an entry may be at most, and rows of length one, numbers are alike.
    reach = 1 / (np.exp(-distances(cone)[:, places]) @ even_weights(prior))
    rows = cone.rows.toarray() * reach
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows / lengths[:, None]
    pairs = rows[first][:, :, None] * rows[second][:, None, :]
    pairs = sparse.csr_array((pairs + pairs.transpose(0, 2, 1)).reshape(-1, N * N)) / 2
    on = np.zeros((N, n))
    on[places, np.arange(n)] = reach[places]
    charges = np.einsum("a,bi->iab", on @ prior, on)
    charges = ((charges + charges.transpose(0, 2, 1)) / 2).reshape(n, -1)
    y, lam, Z = cp.Variable(len(first)), cp.Variable(n), cp.Variable((n, n))
    quadratic = cp.reshape(charges.T @ lam - pairs.T @ y, (N, N), order="C")
    scale = math.sqrt(value)
    whole: Any = cp.bmat([[quadratic, on @ Z], [(on @ Z).T, np.eye(n)]])
    problem = cp.Problem(
        cp.Maximize(2 * cp.sum(cp.multiply(root / scale, Z)) - cp.sum(lam)),
        [(whole + whole.T) / 2 >> 0, y[np.flatnonzero(~free)] >= 0],
    )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is inaccurate is made up for
            problem.solve(solver=cp.CLARABEL)
    except cp.SolverError as error:
        raise SolverError(f"the bound's program was not solved: {error}") from None
    if y.value is None or lam.value is None or Z.value is None:
        raise SolverError(f"the bound's program ended {problem.status}")
    weights = np.where(free, y.value, np.maximum(y.value, 0.0)) / (lengths[first] * lengths[second])
    return ConeCertificate(scale * Z.value, value * lam.value, first, second, value * weights)


def _chosen(cone: Cone, prior: Array, columns: Array, c: Array, most: int) -> tuple[Indices, Indices, np.ndarray]:
    """Return the products of rows that the table makes least, and which of them may have any weight."""
    between = distances(cone)
    on = np.full((cone.nodes, columns.shape[1]), 0.0)
    on[cone.places] = columns
    for h in cone.hidden:
        on[h] = (np.exp(-between[cone.places, h])[:, None] * columns).max(0)
    lengths = on / np.sqrt(prior @ columns) * np.sqrt(c)
    met = cone.rows @ lengths
    # A row of zeros has no direction: its products are zero, not NaN.
    inner = met @ met.T / np.outer(size := np.maximum(np.linalg.norm(met, axis=1), 1e-300), size)
    nearest = np.argsort(cone.logs, kind="stable")[:ROWS]
    a, b = np.triu_indices(len(inner))
    near = np.isin(a, nearest) & np.isin(b, nearest)
    a, b = a[near], b[near]
    order = np.argsort(inner[a, b], kind="stable")
    free = of_an_edge(cone, a, b)
    order = np.r_[order[free[order]], order[~free[order]]][:most]
    return a[order], b[order], free[order]
