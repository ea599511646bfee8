"""How far an estimate is from the truth: numbers from numbers, and distributions on a shared grid.

Distributions are weights of the same K points, such as those of an `InputGrid`; both are divided by their sums.
Divergences use natural logarithms. Plans ask for two of the distances; all are for users who know a truth.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError

DECILES = tuple(k / 10 for k in range(1, 10))
"""Levels at which quantiles are compared unless others are named."""

LEVEL_SLACK = 1e-12
"""Share by which a running sum may miss a level and still reach it: the rounding of a few thousand additions."""


def mse(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the mean of (estimate - truth)^2 over repetitions, over weights, or over both.

    Parameters
    ----------
    estimate, truth : array_like of float
        Of the same shape, or one number as the truth of all estimates.

    Raises
    ------
    InputError
        No numbers, numbers that are not finite, or shapes that differ.

    Example
    -------
    >>> mse([1.0, 3.0], 2.0), mae([1.0, 4.0], 2.0)
    (1.0, 1.5)
    """
    return float(np.mean(_difference(estimate, truth) ** 2))


def mae(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the mean of |estimate - truth|; parameters and errors as for `mse`."""
    return float(np.mean(np.abs(_difference(estimate, truth))))


def kl_divergence(truth: ArrayLike, estimate: ArrayLike) -> float:
    """Return sum_k t_k log(t_k / w_k), in nats: infinite where the estimate excludes what is true.

    Parameters
    ----------
    truth, estimate : (K,) array_like of float
        t and w: non-negative, with positive sums. The divergence is not symmetric; the truth comes first.

    Raises
    ------
    InputError
        Weights of another kind or of different sizes.

    Source: Kullback and Leibler (1951).

    Example
    -------
    >>> round(kl_divergence([0.5, 0.5], [0.75, 0.25]), 6), kl_divergence([0.5, 0.5], [1, 0])
    (0.143841, inf)
    """
    true, found = _distributions(("truth", truth), ("estimate", estimate))
    return _relative_entropy(true, found)


def jensen_shannon_divergence(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return [KL(w || m) + KL(t || m)] / 2 with m = (w + t) / 2, in nats: from 0 to log 2.

    Parameters
    ----------
    estimate, truth : (K,) array_like of float
        w and t: non-negative, with positive sums.

    Raises
    ------
    InputError
        Weights of another kind or of different sizes.

    Source: Lin (1991), "Divergence measures based on the Shannon entropy", eq. (4.1).

    Example
    -------
    >>> round(jensen_shannon_divergence([1, 0], [0, 1]), 6)
    0.693147
    """
    found, true = _distributions(("estimate", estimate), ("truth", truth))
    middle = (found + true) / 2
    both = (_relative_entropy(found, middle) + _relative_entropy(true, middle)) / 2
    return min(max(both, 0.0), math.log(2.0))


def jensen_shannon_distance(estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the square root of the Jensen-Shannon divergence, which is a metric.

    Papers quote both, often under one name; parameters and errors as for `jensen_shannon_divergence`.

    Source: Endres and Schindelin (2003), "A new metric for probability distributions".

    Example
    -------
    >>> round(jensen_shannon_distance([1, 0], [0, 1]), 6)
    0.832555
    """
    return math.sqrt(jensen_shannon_divergence(estimate, truth))


def wasserstein_1(points: ArrayLike, estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the least mean distance over which mass must move: the integral of |W - T|, the running sums.

    Parameters
    ----------
    points : (K,) array_like of float
        Increasing; the answer is in their units.
    estimate, truth : (K,) array_like of float
        Non-negative, with positive sums.

    Raises
    ------
    InputError
        Points that do not increase, weights of another kind, or different sizes.

    Source: Vallender (1974), for distributions on the line.

    Example
    -------
    >>> wasserstein_1([0.0, 1.0, 4.0], [1, 0, 0], [0, 0.5, 0.5])
    2.5
    """
    place, (found, true) = _points(points), _distributions(("estimate", estimate), ("truth", truth))
    _same_size(place, found)
    return float(np.abs(np.cumsum(found - true)[:-1]) @ np.diff(place))


def quantile_error(points: ArrayLike, estimate: ArrayLike, truth: ArrayLike, levels: ArrayLike = DECILES) -> float:
    """Return the mean over the levels of the distance between the two quantiles.

    The quantile of level q is the smallest point whose running sum reaches q.

    Parameters
    ----------
    points : (K,) array_like of float
        Increasing; the answer is in their units.
    estimate, truth : (K,) array_like of float
        Non-negative, with positive sums.
    levels : (L,) array_like of float
        Strictly between 0 and 1; the deciles by default.

    Raises
    ------
    InputError
        Points, weights or levels that are not as said.

    Example
    -------
    >>> quantile_error([0.0, 1.0, 4.0], [0.5, 0.5, 0], [0, 0.5, 0.5], levels=[0.5, 0.9])
    2.0
    """
    place, (found, true) = _points(points), _distributions(("estimate", estimate), ("truth", truth))
    _same_size(place, found)
    wanted = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if wanted.ndim != 1 or not wanted.size or not ((wanted > 0) & (wanted < 1)).all():
        raise InputError(f"levels must lie strictly between 0 and 1, got {levels!r}")
    return float(np.mean(np.abs(_quantiles(place, found, wanted) - _quantiles(place, true, wanted))))


def range_query_error(estimate: ArrayLike, truth: ArrayLike, ranges: ArrayLike | None = None) -> float:
    """Return the mean over ranges of the absolute error of the share within the range.

    Parameters
    ----------
    estimate, truth : (K,) array_like of float
        Non-negative, with positive sums.
    ranges : (Q, 2) array_like of int, optional
        Positions: from the first, up to but without the second. Default: `dyadic_ranges`.

    Raises
    ------
    InputError
        Weights or ranges that are not as said.

    Example
    -------
    >>> range_query_error([0.25, 0.25, 0.5, 0], [0.25, 0.25, 0.25, 0.25], [[0, 2], [2, 3]])
    0.125
    """
    found, true = _distributions(("estimate", estimate), ("truth", truth))
    asked = dyadic_ranges(found.size) if ranges is None else np.asarray(ranges)
    if asked.ndim != 2 or asked.shape[1] != 2 or not asked.size or not np.issubdtype(asked.dtype, np.integer):
        raise InputError(f"ranges must be pairs of whole numbers, got shape {asked.shape} of {asked.dtype}")
    start, stop = asked.T
    if not ((start >= 0) & (start < stop) & (stop <= found.size)).all():
        raise InputError(f"ranges must have 0 <= start < stop <= {found.size}: give positions, not values")
    rising = np.concatenate([[0.0], np.cumsum(found - true)])
    return float(np.mean(np.abs(rising[stop] - rising[start])))


def dyadic_ranges(size: int) -> np.ndarray:
    """Return the (Q, 2) ranges of 1, 2, 4, ... neighbours that tile all positions, less the whole.

    Any range is the union of at most two of each length. The last of a length is cut off at the end.

    Example
    -------
    >>> dyadic_ranges(4).tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [2, 4]]
    """
    tiles = []
    for length in (2**level for level in range(max(1, math.ceil(math.log2(size))))):
        start = np.arange(0, size, length)
        tiles.append(np.stack([start, np.minimum(start + length, size)], axis=1))
    return np.concatenate(tiles)


def variance_error(points: ArrayLike, estimate: ArrayLike, truth: ArrayLike) -> float:
    """Return the absolute difference of the two variances, in squared units of the points.

    Parameters and errors as for `wasserstein_1`.

    Example
    -------
    >>> variance_error([0.0, 2.0], [0.5, 0.5], [1, 0])
    1.0
    """
    place, (found, true) = _points(points), _distributions(("estimate", estimate), ("truth", truth))
    _same_size(place, found)
    # Centred in the middle of the points, so that a domain far from zero costs no digits.
    centred = place - place.mean()
    spread = [float(w @ centred**2 - (w @ centred) ** 2) for w in (found, true)]
    return abs(spread[0] - spread[1])


def _relative_entropy(left: np.ndarray, right: np.ndarray) -> float:
    held = left > 0
    if (right[held] == 0).any():
        return math.inf
    # The difference of logarithms, as a quotient of tiny weights can overflow.
    return float(left[held] @ (np.log(left[held]) - np.log(right[held])))


def _quantiles(points: np.ndarray, weights: np.ndarray, levels: np.ndarray) -> np.ndarray:
    rising = np.cumsum(weights)
    return points[np.minimum(np.searchsorted(rising, levels * (1 - LEVEL_SLACK)), points.size - 1)]


def _difference(estimate: ArrayLike, truth: ArrayLike) -> np.ndarray:
    found, true = np.asarray(estimate, dtype=np.float64), np.asarray(truth, dtype=np.float64)
    if not found.size or (true.ndim and true.shape != found.shape):
        raise InputError(f"estimate and truth must be of one shape, got {found.shape} and {true.shape}")
    if not (np.isfinite(found).all() and np.isfinite(true).all()):
        raise InputError("estimate and truth must be finite: leave failed repetitions out and say so")
    return found - true


def _distributions(*given: tuple[str, ArrayLike]) -> tuple[np.ndarray, np.ndarray]:
    arrays = []
    for name, weights in given:
        array = np.asarray(weights, dtype=np.float64)
        if array.ndim != 1 or not (np.isfinite(array).all() and (array >= 0).all() and array.sum() > 0):
            raise InputError(f"{name} must be non-negative weights with a positive sum, got shape {array.shape}")
        arrays.append(array / array.sum())
    _same_size(*arrays)
    return arrays[0], arrays[1]


def _points(points: ArrayLike) -> np.ndarray:
    array = np.asarray(points, dtype=np.float64)
    if array.ndim != 1 or not np.isfinite(array).all() or not (np.diff(array) > 0).all():
        raise InputError(f"points must be finite and strictly increasing, got shape {array.shape}")
    return array


def _same_size(left: np.ndarray, right: np.ndarray) -> None:
    if left.size != right.size:
        raise InputError(f"distributions must be on the same grid, got {left.size} and {right.size} components")
