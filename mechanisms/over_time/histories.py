"""Histories of values with gaps, as devices hold them."""

import numpy as np
from numpy.typing import ArrayLike


def filled(histories: ArrayLike) -> np.ndarray:
    """Return histories (N, T) in which the last value before stands for one that is missing, or else the next.

    Whether and what a device sends must not depend on when it had a value: so there is always one. Histories of NaN
    alone stay so.

    Example
    -------
    >>> filled([[np.nan, 1.0, np.nan, 3.0]]).tolist()
    [[1.0, 1.0, 1.0, 3.0]]
    """
    values = np.asarray(histories, dtype=float)
    there, at = ~np.isnan(values), np.arange(values.shape[1])
    before = np.maximum.accumulate(np.where(there, at, -1), axis=1)
    first = np.where(there.any(axis=1), there.argmax(axis=1), 0)
    return np.take_along_axis(values, np.where(before < 0, first[:, None], before), axis=1)


def scaled(values: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return values of [low, high] moved to [-1, 1].

    Example
    -------
    >>> scaled(np.array([0.0, 5.0, 10.0]), 0.0, 10.0).tolist()
    [-1.0, 0.0, 1.0]
    """
    return (values - 0.5 * (low + high)) / (0.5 * (high - low))
