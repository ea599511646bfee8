"""What reports of tables of numbers tell: means, distributions and quantiles, of one service or of several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ....estimators.data.simulated_columns import OUTPUT
from ....estimators.methods import BIAS_AWARE, DISTRIBUTION_METHODS, MAXIMUM, MEAN_METHODS
from ....mechanisms.errors import InputError
from ....mechanisms.table.table import TabulatedMechanism
from ..asked.trusted_prior import trusted_weights
from ..output import number, say, share_progress, told_of_reports
from .kind import Found, Rows, Service, split

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ....estimators import BiasAwareMean, DistributionEstimate, InputGrid, MeanEstimate, ReportCounts
    from ....estimators.data import SkippedRows
    from ....estimators.estimate import NumberEstimate
    from ....estimators.methods import MeanMethod
    from .asked import EstimateOptions, ReportOptions

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)

CERTIFIED = {"smooth": "log-likelihood"}
"""What the certificate bounds the gain of, where there is a choice."""


def estimate_numbers(services: Sequence[Service], asked: EstimateOptions) -> Found:
    """Return the mean, the distribution or quantiles of the values behind the reports of tables of numbers."""
    asked.refuse("for levels of budgets", "--level-column")
    asked.refuse("for several attributes", "--attribute")
    asked.refuse("for categories, which have an unbiased estimate each", "--preselect")
    asked.refuse("for frequencies of categories, and for groups", "--simultaneous", "--top")
    if asked.method not in (None, *MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS):
        raise InputError(f"--method {asked.method} is for frequencies, got tables of numbers: leave it out")
    asked = with_bias(asked, [service.kind.mechanism for service in services])
    plain = asked.method is None or (asked.raw and asked.method == "ua")
    alone = len(services) == 1 and asked.key is None and asked.of in (None, "mean") and plain
    require_method(asked, alone)
    return _plain_mean(services[0], asked) if alone else _of_counts(services, asked)


def require_method(asked: EstimateOptions, alone: bool, *, rows: bool = False) -> None:
    """Refuse combinations of options that contradict each other; means in rows, unlike one mean, can be written."""
    method, of = asked.method, asked.of or "mean"
    if method != BIAS_AWARE:
        asked.refuse(f"for --method {BIAS_AWARE}, a mean", "--prior", "--trust")
    if of != "mean" and method in (*MEAN_METHODS, BIAS_AWARE):
        raise InputError(
            f"--method {method} estimates a mean, not {of}: use one of {', '.join(DISTRIBUTION_METHODS)}, or --of mean"
        )
    if asked.stop is not None and method not in MAXIMUM:
        raise InputError(f"--stop is for --method em and ule, got {method or 'none'}: leave it out")
    if asked.quantile and of != "quantiles":
        raise InputError(f"--quantile is for --of quantiles, got --of {of}: leave it out")
    for share in asked.quantile or ():
        if not 0.0 < share < 1.0:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
    if of == "mean" and method not in DISTRIBUTION_METHODS:
        options = [*(() if rows or method == BIAS_AWARE else ("--out",)), "--between"]
        options += ["--plot"] if rows or method != BIAS_AWARE else []
        # A grid without a distribution serves the priors of several services.
        options += ["--cells"] if alone or method in ("ua", BIAS_AWARE) else []
        given = asked.given()
        if useless := [option for option in options if given[option] is not None]:
            raise InputError(
                f"{useless[0]} needs a distribution, got --of mean: add --of distribution, or choose one of "
                f"{', '.join(DISTRIBUTION_METHODS)} as its --method"
            )
    if (between := asked.between) is not None and not between[0] <= between[1]:
        raise InputError(f"--between must have its ends in order, got {between[0]!r} {between[1]!r}: swap them")


def with_bias(asked: EstimateOptions, tables: Sequence[Any]) -> EstimateOptions:
    """Return what is asked with the bias-aware method where that is meant: a prior to trust, or tables made for it."""
    usual = asked.method is None and asked.of in (None, "mean") and asked.winsorise is None and not asked.raw
    made = any(isinstance(table, TabulatedMechanism) and table.provenance.is_for_error for table in tables)
    if usual and (made or asked.prior_file is not None or asked.trust is not None):
        asked = replace(asked, method=BIAS_AWARE)
    if asked.method == BIAS_AWARE and not all(isinstance(table, TabulatedMechanism) for table in tables):
        raise InputError(
            "a bias-aware mean needs tables, got a floor form that is too large for one: use fewer --knots"
        )
    return asked


def _plain_mean(service: Service, asked: EstimateOptions) -> Found:
    from ....estimators import estimate_mean
    from ....estimators.data import SkippedRows
    from ....estimators.means.averaged import average_of
    from ....mechanisms.floors import FloorForm
    from .reading import accounted, column_in, holds_simulated, read_laid_out

    if asked.counts is not None or column_in(service.reports, asked.column)[0] == OUTPUT:
        counts, told, skipped = _taken([service], asked)
        with accounted(skipped):
            return mean_found(estimate_mean(counts, winsorise=asked.winsorise, raw=asked.raw), asked, told, counts)
    if (counts := _counted_at_once(service, asked)) is not None:
        simulated = holds_simulated(service.reports, asked.column)
        found = estimate_mean(counts, winsorise=asked.winsorise, raw=asked.raw)
        return mean_found(found, asked, told_of_reports(simulated, SkippedRows()), counts)
    from ....estimators import count  # of every kind of mechanism, which takes as long to load as a small file to count

    layout = service.kind.layout(asked.column, "")
    read = read_laid_out(layout, service.reports, drop_missing=asked.drop_missing, skip_invalid=asked.skip_invalid)
    mechanism = service.kind.mechanism
    with accounted(read.skipped):
        if isinstance(mechanism, FloorForm) and not mechanism.expands and asked.winsorise is None:
            counts, found = None, average_of(mechanism, read.reports)
        else:
            counts = count(mechanism, read.reports)
            found = estimate_mean(counts, winsorise=asked.winsorise, raw=asked.raw)
    return mean_found(found, asked, told_of_reports(read.simulated, read.skipped), counts)


def _counted_at_once(service: Service, asked: EstimateOptions) -> ReportCounts | None:
    """Return the counts of reports that need not be looked at one by one, as points need not where none is at fault."""
    from ....estimators.counting.collect import collect

    mechanism = service.kind.mechanism
    if asked.skip_invalid or not isinstance(mechanism, TabulatedMechanism) or not mechanism.is_discrete:
        return None
    try:
        return collect([(mechanism, service.reports)], column=asked.column, drop_missing=asked.drop_missing)
    except InputError:
        return None


def _taken(services: Sequence[Service], asked: EstimateOptions) -> tuple[ReportCounts, dict[str, Any], SkippedRows]:
    """Return the counts of services, from their reports or from an engine's answer, and what the files told."""
    if asked.counts is None:
        return count_services(services, asked, raw=asked.raw)
    from ....estimators import ReportCounts
    from ....estimators.counting.counts import Service as Counted
    from ....estimators.data import SkippedRows
    from .reading import answer_simulated

    skipped, tables = SkippedRows(), [service.kind.mechanism for service in services]
    named = [Counted(*each) for each in zip(service_names(services), tables, strict=True)]
    counts = ReportCounts.from_counts(named, asked.counts, skip_invalid=skipped if asked.skip_invalid else False)
    return counts, told_of_reports(answer_simulated(asked.counts), skipped), skipped


def count_services(
    services: Sequence[Service], asked: ReportOptions, *, raw: bool = False
) -> tuple[ReportCounts, dict[str, Any], SkippedRows]:
    """Return the counts of the reports of services, and what their files told."""
    from ....estimators import count
    from ....estimators.data import SkippedRows
    from .reading import holds_simulated

    skipped, tables = SkippedRows(), [service.kind.mechanism for service in services]
    with share_progress("counting reports") as update:
        counts = count(
            list(zip(service_names(services), tables, [service.reports for service in services], strict=True)),
            key=asked.key,
            column=asked.column,
            keep_first=asked.keep_first,
            allow_disjoint=asked.allow_disjoint,
            drop_missing=asked.drop_missing,
            skip_invalid=skipped if asked.skip_invalid else False,
            raw=raw,
            progress=update,
        )
    simulated = any(holds_simulated(service.reports, asked.column) for service in services)
    return counts, told_of_reports(simulated, skipped), skipped


def _of_counts(services: Sequence[Service], asked: EstimateOptions) -> Found:
    """Return what counts tell, of one service or of several that have users in common."""
    started = time.perf_counter()
    asked.refuse("for the plain mean of one table", "--winsorise")
    if asked.raw and (asked.method not in ("ua", "uwa") or asked.of not in (None, "mean")):
        raise InputError(
            "--raw is for the plain mean of one table and --method ua and uwa of several services, got "
            f"{asked.method or 'none'}: choose one of these, or leave it out"
        )
    counts, told, _ = _taken(services, asked)
    return told_by_counts(counts, asked, started, told)


def told_by_counts(
    counts: ReportCounts, asked: EstimateOptions, started: float, told: dict[str, Any], *, alike: bool = False
) -> Found:
    """Return the mean, the distribution or quantiles that counts tell, with the seconds since the start.

    `told` are facts of the files; alike users are those of `estimate_combined_mean`.
    """
    from ....estimators import InputGrid, estimate_combined_mean
    from ....estimators.distributions.drawn import BIASED

    table = counts.mechanisms[0]
    if asked.method == BIAS_AWARE:
        return _bias_aware(counts, asked, started, told, alike=alike)
    grid = None if asked.cells is None else InputGrid.equal_cells(*table.domain, asked.cells)
    if asked.of in (None, "mean") and asked.method not in DISTRIBUTION_METHODS:
        method = cast("MeanMethod", asked.method or "population")
        alike = alike and method in ("population", "decoder")
        found = estimate_combined_mean(counts, method=method, grid=grid, alike=alike, raw=asked.raw)
        raw = {"raw": True} if asked.raw else {}
        return mean_found(found, asked, raw | {"seconds": time.perf_counter() - started} | told, counts)
    estimate = _fitted(counts, grid, asked)
    facts: dict[str, Any] = {"seconds": time.perf_counter() - started} | told
    if asked.of != "quantiles":
        facts["one_report"] = _one_report(counts, estimate)
        if estimate.method == BIASED:
            facts["bias"] = _bias(counts, estimate)
    return told_fit(estimate, table.units, facts, asked)


def _bias_aware(
    counts: ReportCounts, asked: EstimateOptions, started: float, told: dict[str, Any], *, alike: bool
) -> Found:
    """Return the mean with the least error, its two parts in words, and what each report counts as."""
    from ....estimators import bias_aware_mean

    with share_progress("choosing what reports count as"):
        found = bias_aware_mean(counts, trusted_weights(asked.prior_file, counts), trust=asked.trust, alike=alike)
    facts = found.to_dict(asked.confidence) | _ratio(found, asked, counts)
    facts |= {"seconds": time.perf_counter() - started} | told
    say_of_users(found)
    columns: dict[str, list[Any]] = {
        "service": [part.service for part in found.parts for _ in part.values],
        **{name: [float(one) for part in found.parts for one in getattr(part, name)] for name in ("low", "high")},
        "before": [float(one) for part in found.parts for one in part.before],
        "counts_as": [float(one) for part in found.parts for one in part.values],
    }
    units = counts.mechanisms[0].units
    last = bias_said(found, asked.confidence)
    return Found("mean of the values", facts, columns=columns, figure=lambda: found.plot(units=units), last=last)


def say_of_users(found: BiasAwareMean) -> None:
    """Warn where a table was designed for another number of users, with what that costs."""
    if found.rmse_designed is not None:
        say(
            f"warning: the table was designed for another number of users than these {found.n:,}: the error is at most "
            f"{number(found.rmse)}, {number(found.rmse_designed)} with a table designed for them"
        )


def bias_said(found: BiasAwareMean, confidence: float) -> str:
    """Return in words what the interval and the error of a bias-aware mean are made of."""
    noise, trust = found.reaches(confidence)
    low, high = found.knots[[0, -1]]
    return (
        f"the interval's reach of {noise + trust:.4g} is {noise:.4g} of noise and {trust:.4g} of trust: the bias is at "
        f"most {found.bias_high:.4g} if each weight of the prior is right within a factor of {found.trust:g}\n"
        f"values from {low:.4g} to {high:.4g} count as {found.means.min():.4g} to {found.means.max():.4g} on average; "
        f"the error is at most {found.rmse:.4g}, before {found.rmse_before:.4g}"
    )


def told_fit(estimate: DistributionEstimate, units: str, facts: dict[str, Any], asked: EstimateOptions) -> Found:
    """Return what a fit tells in the form that was asked for, with other facts beside its evidence."""
    facts = _evidence(estimate) | facts
    if (ends := asked.between) is not None:
        share = estimate.probability(*ends).to_dict(asked.confidence)
        facts["between"] = {"low_end": ends[0], "high_end": ends[1], **share}
    return _found(estimate, units, facts, asked)


def service_names(services: Sequence[Service]) -> list[str]:
    """Name services by their tables' files, numbered where those repeat."""
    names = [service.table.stem for service in services]
    return [f"{name}#{i + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _fitted(counts: ReportCounts, grid: InputGrid | None, asked: EstimateOptions) -> DistributionEstimate:
    from ....estimators import estimate_distribution
    from ....estimators.distributions.smoothed_em import LOGLIK_CHANGE

    method: Any = asked.method or "smooth"
    options: dict[str, Any] = {"solver": "em", "loglik_change": LOGLIK_CHANGE} if asked.stop == "loglik" else {}
    with share_progress(f"estimating by {method}") as update:
        return estimate_distribution(
            counts,
            method=method,
            grid=grid,
            progress=lambda now: update(f"{method}: {now.step} steps", 0.0),
            split_progress=lambda done, of: update(f"{method}: choosing the smoothness", done / of),
            **options,
            **asked.reduction(),
        )


def _evidence(estimate: DistributionEstimate) -> dict[str, Any]:
    fit = estimate.fit
    return {
        "iterations": fit.iterations,
        "certificate": fit.certificate,
        "loglik": fit.loglik,
        "stop": str(fit.stop),
        "solver": fit.method if estimate.method == "em" else None,
        "components": estimate.components,
        "certificate_of": CERTIFIED.get(estimate.method),
    } | _averaged(estimate)


def _averaged(estimate: DistributionEstimate) -> dict[str, Any]:
    """Return what is known of an average of log densities: orders, masses, and how exact its modes are."""
    if (found := estimate.smooth) is None:
        return {}
    atoms = found.atoms
    return {
        "decrement": found.decrement,
        "orders": found.orders,
        "masses_at": list(atoms) or None,
        "masses_sure": list(atoms.values()) or None,
    }


def _bias(counts: ReportCounts, estimate: DistributionEstimate) -> dict[str, Any] | None:
    """Return how far the mean of a biased fit is from an unbiased one of the same reports; None where there is none."""
    from ....estimators import estimate_combined_mean, estimate_mean

    try:
        unbiased = estimate_mean(counts) if len(counts.services) == 1 else estimate_combined_mean(counts)
    except InputError:
        return None
    return {"value": estimate.mean().value - unbiased.value, "std_error": unbiased.std_error}


def _one_report(counts: ReportCounts, estimate: DistributionEstimate) -> float | None:
    """Return the first-order influence of one report on the mean of a fit; None where there is none known."""
    from ....estimators import fitted_influence

    try:
        found = float(fitted_influence(counts, estimate).one_report[0])
    except InputError:
        return None
    return found if np.isfinite(found) else None


def mean_found(
    found: MeanEstimate,
    asked: EstimateOptions,
    evidence: dict[str, Any],
    counts: ReportCounts | None = None,
    variance: float | None = None,
) -> Found:
    """Return a mean, what else is known of it, and what privacy costs where counts or a fit say how values vary."""
    return Found(
        "mean of the values", found.to_dict(asked.confidence) | _ratio(found, asked, counts, variance) | evidence
    )


def _ratio(
    found: NumberEstimate, asked: EstimateOptions, counts: ReportCounts | None, variance: float | None = None
) -> dict[str, Any]:
    """Return the ratio to the interval that no privacy would give, None where it cannot be known."""
    from ....estimators.contrasts.without_privacy import RATIO, ratio_to_no_privacy

    if counts is None and variance is None:
        return {RATIO: None}
    return {RATIO: ratio_to_no_privacy(found, counts, variance=variance, confidence=asked.confidence)}


def _found(estimate: DistributionEstimate, units: str, facts: dict[str, Any], asked: EstimateOptions) -> Found:
    """Return a fit in the form that was asked for; a file and a picture have all of it in each."""
    if asked.of in (None, "mean"):
        found = mean_found(estimate.mean(), asked, facts, variance=float(estimate.variance().value))
    elif asked.of == "quantiles":
        found = _quantiles(estimate, units, asked, facts)
    else:
        found = _distribution(estimate, asked.confidence, facts)

    def figure() -> Axes:
        return estimate.plot(units=units, confidence=asked.confidence)

    _, columns = split(estimate, asked.confidence)
    return replace(found, columns=columns, figure=figure)


def _distribution(estimate: DistributionEstimate, confidence: float, evidence: dict[str, Any]) -> Found:
    mean = estimate.mean().to_dict(confidence) | {"one_report": evidence.pop("one_report", None)}
    variance = {"variance": estimate.variance().to_dict(confidence)}
    return Found(
        "distribution of the values, and their mean",
        estimate.to_dict(confidence) | {"mean": mean} | variance | evidence,
        said=mean | variance | evidence,
        last="the weights themselves: --out FILE, --plot FILE or --json",
    )


def _quantiles(estimate: DistributionEstimate, units: str, asked: EstimateOptions, evidence: dict[str, Any]) -> Found:
    from ....estimators.forms.axis import said_on

    shares, confidence = asked.quantile or QUANTILES, asked.confidence
    found = [{"quantile": share, **estimate.quantile(share).to_dict(confidence)} for share in shares]
    facts = {"method": estimate.method, "n": estimate.n, "confidence": confidence, "target": estimate.target} | evidence
    names = ("value", "low", "high")
    cells = [
        [f"{one['quantile']:g}", *(said_on(one[name], units) or number(one[name]) for name in names)] for one in found
    ]
    return Found("fit", facts, {"quantiles": found}, Rows("quantiles of the values", ["quantile", *names], cells))
