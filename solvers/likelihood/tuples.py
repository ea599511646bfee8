"""The likelihood of independent views of one component, for the combinations of outcomes that were seen."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood, checked_views

BLOCK_BYTES = 2**21
"""Bytes of L formed at a time: one block stays in a core's cache between being formed and being used."""

KEPT_BYTES = 2**30
"""Bytes of L that are kept rather than formed anew for every product."""


class TupleLikelihood(MixtureLikelihood):
    """J views that are independent given the component; R distinct combinations of outcomes were seen.

    L[o, k] is the product over j of P_j[k, outcomes[o, j]].  It is kept if it is no larger than a gibibyte, else
    formed block by block, J gathered rows to each of its own; a product costs 2 R K operations besides.

    Parameters
    ----------
    views : sequence of (K, m_j) array_like
        Probability of each outcome of each view under each component.
    outcomes : (R, J) array_like of int
        What was seen.
    counts : (R,) array_like
        How often.
    kept_bytes : int
        Largest L to keep.

    Raises
    ------
    InputError
        Views, outcomes or counts of other shapes, or outcomes that a view does not have.

    Example
    -------
    >>> coin = [[0.9, 0.1], [0.5, 0.5]]
    >>> likelihood = TupleLikelihood([coin, coin], [[0, 0], [1, 1]], [6, 2])
    >>> likelihood.mix(np.array([0.5, 0.5])).round(3)
    array([0.53, 0.13])
    """

    def __init__(
        self, views: Sequence[ArrayLike], outcomes: ArrayLike, counts: ArrayLike, *, kept_bytes: int = KEPT_BYTES
    ) -> None:
        tables = checked_views(views)
        super().__init__(counts, tables[0].shape[0])
        self._tables = [np.ascontiguousarray(table.T) for table in tables]
        self._outcomes = _checked_outcomes(outcomes, (self.counts.size, len(tables)), [len(t) for t in self._tables])
        row_bytes = 8 * self.n_components
        self._block = max(1, BLOCK_BYTES // row_bytes)
        self._kept = None
        if row_bytes * self.counts.size <= kept_bytes:
            self._kept = np.concatenate([rows for _, rows in self.blocks()])

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield L in blocks of rows, each with where it stands."""
        for start in range(0, self.counts.size, self._block):
            part = slice(start, min(start + self._block, self.counts.size))
            if self._kept is not None:
                yield part, self._kept[part]
                continue
            seen = self._outcomes[part]
            rows = self._tables[0][seen[:, 0]]
            for table, column in zip(self._tables[1:], seen.T[1:], strict=True):
                rows *= table[column]
            yield part, rows

    def mix(self, weights: np.ndarray) -> np.ndarray:
        if self._kept is not None:
            return self._kept @ weights
        return np.concatenate([rows @ weights for _, rows in self.blocks()])

    def gather(self, values: np.ndarray) -> np.ndarray:
        if self._kept is not None:
            return values @ self._kept
        return np.sum([values[part] @ rows for part, rows in self.blocks()], axis=0)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        total = np.zeros((self.n_components, self.n_components))
        for part, rows in self.blocks():
            scaled = rows * np.sqrt(values[part])[:, None]
            total += scaled.T @ scaled
        return total


def _checked_outcomes(outcomes: ArrayLike, shape: tuple[int, int], sizes: list[int]) -> np.ndarray:
    array = np.asarray(outcomes)
    if array.shape != shape or not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"outcomes must be integers of shape {shape}, got shape {array.shape} of {array.dtype}")
    if not ((array >= 0).all() and (array < sizes).all()):
        raise InputError(f"outcomes must lie below {sizes}, view by view, got {array.min(axis=0)}..{array.max(axis=0)}")
    return array
