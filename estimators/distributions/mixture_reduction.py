"""Mixture reduction (EM-MR): merge the components that chance may have made, and fit again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers import Progress
from ...solvers.likelihood.fit import MixtureFit, fit_mixture
from ...solvers.likelihood.mixture import MixtureLikelihood, SumLikelihood
from .smoothed_em import LOGLIK_CHANGE

Rule = Literal["numeric", "categorical"]

LEAST_SHARE = 4
"""Components may be merged down to one in this many, "to prevent losing details of the distribution"."""

THRESHOLD_SDS = 2.0
"""Standard deviations of a single component's weight below which it may be nothing but noise."""

RANK_TOLERANCE = 1e-10
"""Eigenvalues of the information below this share of the largest say nothing about any weight."""

SURE = 1e-9
"""Probabilities that add up to one but for this are those of all possible reports: tables add up to 1e-12."""


class MergedLikelihood(MixtureLikelihood):
    """The likelihood when components are merged: each group is one component, with the average of its rows.

    Equivalently every weight of the merged mixture is spread evenly over its group's components.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components.
    member : (K,) ndarray of int
        The group 0..G-1 of each component; no group is empty.
    """

    def __init__(self, likelihood: MixtureLikelihood, member: np.ndarray) -> None:
        sizes = np.bincount(member)
        super().__init__(likelihood.counts, sizes.size)
        self._likelihood, self._member, self._share = likelihood, member, 1.0 / sizes[member]

    def spread(self, weights: np.ndarray) -> np.ndarray:
        """Return the weights (K,) of the components when each group's is spread evenly."""
        return weights[self._member] * self._share

    def spread_covariance(self, covariance: np.ndarray) -> np.ndarray:
        """Return the covariance (K, K) of the components' weights from that of the groups'."""
        return covariance[np.ix_(self._member, self._member)] * self._share[:, None] * self._share

    def mix(self, weights: np.ndarray) -> np.ndarray:
        return self._likelihood.mix(self.spread(weights))

    def gather(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self._member, self._likelihood.gather(values) * self._share)

    def curvature(self, values: np.ndarray) -> np.ndarray:
        full = self._likelihood.curvature(values) * self._share[:, None] * self._share
        half = np.zeros((self.n_components, full.shape[1]))
        np.add.at(half, self._member, full)
        merged = np.zeros((self.n_components, self.n_components))
        np.add.at(merged, self._member, half.T)
        return merged


@dataclass(frozen=True)
class ReducedMixture:
    """A mixture after reduction.

    Parameters
    ----------
    fit : MixtureFit
        Of the merged mixture; its weights are those of the K original components, spread evenly within groups.
    member : (K,) ndarray of int
        Group of each component.
    merges : int
        Merges made and kept.
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
    threshold: float | None = None,
    least_components: int | None = None,
    loglik_change: float = LOGLIK_CHANGE,
    method: Literal["em", "interior-point"] = "em",
    progress: Callable[[Progress], None] | None = None,
) -> ReducedMixture:
    r"""Fit mixture weights, merging components of little weight as long as the information criterion falls.

    Rounds t = 1, 2, ...: fit, warm from the last fit; choose components; if their weight together is below the
    threshold, merge them into one with the average of their rows and fit again; stop, and undo the last merge, when
    BIC = -2 log-likelihood + K' log n has not fallen, or when K' has come down to its least.  "numeric" chooses the
    window of ceil(K / 2^t) neighbouring unmerged components of least weight, half as long every round;
    "categorical" at most half of the components below the threshold, the smallest.

    Parameters
    ----------
    likelihood : MixtureLikelihood
        K components; for "numeric" in their order on the line.
    rule : {"numeric", "categorical"}
        How components are chosen.
    threshold : float, optional
        Default: two standard deviations of a single weight, averaged. For "numeric" by the Cramer-Rao bound at even
        weights with the others known; for "categorical" of the unbiased frequency estimate of a component of no weight.
    least_components : int, optional
        Least K'. Default: K / 4, rounded up.
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
        An unknown rule, a negative threshold, a least number of components below one.

    Source: Ye, Wang, Zhang and Feng (2025), "Revisiting EM-based estimation for locally differentially private
    protocols", algorithms 1 to 3; where they stop on opposite signs of the change of BIC, algorithm 1.

    Example
    -------
    >>> from optldp.solvers.likelihood.dense import DenseLikelihood
    >>> rows = 0.2 * np.eye(8) + 0.1
    >>> reduced = mixture_reduction(DenseLikelihood([rows], [40, 30, 10, 10, 10, 10, 10, 10]))
    >>> reduced.member, reduced.fit.weights.round(2)
    (array([0, 1, 2, 2, 2, 2, 3, 3]), array([0.64, 0.36, 0.  , 0.  , 0.  , 0.  , 0.  , 0.  ]))
    """
    n_components = likelihood.n_components
    if rule not in ("numeric", "categorical"):
        raise InputError(f"rule must be numeric or categorical, got {rule!r}")
    least = -(-n_components // LEAST_SHARE) if least_components is None else least_components
    if least < 1:
        raise InputError(f"least_components must be at least 1, got {least_components!r}")
    limit = _noise_level(likelihood, rule) if threshold is None else threshold
    if not limit >= 0:
        raise InputError(f"threshold must not be negative, got {threshold!r}")

    stop = loglik_change if method == "em" else None

    def fitted(member: np.ndarray, start: np.ndarray) -> tuple[MixtureFit, float]:
        merged = MergedLikelihood(likelihood, member)
        first = np.bincount(member, start)
        fit = fit_mixture(merged, start=first, method=method, loglik_change=stop, progress=progress)
        bic = -2.0 * fit.loglik + merged.n_components * math.log(likelihood.total)
        return _respread(fit, merged), bic

    member = np.arange(n_components)
    fit, bic = fitted(member, np.full(n_components, 1.0 / n_components))
    steps, merges = fit.iterations, 0
    for number in itertools.count(1):
        group = _choose(rule, number, fit.weights, member, limit)
        if group is None or member.max() + 1 <= least:
            break
        if not group.any():
            continue
        trial = _merged(member, group)
        refit, lower = fitted(trial, fit.weights)
        steps += refit.iterations
        if lower >= bic:
            break
        member, fit, bic, merges = trial, refit, lower, merges + 1
    return ReducedMixture(replace(fit, iterations=steps, method="mr"), member, merges, float(limit), bic)


def _respread(fit: MixtureFit, merged: MergedLikelihood) -> MixtureFit:
    return replace(fit, weights=merged.spread(fit.weights))


def _choose(rule: Rule, number: int, weights: np.ndarray, member: np.ndarray, limit: float) -> np.ndarray | None:
    """Mark (K,) the components to merge in this round, maybe none; None when there are no more rounds."""
    if rule == "numeric":
        length = -(-weights.size // 2**number)
        return _lightest_window(weights, member, limit, length) if length > 1 else None
    return _smallest_half(weights, member, limit)


def _lightest_window(weights: np.ndarray, member: np.ndarray, limit: float, length: int) -> np.ndarray:
    """Mark the lightest window of so many unmerged neighbours, if it is lighter than the limit (algorithm 3)."""
    free = np.bincount(member)[member] == 1
    whole = np.convolve(free, np.ones(length, dtype=int), "valid") == length
    chosen = np.zeros(weights.size, dtype=bool)
    if whole.any():
        rising = np.concatenate([[0.0], np.cumsum(weights)])
        sums = np.where(whole, rising[length:] - rising[:-length], math.inf)
        first = int(sums.argmin())
        if sums[first] < limit:
            chosen[first : first + length] = True
    return chosen


def _smallest_half(weights: np.ndarray, member: np.ndarray, limit: float) -> np.ndarray | None:
    """Mark the smaller half of the groups below the limit, at least two; None if there are no two."""
    groups = np.bincount(member, weights)
    small = np.flatnonzero(groups < limit)
    if small.size < 2:
        return None
    order = small[np.argsort(groups[small], kind="stable")]
    return np.isin(member, order[: max(2, small.size // 2)])


def _merged(member: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Return the groups' numbers when these components' groups become one, in the order of first appearance."""
    joined = np.where(group, member[np.argmax(group)], member)
    _, first, inverse = np.unique(joined, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


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
