"""The likelihood of reports with several places, each component of which speaks of one place alone."""

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood


class PlaceLikelihood(MixtureLikelihood):
    r"""R observations of K places, with J components for each place, and perhaps one more that is neutral.

    An observation shows one of S symbols y_k at each place. Its probability, up to a factor of its own that does not
    matter to the weights, depends on the component's place alone:

        L[o, (k, j)] = T[j, y_ok],    L[o, neutral] = 1.

    With U = w T, (L w)_o = sum_k U[k, y_ok]; and L^T v needs but the sum of v over the observations that show each
    symbol at each place. So a product costs R K + K J S operations, and the curvature K^2 (R + J S (J + S)) / 2.

    Parameters
    ----------
    symbols : (R, K) ndarray of int
        y, in 0..S-1.
    counts : (R,) array_like
        How often each row was seen.
    ratios : (J, S) array_like of float
        T, positive: how many times likelier each symbol is at a component's place than without it.
    neutral : bool
        Whether there is one more component, the last, that all symbols are evenly likely under.

    Raises
    ------
    InputError
        Symbols of another shape, type or range; ratios that are not positive.

    Example
    -------
    >>> likelihood = PlaceLikelihood(np.array([[1, 0], [0, 1]]), [3, 1], [[0.5, 2.0]])
    >>> likelihood.mix(np.array([0.75, 0.25])).tolist()
    [1.625, 0.875]
    """

    def __init__(self, symbols: np.ndarray, counts: ArrayLike, ratios: ArrayLike, *, neutral: bool = False) -> None:
        self._ratios = np.array(ratios, dtype=np.float64)
        if self._ratios.ndim != 2 or not (np.isfinite(self._ratios).all() and (self._ratios > 0).all()):
            raise InputError(f"ratios must be a matrix of positive numbers, got shape {self._ratios.shape}")
        size, given = self._ratios.shape[1], np.asarray(symbols)
        if given.ndim != 2 or not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"symbols must be a matrix of integers, got shape {given.shape} of {given.dtype}")
        super().__init__(counts, given.shape[1] * len(self._ratios) + neutral)
        if len(given) != self.counts.size:
            raise InputError(f"symbols must have one row for each of {self.counts.size} counts, got {len(given)}")
        if given.size and not (given.min() >= 0 and given.max() < size):
            raise InputError(f"symbols must lie in 0..{size - 1}, got {given.min()} to {given.max()}")
        self._columns = np.ascontiguousarray(given.T)
        self._neutral = neutral

    def mix(self, weights: np.ndarray) -> np.ndarray:
        placed = weights[: weights.size - self._neutral].reshape(len(self._columns), -1) @ self._ratios
        mixed = np.full(self.counts.size, weights[-1] if self._neutral else 0.0)
        for table, column in zip(placed, self._columns, strict=True):
            mixed += table[column]
        return mixed

    def gather(self, values: np.ndarray) -> np.ndarray:
        size = self._ratios.shape[1]
        sums = np.stack([np.bincount(column, values, size) for column in self._columns])
        gathered = (sums @ self._ratios.T).reshape(-1)
        return np.append(gathered, values.sum()) if self._neutral else gathered

    def curvature(self, values: np.ndarray) -> np.ndarray:
        each, size = self._ratios.shape
        total = np.zeros((self.n_components, self.n_components))
        for k, first in enumerate(self._columns):
            rows = slice(k * each, (k + 1) * each)
            start = first.astype(np.intp) * size
            for other in range(k, len(self._columns)):
                seen = np.bincount(start + self._columns[other], values, size * size).reshape(size, size)
                block = self._ratios @ seen @ self._ratios.T
                columns = slice(other * each, (other + 1) * each)
                total[rows, columns] = block
                total[columns, rows] = block.T
        if self._neutral:
            total[-1] = total[:, -1] = self.gather(values)
        return total
