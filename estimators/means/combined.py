"""The mean of the inputs from the reports of several services, by four ways of combining one user's reports."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError, wired
from ..counting.counts import ReportCounts, ReportGroup
from ..estimate import check_target
from ..input_grid import InputGrid
from ..intervals import IntervalKind, Sample, pooled
from ..methods import MEAN_METHODS, MeanMethod, Target
from ..rounds.by_user import average_by_user
from .between_users import participation_of, user_precision, weighed_sample
from .decoder import mean_decoder
from .decoding import decoded_variances, plain_decoder, plain_decoders
from .joint_decoder import joint_decoder
from .mean import MeanEstimate, estimate_mean
from .noise import MechanismNoise, fixed_users_variance
from .raw_reports import raw_decoders, raw_sample, raw_variances
from .service_weights import PriorEstimator, population_weights, rough_prior
from .unbiasing import normalised
from .user_weights import user_weights, weighted_values

SPLIT_SEED = 20250807
"""Seed of the default split of the users: the same reports give the same estimate.  Any number would do."""

FEWEST_IN_HALF = 2
"""Users that each half of a split must have for a sample variance of its own."""

Values = Sequence[np.ndarray]
"""What each output of each of a group's services adds to its user's value."""


MOST_SERVICES_ENUMERATED = 6
"""Sets of services double with each; a joint decoder costs a linear system."""


def estimate_combined_mean(
    counts: ReportCounts,
    *,
    method: MeanMethod = "population",
    grid: InputGrid | None = None,
    prior: ArrayLike | None = None,
    estimate_prior: PriorEstimator = rough_prior,
    alike: bool = False,
    raw: bool = False,
    interval: IntervalKind = "normal",
    rng: np.random.Generator | None = None,
    target: Target = "population",
    drawn_from: int | None = None,
    per_report: bool = False,
) -> MeanEstimate:
    r"""Estimate the mean of the users' values from all that they reported to any service.

    For rounds (files of different times) it is the average of the decoded reports of all files, with a standard error
    by user (`average_by_user`); no option applies to rounds. Otherwise each user's reports become one number, and the
    estimate is the average of these over all users, whichever services they reported to, unless they are `alike`.  With
    d_j the `plain_decoder` of service j and J services of that user:

    - "ua": the plain average, sum_j d_j / J.  Unbiased. With `per_report` it is the average of all decoded reports, as
      in the paper. A user of J services then weighs J times as much, so it is not the users' mean if values differ
      between users of few and many services. Both agree if all users have the same services.
    - "population": sum_j w_j d_j with w_j proportional to 1 / E_p[var_j], the same for all users of the same
      services.  Unbiased, because p comes from the other half of the users (cross-fitting) or from you.
    - "decoder": sum_j d_j with the `joint_decoder` of least expected variance, p as before.  Unbiased if the tables
      together allow it, even if single ones do not.
    - "uwa": weights from each user's own posterior, see `user_weights`.  **Biased**, by -0.021 at a value of
      0.9 on [-1, 1] with one Duchi and one piecewise report at epsilon 3, which no number of users reduces and which
      its interval ignores.

    For "population" and "decoder" without a prior the users are dealt into two halves; p is estimated on each half
    and used for the other.  Given one half, the numbers of the other half are independent with the right mean, so
    errors of p cost variance, never bias.  Where a half has fewer than two users, p is uniform.

    Parameters
    ----------
    counts : ReportCounts
        At least two users, and reports to every service.
    method : {"population", "ua", "uwa", "decoder"}
    grid : InputGrid, optional
        Grid of K inputs for p and the posteriors.  Default: the knots of the finest table.
    prior : (K,) array_like of float, optional
        p on the grid, from other data than these reports; for "uwa" the prior of each user's value, otherwise
        uniform; not used by "ua".
    estimate_prior : callable
        Function from the counts of one half and the grid to (K,) weights.
    alike : bool
        For "population" and "decoder": whether participation is independent of the value, as when chance decides who
        reports where (attributes drawn at random). Users are then weighted by one over their variance under p, so that
        a poor service costs nothing. Otherwise each user counts the same, which is unbiased however users chose their
        services.  Only with normal intervals. `participation` of the estimate compares the means of users of different
        services; if they differ by more than chance (`doubtful`), the weighted mean describes no group in particular.
    raw : bool
        For "ua" and "uwa": average the reports themselves instead of decoded ones, scaled and shifted where needed, as
        papers do; this is never better. "uwa" then weighs by the variances of raw reports. Needs tables whose reports
        have a mean that is affine in the input, and counts with sums, ``count(..., raw=True)``.
    interval : {"normal", "bernstein"}
        Intervals by the central limit theorem, or with finite-sample coverage by the empirical Bernstein bound, from
        the range of the decoded values: valid for any number of users, but two to four times as long with 2,000 of
        them.
    rng : numpy.random.Generator, optional
        Deals the users into halves.  Default: a fixed seed, so that the same counts give the same estimate.
    target : {"population", "users"}
        Whose mean it is. With "users", these very ones, the error is the mechanisms' noise, estimated by
        `MechanismNoise`; with `alike` it also includes how heavily weighted users differ from the others. For decoded
        reports, not by "uwa".
    drawn_from : int, optional
        With the target "users": the number of all users, of whom those who reported are a random part.
    per_report : bool
        For "ua" of decoded reports: each report weighs the same, not each user. The target is then the mean over the
        services, weighted by their numbers of users; the standard error is by user.

    Returns
    -------
    estimate : MeanEstimate
        Its standard error is the sample standard deviation of the users' numbers over sqrt(n), taken within halves
        where there are two; n is the number of users. `one_report` covers all reports of one user, who may choose the
        services (with `alike`: one of the sets that others have), at weights fixed by the other half. The user's effect
        on those weights adds variance but no bias. None for "decoder" with more than 6 services.

    Raises
    ------
    InputError
        Fewer than two users, a service without reports, tables that allow no unbiased mean, tables whose knots
        disagree (where no grid is given), or options that are not usable.

    Source: Du, Ye, Fu and Hu (2025), "Privacy for Free", equation (2) for UA (of all reports, `per_report`; for users
    of different numbers of services we average the users' averages) and algorithm 2 for UWA; Chernozhukov et al. (2018)
    for cross-fitting.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import estimate_combined_mean
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.counting.counts import Service
    >>> from optldp.mechanisms import duchi, piecewise
    >>> rng, x = np.random.default_rng(1), np.full(20_000, 0.25)
    >>> services = [Service(f.__name__, f(np.linspace(-1, 1, 9), 1.0)) for f in (duchi, piecewise)]
    >>> outputs = [s.mechanism.output_index(s.mechanism.sample(x, rng)) for s in services]
    >>> counts = ReportCounts.from_outputs(services, np.stack(outputs, axis=1))
    >>> estimate = estimate_combined_mean(counts)
    >>> estimate.n, round(estimate.value, 3), round(estimate.std_error, 3)
    (20000, 0.248, 0.01)
    """
    if interval not in get_args(IntervalKind):
        raise InputError(f"interval must be one of {', '.join(get_args(IntervalKind))}, got {interval!r}")
    if method not in MEAN_METHODS:
        raise InputError(f"method must be one of {', '.join(MEAN_METHODS)}, got {method!r}")
    if raw and method not in ("ua", "uwa"):
        raise InputError(f"raw reports are averaged by ua and uwa, got {method}: choose one of them, or leave raw out")
    if alike and (method in ("ua", "uwa") or interval != "normal"):
        raise InputError(f"alike is for population and decoder with normal intervals, got {method}, {interval}")
    check_target(target)
    if per_report and (method != "ua" or raw or target == "users" or interval != "normal" or counts.rounds):
        what = "rounds" if counts.rounds else "raw reports" if raw else f"{method}, {target}, {interval}"
        raise InputError(f"per_report is for ua, population and normal intervals, got {what}: leave it out")
    if target == "users" and (method == "uwa" or raw or interval != "normal"):
        what = "raw reports" if raw else f"{method}, {interval}"
        raise InputError(f"target users is for ua, population and decoder with normal intervals, got {what}")
    _require_usable(counts)
    if counts.rounds:
        if method != "population" or prior is not None or alike or interval != "normal" or target == "users":
            raise InputError(
                "rounds have the mean of all decoded reports, got an option for services that measured one value "
                "(method, prior, alike, interval, target): leave it out"
            )
        return _of_rounds(counts)
    if per_report:
        return _of_reports(counts, plain_decoders(counts.services), "ua")
    participation, parts = None, []
    if method == "ua":
        parts = [] if raw else [_averaged(counts)]
        samples = [_raw_averaged(counts)] if raw else [part.sample(alike=False) for part in parts]
        reached = samples[0].width if raw else _span_of_decoders(counts)
    else:
        grid = grid or InputGrid.common(counts.mechanisms)
        known = None if prior is None else normalised("prior", grid.size, prior)
        if method == "uwa":
            samples = [_user_weighted(counts, grid, _uniform(grid) if known is None else known, raw=raw)]
            reached = samples[0].width
        else:
            priors = _parts(counts, grid, known, estimate_prior, rng)
            parts = _by_weights(counts, grid, priors, method)
            samples = [part.sample(alike=alike) for part in parts]
            reached = _span_of_decoders(counts) if method == "population" else _span_of_sums(counts, grid, priors)
            if alike and reached is not None:
                reached *= max(part.most for part in parts)
            participation = participation_of(counts, [(part.counts, part.totals, part.precisions) for part in parts])
    value, error = pooled(samples)
    if target == "users":
        error = _error_of_users(counts, parts, error, alike=alike, drawn_from=drawn_from)
    return MeanEstimate(
        value,
        error,
        counts.n_users,
        method,
        target,
        one_report=None if reached is None else reached / counts.n_users,
        samples=wired("interval", {"normal": (), "bernstein": tuple(samples)}, interval),
        participation=participation,
    )


def _of_rounds(counts: ReportCounts) -> MeanEstimate:
    """The average of the decoded reports of all files, and that of each file by itself."""
    alone = {
        service.name: estimate_mean(replace(counts.only([j]), rounds=False))
        for j, service in enumerate(counts.services)
    }
    chosen = [mean_decoder(mechanism).values for mechanism in counts.mechanisms]
    plain = zip(chosen, counts.mechanisms, strict=True)
    decoders = [plain_decoder(mechanism) if values is None else values for values, mechanism in plain]
    return replace(_of_reports(counts, decoders, "average"), rounds=alone)


def _of_reports(counts: ReportCounts, decoders: Sequence[np.ndarray], method: str) -> MeanEstimate:
    """The average of all decoded reports, with a standard error by user."""
    value, covariance = average_by_user(counts, [decoder[:, None] for decoder in decoders])
    reports = sum(len(group.services) * group.n_users for group in counts.groups)
    moved = sum(float(np.ptp(decoder)) for decoder in decoders) / reports
    error = math.sqrt(covariance[0, 0])
    return MeanEstimate(float(value[0]), error, counts.n_users, method, one_report=moved)


@dataclass(frozen=True, eq=False)
class _Part:
    """Users, what the outputs of each group's services add to a user's number, and the precision of each group's."""

    counts: ReportCounts
    values: Sequence[Values]
    precisions: Sequence[float]

    @cached_property
    def totals(self) -> list[np.ndarray]:
        """The number of each combination of outputs, for each group."""
        return [
            np.sum([added[column] for added, column in zip(given, group.outputs.T, strict=True)], axis=0)
            for group, given in zip(self.counts.groups, self.values, strict=True)
        ]

    @property
    def most(self) -> float:
        """Weight of a user of the most precise group over the average one."""
        users = [group.n_users for group in self.counts.groups]
        return max(self.precisions) / float(np.average(self.precisions, weights=users))

    def sample(self, *, alike: bool) -> Sample:
        """Return the sample of the users' numbers, weighed by their precision if they are alike."""
        if alike and len(self.precisions) > 1:
            return weighed_sample(self.counts, self.totals, self.precisions)
        low = min(sum(added.min() for added in given) for given in self.values)
        high = max(sum(added.max() for added in given) for given in self.values)
        return _sample(self.counts.groups, self.totals, float(high - low))


def _error_of_users(
    counts: ReportCounts, parts: Sequence[_Part], error: float, *, alike: bool, drawn_from: int | None
) -> float:
    """The standard error about the mean of all these users, or of more of whom they are a random part."""
    noises = [MechanismNoise(mechanism) for mechanism in counts.mechanisms]
    rows = []
    for part in parts:
        share = part.counts.n_users / counts.n_users
        weights = np.array(part.precisions if alike else [1.0] * len(part.counts.groups))
        weights *= share / (weights @ [group.n_users for group in part.counts.groups])
        whole = part.sample(alike=False)
        for group, values, numbers, weight in zip(part.counts.groups, part.values, part.totals, weights, strict=True):
            noise = least = 0.0
            for j, added, column in zip(group.services, values, group.outputs.T, strict=True):
                few, of_output = noises[j].of_values(added)
                noise, least = noise + float(group.counts @ of_output[column]) / group.n_users, least + few
            # Without weights what groups differ by is a part of what values vary by.
            own = Sample.of(numbers, group.counts, 0.0) if alike and group.n_users > 1 else whole
            rows.append((weight * group.n_users, own.variance, noise, least))
    everyone = max(counts.n_users, drawn_from or 0)
    return math.sqrt(fixed_users_variance(error**2, *np.array(rows).T, everyone=everyone))


def _require_usable(counts: ReportCounts) -> None:
    if counts.n_users < 2:
        raise InputError(f"users must be at least 2 for a standard error, got {counts.n_users}")
    counts.require_reports()


def _uniform(grid: InputGrid) -> np.ndarray:
    return np.full(grid.size, 1 / grid.size)


def _parts(
    counts: ReportCounts,
    grid: InputGrid,
    known: np.ndarray | None,
    estimate_prior: PriorEstimator,
    rng: np.random.Generator | None,
) -> list[tuple[ReportCounts, np.ndarray]]:
    """Users together with a prior that none of them had a part in."""
    if known is not None:
        return [(counts, known)]
    halves = counts.split([0.5, 0.5], np.random.default_rng(SPLIT_SEED) if rng is None else rng)
    if min(half.n_users for half in halves) < FEWEST_IN_HALF:
        return [(counts, _uniform(grid))]
    priors = [normalised("estimated prior", grid.size, estimate_prior(half, grid)) for half in halves]
    return list(zip(halves, reversed(priors), strict=True))


def _by_weights(
    counts: ReportCounts, grid: InputGrid, priors: Sequence[tuple[ReportCounts, np.ndarray]], method: MeanMethod
) -> list[_Part]:
    """The users by values fixed beforehand."""
    values_of = wired("method", {"population": _population, "decoder": _decoded}, method)
    parts = []
    for mine, prior in priors:
        values = values_of(mine, grid, prior)
        precisions = [1.0] if len(counts.groups) == 1 else _precisions(mine, grid, prior, values)
        parts.append(_Part(mine, values, precisions))
    return parts


def _averaged(counts: ReportCounts) -> _Part:
    decoders = plain_decoders(counts.services)
    values = [[decoders[j] / len(g.services) for j in g.services] for g in counts.groups]
    return _Part(counts, values, [1.0] * len(values))


def _raw_averaged(counts: ReportCounts) -> Sample:
    even = [np.full(group.outputs.shape, 1 / len(group.services)) for group in counts.groups]
    return raw_sample(counts, raw_decoders(counts.services), even)


def _population(counts: ReportCounts, grid: InputGrid, prior: np.ndarray) -> list[Values]:
    decoders = plain_decoders(counts.services)
    variances = _variances(counts, decoders, grid)
    values = []
    for group in counts.groups:
        weights = population_weights(variances[list(group.services)], prior)
        values.append([weight * decoders[j] for weight, j in zip(weights, group.services, strict=True)])
    return values


def _decoded(counts: ReportCounts, grid: InputGrid, prior: np.ndarray) -> list[Values]:
    points = np.clip(grid.points, *counts.mechanisms[0].domain)
    return [joint_decoder([counts.mechanisms[j] for j in g.services], points, prior) for g in counts.groups]


def _precisions(counts: ReportCounts, grid: InputGrid, prior: np.ndarray, values: Sequence[Values]) -> list[float]:
    return [
        user_precision([counts.mechanisms[j] for j in group.services], given, grid, prior)
        for group, given in zip(counts.groups, values, strict=True)
    ]


def _user_weighted(counts: ReportCounts, grid: InputGrid, prior: np.ndarray, *, raw: bool) -> Sample:
    unbiased = raw_decoders(counts.services) if raw else []
    decoders = [] if raw else plain_decoders(counts.services)
    variances = np.stack([raw_variances(d, grid) for d in unbiased]) if raw else _variances(counts, decoders, grid)
    weights = [user_weights(group, counts.services, variances, grid, prior) for group in counts.groups]
    if raw:
        return raw_sample(counts, unbiased, weights)
    values = [weighted_values(g, given, decoders) for g, given in zip(counts.groups, weights, strict=True)]
    # A weighted average of a user's decoded reports lies between the ends of all decoders.
    return _sample(counts.groups, values, _span_of_decoders(counts))


def _span_of_decoders(counts: ReportCounts) -> float:
    """Largest number of a user less the smallest: an average of decoded reports lies between those of one service."""
    decoders = plain_decoders(counts.services)
    return float(max(map(np.max, decoders)) - min(map(np.min, decoders)))


def _span_of_sums(
    counts: ReportCounts, grid: InputGrid, parts: Sequence[tuple[ReportCounts, np.ndarray]]
) -> float | None:
    """The same for joint decoders, over all sets of services that a user may report to; None for too many sets."""
    tables = counts.mechanisms
    if len(tables) > MOST_SERVICES_ENUMERATED:
        return None
    points = np.clip(grid.points, *tables[0].domain)
    chosen = [[t for j, t in enumerate(tables) if bits >> j & 1] for bits in range(1, 2 ** len(tables))]
    sums = []
    for some, (_, prior) in product(chosen, parts):
        with suppress(InputError):  # these services alone allow no unbiased mean, and such a user none
            sums.append(joint_decoder(some, points, prior))
    highest = max(sum(added.max() for added in given) for given in sums)
    return float(highest - min(sum(added.min() for added in given) for given in sums))


def _variances(counts: ReportCounts, decoders: Values, grid: InputGrid) -> np.ndarray:
    pairs = zip(counts.mechanisms, decoders, strict=True)
    return np.stack([decoded_variances(mechanism, decoder, grid) for mechanism, decoder in pairs])


def _sample(groups: Sequence[ReportGroup], values: Sequence[np.ndarray], width: float) -> Sample:
    return Sample.of(np.concatenate(values), np.concatenate([group.counts for group in groups]), width)
