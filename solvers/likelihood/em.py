"""Steps uphill for mixture weights: expectation-maximisation, and its guarded acceleration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import SolverError
from .mixture import MixtureLikelihood

LEAST_SHARE = 0.1
"""Of the weight after two EM steps, which extrapolation leaves each: EM doubles a weight at best by the factor of its
gradient, so that one that was thrown to nothing takes hundreds of steps, or forever, to come back."""

LEAST_CHANGE = 1e-30
"""Squared change of a change below which there is nothing left to extrapolate."""


@dataclass(frozen=True)
class Iterate:
    """Weights on the way up, with what is needed to go on and to say how far the top can be.

    Parameters
    ----------
    weights : (K,) ndarray
        On the simplex.
    gradient : (K,) ndarray
        (1/n) sum_o c_o L[o, k] / (L w)_o.
    loglik : float
        Log-likelihood of the weights, in nats.
    steps : int
        Evaluations of the gradient spent so far.
    """

    weights: np.ndarray
    gradient: np.ndarray
    loglik: float
    steps: int

    @property
    def certificate(self) -> float:
        """Largest gradient less one: no weights have a log-likelihood higher by more than this per observation.

        The log-likelihood is concave, so it lies below its tangent; on the simplex the tangent rises by at most
        n (max_k g_k - 1), and Jensen's inequality sharpens this to n log max_k g_k.

        Source: Lindsay (1983), "The geometry of mixture likelihoods", theorem 4.1.
        """
        return float(self.gradient.max()) - 1.0


def evaluate(
    likelihood: MixtureLikelihood, weights: np.ndarray, steps: int, mixed: np.ndarray | None = None
) -> Iterate:
    """Return the weights with their gradient and log-likelihood; SolverError if that is minus infinity.

    Their L w is computed unless it is at hand.
    """
    mixed = likelihood.mix(weights) if mixed is None else mixed
    loglik = likelihood.loglik(mixed)
    if not math.isfinite(loglik):
        raise SolverError("every observation must be possible under the start, but one has probability zero")
    return Iterate(weights, likelihood.gradient(mixed), loglik, steps)


def em(likelihood: MixtureLikelihood, start: np.ndarray) -> Iterator[Iterate]:
    """Yield the start and then each expectation-maximisation step, w_k <- w_k g_k, for ever.

    The log-likelihood never falls.

    Source: Dempster, Laird and Rubin (1977); Li et al. (2020), algorithm 1.
    """
    now = evaluate(likelihood, start, 1)
    while True:
        yield now
        now = evaluate(likelihood, em_step(now), now.steps + 1)


def em_step(now: Iterate) -> np.ndarray:
    """Return the weights after one step; their sum is one up to rounding, which is taken out."""
    weights = now.weights * now.gradient
    return weights / weights.sum()


def squarem(likelihood: MixtureLikelihood, start: np.ndarray) -> Iterator[Iterate]:
    """Yield the start and then each accelerated step, for ever.

    Two EM steps give r = w' - w and v = (w'' - w') - r; the extrapolation is w - 2 a r + a^2 v with a = -|r|/|v|, no
    weight below a tenth of its w'', from which the next two EM steps are taken.  It is only kept if its log-likelihood
    is no lower than that of w'', so the log-likelihood never falls.

    Source: Varadhan and Roland (2008), "Simple and globally convergent methods for accelerating the convergence of
    any EM algorithm", scheme S3.
    """
    now = evaluate(likelihood, start, 1)
    while True:
        yield now
        once = evaluate(likelihood, em_step(now), now.steps + 1)
        twice = evaluate(likelihood, em_step(once), now.steps + 2)
        change = once.weights - now.weights
        bend = (twice.weights - once.weights) - change
        size = bend @ bend
        if size <= LEAST_CHANGE:
            now = twice
            continue
        reach = np.sqrt((change @ change) / size)
        if reach <= 1.0:  # no further than the second step itself
            now = twice
            continue
        far = now.weights + 2 * reach * change + reach**2 * bend
        far = np.maximum(far, LEAST_SHARE * twice.weights)
        now = _better(likelihood, far / far.sum(), twice)


def _better(likelihood: MixtureLikelihood, far: np.ndarray, near: Iterate) -> Iterate:
    """Return the far weights if their log-likelihood is no lower than that of the near ones, else those."""
    mixed = likelihood.mix(far)
    loglik = likelihood.loglik(mixed)
    if loglik >= near.loglik:
        return Iterate(far, likelihood.gradient(mixed), loglik, near.steps + 1)
    return replace(near, steps=near.steps + 1)
