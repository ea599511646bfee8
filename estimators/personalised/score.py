"""Scores of the frequencies at levels: intervals that cover near zero, with the shares of the levels unknown too."""

from __future__ import annotations

import numpy as np

from ...solvers.one_thread import one_thread
from ..distributions.covariance import LEAST_INFORMATION
from ..frequencies.consistency import norm_sub
from ..frequencies.locally_best import Scores, inside, score_of_moments
from ..frequencies.score import LEAST_VARIANCE
from ..frequencies.shrinkage import shrunk
from ..methods import Target
from .fit import derivatives
from .likelihood import PersonalisedLikelihood


@one_thread()
def joint_scores(
    likelihood: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray, target: Target = "population"
) -> Scores:
    r"""Return unbiased numbers (K,) for the frequencies, their variance at any frequency, and their covariance.

    One step of Newton's from a place x = (rho, w) inside both simplexes, which no bound holds back,

        u = x + H^-1 (g - 1) along the sums,

    g the mean of the users' scores and H the observed information, is unbiased to first order, and varies as the joint
    maximum likelihood would without its bounds.  The place is the shrunken result of such a step from the fit;
    variances are taken from the users' numbers there.

    Parameters
    ----------
    likelihood : PersonalisedLikelihood
    shares : (t,) ndarray of float
        Where the fit ended.
    weights : (K,) ndarray of float
    target : {"users", "population"}

    Example
    -------
    >>> from optldp.estimators.personalised.likelihood import TabledPersonalised
    >>> law = np.array([np.eye(2)] * 2)
    >>> levels, which = np.repeat([0, 1], 2), np.tile([0, 1], 2)
    >>> seen = TabledPersonalised(levels, which, [1500, 3500, 1500, 3500], np.eye(2), law)
    >>> found = joint_scores(seen, np.array([0.5, 0.5]), np.array([0.3, 0.7]))
    >>> found.score.value.round(2), found.score.variances(np.array([0.3, 0.7])).round(2)
    (array([0.3, 0.7]), array([0.21, 0.21]))
    """
    n = likelihood.total
    rho = inside(shares, n)
    value, _, covariance = _step(likelihood, rho, inside(weights, n))
    errors = np.sqrt(np.maximum(np.diag(covariance) / n, LEAST_VARIANCE))
    place = inside(shrunk(value, errors), n)
    value, answer, covariance = _step(likelihood, rho, place)
    whole, own = _moments(likelihood, rho, place, answer)
    if target == "users":
        covariance = covariance - (np.diag(weights) - np.outer(weights, weights))
    others = np.maximum((whole - place * own) / (1.0 - place), 0.0)
    return Scores(score_of_moments(value, own, others, int(n), target), covariance / n)


def shrunken(scores: Scores) -> np.ndarray:
    """Return the frequencies (K,) that empirical Bayes makes of a population's scores; see `frequencies.shrinkage`."""
    score = scores.score
    variances = score.variances(norm_sub(score.value))
    return shrunk(score.value, np.sqrt(np.maximum(variances, LEAST_VARIANCE) / score.n))


def _step(
    likelihood: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return u (K,), how it answers to a user's scores (t + K, K), and the covariance (K, K) of one user's number."""
    found, many = derivatives(likelihood, shares, weights), shares.size
    x = np.concatenate([shares, weights])
    root = np.sqrt(x)
    units = np.zeros((2, x.size))
    units[0, :many], units[1, many:] = root[:many], root[many:]
    along = units.T @ units
    across = np.eye(x.size) - along
    values, vectors = np.linalg.eigh(across @ (root[:, None] * found.information * root) @ across + along)
    values = np.maximum(values, LEAST_INFORMATION * values[-1])
    inverse = across @ ((vectors / values) @ vectors.T) @ across
    answer = (root[:, None] * inverse * root)[:, many:]
    scatter = found.scores - np.outer(found.gradient, found.gradient)
    return weights + (found.gradient - 1.0) @ answer, answer, answer.T @ scatter @ answer


def _moments(
    likelihood: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray, answer: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean squares (K,) of all users' numbers for each category, and of its own users' numbers."""
    whole, own = np.zeros(weights.size), np.zeros(weights.size)
    for part in likelihood.parts():
        by_level, by_value = likelihood.rows(part, shares, weights)
        mixed, counts = (by_level @ shares)[:, None], likelihood.counts[part]
        by_value = by_value / mixed
        squares = (
            (by_level / mixed - 1.0) @ answer[: shares.size] + (by_value - 1.0) @ answer[shares.size :] + weights
        ) ** 2
        whole += counts @ squares
        own += np.einsum("o,ok,ok->k", counts, by_value, squares)
    return whole / likelihood.total, own / likelihood.total
