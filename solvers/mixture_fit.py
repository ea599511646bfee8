"""Maximum likelihood for mixture weights, with a certificate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms.errors import InputError, SolverError
from .mixture_em import Iterate, em, squarem
from .mixture_likelihood import MixtureLikelihood
from .mixture_newton import interior_point

Method = Literal["auto", "em", "squarem", "interior-point"]

DEFAULT_CERTIFICATE = 1e-8
"""Log-likelihood per observation that may be missing: far below the 1/(2n) per parameter that chance moves it by,
for any n that fits in memory."""

MOST_COMPONENTS = 4096
"""Components up to which `auto` affords a square matrix of them and its factors: 128 MiB each."""

ITERATION_LIMIT = {"em": 100_000, "squarem": 30_000, "interior-point": 200}


class Stop(StrEnum):
    """Why an iteration ended."""

    CERTIFICATE = "certificate"
    LOGLIK_CHANGE = "loglik-change"
    ITERATION_LIMIT = "iteration-limit"


@dataclass(frozen=True)
class MixtureFit:
    """Weights and the evidence for them.

    Parameters
    ----------
    weights : (K,) ndarray of float
        On the simplex.
    loglik : float
        Their log-likelihood (less the penalty, if there is one), in nats.
    certificate : float
        No weights have a higher one by more than this per observation; recomputed from `weights`.
    gap_bound : float
        Nor by more than this in all: n log(1 + certificate), which is n times the certificate or less.
    iterations : int
        Evaluations of the gradient.
    method : str
        "em", "squarem", "interior-point" or "ems".
    stop : Stop
        Why it ended there.
    """

    weights: np.ndarray
    loglik: float
    certificate: float
    gap_bound: float
    iterations: int
    method: str
    stop: Stop


def fit_mixture(
    likelihood: MixtureLikelihood,
    *,
    start: ArrayLike | None = None,
    method: Method = "auto",
    certificate: float | None = None,
    loglik_change: float | None = None,
    penalty: np.ndarray | None = None,
    max_iterations: int | None = None,
    progress: Callable[[Iterate], None] | None = None,
) -> MixtureFit:
    r"""Maximise sum_o c_o log (L w)_o - n w^T Q w / 2 over weights w on the simplex.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        R observations, K components; n is the sum of its counts.
    start : (K,) array_like, optional
        Non-negative weights to start from; EM and SQUAREM keep its zeros. Default: even weights.
    method : {"auto", "em", "squarem", "interior-point"}
        "auto" is the interior point up to 4096 components, else SQUAREM. An interior point step costs R K^2
        operations and some ten to twenty steps do; an EM step costs R K, and thousands may not.
    certificate : float, optional
        Stop when no weights can gain more than this per observation. Default: 1e-8, or never with `loglik_change`.
    loglik_change : float, optional
        Stop when a step changes the log-likelihood by less than this, in nats: the rule of most papers, which says
        nothing about what is still to be gained.
    penalty : (K, K) ndarray, optional
        Q, positive semidefinite; interior point only.
    max_iterations : int, optional
        Limit on the steps taken. Default: 200 for the interior point, 100,000 for EM, 30,000 for SQUAREM.
    progress : callable, optional
        Called with every `Iterate`.

    Returns
    -------
    fit : MixtureFit

    Raises
    ------
    InputError
        A start that is not K non-negative numbers with a positive sum, an unknown method, a tolerance that is not
        positive, a penalty for EM.
    SolverError
        An observation that is impossible under the start's components.

    Example
    -------
    >>> from optldp.solvers.dense_likelihood import DenseLikelihood
    >>> fit = fit_mixture(DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40]))
    >>> fit.weights.round(6), fit.certificate < 1e-8
    (array([0.7, 0.3]), True)
    """
    chosen = _chosen(method, likelihood.n_components, penalty)
    for name, value in (("certificate", certificate), ("loglik_change", loglik_change)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InputError(f"{name} must be positive and finite, got {value!r}")
    if certificate is None:
        certificate = DEFAULT_CERTIFICATE if loglik_change is None else 0.0
    limit = ITERATION_LIMIT[chosen] if max_iterations is None else max_iterations
    place, stop = climb(
        _steps(chosen, likelihood, start_weights(start, likelihood.n_components), penalty),
        lambda now: now.certificate <= certificate,
        loglik_change,
        limit,
        progress,
    )
    return MixtureFit(
        place.weights,
        place.loglik,
        place.certificate,
        likelihood.total * math.log1p(max(0.0, place.certificate)),
        place.steps,
        chosen,
        stop,
    )


def climb(
    steps: Iterator[Iterate],
    enough: Callable[[Iterate], bool],
    loglik_change: float | None,
    limit: int,
    progress: Callable[[Iterate], None] | None,
) -> tuple[Iterate, Stop]:
    """Take steps until one is good enough, changes the log-likelihood by less than asked, or the limit is reached."""
    before = -math.inf
    for number, now in enumerate(steps):
        if not math.isfinite(now.loglik):
            raise SolverError("every observation must be possible under the start, but one has probability zero")
        if progress is not None:
            progress(now)
        if enough(now):
            return now, Stop.CERTIFICATE
        if loglik_change is not None and abs(now.loglik - before) < loglik_change:
            return now, Stop.LOGLIK_CHANGE
        if number >= limit:
            return now, Stop.ITERATION_LIMIT
        before = now.loglik
    raise SolverError("the iteration ended by itself")


def start_weights(start: ArrayLike | None, n_components: int) -> np.ndarray:
    """Return the start on the simplex; even weights for none."""
    if start is None:
        return np.full(n_components, 1.0 / n_components)
    given = np.asarray(start, dtype=np.float64)
    if given.shape != (n_components,) or not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise InputError(f"start must be {n_components} non-negative numbers with a positive sum, got {start!r}")
    return given / given.sum()


def _chosen(method: str, n_components: int, penalty: np.ndarray | None) -> str:
    if method == "auto":
        return "interior-point" if n_components <= MOST_COMPONENTS or penalty is not None else "squarem"
    if method not in ITERATION_LIMIT:
        raise InputError(f"method must be one of auto, {', '.join(ITERATION_LIMIT)}, got {method!r}")
    if penalty is not None and method != "interior-point":
        raise InputError(f"a penalty needs method interior-point, got {method!r}")
    return method


def _steps(
    method: str, likelihood: MixtureLikelihood, start: np.ndarray, penalty: np.ndarray | None
) -> Iterator[Iterate]:
    if method == "interior-point":
        return interior_point(likelihood, start, penalty)
    return (em if method == "em" else squarem)(likelihood, start)
