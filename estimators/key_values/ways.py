"""Ways to fit keys and values: a function of counts, a grid and when EM stops, of fits and the shares they give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ..distributions.mixture_reduction import mixture_reduction
from ..distributions.smoothed_em import LOGLIK_CHANGE
from ..input_grid import InputGrid
from .counts import KeyCounts
from .likelihood import joint_likelihood, key_likelihood

Fitted = tuple[tuple[MixtureFit, ...], np.ndarray]
"""One fit for all keys or one for each, and the share (K, J) of users that sampled each key with each component."""

Way = Callable[[KeyCounts, InputGrid, float | None], Fitted]


def together(counts: KeyCounts, grid: InputGrid, loglik_change: float | None) -> Fitted:
    """Fit whole reports, over all pairs at once; with a stop by EM, else to the maximum."""
    solver, size = "auto" if loglik_change is None else "em", len(counts.keys)
    fit = fit_mixture(joint_likelihood(counts, grid), method=solver, loglik_change=loglik_change)
    return (fit,), fit.weights[: size * grid.size].reshape(size, grid.size)


def stopped_early(counts: KeyCounts, grid: InputGrid, loglik_change: float | None) -> Fitted:
    """Fit what the place of each key shows, by EM."""
    return _each(counts, grid, loglik_change, lambda one, stop: fit_mixture(one, method="em", loglik_change=stop))


def reduced(counts: KeyCounts, grid: InputGrid, loglik_change: float | None) -> Fitted:
    """Fit the same by mixture reduction."""
    return _each(counts, grid, loglik_change, lambda one, stop: mixture_reduction(one, loglik_change=stop).fit)


def _each(
    counts: KeyCounts,
    grid: InputGrid,
    loglik_change: float | None,
    fit: Callable[[DenseLikelihood, float], MixtureFit],
) -> Fitted:
    counts.require_reports()
    stop = LOGLIK_CHANGE if loglik_change is None else loglik_change
    fits = tuple(fit(key_likelihood(counts, key, grid), stop) for key in range(len(counts.keys)))
    return fits, np.stack([one.weights[:-1] for one in fits])
