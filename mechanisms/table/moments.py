"""Means and variances of reports, from the moments at the knots: exact between knots too."""

import numpy as np

from ..errors import TableError
from .knot_prior import KnotPrior


def mixed_variance(left: np.ndarray, right: np.ndarray, step: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Return the variance of a mixture of two laws: (1 - w) left + w right + w (1 - w) step^2.

    Parameters
    ----------
    left, right : ndarray
        The variances of the two laws.
    step : ndarray
        The difference of their means.
    weight : ndarray
        Probability of the right one.

    Example
    -------
    >>> mixed_variance(np.array([1.0]), np.array([1.0]), np.array([2.0]), np.array([0.5])).item()
    2.0
    """
    return (1 - weight) * left + weight * right + weight * (1 - weight) * step**2


def largest_variance(knots: np.ndarray, means: np.ndarray, variances: np.ndarray) -> tuple[float, float]:
    """Return the largest variance over the whole domain and a value that attains it.

    Between two knots the variance is a concave parabola in the value: its vertex has a closed form.

    Example
    -------
    >>> largest_variance(np.array([-1.0, 1.0]), np.array([-1.0, 1.0]), np.array([3.0, 3.0]))
    (4.0, 0.0)
    """
    left, right, step = variances[:-1], variances[1:], np.diff(means)
    curved = step**2 > 0
    vertex = np.divide(right - left, 2 * step**2, out=np.sign(right - left), where=curved)
    weight = np.clip(0.5 + vertex, 0.0, 1.0)
    variance = mixed_variance(left, right, step, weight)
    k = int(np.argmax(variance))
    return float(variance[k]), float((1 - weight[k]) * knots[k] + weight[k] * knots[k + 1])


def prior_variance(knots: np.ndarray, means: np.ndarray, variances: np.ndarray, prior: KnotPrior) -> float:
    """Return sum_i p_i V_i + sum_k r_k ((mean_{k+1} - mean_k) / (x_{k+1} - x_k))^2.

    The second sum is what random rounding adds; for an unbiased table its slopes are all one.

    Raises
    ------
    TableError
        A prior on another number of knots.

    Example
    -------
    >>> prior = KnotPrior([0.5, 0.5], [0.25], "public")
    >>> prior_variance(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([3.0, 5.0]), prior)
    4.25
    """
    require_prior(prior, knots.size)
    slope = np.diff(means) / np.diff(knots)
    return float(prior.weights @ variances + prior.rounding @ slope**2)


def require_prior(prior: object, n: int) -> None:
    """Raise TableError unless it is a KnotPrior on n knots."""
    if not isinstance(prior, KnotPrior):
        raise TableError(f"prior must be a KnotPrior, got {prior!r}")
    if prior.weights.size != n:
        raise TableError(f"prior must have one weight per knot, got {prior.weights.size} for {n} knots")
