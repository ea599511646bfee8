"""Ways to frequencies by the likelihood of whole reports: the maximum, EM that stops early, mixture reduction."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers import Progress
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ..distributions.mixture_reduction import THRESHOLD_SDS, mixture_reduction, smallest_first
from ..distributions.smoothed_em import LOGLIK_CHANGE
from ..methods import Target
from .category_counts import CategoryCounts
from .decoder import frequency_decoder
from .likelihood import category_likelihood
from .locally_best import locally_best_scores
from .score import Score
from .way import Found, scatter

Settings = Mapping[str, Any]
Told = Callable[[Progress], None] | None

NEWTON_OPERATIONS = 2**28
"""R K^2 up to which a step of the interior point takes some hundredths of a second; above, a hundred projected gradient
steps of R K are quicker."""


def likeliest(counts: CategoryCounts, target: Target, settings: Settings, progress: Told) -> Found:
    """Return the exact maximum likelihood: mle."""
    likelihood, groups = category_likelihood(counts), len(counts.mechanism.categories)
    quick = likelihood.counts.size * groups**2 <= NEWTON_OPERATIONS
    solver = "auto" if quick else "projected-gradient"
    return _of_fit(counts, fit_mixture(likelihood, method=solver, progress=progress, **settings), groups)


def early_stopped(counts: CategoryCounts, target: Target, settings: Settings, progress: Told) -> Found:
    """Return where EM stands when it gains little: em."""
    change = settings.get("loglik_change", LOGLIK_CHANGE)
    fit = fit_mixture(category_likelihood(counts), method="em", loglik_change=change, progress=progress)
    return _of_fit(counts, fit, len(counts.mechanism.categories))


def reduced(counts: CategoryCounts, target: Target, settings: Settings, progress: Told) -> Found:
    """Return mixture reduction's frequencies, categories that chance may have made merged: mr."""
    asked = _reduction(counts, settings)
    found = mixture_reduction(category_likelihood(counts), rule="categorical", progress=progress, **asked)
    return _of_fit(counts, found.fit, int(found.member.max()) + 1)


def _of_fit(counts: CategoryCounts, fit: MixtureFit, groups: int) -> Found:
    try:
        score, covariance = locally_best_scores(counts, at=fit.weights)
    except InputError:  # a table whose reports do not tell the categories apart: nothing is known of some of them
        return Found(fit.weights, np.full(fit.weights.size, np.nan), None, groups, fit, _unknown_score(counts))
    return Found(fit.weights, *scatter(score, covariance, fit.weights), groups, fit, score)


def _unknown_score(counts: CategoryCounts) -> Score:
    """Return the score of frequencies of which reports say nothing that is certain: every interval is [0, 1]."""
    size = len(counts.mechanism.categories)
    return Score(np.full(size, 0.5), np.full(size, np.inf), 0.0, 0.0, counts.n_users)


def _reduction(counts: CategoryCounts, settings: Settings) -> Settings:
    """Return the settings of mixture reduction: the threshold, and which categories are reduced first."""
    if "threshold" in settings and "preselect" not in settings:
        return settings
    decoder = frequency_decoder(counts.mechanism)
    # Of the unbiased estimate of a category that nobody has, averaged over which.
    std_error = float(np.sqrt(decoder.noise() / counts.n_users).mean())
    given: dict[str, Any] = {"threshold": THRESHOLD_SDS * std_error} | dict(settings)
    preselect = given.pop("preselect", None)
    if preselect is None:
        return given
    if not math.isfinite(preselect):
        raise InputError(f"preselect must be a finite number of standard errors, got {preselect!r}")
    estimates, operation = decoder.frequencies(counts), given.get("operation", "merge")
    least = given.get("least_components")
    return given | {"preselected": smallest_first(estimates, preselect * std_error, operation, least)}
