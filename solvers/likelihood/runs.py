"""The likelihood of observations whose probability is constant over runs of neighbouring components."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood

SAME_LEVEL = 2.0**-41
"""Relative difference up to which neighbouring probabilities are one level, computed in different ways: the level is
that of the run's first component."""


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
        middle = (self._transposed @ sparse.diags_array(values) @ self._jumps).toarray()
        return np.cumsum(np.cumsum(middle, axis=0), axis=1) * self._scale[:, None] * self._scale


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
