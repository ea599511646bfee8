"""Mixture weights whose logarithms are linear in normal parameters: their mode, its evidence, and how far it is one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- made at import

from ...mechanisms.errors import InputError, SolverError
from .mixture import MixtureLikelihood

DECREMENT = 1e-6
"""Nats that the objective may miss at its mode by Newton's own estimate: evidences are compared by whole nats."""

SUFFICIENT = 1e-4
"""Share of the rise that the gradient promises which a step must bring: the usual one of Armijo's rule."""

LONGEST = 4.0
"""Most that one step may raise the logarithm of a weight against the mean: where a normalised exponential is that far
off, a quadratic says nothing of it, and what it had left out may take all. What falls has no such power."""

MOST_STEPS, MOST_HALVINGS = 100, 40
"""Steps of Newton's method from any start, and halvings of one of them: a step that brings nothing at 1e-12 of its
length brings nothing that doubles can show."""


class WeightPlace(Protocol):
    """A log-likelihood at weights, and its derivatives in them, of which the second is computed when asked for."""

    @property
    def loglik(self) -> float:
        """Nats."""
        ...

    @property
    def gradient(self) -> np.ndarray:
        """(K,) g, per observation."""
        ...

    @property
    def information(self) -> np.ndarray:
        """(K, K) H, minus the second derivative, per observation."""
        ...


LoglikAt = Callable[[np.ndarray], WeightPlace]
"""A log-likelihood as a function of weights."""


class _Exact:
    def __init__(self, likelihood: MixtureLikelihood, weights: np.ndarray) -> None:
        self._likelihood, self._mixed = likelihood, likelihood.mix(weights)
        self.loglik = likelihood.loglik(self._mixed)

    @property
    def gradient(self) -> np.ndarray:
        return self._likelihood.gradient(self._mixed)

    @property
    def information(self) -> np.ndarray:
        return self._likelihood.information(self._mixed) / self._likelihood.total


def exact_loglik(likelihood: MixtureLikelihood) -> LoglikAt:
    """Return the log-likelihood of the counts as a function of weights."""
    return lambda weights: _Exact(likelihood, weights)


@dataclass(frozen=True, eq=False)
class LogLinear:
    r"""Weights w with log w_k = offset_k + (basis z)_k + a constant, z standard normal beforehand.

    Parameters
    ----------
    offset : (K,) ndarray of float
    basis : (K, T) ndarray of float

    Example
    -------
    >>> LogLinear(np.log([1.0, 3.0]), np.array([[0.0], [1.0]])).weights(np.zeros(1))
    array([0.25, 0.75])
    """

    offset: np.ndarray
    basis: np.ndarray

    def weights(self, z: np.ndarray) -> np.ndarray:
        """Return the (..., K) weights at (..., T) parameters."""
        logs = self.offset + z @ self.basis.T
        raised = np.exp(logs - logs.max(axis=-1, keepdims=True))
        return raised / raised.sum(axis=-1, keepdims=True)


@dataclass(frozen=True, eq=False)
class LogLinearFit:
    """A mode of the log-likelihood less |z|^2 / 2, and the normal law that stands for its surroundings.

    Parameters
    ----------
    model : LogLinear
    z : (T,) ndarray of float
        The mode.
    weights : (K,) ndarray of float
        Its weights, on the simplex.
    loglik : float
        Their log-likelihood, nats, without |z|^2 / 2.
    decrement : float
        What Newton's method expects the objective still to gain, in nats, by the exact second derivative at `z`.
    factor : (T, T) ndarray of float
        Lower Cholesky factor of minus the objective's second derivative at `z`, which is therefore a strict local
        maximum up to the decrement.
    steps : int
        Evaluations of the log-likelihood.
    """

    model: LogLinear
    z: np.ndarray
    weights: np.ndarray
    loglik: float
    decrement: float
    factor: np.ndarray
    steps: int

    @property
    def objective(self) -> float:
        """The log-likelihood less |z|^2 / 2, nats."""
        return self.loglik - float(self.z @ self.z) / 2

    @property
    def evidence(self) -> float:
        r"""Logarithm of the counts' probability with z integrated out, by Laplace's approximation, nats.

        log-likelihood(z) - |z|^2 / 2 - log det(minus the second derivative) / 2: the prior's (2 pi)^{-T/2} and that of
        the integral cancel.

        Source: Tierney and Kadane (1986), "Accurate approximations for posterior moments and marginal densities".
        """
        return self.objective - float(np.log(np.diag(self.factor)).sum())


def fit_log_linear(loglik: LoglikAt, total: float, model: LogLinear, start: np.ndarray | None = None) -> LogLinearFit:
    r"""Maximise F(z) = log-likelihood(w(z)) - |z|^2 / 2 by Newton's method with a safeguard.

    With J = diag(w) - w w^T, g and H the gradient and the information per observation in the weights, q = J g, n
    observations and M the basis less its mean under w,

        gradient of F = n M^T q - z,
        minus its second derivative = n ((W M)^T H (W M) - M^T diag(q) M) + I,    W = diag(w).

    The log-likelihood is concave in w, but the normalised exponential is not, so F need not be concave: the term with q
    may be negative. It has mean zero and vanishes as the fit gets good, so near a mode that explains the counts the
    whole is positive definite. Where it is not, the step is that of the first term and I alone (Gauss and Newton),
    which are positive definite everywhere: uphill in any case. Steps raise no logarithm by more than four, and are
    halved until they bring a ten-thousandth of the rise that the gradient promises. What is certified of the result is
    local: a positive definite second derivative, and a decrement, g^T (-F'')^{-1} g / 2, of at most a millionth of a
    nat, both at the point returned.

    Parameters
    ----------
    loglik : callable
        From (K,) weights to a `WeightPlace`.
    total : float
        n.
    model : LogLinear
    start : (T,) ndarray of float, optional
        Default: zeros, the prior's mode.

    Raises
    ------
    InputError
        An offset and a basis of different lengths.
    SolverError
        Observations that are impossible under the start, or no convergence.

    Source: Nocedal and Wright (2006), "Numerical optimization", chapters 3 and 10.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> counts = DenseLikelihood([np.eye(2)], [70, 30])
    >>> fit = fit_log_linear(exact_loglik(counts), 100, LogLinear(np.zeros(2), np.array([[0.0], [100.0]])))
    >>> fit.weights.round(3), fit.decrement < 1e-6
    (array([0.7, 0.3]), True)
    """
    if model.basis.ndim != 2 or model.offset.shape != (len(model.basis),):
        raise InputError(
            f"an offset must have as many entries as a basis rows, got {model.offset.shape} and {model.basis.shape}"
        )
    z = np.zeros(model.basis.shape[1]) if start is None else np.asarray(start, dtype=np.float64)
    place = loglik(model.weights(z))
    if not math.isfinite(place.loglik):
        raise SolverError("every observation must be possible under the start, but one has probability zero")
    steps = 1
    for _ in range(MOST_STEPS):
        weights = model.weights(z)
        slope, curved, always = _derivatives(model, weights, place, total)
        slope -= z
        factor, exact = _positive(curved, always)
        move = _solve(factor, slope)
        decrement = float(slope @ move) / 2
        if exact and decrement <= DECREMENT:
            return LogLinearFit(model, z, weights, place.loglik, decrement, factor, steps)
        before = place.loglik - float(z @ z) / 2
        rise = model.basis @ move
        share = min(1.0, LONGEST / max(float((rise - weights @ rise).max()), LONGEST))
        for _ in range(MOST_HALVINGS):
            ahead = z + share * move
            there = loglik(model.weights(ahead))
            steps += 1
            if there.loglik - float(ahead @ ahead) / 2 >= before + 2 * SUFFICIENT * share * decrement:
                break
            share /= 2
        else:
            if exact:  # as far as doubles show a rise
                return LogLinearFit(model, z, weights, place.loglik, decrement, factor, steps)
            break
        z, place = ahead, there
    raise SolverError(f"the log-density fit has not converged in {steps} evaluations")


def _derivatives(
    model: LogLinear, weights: np.ndarray, place: WeightPlace, total: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradient of the log-likelihood in z, minus its second derivative, and that part which is never negative."""
    centred = model.basis - weights @ model.basis
    pull = weights * (place.gradient - weights @ place.gradient)
    moved = weights[:, None] * centred
    always = total * (moved.T @ place.information @ moved)
    return total * (pull @ centred), always - total * (centred.T @ (pull[:, None] * centred)), always


def _positive(curved: np.ndarray, always: np.ndarray) -> tuple[np.ndarray, bool]:
    """Lower Cholesky factor of the whole second derivative, the prior's identity in it, or of its safe part."""
    identity = np.eye(len(curved))
    factor, failed = dpotrf(curved + identity, lower=1)
    if failed:
        factor, failed = dpotrf((always + always.T) / 2 + identity, lower=1)
        if failed:  # not a number anywhere, or rounding
            raise SolverError("the log-density fit has met numbers that it cannot go on with: use method em")
        return factor, False
    return factor, True


def _solve(factor: np.ndarray, right: np.ndarray) -> np.ndarray:
    return dpotrs(factor, right, lower=1)[0]
