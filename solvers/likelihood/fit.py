"""Maximum likelihood for mixture weights, with a certificate."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, wired
from ..certificate import Progress
from ..one_thread import one_thread
from .em import Iterate, em, squarem
from .mixture import MixtureLikelihood
from .newton import interior_point
from .projected import projected_gradient

Method = Literal["auto", "em", "squarem", "interior-point", "projected-gradient"]

DEFAULT_CERTIFICATE = 1e-8
"""Log-likelihood per observation that may be missing: far below the 1/(2n) per parameter that chance moves it by,
for any n that fits in memory."""

MOST_COMPONENTS = 4096
"""Components up to which `auto` affords a square matrix of them and its factors: 128 MiB each."""

ITERATION_LIMIT = {"em": 100_000, "squarem": 30_000, "interior-point": 200, "projected-gradient": 3_000}


class Stop(StrEnum):
    """Why an iteration ended.

    Example
    -------
    >>> from optldp.solvers import fit_mixture
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> fit_mixture(DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40])).stop.value
    'certificate'
    """

    CERTIFICATE = "certificate"
    LOGLIK_CHANGE = "loglik-change"
    ITERATION_LIMIT = "iteration-limit"
    ROUNDING = "rounding"
    """A second-order method has come as far as double precision lets it."""


@dataclass(frozen=True)
class MixtureFit:
    """Weights and the evidence for them.

    Parameters
    ----------
    weights : (K,) ndarray of float
        On the simplex.
    loglik : float
        Their log-likelihood, in nats.
    certificate : float
        No weights have a higher one by more than this per observation; recomputed from `weights`.
    gap_bound : float
        Nor by more than this in all: n log(1 + certificate).
    iterations : int
        Evaluations of the gradient.
    method : str
        "em", "squarem", "interior-point", "projected-gradient" or "ems".
    stop : Stop
        Why it ended there.

    Example
    -------
    >>> from optldp.solvers import fit_mixture
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> found = fit_mixture(DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40]))
    >>> found.weights.round(3), found.method, found.stop.value, found.certificate < 1e-8
    (array([0.7, 0.3]), 'interior-point', 'certificate', True)
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
    max_iterations: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> MixtureFit:
    r"""Maximise sum_o c_o log (L w)_o over weights w on the simplex.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        R observations, K components; n is the sum of its counts.
    start : (K,) array_like, optional
        Non-negative weights to start from; EM and SQUAREM keep its zeros. Default: even weights.
    method : {"auto", "em", "squarem", "interior-point", "projected-gradient"}
        "auto" is the interior point up to 4096 components, else SQUAREM. The interior point takes ten to twenty steps
        of R K^2 operations each. An EM step costs R K, and thousands may not suffice. A projected gradient step costs
        the same, and a hundred suffice where components are far apart, as with categories.
    certificate : float, optional
        Stop when no weights can gain more than this per observation. Default: 1e-8, or never with `loglik_change`.
    loglik_change : float, optional
        Stop when a step changes the log-likelihood by less than this, in nats. This is most papers' rule; it does not
        bound the remaining gain.
    max_iterations : int, optional
        Limit on the steps taken. Default: 200 for the interior point, 100,000 for EM, 30,000 for SQUAREM, 3,000 for the
        projected gradient.
    progress : callable, optional
        Called at the start and after each step; value and bound are log-likelihoods in nats.

    Returns
    -------
    fit : MixtureFit

    Raises
    ------
    InputError
        A start that is not K non-negative numbers with a positive sum, an unknown method, a tolerance that is not
        positive, a negative limit.
    SolverError
        An observation that is impossible under the start's components, or less probable than 1e-150.

    Example
    -------
    >>> from optldp.solvers import fit_mixture
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> fit = fit_mixture(DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40]))
    >>> fit.weights.round(6), fit.certificate < 1e-8
    (array([0.7, 0.3]), True)
    """
    chosen = _chosen(method, likelihood.n_components)
    for name, value in (("certificate", certificate), ("loglik_change", loglik_change)):
        if value is not None and not (value > 0 and math.isfinite(value)):
            raise InputError(f"{name} must be positive and finite, got {value!r}")
    if certificate is None:
        certificate = DEFAULT_CERTIFICATE if loglik_change is None else 0.0
    if max_iterations is not None and not max_iterations >= 0:
        raise InputError(f"max_iterations must be at least 0, got {max_iterations!r}")
    limit = ITERATION_LIMIT[chosen] if max_iterations is None else max_iterations
    steps = wired("method", _STEPS, chosen)(likelihood, start_weights(start, likelihood.n_components))
    # Two threads wait for each other in the factors and small products of the interior point, a hundred times longer
    # than they work if the machine is busy. The large products of EM gain from them.
    tell = teller(progress, likelihood)
    with one_thread(of_blas=chosen == "interior-point"):
        place, stop = climb(steps, lambda now: now.certificate <= certificate, loglik_change, limit, tell)
    return fit_of(place, likelihood, chosen, stop)


def fit_of(place: Iterate, likelihood: MixtureLikelihood, method: str, stop: Stop) -> MixtureFit:
    """Return where an iteration ended as a result with its evidence."""
    gap = _missing(place, likelihood)
    return MixtureFit(place.weights, place.loglik, place.certificate, gap, place.steps, method, stop)


def teller(progress: Callable[[Progress], None] | None, likelihood: MixtureLikelihood) -> Callable[[Iterate], None]:
    """Return what tells a progress callback, if there is one, of an iterate's log-likelihood and bound."""
    if progress is None:
        return lambda _: None
    started = time.perf_counter()

    def tell(now: Iterate) -> None:
        bound = now.loglik + _missing(now, likelihood)
        progress(Progress(now.steps, now.loglik, bound, now.weights.size, time.perf_counter() - started))

    return tell


def _missing(place: Iterate, likelihood: MixtureLikelihood) -> float:
    """Return by how much the log-likelihood of other weights may be higher at most."""
    # Jensen's inequality sharpens the bound of a concave function for a mean of logarithms.
    return likelihood.total * math.log1p(max(0.0, place.certificate))


def climb(
    steps: Iterator[Iterate],
    enough: Callable[[Iterate], bool],
    loglik_change: float | None,
    limit: int,
    tell: Callable[[Iterate], None],
) -> tuple[Iterate, Stop]:
    """Take steps until one is good enough, changes the log-likelihood by less than asked, or the limit is reached."""
    now, change = next(steps), math.inf
    for number in itertools.count():
        tell(now)
        if enough(now):
            return now, Stop.CERTIFICATE
        if loglik_change is not None and change < loglik_change:
            return now, Stop.LOGLIK_CHANGE
        if number >= limit:
            return now, Stop.ITERATION_LIMIT
        if (following := next(steps, None)) is None:
            break
        now, change = following, abs(following.loglik - now.loglik)
    return now, Stop.ROUNDING


def start_weights(start: ArrayLike | None, n_components: int) -> np.ndarray:
    """Return the start on the simplex; even weights for none."""
    if start is None:
        return np.full(n_components, 1.0 / n_components)
    given = np.asarray(start, dtype=np.float64)
    if given.shape != (n_components,) or not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise InputError(f"start must be {n_components} non-negative numbers with a positive sum, got {start!r}")
    return given / given.sum()


def _chosen(method: str, n_components: int) -> str:
    if method == "auto":
        return "interior-point" if n_components <= MOST_COMPONENTS else "squarem"
    if method not in ITERATION_LIMIT:
        raise InputError(f"method must be one of auto, {', '.join(ITERATION_LIMIT)}, got {method!r}")
    return method


_STEPS = {"interior-point": interior_point, "em": em, "squarem": squarem, "projected-gradient": projected_gradient}
