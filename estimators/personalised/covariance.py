"""How far the joint maximum-likelihood estimate scatters."""

from __future__ import annotations

import numpy as np

from ...solvers.one_thread import one_thread
from ..distributions.covariance import LEAST_INFORMATION
from .fit import derivatives
from .likelihood import PersonalisedLikelihood


@one_thread()
def joint_covariance(likelihood: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    r"""Return the (t + K, t + K) asymptotic covariance of shares and weights that maximise the log-likelihood.

    At a maximum x_k (1 - g_k) = 0 with x = (rho, w).  Differentiating in the counts, with X = diag(x) and H the
    observed information per user,

        X^{1/2} M X^{-1/2} dx = X^{1/2} ds,   M = diag(1 - g) + X^{1/2} H X^{1/2},

    where both sums of dx are zero and the scores' covariance is (S - g g^T) / n, S the average of their products:
    `maximum_covariance` for two simplexes.  What the shares do not tell is thereby taken from the weights: without
    zeros the weights' block is the inverse of the Schur complement.

    Parameters
    ----------
    likelihood : PersonalisedLikelihood
    shares : (t,) ndarray of float
    weights : (K,) ndarray of float

    Example
    -------
    >>> from optldp.estimators.personalised.likelihood import TabledPersonalised
    >>> law = np.array([np.eye(2)] * 2)
    >>> levels, which = np.repeat([0, 1], 2), np.tile([0, 1], 2)
    >>> seen = TabledPersonalised(levels, which, [15, 35, 15, 35], np.eye(2), law)
    >>> found = joint_covariance(seen, np.array([0.5, 0.5]), np.array([0.3, 0.7]))
    >>> (100 * np.diag(found)).round(9)
    array([0.25, 0.25, 0.21, 0.21])
    """
    found = derivatives(likelihood, shares, weights)
    x, many = np.concatenate([shares, weights]), shares.size
    root = np.sqrt(x)
    both = root[:, None] * root
    units = np.zeros((2, x.size))
    units[0, :many], units[1, many:] = root[:many], root[many:]
    along = units.T @ units
    across = np.eye(x.size) - along
    stiffness = np.diag(np.maximum(1.0 - found.gradient, 0.0)) + both * found.information
    values, vectors = np.linalg.eigh(across @ stiffness @ across + along)
    values = np.maximum(values, LEAST_INFORMATION * values[-1])
    inverse = (vectors / values) @ vectors.T
    scores = across @ (both * (found.scores - np.outer(found.gradient, found.gradient))) @ across
    return root[:, None] * (inverse @ scores @ inverse) * root / likelihood.total
