"""The methods that fit a distribution by its likelihood: EM, EM with smoothing, mixture reduction, smooth densities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...solvers import Progress
from ...solvers.likelihood.fit import fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .covariance import ems_covariance, maximum_covariance
from .likelihood import likelihood_of
from .merged_likelihood import MergedLikelihood
from .mixture_reduction import mixture_reduction
from .smooth import smooth_likelihood
from .smoothed_em import ems
from .way import Found, Way

FEW_DRAWS = 100
"""Of the posterior, where the average alone is asked for: it adds 1% to the squared error."""

Settings = Mapping[str, Any]
Told = Callable[[Progress], None] | None


def _likeliest(likelihood: MixtureLikelihood, settings: Settings, progress: Told) -> Found:
    asked = dict(settings)
    fit = fit_mixture(likelihood, method=asked.pop("solver", "auto"), progress=progress, **asked)
    steps = fit.iterations if fit.method == "em" else None
    return Found(fit, maximum_covariance(likelihood, fit.weights, em_steps=steps), likelihood.n_components)


def _smoothed(likelihood: MixtureLikelihood, settings: Settings, progress: Told) -> Found:
    fit = ems(likelihood, progress=progress, **settings)
    return Found(fit, ems_covariance(likelihood, fit.weights), likelihood.n_components)


def _reduced(likelihood: MixtureLikelihood, settings: Settings, progress: Told) -> Found:
    reduced = mixture_reduction(likelihood, progress=progress, **settings)
    merged = MergedLikelihood(likelihood, reduced.member)
    narrow = maximum_covariance(merged, merged.group(reduced.fit.weights), em_steps=reduced.fit.iterations)
    return Found(reduced.fit, merged.spread_covariance(narrow), merged.n_components)


def _of_likelihood(
    fitted: Callable[[MixtureLikelihood, Settings, Told], Found],
    weights: Callable[[MixtureLikelihood], np.ndarray],
) -> Way:
    """The way that needs no more than the likelihood of counts on a grid."""

    def alone(counts: ReportCounts, grid: InputGrid) -> tuple[np.ndarray, float]:
        found = weights(likelihood_of(counts, grid))
        return found, float(found @ grid.points)

    return Way(lambda counts, grid, given, told, _: fitted(likelihood_of(counts, grid), given, told), alone)


def _densities(
    counts: ReportCounts,
    grid: InputGrid,
    settings: Settings,
    progress: Told,
    split_progress: Callable[[int, int], None] | None,
) -> Found:
    averaged = smooth_likelihood(counts, grid, progress=split_progress, **settings)
    return Found(averaged.fit, np.atleast_2d(np.cov(averaged.draws.T, bias=True)), grid.size, averaged)


def _densities_alone(counts: ReportCounts, grid: InputGrid) -> tuple[np.ndarray, float]:
    averaged = smooth_likelihood(counts, grid, draws=FEW_DRAWS)
    return averaged.fit.weights, float(averaged.means.mean())


LIKELIEST = _of_likelihood(_likeliest, lambda likelihood: fit_mixture(likelihood).weights)

SMOOTHED = _of_likelihood(_smoothed, lambda likelihood: ems(likelihood).weights)

REDUCED = _of_likelihood(_reduced, lambda likelihood: mixture_reduction(likelihood).fit.weights)

AVERAGED = Way(_densities, _densities_alone)
