"""Means of groups from the means of signed features: sums over each group, over its share of the users."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..intervals import normal_quantile
from .fieller import fieller


def group_means(
    told: Mapping[str, Any], signs: np.ndarray, value: np.ndarray, variance: np.ndarray, confidence: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return each group's mean, its standard error, and the ends of Fieller's interval, without the bias by clipping.

    Parameters
    ----------
    told : mapping
        The mechanism's: the reference `centres` of the groups, and their `names`.
    signs : (H, k) ndarray of float
        Of the features of sums; those of sizes have the same but for the first, whose mean is 1.
    value, variance : (2 H - 1,) ndarray of float
        Means of the features, sums first.
    confidence : float

    Returns
    -------
    mean, std_error, low, high : (k,) ndarray of float

    Raises
    ------
    InputError
        A group whose share is not told from zero.

    Source: Fieller (1954).

    Example
    -------
    >>> signs, told = np.array([[1.0, 1.0], [1.0, -1.0]]), {"centres": [10.0, 20.0], "names": ["a", "b"]}
    >>> found = group_means(told, signs, np.array([0.5, 0.5, 0.0]), np.full(3, 1e-4), 0.95)
    >>> found[0], found[2].round(2)
    (array([11., 20.]), array([10.97, 19.97]))
    """
    rows = len(signs)
    sums, sizes = signs.T @ value[:rows] / rows, signs.T @ np.concatenate([[1.0], value[rows:]]) / rows
    of_sums, of_sizes = variance[:rows].sum() / rows**2, variance[rows:].sum() / rows**2
    centres = np.array(told["centres"], dtype=float)
    ratio, error, low, high = (np.empty(centres.size) for _ in range(4))
    for place, (top, size) in enumerate(zip(sums, sizes, strict=True)):
        if size <= 0:
            raise InputError(
                f"the share of group {told['names'][place]!r} must be told from zero, got {size:.2g}: collect more, "
                "or merge groups"
            )

        def spread(t: float, size: float = size) -> float:
            return (of_sums + t * t * of_sizes) / size**2

        ratio[place], error[place] = top / size, math.sqrt(spread(top / size))
        low[place], high[place] = fieller(ratio[place], spread, float(normal_quantile(confidence)))
    return centres + ratio, error, centres + low, centres + high
