"""The likelihood of observations whose probability is constant over runs of neighbouring components."""

from collections.abc import Iterable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood

SAME_LEVEL = 2.0**-41
"""Relative difference up to which neighbouring probabilities are one level, computed in different ways: the level is
that of the run's first component."""

MOST_PAIRS = 2**20
"""Pairs of jumps in one row that are kept with their products: of more of them it takes longer to find the products
than to form a few curvatures afresh."""

BLOCK_ROWS = 2**13
"""Rows worked on at a time: what belongs to them stays in a core's cache."""


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
        if self._products is not None:
            order, products = self._products
            middle = (values[order] @ products).reshape(self.n_components, self.n_components)
            middle += np.tril(middle, -1).T
        else:
            middle = (self._transposed @ sparse.diags_array(values) @ self._jumps).toarray()
        return np.cumsum(np.cumsum(middle, axis=0), axis=1) * self._scale[:, None] * self._scale

    @cached_property
    def _products(self) -> tuple[np.ndarray, sparse.csr_array] | None:
        """Rows in an order, and of each what times v it adds to the lower half of D^T diag(v) D; None if too much."""
        lengths, entries = np.diff(self._jumps.indptr), self.n_components**2
        pairs = lengths * (lengths + 1) // 2
        if max(entries, int(pairs.sum())) > MOST_PAIRS:
            return None
        blocks = _by_length(lengths)
        pieces = [_pairs(self._jumps, rows, self.n_components) for rows in blocks]
        places, values = (np.concatenate(part) for part in zip(*pieces, strict=True))
        order = np.concatenate(blocks)
        ends = np.append(0, np.cumsum(pairs[order]))
        return order, sparse.csr_array((values, places, ends), shape=(lengths.size, entries))


def _by_length(lengths: np.ndarray) -> list[np.ndarray]:
    """Return blocks of rows that have the same number of jumps, together all rows."""
    order = np.argsort(lengths, kind="stable")
    same = np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1)
    return [rows[k : k + BLOCK_ROWS] for rows in same for k in range(0, rows.size, BLOCK_ROWS)]


def _pairs(jumps: sparse.csr_array, rows: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each pair of jumps, or one twice, of rows of equal length: place in D^T D, and product."""
    first = jumps.indptr[rows]
    own = first[:, None] + np.arange(jumps.indptr[rows[0] + 1] - first[0])
    columns, values = jumps.indices[own], jumps.data[own]
    # The later of two places stands first: jumps of a row may stand in any order.
    one, other = np.tril_indices(own.shape[1])
    left, right = columns[:, one], columns[:, other]
    places = np.maximum(left, right) * n_components + np.minimum(left, right)
    return places.reshape(-1), (values[:, one] * values[:, other]).reshape(-1)


def jumps_of(blocks: Iterable[np.ndarray]) -> sparse.csr_array:
    """Return D for an L given in blocks of rows.

    Example
    -------
    >>> jumps_of([np.array([[0.2, 0.2, 0.6]])]).toarray().round(12)
    array([[0.2, 0. , 0.4]])
    """
    return sparse.csr_array(sparse.vstack([_jumps(rows) for rows in blocks], format="csr"))


def jumps_of_products(views: Sequence[np.ndarray], outcomes: np.ndarray) -> sparse.csr_array:
    """Return D for rows that are products of an outcome of each view, from where the views themselves jump.

    Parameters
    ----------
    views : sequence of (K, m_j) ndarray
        Probability of each outcome of each view under each component.
    outcomes : (R, J) ndarray of int

    Example
    -------
    >>> steps, half = np.array([[0.2, 0.8], [0.2, 0.8], [0.6, 0.4]]), np.full((3, 1), 0.5)
    >>> jumps_of_products([steps, half], np.array([[0, 0], [1, 0]])).toarray().round(12)
    array([[ 0.1,  0. ,  0.2],
           [ 0.4,  0. , -0.2]])
    """
    steps = [_Steps(view.T) for view in views]
    blocks = [_meeting(steps, outcomes[k : k + BLOCK_ROWS]) for k in range(0, len(outcomes), BLOCK_ROWS)]
    values, columns, lengths = (np.concatenate(part) for part in zip(*blocks, strict=True))
    ends = np.append(0, np.cumsum(lengths))
    return sparse.csr_array((values, columns, ends), shape=(len(outcomes), len(views[0])))


class _Steps:
    """Rows of one view: where each jumps, and its level at each component, after a zero."""

    def __init__(self, rows: np.ndarray) -> None:
        self.fresh = _fresh(rows)
        self.columns = np.nonzero(self.fresh)[1]
        self.lengths = self.fresh.sum(axis=1)
        self.starts = np.cumsum(self.lengths) - self.lengths
        first = np.maximum.accumulate(np.where(self.fresh, np.arange(rows.shape[1]), 0), axis=1)
        self.levels = np.pad(np.take_along_axis(rows, first, axis=1), ((0, 0), (1, 0)))


def _meeting(steps: Sequence[_Steps], outcomes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the jumps of products of rows, the columns that they stand in, and how many each product has."""
    seen = list(zip(steps, outcomes.T, strict=True))
    lengths = np.stack([view.lengths[own] for view, own in seen], axis=1)
    every = lengths.reshape(-1)
    starts = np.stack([view.starts[own] for view, own in seen], axis=1).reshape(-1)
    # Within each row the jumps of the first view, then those of the second, ...
    within = np.arange(every.sum()) - np.repeat(np.cumsum(every) - every, every)
    place, which = np.repeat(starts, every) + within, np.repeat(np.tile(np.arange(len(seen)), len(outcomes)), every)
    row = np.repeat(np.arange(len(outcomes)), lengths.sum(axis=1))
    columns, kept = np.empty(place.size, dtype=np.int32), np.ones(place.size, dtype=bool)
    for j, (view, _) in enumerate(seen):
        columns[which == j] = view.columns[place[which == j]]
    for j, (view, own) in enumerate(seen[:-1]):  # where two jump it is one jump
        later = which > j
        kept[later] &= ~view.fresh[own[row[later]], columns[later]]
    row, columns = row[kept], columns[kept]
    before, after = np.ones(row.size), np.ones(row.size)
    for view, own in seen:
        before *= view.levels[own[row], columns]
        after *= view.levels[own[row], columns + 1]
    return after - before, columns, np.bincount(row, minlength=len(outcomes))


def _fresh(rows: np.ndarray) -> np.ndarray:
    """Return where each row has another level than one component before."""
    fresh = np.ones(rows.shape, dtype=bool)
    np.greater(np.abs(np.diff(rows, axis=1)), SAME_LEVEL * np.maximum(rows[:, 1:], rows[:, :-1]), out=fresh[:, 1:])
    return fresh


def _jumps(rows: np.ndarray) -> sparse.csr_array:
    row, first = np.nonzero(_fresh(rows))
    levels = rows[row, first]
    jumps = np.diff(levels, prepend=0.0)
    starts = np.flatnonzero(first == 0)
    jumps[starts] = levels[starts]
    return sparse.csr_array((jumps, first, np.append(starts, jumps.size)), shape=rows.shape)
