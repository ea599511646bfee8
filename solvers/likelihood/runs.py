"""The likelihood of observations whose probability is constant over runs of neighbouring components."""

from collections.abc import Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood

SAME_LEVEL = 2.0**-41
"""Relative difference up to which neighbouring probabilities are one level, computed in different ways: the level is
that of the run's first component."""

MOST_PAIRS = 2**23
"""Pairs of jumps in one row that are kept with their products: a hundred mebibytes."""


class RunLikelihood(MixtureLikelihood):
    """L kept as its jumps between neighbouring components.

    With D[o, k] = L[o, k] - L[o, k - 1] and W_k = w_k + ... + w_K,

        L w = D W   and   (L^T v)_k = (D^T v)_1 + ... + (D^T v)_k:

    prefix sums and one sparse product, as many operations as L has runs.  Windows, such as those of the piecewise
    and square wave mechanisms, generalised randomised response and staircase columns, have a handful a row.

    A small probability is the difference of large ones, so the products lose as many digits as the ratio of a row's
    largest probability to its smallest has.

    Parameters
    ----------
    jumps : (R, K) sparse matrix
        D, as `jumps_of` makes it.
    counts : (R,) array_like
        How often each row was seen.
    scale : (K,) array_like, optional
        What every row is still to be multiplied by, component by component: the probability of one outcome of a view
        that has no runs but few outcomes. Default: ones.

    Raises
    ------
    InputError
        Counts or a scale of another length.

    Example
    -------
    >>> rows = np.array([[0.2, 0.2, 0.6], [0.8, 0.8, 0.4]])
    >>> likelihood = RunLikelihood(jumps_of([rows]), [1, 3])
    >>> likelihood.mix(np.array([0.5, 0.25, 0.25])).round(12)
    array([0.3, 0.7])
    """

    def __init__(self, jumps: sparse.csr_array, counts: ArrayLike, scale: ArrayLike | None = None) -> None:
        n_rows, n_components = jumps.shape  # pyright: ignore[reportGeneralTypeIssues] -- scipy's property has no type
        super().__init__(counts, n_components)
        self._scale = np.ones(self.n_components) if scale is None else np.asarray(scale, dtype=np.float64)
        if self.counts.size != n_rows or self._scale.shape != (n_components,):
            raise InputError(
                f"counts must be {n_rows}, as many as rows, and a scale {n_components}, as many as components, "
                f"got {self.counts.size} and shape {self._scale.shape}"
            )
        self._jumps = jumps
        self._transposed = sparse.csr_array(jumps.T)

    def mix(self, weights: np.ndarray) -> np.ndarray:
        return self._jumps @ np.cumsum((self._scale * weights)[::-1])[::-1]

    def gather(self, values: np.ndarray) -> np.ndarray:
        return self._scale * np.cumsum(self._transposed @ values)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        # D^T diag(v) D is as sparse as runs allow; two prefix sums make it L^T diag(v) L.
        if self._products is None:
            middle = (self._transposed @ sparse.diags_array(values) @ self._jumps).toarray()
        else:
            middle = (self._products @ values).reshape(self.n_components, self.n_components)
            middle += np.tril(middle, -1).T
        return np.cumsum(np.cumsum(middle, axis=0), axis=1) * self._scale[:, None] * self._scale

    @cached_property
    def _products(self) -> sparse.csr_array | None:
        """(K^2, R) what times v the entries of D^T diag(v) D are, in its lower half; None where that is too much."""
        lengths, entries = np.diff(self._jumps.indptr), self.n_components**2
        if max(entries, int((lengths * (lengths + 1) // 2).sum())) > MOST_PAIRS:
            return None
        pieces = [_pairs(self._jumps, rows, self.n_components) for rows in _by_length(lengths)]
        places, rows, values = (np.concatenate(part) for part in zip(*pieces, strict=True))
        return sparse.csr_array((values, (places, rows)), shape=(entries, lengths.size))


def _by_length(lengths: np.ndarray) -> list[np.ndarray]:
    """Return the rows that have the same number of jumps, for each such number."""
    order = np.argsort(lengths, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)


def _pairs(jumps: sparse.csr_array, rows: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return for each pair of jumps, or one twice, of rows of equal length: place in D^T D, row, and product."""
    first = jumps.indptr[rows]
    own = first[:, None] + np.arange(jumps.indptr[rows[0] + 1] - first[0])
    columns, values = jumps.indices[own].astype(np.int64), jumps.data[own]
    later, earlier = np.tril_indices(own.shape[1])
    places = columns[:, later] * n_components + columns[:, earlier]
    return places.reshape(-1), np.repeat(rows, later.size), (values[:, later] * values[:, earlier]).reshape(-1)


def jumps_of(blocks: Iterable[np.ndarray]) -> sparse.csr_array:
    """Return D for an L given in blocks of rows.

    Example
    -------
    >>> jumps_of([np.array([[0.2, 0.2, 0.6]])]).toarray().round(12)
    array([[0.2, 0. , 0.4]])
    """
    return sparse.csr_array(sparse.vstack([_jumps(rows) for rows in blocks], format="csr"))


def _jumps(rows: np.ndarray) -> sparse.csr_array:
    fresh = np.ones(rows.shape, dtype=bool)
    np.greater(np.abs(np.diff(rows, axis=1)), SAME_LEVEL * np.maximum(rows[:, 1:], rows[:, :-1]), out=fresh[:, 1:])
    row, first = np.nonzero(fresh)
    levels = rows[row, first]
    jumps = np.diff(levels, prepend=0.0)
    starts = np.flatnonzero(first == 0)
    jumps[starts] = levels[starts]
    return sparse.csr_array((jumps, first, np.append(starts, jumps.size)), shape=rows.shape)
