"""Mixture reduction (EM-MR): merge the components that chance may have made, and fit again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, unwired, wired
from ...solvers import Progress
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood, SumLikelihood
from .merged_likelihood import PRUNED, MergedLikelihood
from .smoothed_em import LOGLIK_CHANGE

Rule = Literal["numeric", "categorical"]
Operation = Literal["merge", "prune"]

LEAST_SHARE = 4
"""Components may be merged down to one in this many, "to prevent losing details of the distribution"."""

THRESHOLD_SDS = 2.0
"""Standard deviations of a single component's weight below which it may be nothing but noise."""

SAME_DIGITS = 12
"""Decimals of weights that are compared: those of components that were reported as often differ by rounding alone."""

RANK_TOLERANCE = 1e-10
"""Eigenvalues of the information below this share of the largest say nothing about any weight."""

SURE = 1e-9
"""Probabilities that add up to one but for this are those of all possible reports: tables add up to 1e-12."""


@dataclass(frozen=True)
class ReducedMixture:
    """A mixture after reduction.

    Parameters
    ----------
    fit : MixtureFit
        Of the merged mixture; its weights are those of the K original components, spread evenly within groups.
    member : (K,) ndarray of int
        Group of each component; -1 for those pruned.
    merges : int
        Merges or prunings made and kept, those before the first fit counted as one.
    threshold : float
        Total weight below which components were merged.
    bic : float
        -2 log-likelihood + (number of components) log n of the result.
    """

    fit: MixtureFit
    member: np.ndarray
    merges: int
    threshold: float
    bic: float


def mixture_reduction(
    likelihood: MixtureLikelihood,
    *,
    rule: Rule = "numeric",
    operation: Operation = "merge",
    preselected: ArrayLike | None = None,
    threshold: float | None = None,
    least_components: int | None = None,
    bic_rise: float = 0.0,
    loglik_change: float = LOGLIK_CHANGE,
    method: Literal["em", "interior-point"] = "em",
    progress: Callable[[Progress], None] | None = None,
) -> ReducedMixture:
    r"""Fit mixture weights, merging components of little weight as long as the information criterion falls.

    Rounds t = 1, 2, ...: fit, warm from the last fit; choose components; if their weight together is below the
    threshold, merge them into one with the average of their rows and fit again; stop, and undo the last merge, when
    BIC = -2 log-likelihood + K' log n has not fallen (or has risen by `bic_rise`), or when K' has come down to its
    least.  "numeric" chooses the window of ceil(K / 2^t) neighbouring unmerged components of least weight, half as long
    every round. "categorical" chooses the smallest components below the threshold, at most half of those.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components; for "numeric" in their order on the line.
    rule : {"numeric", "categorical"}
        How components are chosen.
    operation : {"merge", "prune"}
        Whether chosen components share their weight evenly, or have none, which suits distributions with many zeros.
    preselected : (K,) array_like of bool, optional
        Components merged, or pruned, before the first fit, which is then smaller and faster; no criterion undoes that.
        Default: none.
    threshold : float, optional
        Default: two standard deviations of a single weight, averaged. For "numeric" by the Cramer-Rao bound at even
        weights with the others known; for "categorical" of the unbiased frequency estimate of a component of no weight.
    least_components : int, optional
        Least K' at which another round begins. Default: K / 4, rounded up.
    bic_rise : float
        A merge is kept where BIC rises by less than this: tau of algorithm 1. Values above 0 allow more merges.
    loglik_change : float
        Each EM fit stops when a step changes the log-likelihood by less than this, in nats.
    method : {"em", "interior-point"}
        The papers' EM, whose early stop smooths, or the exact maximum for each set of components.
    progress : callable, optional
        Called at the start of the fit and after each step.

    Returns
    -------
    reduced : ReducedMixture

    Raises
    ------
    InputError
        An unknown rule or operation, a negative threshold, a rise that is not finite, a least number of components
        below one, preselected components that leave fewer.

    Source: Ye, Wang, Zhang and Feng (2025), "Revisiting EM-based estimation for locally differentially private
    protocols", algorithms 1 to 3, section IV-A for pruning, V-A for what is merged first; where they stop on opposite
    signs of the change of BIC, algorithm 1.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import mixture_reduction
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> rows = 0.2 * np.eye(8) + 0.1
    >>> reduced = mixture_reduction(DenseLikelihood([rows], [40, 30, 10, 10, 10, 10, 10, 10]))
    >>> reduced.member, reduced.fit.weights.round(2)
    (array([0, 1, 2, 2, 2, 2, 3, 3]), array([0.64, 0.36, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ]))
    """
    n_components = likelihood.n_components
    for name, value, known in (("rule", rule, Rule), ("operation", operation, Operation)):
        if value not in get_args(known):
            raise InputError(f"{name} must be {' or '.join(get_args(known))}, got {value!r}")
    least = _least(n_components, least_components)
    limit = _noise_level(likelihood, rule) if threshold is None else threshold
    if not limit >= 0:
        raise InputError(f"threshold must not be negative, got {threshold!r}")
    if not math.isfinite(bic_rise):
        raise InputError(f"bic_rise must be finite, got {bic_rise!r}")

    stop = wired("method", {"em": loglik_change, "interior-point": None}, method)
    fewest = wired("operation", {"merge": 2, "prune": 1}, operation)

    def fitted(member: np.ndarray, start: np.ndarray) -> tuple[MixtureFit, float]:
        merged = MergedLikelihood(likelihood, member)
        fit = fit_mixture(merged, start=merged.group(start), method=method, loglik_change=stop, progress=progress)
        bic = -2.0 * fit.loglik + merged.n_components * math.log(likelihood.total)
        return _respread(fit, merged), bic

    member = _without(np.arange(n_components), preselected, operation, least)
    fit, bic = fitted(member, np.full(n_components, 1.0 / n_components))
    steps, merges = fit.iterations, int(member.max() + 1 < n_components)
    for number in itertools.count(1):
        group = _choose(rule, number, fit.weights, member, limit, fewest=fewest)
        if group is None or member.max() + 1 <= least:
            break
        if not group.any():
            continue
        trial = _reduced(member, group, operation)
        refit, lower = fitted(trial, fit.weights)
        steps += refit.iterations
        if lower - bic >= bic_rise:
            break
        member, fit, bic, merges = trial, refit, lower, merges + 1
    return ReducedMixture(replace(fit, iterations=steps, method="mr"), member, merges, float(limit), bic)


def smallest_first(estimates: np.ndarray, limit: float, operation: Operation, least: int | None) -> np.ndarray:
    """Mark (K,) the components to begin with: those estimated below a limit, the smallest of them where fewer may go.

    Parameters
    ----------
    estimates : (K,) ndarray of float
        Unbiased estimates of the weights, some of them negative.
    limit : float
    operation : {"merge", "prune"}
    least : int or None
        Components that must be left, as `mixture_reduction` has them.

    Source: Ye, Wang, Zhang and Feng (2025), section V-A: "pre-selecting and merging the components whose corresponding
    unbiased estimation results are negative or tiny small".

    Example
    -------
    >>> smallest_first(np.array([0.9, -0.1, 0.3, -0.1]), 0.0, "merge", None)
    array([False,  True, False,  True])
    """
    most = estimates.size - _least(estimates.size, least) + (operation == "merge")
    order = np.argsort(estimates.round(SAME_DIGITS), kind="stable")[:most]
    return np.isin(np.arange(estimates.size), order[estimates[order] < limit])


def _least(n_components: int, asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise InputError(f"least_components must be at least 1, got {asked!r}")
    return -(-n_components // LEAST_SHARE) if asked is None else asked


def _without(member: np.ndarray, preselected: ArrayLike | None, operation: Operation, least: int) -> np.ndarray:
    """Return the groups (K,) when these components are merged, or pruned, before anything is fitted."""
    if preselected is None:
        return member
    group = np.asarray(preselected)
    if group.shape != member.shape or group.dtype != np.bool_:
        raise InputError(f"preselected must be {member.size} of True and False, got {preselected!r:.60}")
    if not group.any():
        return member
    reduced = _reduced(member, group, operation)
    if (left := int(reduced.max()) + 1) < least:
        raise InputError(f"preselected must leave at least {least} components, got {left}: mark fewer")
    return reduced


def _respread(fit: MixtureFit, merged: MergedLikelihood) -> MixtureFit:
    return replace(fit, weights=merged.spread(fit.weights))


def _choose(
    rule: Rule, number: int, weights: np.ndarray, member: np.ndarray, limit: float, fewest: int
) -> np.ndarray | None:
    """Mark (K,) the components to reduce in this round, maybe none; None when there are no more rounds."""
    if rule == "numeric":
        length = -(-weights.size // 2**number)
        return _lightest_window(weights, member, limit, length) if length > 1 else None
    if rule == "categorical":
        return _smallest_half(weights, member, limit, fewest)
    raise unwired("rule", rule)


def _lightest_window(weights: np.ndarray, member: np.ndarray, limit: float, length: int) -> np.ndarray:
    """Mark the lightest window of so many untouched neighbours, if it is lighter than the limit (algorithm 3)."""
    kept = member != PRUNED
    free = kept & (np.bincount(member[kept])[np.where(kept, member, 0)] == 1)
    whole = np.convolve(free, np.ones(length, dtype=int), "valid") == length
    chosen = np.zeros(weights.size, dtype=bool)
    if whole.any():
        rising = np.concatenate([[0.0], np.cumsum(weights)])
        sums = np.where(whole, rising[length:] - rising[:-length], math.inf)
        first = int(sums.argmin())
        if sums[first] < limit:
            chosen[first : first + length] = True
    return chosen


def _smallest_half(weights: np.ndarray, member: np.ndarray, limit: float, fewest: int) -> np.ndarray | None:
    """Mark the smaller half of the groups below the limit, at least the fewest; None if there are not so many."""
    kept = member != PRUNED
    groups = np.bincount(member[kept], weights[kept])
    small = np.flatnonzero(groups < limit)
    if small.size < fewest:
        return None
    order = small[np.argsort(groups[small].round(SAME_DIGITS), kind="stable")]
    return np.isin(member, order[: max(fewest, small.size // 2)])


def _reduced(member: np.ndarray, group: np.ndarray, operation: Operation) -> np.ndarray:
    """Return the groups' numbers when these components' groups become one, or none, in the order of appearance."""
    becomes = wired("operation", {"merge": member[np.argmax(group)], "prune": PRUNED}, operation)
    joined = np.where(group, becomes, member)
    kept = joined != PRUNED
    _, first, inverse = np.unique(joined[kept], return_index=True, return_inverse=True)
    joined[kept] = np.argsort(np.argsort(first))[inverse]
    return joined


def _noise_level(likelihood: MixtureLikelihood, rule: Rule) -> float:
    """Two standard deviations of one weight, averaged over which, when the reports are those of even weights.

    "numeric": with e_o the reports expected, the information is sum_o e_o L[o, k]^2 / (L w)_o^2.  "categorical": the
    best unbiased estimate adds n (C L^T)[k, o] / (L w)_o for each report o, with C the covariance of the weights at
    even ones; its variance is taken where weight k is zero and the others are even.

    Source: Ye, Wang, Zhang and Feng (2025), equation (13) with the square it lacks, and (4), which this is for GRR.
    """
    size = likelihood.n_components
    if size == 1:
        return 0.0
    mixed = likelihood.mix(np.full(size, 1.0 / size))
    expected = _even_counts(likelihood, mixed)
    information = likelihood.curvature(expected / mixed**2)
    if rule == "numeric":
        return THRESHOLD_SDS * float(np.mean(1.0 / np.sqrt(np.diag(information))))
    centre = np.eye(size) - 1.0 / size
    covariance = np.linalg.pinv(centre @ information @ centre, rcond=RANK_TOLERANCE, hermitian=True)
    variances = np.empty(size)
    for k, row in enumerate(covariance):
        squares = expected * (likelihood.mix(row) / mixed) ** 2
        own = likelihood.gather(squares / mixed)[k] / size
        variances[k] = (squares.sum() - own) * size / (size - 1) - 1.0 / (likelihood.total * size**2)
    return THRESHOLD_SDS * float(np.sqrt(np.maximum(variances, 0.0)).mean())


def _even_counts(likelihood: MixtureLikelihood, mixed: np.ndarray) -> np.ndarray:
    """Counts expected at even weights; the counts themselves where possible reports are not listed.

    Sums over reports that were seen alone would miss most of the information where most are possible but unseen, as
    for users of many services; sums over users do not.
    """
    if isinstance(likelihood, SumLikelihood):
        ends = np.cumsum([part.counts.size for part in likelihood.parts])[:-1]
        parts = zip(likelihood.parts, np.split(mixed, ends), strict=True)
        return np.concatenate([_even_counts(part, piece) for part, piece in parts])
    complete = abs(mixed.sum() - 1.0) < SURE
    return likelihood.total * mixed if complete else likelihood.counts
