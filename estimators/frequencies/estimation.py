"""One call from counted reports of categories to their estimated frequencies."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, unwired
from ...solvers import Progress
from ...solvers.likelihood.fit import MOST_COMPONENTS, MixtureFit, fit_mixture
from ..distributions.mixture_reduction import THRESHOLD_SDS, Operation, mixture_reduction, smallest_first
from ..distributions.smoothed_em import LOGLIK_CHANGE
from ..estimate import check_target
from ..methods import FREQUENCY_METHODS, FrequencyMethod, Target
from .category_counts import CategoryCounts
from .consistency import base_cut, iiw, norm_sub
from .decoder import frequency_decoder
from .frequencies import FrequencyEstimate
from .likelihood import category_likelihood
from .locally_best import locally_best_scores, plain_scores
from .score import LEAST_VARIANCE, Score
from .shrinkage import shrunk
from .support_counts import SupportCounts

DECODED = ("unbiased", "norm-sub", "base-cut", "iiw")

OF_SUPPORTS = (*DECODED, "shrunk")
"""Those that need no more than support counts."""

FITTED = ("em", "mle", "mr")
"""Those by the likelihood of whole reports."""

SETTINGS = {
    "prior": DECODED,
    "certificate": ("mle",),
    "loglik_change": ("em", "mr"),
    "threshold": ("base-cut", "mr"),
    "operation": ("mr",),
    "preselect": ("mr",),
    "least_components": ("mr",),
}
"""The methods that each setting means something to."""

NEWTON_OPERATIONS = 2**28
"""R K^2 up to which a step of the interior point takes some hundredths of a second; above, a hundred projected gradient
steps of R K are quicker."""


def estimate_frequencies(
    counts: CategoryCounts | SupportCounts,
    *,
    method: FrequencyMethod = "unbiased",
    target: Target = "population",
    prior: ArrayLike | None = None,
    certificate: float | None = None,
    loglik_change: float | None = None,
    threshold: float | None = None,
    operation: Operation | None = None,
    preselect: float | None = None,
    least_components: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> FrequencyEstimate:
    """Estimate the frequency of every category from reports of one mechanism.

    Parameters
    ----------
    counts : CategoryCounts or SupportCounts
        The latter for "unbiased", "norm-sub", "base-cut", "iiw" and "shrunk" alone.
    method : {"unbiased", "norm-sub", "base-cut", "iiw", "shrunk", "em", "mle", "mr"}
        "unbiased": the average of decoded reports, see `frequency_decoder`. "norm-sub", "base-cut" and "iiw" make it
        consistent or smooth, see `consistency`. "shrunk": empirical Bayes, frequencies drawn to zero or to each other
        as far as all of them together say, see `shrinkage`. "mle": the exact maximum likelihood. "em": EM that stops
        early, as the papers run it, which keeps it from overfitting. "mr": mixture reduction, which merges categories
        that chance may have made.
    target : {"population", "users"}
        Whether standard errors are about a population of which the users are independent draws, or about the shares
        among these users, where all that is unknown is the mechanism's noise: f (1 - f) / n less in the variances. The
        latter for the unbiased estimate, what is made of it, and "shrunk" alone.
    prior : (K,) array_like of float, optional
        For the unbiased estimate from tables, and what is made of it: frequencies at which its total variance is to be
        least. Default: even.
    certificate : float, optional
        For "mle": stop when no frequencies can gain more log-likelihood than this per report. Default: 1e-8.
    loglik_change : float, optional
        For "em" and "mr": stop when an EM step changes the log-likelihood by less, in nats. Default: 1e-3.
    threshold : float, optional
        For "base-cut", see there. For "mr": frequency below which groups may be merged. Default: two standard errors of
        the unbiased estimate of a category that nobody has, averaged.
    operation : {"merge", "prune"}, optional
        For "mr": whether the categories chosen share their frequency evenly, the default, or have none. Those pruned
        have no standard error either.
    preselect : float, optional
        For "mr": reduce, before the first fit, the categories whose unbiased estimates lie below this many of their
        standard errors where nobody has them: 0 for the negative ones, 1 or 2 for those that are next to nothing too.
        The fits are then smaller and faster. Default: none.
    least_components : int, optional
        For "mr": groups of categories below which no more are reduced. Default: a quarter of them.
    progress : callable, optional
        Called at the start of a fit and after each of its steps.

    Returns
    -------
    estimate : FrequencyEstimate

    Raises
    ------
    InputError
        No reports, an unknown method or target, a setting of another method, or a table whose
        reports cannot tell the categories apart.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_frequencies
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = CategoryCounts.from_reports(categorical_grr("abc", 1.0), np.repeat([0, 1, 2], [560, 250, 190]))
    >>> for method in ("unbiased", "norm-sub", "mle"):
    ...     print(estimate_frequencies(counts, method=method).value.round(3))
    [ 0.956  0.105 -0.06 ]
    [0.926 0.074 0.   ]
    [0.914 0.086 0.   ]
    """
    if method not in FREQUENCY_METHODS:
        raise InputError(f"method must be one of {', '.join(FREQUENCY_METHODS)}, got {method!r}")
    check_target(target)
    if target == "users" and method not in OF_SUPPORTS:
        raise InputError(f"target users is for {', '.join(OF_SUPPORTS)}, got method {method!r}: leave it out")
    settings = {
        "prior": prior,
        "certificate": certificate,
        "loglik_change": loglik_change,
        "threshold": threshold,
        "operation": operation,
        "preselect": preselect,
        "least_components": least_components,
    }
    given = {name: value for name, value in settings.items() if value is not None}
    for name in given:
        if method not in SETTINGS[name]:
            raise InputError(f"{name} is for {', '.join(SETTINGS[name])}, got method {method!r}: leave it out")
    counts.require_reports()
    if method in DECODED:
        found = _decoded(method, counts, target, **given)
    elif method == "shrunk":
        found = _shrunk(counts, target)
    elif method not in FITTED:
        raise unwired("method", method)
    elif isinstance(counts, SupportCounts):
        raise InputError(f"method {method} needs whole reports, got support counts: use CategoryCounts")
    else:
        found = _fitted(method, counts, given, progress)
    return FrequencyEstimate(
        counts.mechanism.categories,
        found.frequencies,
        np.sqrt(found.variances),
        found.covariance,
        target,
        method,
        counts.n_users,
        found.fit,
        found.components,
        given.get("prior"),
        found.score,
    )


class _Found(NamedTuple):
    frequencies: np.ndarray
    variances: np.ndarray
    covariance: np.ndarray | None
    components: int
    fit: MixtureFit | None = None
    score: Score | None = None


def _decoded(
    method: str,
    counts: CategoryCounts | SupportCounts,
    target: Target,
    *,
    prior: ArrayLike | None = None,
    threshold: float | None = None,
) -> _Found:
    decoder = frequency_decoder(counts.mechanism, prior)
    unbiased = decoder.frequencies(counts)
    # At the distribution nearest to the estimate: variances are linear in the frequencies, and negative at some.
    place, n = norm_sub(unbiased), counts.n_users
    variances = decoder.variances(place) / n
    covariance = decoder.covariance(place) / n if place.size <= MOST_COMPONENTS else None
    if method == "unbiased":
        estimate = unbiased
    elif method == "norm-sub":
        estimate = place
    elif method == "base-cut":
        estimate = base_cut(unbiased, threshold=threshold)
    elif method == "iiw":
        estimate = iiw(unbiased, float(variances.sum()))
    else:
        raise unwired("method", method)
    score = None if method == "unbiased" else plain_scores(decoder, counts, place, target).score
    if target == "population":
        variances = variances + place * (1.0 - place) / n
        covariance = None if covariance is None else covariance + (np.diag(place) - np.outer(place, place)) / n
    return _Found(estimate, variances, covariance, place.size, None, score)


def _shrunk(counts: CategoryCounts | SupportCounts, target: Target) -> _Found:
    score, covariance = locally_best_scores(counts)
    errors = np.sqrt(np.maximum(score.variances(norm_sub(score.value)), LEAST_VARIANCE) / counts.n_users)
    frequencies = shrunk(score.value, errors)
    if target == "users":
        score, covariance = locally_best_scores(counts, target=target)
    return _Found(frequencies, *_scatter(score, covariance, frequencies), frequencies.size, None, score)


def _scatter(score: Score, covariance: np.ndarray | None, place: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Variances and covariance of a score's values at frequencies."""
    if covariance is None:
        return score.variances(place) / score.n, None
    return np.maximum(np.diag(covariance), 0.0), covariance


def _fitted(
    method: str, counts: CategoryCounts, settings: dict[str, Any], progress: Callable[[Progress], None] | None
) -> _Found:
    likelihood, groups = category_likelihood(counts), len(counts.mechanism.categories)
    if method == "mr":
        reduced = mixture_reduction(likelihood, rule="categorical", progress=progress, **_reduction(counts, settings))
        fit, groups = reduced.fit, int(reduced.member.max()) + 1
    elif method == "em":
        change = settings.get("loglik_change", LOGLIK_CHANGE)
        fit = fit_mixture(likelihood, method="em", loglik_change=change, progress=progress)
    elif method == "mle":
        quick = likelihood.counts.size * groups**2 <= NEWTON_OPERATIONS
        solver = "auto" if quick else "projected-gradient"
        fit = fit_mixture(likelihood, method=solver, progress=progress, **settings)
    else:
        raise unwired("method", method)
    try:
        score, covariance = locally_best_scores(counts, at=fit.weights)
    except InputError:  # a table whose reports do not tell the categories apart: nothing is known of some of them
        return _Found(fit.weights, np.full(fit.weights.size, np.nan), None, groups, fit, _unknown_score(counts))
    return _Found(fit.weights, *_scatter(score, covariance, fit.weights), groups, fit, score)


def _unknown_score(counts: CategoryCounts) -> Score:
    """Return the score of frequencies of which reports say nothing that is certain: every interval is [0, 1]."""
    size = len(counts.mechanism.categories)
    return Score(np.full(size, 0.5), np.full(size, np.inf), 0.0, 0.0, counts.n_users)


def _reduction(counts: CategoryCounts, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of mixture reduction: the threshold, and which categories are reduced first."""
    if "threshold" in settings and "preselect" not in settings:
        return settings
    decoder = frequency_decoder(counts.mechanism)
    # Of the unbiased estimate of a category that nobody has, averaged over which.
    std_error = float(np.sqrt(decoder.noise() / counts.n_users).mean())
    given: dict[str, Any] = {"threshold": THRESHOLD_SDS * std_error} | settings
    preselect = given.pop("preselect", None)
    if preselect is None:
        return given
    if not math.isfinite(preselect):
        raise InputError(f"preselect must be a finite number of standard errors, got {preselect!r}")
    estimates, operation = decoder.frequencies(counts), given.get("operation", "merge")
    least = given.get("least_components")
    return given | {"preselected": smallest_first(estimates, preselect * std_error, operation, least)}
