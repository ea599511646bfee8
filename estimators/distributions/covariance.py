"""How far estimated weights scatter: the delta method for fits that are maxima and for EMS, which is none."""

from __future__ import annotations

import numpy as np

from ...solvers.likelihood.mixture import MixtureLikelihood
from ...solvers.one_thread import one_thread

LEAST_INFORMATION = 1e-12
"""Information in a direction, relative to the largest, below which it is taken as this: the variance there becomes huge
rather than undefined, and the bands of the weights run into their limits 0 and 1."""


@one_thread()
def maximum_covariance(
    likelihood: MixtureLikelihood,
    weights: np.ndarray,
    *,
    em_steps: int | None = None,
) -> np.ndarray:
    r"""Return the (K, K) asymptotic covariance of weights that maximise a log-likelihood.

    At a maximum w_k (1 - g_k) = 0 with g the gradient, of mean one.  Differentiating this in
    the counts, with W = diag(w) and H the information per user,

        W^{1/2} M W^{-1/2} dw = W^{1/2} ds,   M = diag(1 - g) + W^{1/2} H W^{1/2},

    on the simplex, sum dw = 0, where the scores' covariance is (H - g g^T) / n.
    A weight at zero with g < 1 thus has no variance; without zeros this is the inverse information on the simplex.

    EM that was stopped after T steps has not followed the counts in directions of little information: each step goes
    the share lambda of what is left of the way along an eigenvector of M, so 1 / lambda becomes
    (1 - (1 - lambda)^T) / lambda.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components.
    weights : (K,) ndarray
    em_steps : int, optional
        T, for weights from plain EM that may not be at the maximum.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> coin = DenseLikelihood([np.eye(2)], [30, 70])
    >>> round(float(maximum_covariance(coin, np.array([0.3, 0.7]))[0, 0]) * 100 / (0.3 * 0.7), 12)
    1.0
    """
    response = maximum_response(likelihood, weights, em_steps=em_steps)
    return response @ _score_covariance(likelihood, weights) @ response.T / likelihood.total


def maximum_response(
    likelihood: MixtureLikelihood,
    weights: np.ndarray,
    *,
    em_steps: int | None = None,
) -> np.ndarray:
    r"""Return the (K, K) matrix R with dw = R ds: how weights at a maximum answer to a change of the mean score.

    A user of outcome o has the score s_o = (L[o, k] / (L w)_o)_k, and s is the mean over users; parameters, and what
    stopped EM does, as in `maximum_covariance`.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> coin = DenseLikelihood([np.eye(2)], [30, 70])
    >>> maximum_response(coin, np.array([0.3, 0.7])) @ [1 / 0.3, 0.0]
    array([ 0.7, -0.7])
    """
    mixed = likelihood.mix(weights)
    pull = likelihood.gradient(mixed)
    information = likelihood.information(mixed) / likelihood.total
    spare = np.maximum(1.0 - pull, 0.0)
    root = np.sqrt(weights)
    both = root[:, None] * root
    # W^{-1/2} dw is orthogonal to W^{1/2} 1; along that any positive stiffness does.
    stiffness = _across(np.diag(spare) + both * information, root)
    stiffness += both
    values, vectors = np.linalg.eigh(stiffness)
    values = np.maximum(values, LEAST_INFORMATION * values[-1])
    follows = 1.0 if em_steps is None else 1.0 - (1.0 - np.minimum(values, 1.0)) ** em_steps
    inverse = (vectors * (follows / values)) @ vectors.T
    inverse -= np.outer(inverse @ root, root)
    return root[:, None] * inverse * root


def _score_covariance(likelihood: MixtureLikelihood, weights: np.ndarray) -> np.ndarray:
    """(K, K) covariance of one user's score."""
    mixed = likelihood.mix(weights)
    pull = likelihood.gradient(mixed)
    return likelihood.information(mixed) / likelihood.total - np.outer(pull, pull)


def _across(matrix: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """A symmetric matrix restricted to what is orthogonal to a unit vector."""
    along = matrix @ unit
    cross = np.outer(unit, along)
    return matrix - cross - cross.T + (unit @ along) * np.outer(unit, unit)


@one_thread()
def ems_covariance(likelihood: MixtureLikelihood, weights: np.ndarray) -> np.ndarray:
    """Return the (K, K) asymptotic covariance of a fixed point of EMS; see `ems_response`."""
    response = ems_response(likelihood, weights)
    return response @ _score_covariance(likelihood, weights) @ response.T / likelihood.total


def ems_response(likelihood: MixtureLikelihood, weights: np.ndarray) -> np.ndarray:
    r"""Return the (K, K) matrix R with dw = R ds for a fixed point of EMS, s being the mean score.

    w = S(w g(w)) with S the smoothing and g the gradient of the log-likelihood per user.  Differentiating in the
    counts, dw = S(diag(g) - W H) dw + S W ds.
    """
    mixed = likelihood.mix(weights)
    pull = likelihood.gradient(mixed)
    information = likelihood.information(mixed) / likelihood.total
    size = weights.size
    smooth = _smoothing_matrix(size)
    scale = (smooth @ (weights * pull)).sum()  # smoothing at the ends does not keep the sum; weights are scaled back
    onto = (np.eye(size) - np.outer(weights, np.ones(size))) @ smooth / scale
    system = np.eye(size) - onto @ (np.diag(pull) - weights[:, None] * information)
    return np.linalg.lstsq(system, onto * weights, rcond=LEAST_INFORMATION)[0]


def _smoothing_matrix(size: int) -> np.ndarray:
    """The matrix of `smoothed` without its scaling to sum one."""
    if size == 1:
        return np.eye(1)
    matrix = 2 * np.eye(size) + np.eye(size, k=1) + np.eye(size, k=-1)
    return matrix / matrix.sum(axis=1, keepdims=True)
