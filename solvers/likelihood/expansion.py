"""A log-likelihood to second order in the weights: what many fits to the same large data need of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .log_linear import LoglikAt, WeightPlace


@dataclass(frozen=True, eq=False)
class _Expanded:
    """A second-order expansion, seen from other weights."""

    loglik: float
    gradient: np.ndarray
    information: np.ndarray


def expanded_loglik(place: WeightPlace, weights: np.ndarray, total: float) -> LoglikAt:
    r"""Return the log-likelihood's expansion about weights v,

        l(v) + n g . (w - v) - n (w - v)^T H (w - v) / 2,

    a function of K numbers whatever the number of observations. What it leaves out is of third order in the relative
    change of the observations' probabilities: for fits that explain the data equally well that is the noise of a few
    dozen parameters out of n, so that with d of them it is of the order n (d / n)^{3/2} nats.

    Parameters
    ----------
    place : WeightPlace
        The log-likelihood at v.
    weights : (K,) ndarray
        v.
    total : float
        n.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> from optldp.solvers.likelihood.log_linear import exact_loglik
    >>> exact = exact_loglik(DenseLikelihood([np.eye(2)], [60, 40]))
    >>> middle, near = np.array([0.6, 0.4]), np.array([0.61, 0.39])
    >>> about = expanded_loglik(exact(middle), middle, 100)
    >>> bool(abs(about(near).loglik - exact(near).loglik) < 1e-3)
    True
    """

    loglik, gradient, information = place.loglik, place.gradient, place.information

    def at(other: np.ndarray) -> WeightPlace:
        step = other - weights
        bend = information @ step
        return _Expanded(loglik + total * float(step @ gradient - step @ bend / 2), gradient - bend, information)

    return at
