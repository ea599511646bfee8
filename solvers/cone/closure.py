"""Which entries of a closed matrix of log-ratios say all that it promises (mechanisms/promise/closure follows paths).

Of a closed matrix in which no two values are at distance zero from each other, a pair is implied by others exactly
when some k has D_ik + D_kj <= D_ij: both parts are then implied, or needed, themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from ...mechanisms.errors import InputError
from ..arrays import Array, Flags, Indices

TIE = 1e-12
"""Share of a log-ratio by which a path may be longer and still imply it: sums of distances round."""


def checked(matrix: ArrayLike) -> Array:
    """Return a matrix of log-ratios, refused if it is none."""
    given = np.array(matrix, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.size:
        raise InputError(f"log-ratios must be a square matrix, a row and a column for each value, got {given.shape}")
    wrong = np.argwhere(~(given >= 0))
    if len(wrong):
        i, j = wrong[0]
        raise InputError(f"log-ratios must be 0 or more (inf for none), got {given[i, j]!r} for values {i} and {j}")
    return given


def classes(matrix: Array, closed: Array) -> Indices:
    """Return for each value the class of those that are at distance zero from each other by the matrix itself.

    Raises
    ------
    InputError
        Two classes are alike by a cycle of zeros in which no two values are told to be alike.
    """
    alike = (matrix == 0) & (matrix.T == 0)
    of = connected_components(csr_array(alike | np.eye(len(matrix), dtype=bool)), directed=False)[1]
    by_mistake = np.argwhere((closed == 0) & (closed.T == 0) & (of[:, None] != of))
    if len(by_mistake):
        i, j = by_mistake[0]
        raise InputError(
            f"a cycle of zero log-ratios must not make values {i} and {j} alike: give both of their log-ratios as 0, "
            f"got {matrix[i, j]!r} and {matrix[j, i]!r}"
        )
    _, first = np.unique(of, return_index=True)
    order = np.empty(len(first), dtype=np.intp)
    order[np.argsort(first)] = np.arange(len(first))
    return order[of]


def needed(closed: Array) -> Flags:
    """Return which log-ratios no others imply, of a closed matrix without two values that are alike."""
    wanted = np.isfinite(closed)
    np.fill_diagonal(wanted, False)
    apart = closed.copy()
    np.fill_diagonal(apart, np.inf)  # no path by way of its own ends
    for k in range(len(closed)):
        wanted &= apart[:, k, None] + apart[k] > closed * (1 + TIE)
    return wanted
