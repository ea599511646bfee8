"""The likelihood of independent views of one component, counted in a full table of their outcomes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood, checked_views


class DenseLikelihood(MixtureLikelihood):
    r"""J views that are independent given the component, all combinations of their outcomes counted.

    The probability of outcomes (o_1, ..., o_J) under component k is the product of P_j[k, o_j].  The views are
    dealt to two sides, A and B, and the products within a side are formed once; then

        L w = (A diag(w)) B^T   and   (L^T v)_k = sum_a A[a, k] (V B)[a, k],

    one matrix product each, 2 M K operations for M combinations of outcomes, however many were seen.

    Parameters
    ----------
    views : sequence of (K, m_j) array_like
        Probability of each outcome of each view under each component.
    counts : (m_1, ..., m_J) array_like
        How often each combination was seen.

    Raises
    ------
    InputError
        Views or counts of other shapes, or negative.

    Example
    -------
    >>> coin = [[0.9, 0.1], [0.5, 0.5]]
    >>> likelihood = DenseLikelihood([coin, coin], [[6, 1], [1, 2]])
    >>> likelihood.mix(np.array([0.5, 0.5])).round(3)
    array([0.53, 0.17, 0.17, 0.13])
    """

    def __init__(self, views: Sequence[ArrayLike], counts: ArrayLike) -> None:
        tables = checked_views(views)
        sizes = tuple(table.shape[1] for table in tables)
        if np.shape(counts) != sizes:
            raise InputError(f"counts must have shape {sizes}, one axis for each view, got {np.shape(counts)}")
        super().__init__(counts, tables[0].shape[0])
        cut = _balanced_cut(list(sizes))
        self._left, self._right = _joint(tables[:cut], self.n_components), _joint(tables[cut:], self.n_components)

    def mix(self, weights: np.ndarray) -> np.ndarray:
        return ((self._left * weights) @ self._right.T).reshape(-1)

    def gather(self, values: np.ndarray) -> np.ndarray:
        table = values.reshape(len(self._left), len(self._right))
        return np.einsum("ak,ak->k", self._left, table @ self._right)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        root = np.sqrt(values.reshape(len(self._left), len(self._right)))
        total = np.zeros((self.n_components, self.n_components))
        for left, scale in zip(self._left, root, strict=True):
            if scale.any():
                rows = self._right * scale[:, None] * left
                total += rows.T @ rows
        return total

    def averaged(self, member: np.ndarray, share: np.ndarray) -> DenseLikelihood | None:
        if len(self._left) > 1:  # sums of products of several views are no products
            return None
        rows = np.zeros((int(member.max()) + 1, self.counts.size))
        np.add.at(rows, member, (self._left[0] * self._right).T * share[:, None])
        return DenseLikelihood([rows], self.counts)


def _balanced_cut(sizes: list[int]) -> int:
    """Where to cut the views so that the two sides hold as few rows as possible together."""
    joint = [(np.prod(sizes[:cut]) + np.prod(sizes[cut:]), cut) for cut in range(len(sizes))]
    return min(joint)[1]


def _joint(tables: list[np.ndarray], n_components: int) -> np.ndarray:
    """(M, K) probability of each combination of these views' outcomes; one row of ones for no view."""
    rows = np.ones((1, n_components))
    for table in tables:
        rows = (rows[:, None, :] * table.T[None, :, :]).reshape(-1, n_components)
    return np.ascontiguousarray(rows)
