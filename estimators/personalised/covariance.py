"""How far the joint maximum-likelihood estimate scatters, and which other distributions explain the reports."""

from __future__ import annotations

import numpy as np

from ...solvers.one_thread import one_thread
from ..assumption_free.explained import Explained
from ..assumption_free.points import AtPoints
from ..distributions.covariance import LEAST_INFORMATION
from .fit import derivatives
from .likelihood import PersonalisedLikelihood

VAGUE = 0.04
"""Standard error of a level's share from which on reports are taken to say nothing for sure: to second order what they
say is false then, and intervals hold far less often than they should."""


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


@one_thread()
def jointly_explained(
    likelihood: PersonalisedLikelihood, every: PersonalisedLikelihood, shares: np.ndarray, seen: AtPoints
) -> Explained:
    r"""Return what personalised reports say of all distributions, whatever the shares of the levels are.

    To second order, with s the scores' sum and I the expected information of (rho, w), the shares that explain the
    reports best with given weights leave

        s_w - I_wr I_rr^+ s_r,   I_ww - I_wr I_rr^+ I_rw

    along rho's sum.  What a share's bounds add is not used, so that intervals are no shorter for it.  Where a share has
    a standard error above `VAGUE` nothing is said, so that every distribution explains the reports.

    Parameters
    ----------
    likelihood : PersonalisedLikelihood
        Of weights at the points.
    every : PersonalisedLikelihood
        The same of every report that there can be, counted as often as it stands for a length.
    shares : (t,) ndarray of float
        Where the joint fit ended.
    seen : AtPoints
        Its weights.

    Example
    -------
    >>> from optldp.estimators.personalised.likelihood import TabledPersonalised
    >>> law, levels, which = np.array([np.eye(2)] * 2), np.repeat([0, 1], 2), np.tile([0, 1], 2)
    >>> sent, each = ([150, 350, 150, 350], [1, 1, 1, 1])
    >>> sent, each = (TabledPersonalised(levels, which, counts, np.eye(2), law) for counts in (sent, each))
    >>> at = AtPoints(np.array([0.0, 1.0]), np.array([0.3, 0.7]), False)
    >>> found = jointly_explained(sent, each, np.array([0.5, 0.5]), at)
    >>> [round(end, 3) for end in found.ends(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.95)]
    [0.672, 0.728]
    """
    n, many = likelihood.total, shares.size
    information = n * expected_scores(every, shares, seen.weights)
    if _doubt(information, many) > VAGUE:
        return Explained(seen.points, np.empty((0, seen.points.size)), np.empty(0), seen.between)
    score = n * (derivatives(likelihood, shares, seen.weights).gradient - 1.0)
    across = np.eye(many) - 1.0 / many
    of_shares = across @ information[:many, :many] @ across
    told = np.linalg.pinv(of_shares, rcond=LEAST_INFORMATION, hermitian=True) @ across
    taken = information[many:, :many] @ across @ told
    own = information[many:, many:] - taken @ information[:many, many:]
    return Explained.near(
        seen.points, seen.weights, score[many:] - taken @ score[:many], (own + own.T) / 2, between=seen.between
    )


def _doubt(information: np.ndarray, many: int) -> float:
    """The largest standard error of a share whatever the weights are, where a share is zero or one as well.

    The inverse of the information of the shares along their sum, less what the weights take of it.
    """
    of_shares, of_weights = np.eye(many) - 1.0 / many, np.eye(len(information) - many) - 1.0 / (len(information) - many)
    between = of_shares @ information[:many, many:] @ of_weights
    own = np.linalg.pinv(of_weights @ information[many:, many:] @ of_weights, rcond=LEAST_INFORMATION, hermitian=True)
    left = of_shares @ information[:many, :many] @ of_shares - between @ own @ between.T
    values, vectors = np.linalg.eigh(left + np.trace(information[:many, :many]) / many)  # their sum is known
    inverse = (vectors / np.maximum(values, LEAST_INFORMATION * values[-1])) @ vectors.T
    return float(np.sqrt(np.diag(of_shares @ inverse @ of_shares).max()))


def expected_scores(every: PersonalisedLikelihood, shares: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the expected products (t + K, t + K) of a user's scores, by every report that there can be."""
    size = shares.size + weights.size
    found = np.zeros((size, size))
    for part in every.parts():
        both = np.concatenate(every.rows(part, shares, weights), axis=1)
        mixed = both[:, : shares.size] @ shares
        weight = np.divide(every.counts[part], mixed, out=np.zeros_like(mixed), where=mixed > 0)
        both *= np.sqrt(weight)[:, None]
        found += both.T @ both
    return found
