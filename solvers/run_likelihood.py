"""The likelihood of observations whose probability is constant over runs of neighbouring components."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .mixture_likelihood import MixtureLikelihood

SAME_LEVEL = 2.0**-46
"""Probabilities of a row are rounded to this share of its largest, so that equal ones computed in different ways are
equal: the products move by less than 1e-14 of themselves."""


class RunLikelihood(MixtureLikelihood):
    """L kept as its jumps between neighbouring components.

    With D[o, k] = L[o, k] - L[o, k - 1] and W_k = w_k + ... + w_K,

        L w = D W   and   (L^T v)_k = (D^T v)_1 + ... + (D^T v)_k:

    prefix sums and one sparse product, as many operations as L has runs.  Windows, such as those of the piecewise
    and square wave mechanisms, generalised randomised response and staircase columns, have a handful a row.

    Parameters
    ----------
    jumps : (R, K) sparse matrix
        D, as `jumps_of` makes it.
    counts : (R,) array_like
        How often each row was seen.
    scale : (K,) array_like, optional
        What every row is still to be multiplied by, component by component: the probability of one outcome of a view
        that has no runs but few outcomes. Default: ones.

    Example
    -------
    >>> rows = np.array([[0.2, 0.2, 0.6], [0.8, 0.8, 0.4]])
    >>> likelihood = RunLikelihood(jumps_of([rows]), [1, 3])
    >>> likelihood.mix(np.array([0.5, 0.25, 0.25])).round(12)
    array([0.3, 0.7])
    """

    def __init__(self, jumps: sparse.csr_array, counts: ArrayLike, scale: ArrayLike | None = None) -> None:
        super().__init__(counts, jumps.shape[1])
        self._scale = np.ones(self.n_components) if scale is None else np.asarray(scale, dtype=np.float64)
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
    # A power of two as the unit makes every difference of rounded levels exact.
    unit = SAME_LEVEL * np.exp2(np.ceil(np.log2(np.maximum(rows.max(axis=1, keepdims=True), np.finfo(float).tiny))))
    levels = np.rint(rows / unit) * unit
    return sparse.csr_array(np.diff(levels, axis=1, prepend=0.0))
