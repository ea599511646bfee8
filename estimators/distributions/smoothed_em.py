"""EMS: expectation-maximisation with a smoothing of the weights after every step."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...solvers import Progress
from ...solvers.likelihood.em import Iterate, em_step, evaluate
from ...solvers.likelihood.fit import MixtureFit, climb, fit_of, start_weights, teller
from ...solvers.likelihood.mixture import MixtureLikelihood

LOGLIK_CHANGE = 1e-3
"""Stopping rule of the papers' code: a step that changes the log-likelihood by less than this, in nats."""

ITERATION_LIMIT = 100_000


def ems(
    likelihood: MixtureLikelihood,
    *,
    start: ArrayLike | None = None,
    loglik_change: float = LOGLIK_CHANGE,
    max_iterations: int = ITERATION_LIMIT,
    progress: Callable[[Progress], None] | None = None,
) -> MixtureFit:
    """Estimate mixture weights by EM steps, each followed by w_k <- (w_{k-1} + 2 w_k + w_{k+1}) / 4.

    The first and the last component are averaged with their one neighbour, 2 to 1.  EMS does not maximise the
    likelihood, so its certificate, which says how much likelihood smoothness has cost, does not go to zero, and
    the amount of smoothing is fixed by the number of components: more components, less smoothing.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components in their order on the line.
    start : (K,) array_like, optional
        Default: even weights.
    loglik_change : float
        Stop when a step changes the log-likelihood by less than this, in nats.
    max_iterations : int
        Limit on the steps.
    progress : callable, optional
        Called at the start and after each step.

    Returns
    -------
    fit : MixtureFit
        With method "ems".

    Raises
    ------
    InputError
        A start that is not K non-negative numbers with a positive sum, a tolerance that is not positive.
    SolverError
        An observation that is impossible under the start's components.

    Source: Li et al. (2020), "Estimating numerical distributions under local differential privacy", algorithm 1.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> ems(DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [70, 30])).weights.round(3)
    array([0.544, 0.456])
    """
    if not (loglik_change > 0 and math.isfinite(loglik_change)):
        raise InputError(f"loglik_change must be positive and finite, got {loglik_change!r}")
    steps = _steps(likelihood, start_weights(start, likelihood.n_components))
    place, stop = climb(steps, lambda _: False, loglik_change, max_iterations, teller(progress, likelihood))
    return fit_of(place, likelihood, "ems", stop)


def _steps(likelihood: MixtureLikelihood, start: np.ndarray) -> Iterator[Iterate]:
    now = evaluate(likelihood, start, 1)
    while True:
        yield now
        now = evaluate(likelihood, smoothed(em_step(now)), now.steps + 1)


def smoothed(weights: np.ndarray) -> np.ndarray:
    """Return the binomial average of neighbouring weights, on the simplex.

    Example
    -------
    >>> smoothed(np.array([0.0, 0.0, 1.0, 0.0, 0.0]))
    array([0.  , 0.25, 0.5 , 0.25, 0.  ])
    """
    if weights.size == 1:
        return weights
    padded = 2 * weights
    padded[1:] += weights[:-1]
    padded[:-1] += weights[1:]
    padded[1:-1] /= 4
    padded[[0, -1]] /= 3
    return padded / padded.sum()
