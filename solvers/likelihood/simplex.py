"""The simplex of mixture weights: the point of it that is nearest to a given one, in a diagonal metric."""

import numpy as np


def nearest_weights(point: np.ndarray, metric: np.ndarray | None = None) -> np.ndarray:
    r"""Return the weights w on the simplex of least sum_k h_k (w_k - x_k)^2.

    They are max(x_k - t / h_k, 0) with the one t for which their sum is one.  The sum falls in t, in straight pieces
    that end where a weight becomes zero, at t = h_k x_k; sorting these makes it exact, O(K log K).

    Parameters
    ----------
    point : (K,) ndarray of float
        x, finite.
    metric : (K,) ndarray of float, optional
        h, positive. Default: ones.

    Returns
    -------
    weights : (K,) ndarray of float
        Non-negative, with sum one.

    Source: Held, Wolfe and Crowder (1974), "Validation of subgradient optimization", for equal h.

    Example
    -------
    >>> nearest_weights(np.array([0.75, 0.5, 0.0, -0.25]))
    array([0.625, 0.375, 0.   , 0.   ])
    >>> nearest_weights(np.array([0.75, 0.5]), np.array([4.0, 1.0]))
    array([0.7, 0.3])
    """
    give = np.ones_like(point) if metric is None else 1.0 / metric
    end = point / give
    order = np.argsort(-end, kind="stable")
    shift = (np.cumsum(point[order]) - 1.0) / np.cumsum(give[order])  # if so many stay
    kept = np.flatnonzero(end[order] > shift)
    weights = np.maximum(point - shift[kept[-1] if kept.size else 0] * give, 0.0)
    return weights / weights.sum()  # rounding
