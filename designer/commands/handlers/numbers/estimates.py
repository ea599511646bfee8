"""What reports of tables of numbers tell: means, distributions and quantiles, of one service or of several."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from .....estimators.methods import BIAS_AWARE, DISTRIBUTION_METHODS, MEAN_METHODS
from .....estimators.reading.columns import SkippedRows
from .....estimators.reading.columns.simulated_columns import OUTPUT
from .....mechanisms.errors import InputError, wired
from .....mechanisms.promise import Metric
from ...options.assumed import assumed_by, factor_of
from ...options.trusted_prior import trusted_weights
from ...output.output import number, say, share_progress, told_of_reports
from ...output.participation import say_participation
from ..kind import Found, Service
from .fits import assumed_said, mean_found, of_another_table, ratio_facts, told_fit, with_rounds

if TYPE_CHECKING:
    from .....estimators import BiasAwareMean, DistributionEstimate, InputGrid, MeanEstimate, ReportCounts
    from .....estimators.methods import MeanMethod
    from .....estimators.reading.columns import SkippedRows
    from .....mechanisms import TabulatedMechanism
    from .....mechanisms.table.provenance import Provenance
    from ..options import EstimateOptions, ReportOptions


def estimate_numbers(services: Sequence[Service], asked: EstimateOptions) -> Found:
    """Return the mean, the distribution or quantiles of the values behind the reports of tables of numbers."""
    asked.refuse("for levels of budgets", "--level-column")
    asked.refuse("for several attributes", "--attribute")
    asked.refuse_told("for categories, which have an unbiased estimate each", "preselect")
    asked.refuse("for frequencies of categories, and for groups", "--top")
    if asked.method not in (None, *MEAN_METHODS, BIAS_AWARE, *DISTRIBUTION_METHODS):
        raise InputError(f"--method {asked.method} is for frequencies, got tables of numbers: leave it out")
    tables, written = ([getattr(s.kind, name) for s in services] for name in ("mechanism", "has_table"))
    asked = with_usual(asked, tables, written=all(written))
    plain = asked.method is None or (asked.raw and asked.method == "ua" and not asked.told)
    alone = len(services) == 1 and asked.key is None and asked.of in (None, "mean") and plain
    require_method(asked, alone)
    if len(services) == 1:
        asked.refuse("for several services", "--alike")
        asked.refuse("for several files of different times", "--rounds")
    return _plain_mean(services[0], asked) if alone else _of_counts(services, asked)


def require_method(asked: EstimateOptions, alone: bool, *, rows: bool = False) -> None:
    """Refuse combinations of options that contradict each other; means in rows, unlike one mean, can be written."""
    method, of = asked.method, asked.of or "mean"
    if method != BIAS_AWARE and not asked.assume:
        asked.refuse(f"for --method {BIAS_AWARE}, a mean, and for --assume", "--prior")
    if asked.assume and method in (*MEAN_METHODS, BIAS_AWARE):
        asked.refuse(f"for estimated distributions, not {method}", "--assume")
    if of != "mean" and method in (*MEAN_METHODS, BIAS_AWARE):
        raise InputError(
            f"--method {method} estimates a mean, not {of}: use one of {', '.join(DISTRIBUTION_METHODS)}, or --of mean"
        )
    if of not in ("mean", "queries") or method in DISTRIBUTION_METHODS:
        asked.of_population("an estimated distribution")
        asked.refuse("for means: a distribution is fitted to all reports, whose users are taken for alike", "--alike")
    if asked.alike and method in ("ua", "uwa"):
        raise InputError(f"--alike is for --method population, decoder and {BIAS_AWARE}, got {method}: leave it out")
    if of == "mean" and method not in DISTRIBUTION_METHODS:
        options = [*(() if rows or method == BIAS_AWARE else ("--out",)), "--between", "--above"]
        options += ["--plot"] if rows or method != BIAS_AWARE else []
        # A grid without a distribution serves the priors of several services.
        options += ["--cells"] if alone or method in ("ua", BIAS_AWARE) else []
        given = asked.given()
        if useless := [option for option in options if given[option] is not None]:
            raise InputError(
                f"{useless[0]} needs a distribution, got --of mean: add --of distribution, or choose one of "
                f"{', '.join(DISTRIBUTION_METHODS)} as its --method"
            )
    if of == "mean":
        asked.refuse("for distributions, quantiles, frequencies and groups", "--simultaneous")
    if (between := asked.between) is not None and not between[0] <= between[1]:
        raise InputError(f"--between must have its ends in order, got {between[0]!r} {between[1]!r}: swap them")


def with_usual(asked: EstimateOptions, tables: Sequence[Any], *, written: bool = True) -> EstimateOptions:
    """Return what is asked with what is meant: of a share the distribution, of a prior to trust or tables made for one
    the bias-aware mean, of a table made for a question the answer.
    """
    asked = _answering(asked, tables[0].provenance) if len(tables) == 1 else asked
    if asked.method is None and asked.of is None and (asked.above is not None or asked.between is not None):
        return replace(asked, of_text="distribution")
    usual = asked.method is None and asked.of in (None, "mean") and asked.winsorise is None and not asked.raw
    if usual and asked.assume:  # the mean of a distribution of which something is assumed
        return replace(asked, method_text="smooth")
    made = any(table.provenance.is_for_error for table in tables)
    if usual and (made or asked.prior_file is not None):
        asked = replace(asked, method_text=BIAS_AWARE)
    if asked.method == BIAS_AWARE and asked.assume:
        asked = _trusting(asked, asked.assume)
    if asked.method == BIAS_AWARE and not written:
        raise InputError(
            "a bias-aware mean needs tables, got a floor form that is too large for one: use fewer --knots"
        )
    return asked


def _answering(asked: EstimateOptions, origin: Provenance) -> EstimateOptions:
    """Return what is asked of a table made for a question: the answer, or the mean by a fitted distribution.

    Few of these tables have an unbiased mean, and where they do, its interval is far longer.
    """
    told, question = origin.parameters, origin.question
    meant = asked.method is None and asked.of in (None, "mean") and asked.winsorise is None and not asked.raw
    if not meant or question is None or asked.above is not None or asked.between is not None:
        return asked
    if asked.prior_file is not None and not asked.assume:
        return asked  # the bias-aware mean
    if asked.of == "mean":
        return replace(asked, method_text="smooth")
    match question, told.get("above"), told.get("share"):
        case "cdf", _, _:
            return replace(asked, of_text="distribution")
        case "share", int() | float() as above, _:
            return replace(asked, of_text="distribution", above=float(above))
        case "quantile", _, int() | float() as share:
            return replace(asked, of_text=f"quantiles:{share:g}")
        case _:
            return asked


def _trusting(asked: EstimateOptions, assume: Sequence[str]) -> EstimateOptions:
    """Return a bias-aware mean that is told the factor that is assumed; InputError for what it cannot assume."""
    if len(assume) > 1 or asked.told or asked.assume_from is not None:
        raise InputError(f"--method {BIAS_AWARE} assumes one factor, got several: give --assume trust=FACTOR alone")
    return replace(asked, method_text=f"{BIAS_AWARE}:trust={factor_of(assume[0])!r}", assume=None)


def _plain_mean(service: Service, asked: EstimateOptions) -> Found:
    from .....estimators import estimate_mean
    from .....estimators.means.mean import average_of
    from ..reading import accounted, column_in, holds_simulated, read_laid_out

    if asked.counts or column_in(service.reports, asked.column)[0] == OUTPUT:
        counts, told, skipped = _taken([service], asked)
        with accounted(skipped):
            return mean_found(estimate_mean(counts, **asked.of_one_table()), asked, told, counts)
    if (counts := _counted_at_once(service, asked)) is not None:
        simulated = holds_simulated(service.reports, asked.column)
        found = estimate_mean(counts, **asked.of_one_table())
        return mean_found(found, asked, told_of_reports(simulated, SkippedRows()), counts)
    from .....estimators import (
        count,  # of every kind of mechanism, which takes as long to load as a small file to count
    )

    layout = service.kind.layout(asked.column, "")
    options = {"drop_missing": asked.drop_missing, "skip_invalid": asked.skip_invalid}
    read = read_laid_out(layout, service.reports, service.kind.identifier, **options)
    mechanism = service.kind.mechanism
    with accounted(read.skipped):
        if not service.kind.has_table and asked.winsorise is None:
            asked.of_population("a floor form that is too large for a table")
            counts, found = None, average_of(mechanism, read.reports)
        else:
            counts = count(mechanism, read.reports)
            found = estimate_mean(counts, **asked.of_one_table())
    return mean_found(found, asked, told_of_reports(read.simulated, read.skipped), counts)


def _counted_at_once(service: Service, asked: EstimateOptions) -> ReportCounts | None:
    """Return the counts of reports that need not be looked at one by one, as points need not where none is at fault."""
    from .....estimators.counting.collect import collect

    mechanism = service.kind.mechanism
    if asked.skip_invalid or not service.kind.has_table or not mechanism.is_discrete:
        return None
    try:
        return collect([(mechanism, service.reports)], column=asked.column, drop_missing=asked.drop_missing)
    except InputError:
        return None


def _taken(services: Sequence[Service], asked: EstimateOptions) -> tuple[ReportCounts, dict[str, Any], SkippedRows]:
    """Return the counts of services, from their reports or from an engine's answer, and what the files told."""
    if not asked.counts:
        return count_services(services, asked, raw=asked.raw)
    from .....estimators import ReportCounts
    from .....estimators.counting.counts import Service as Counted
    from ..days import answered
    from ..reading import added, require_rounds

    skipped, tables = SkippedRows(), [service.kind.mechanism for service in services]
    named = [Counted(*each) for each in zip(service_names(services), tables, strict=True)]
    names = [service.kind.identifier() for service in services]
    answers, simulated = answered(asked.counts, names, service_names(services))
    skip = skipped if asked.skip_invalid else False
    require_rounds([answer for answer in answers if isinstance(answer, Path)], asked.rounds)
    options: dict[str, Any] = {"skip_invalid": skip, "rounds": asked.rounds}
    counts = added(ReportCounts.from_counts(named, path, **options) for path in answers)
    return counts, told_of_reports(simulated, skipped), skipped


def count_services(
    services: Sequence[Service], asked: ReportOptions, *, raw: bool = False
) -> tuple[ReportCounts, dict[str, Any], SkippedRows]:
    """Return the counts of the reports of services, and what their files told."""
    from .....estimators import count
    from ..reading import holds_simulated

    skipped, tables = SkippedRows(), [service.kind.mechanism for service in services]
    with share_progress("counting reports") as update:
        counts = count(
            list(zip(names_of(services, asked), tables, [service.reports for service in services], strict=True)),
            key=asked.key,
            rounds=asked.rounds,
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
    return replace(told_by_counts(counts, asked, started, told), counts=[counts])


def told_by_counts(
    counts: ReportCounts, asked: EstimateOptions, started: float, told: dict[str, Any], *, drawn_from: int | None = None
) -> Found:
    """Return the mean, the distribution or quantiles that counts tell, with the seconds since the start.

    `told` are facts of the files; of users whom chance has drawn out of so many it is known that they are alike.
    """
    from .....estimators import InputGrid, estimate_combined_mean
    from .....estimators.distributions.scatter import BIASED

    table = counts.mechanisms[0]
    of_mean = asked.of in (None, "mean") and asked.method not in DISTRIBUTION_METHODS
    if of_mean and not counts.rounds:  # a fit asks for itself
        told = told | told_of_join(counts)
    if asked.method == BIAS_AWARE:
        return _bias_aware(counts, asked, started, told, drawn=drawn_from is not None)
    grid = None if asked.cells is None else InputGrid.equal_cells(*table.domain, asked.cells)
    if of_mean:
        method = cast("MeanMethod", asked.method or "population")
        options: dict[str, Any] = {"grid": grid, "raw": asked.raw, "target": asked.target, "drawn_from": drawn_from}
        drawn = drawn_from is not None and not counts.rounds and method in ("population", "decoder")
        alike = asked.alike or drawn
        per_report = asked.told.get("per-report", False)
        found = estimate_combined_mean(counts, method=method, alike=alike, per_report=per_report, **options)
        raw = {name: True for name, given in (("raw", asked.raw), ("per_report", per_report)) if given}
        made = mean_found(found, asked, raw | {"seconds": time.perf_counter() - started} | told, counts)
        made = with_rounds(made, found.rounds, asked)
        return made if drawn_from is not None else with_participation(made, found, asked)
    if asked.of == "queries":
        from ..queries import queries_found

        return queries_found(counts, asked, {"seconds": time.perf_counter() - started} | told)
    estimate = _fitted(counts, grid, asked)
    facts: dict[str, Any] = {"seconds": time.perf_counter() - started} | told
    if asked.of != "quantiles":
        facts["one_report"] = _one_report(counts, estimate)
        if estimate.method == BIASED:
            facts["bias"] = _bias(counts, estimate)
        if (period := period_of(table)) is not None:
            facts["circular_mean"], facts["resultant_length"] = estimate.circular_mean(period)
    found = told_fit(estimate, table.units, facts, asked)
    if len(counts.mechanisms) == 1 and not estimate.rounds and (note := of_another_table(table, found)) is not None:
        say(note)
    return with_rounds(found, estimate.rounds, asked)


def period_of(table: TabulatedMechanism) -> float | None:
    """Return the period of the circle that a table's values are on: as its promise says it, or its record."""
    round_ = table.promise.period if isinstance(table.promise, Metric) else None
    return table.provenance.period if round_ is None else round_


def told_of_join(counts: ReportCounts) -> dict[str, Any]:
    """Return, as a fact, that services have not measured one value of each user, which a mean of them needs not."""
    from .....estimators.rounds.one_value import not_one_value

    fault = not_one_value(counts)
    return {} if fault is None else {"not_one_value": fault}


def with_participation(made: Found, found: MeanEstimate, asked: EstimateOptions) -> Found:
    """Return what was found with how users of different services compare, in words and as facts."""
    if (compared := found.participation) is None:
        return made
    words = say_participation(compared, alike=asked.alike)
    lines = [line for line in (made.last, words) if line is not None]
    more = {"alike": asked.alike, "participation": compared.to_dict()}
    return replace(made, more=made.more | more, last="\n".join(lines) or None)


def _bias_aware(
    counts: ReportCounts, asked: EstimateOptions, started: float, told: dict[str, Any], *, drawn: bool
) -> Found:
    """Return the mean with the least error, its two parts in words, and what each report counts as."""
    from .....estimators import bias_aware_mean, estimate_combined_mean

    if drawn:
        asked.of_population(f"attributes by --method {BIAS_AWARE}")
    options: dict[str, Any] = {"trust": asked.told.get("trust"), "target": asked.target, "alike": asked.alike or drawn}
    with share_progress("choosing what reports count as"):
        found = bias_aware_mean(counts, trusted_weights(asked.prior_file, counts), **options)
    facts = found.to_dict(asked.confidence) | ratio_facts(found, asked, counts)
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
    if facts["assumption_p_value"] is not None:
        last += f"\n{assumed_said(facts)}"
    made = Found("mean of the values", facts, columns=columns, figure=lambda: found.plot(units=units), last=last)
    return with_participation(made, estimate_combined_mean(counts), asked) if asked.alike else made


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


def names_of(services: Sequence[Service], asked: ReportOptions) -> list[str]:
    """Name services by their tables' files, rounds by those of their reports, numbered where names repeat."""
    return _numbered([service.reports.stem for service in services]) if asked.rounds else service_names(services)


def service_names(services: Sequence[Service]) -> list[str]:
    """Name services by their tables' files, numbered where those repeat."""
    return _numbered([service.table.stem for service in services])


def _numbered(names: Sequence[str]) -> list[str]:
    return [f"{name}#{i + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _fitted(counts: ReportCounts, grid: InputGrid | None, asked: EstimateOptions) -> DistributionEstimate:
    from .....estimators import estimate_distribution
    from .....estimators.distributions.smoothed_em import LOGLIK_CHANGE

    method: Any = asked.method or "smooth"
    stops: dict[str | None, dict[str, Any]] = {"loglik": {"solver": "em", "loglik_change": LOGLIK_CHANGE}}
    options = wired("stop", stops | {"certificate": {}, None: {}}, asked.told.get("stop"))
    options["assume"] = assumed_by(asked.assume, asked.prior_file, counts, asked.assume_from)
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


def _bias(counts: ReportCounts, estimate: DistributionEstimate) -> dict[str, Any] | None:
    """Return how far the mean of a biased fit is from an unbiased one of the same reports; None where there is none."""
    from .....estimators import estimate_combined_mean, estimate_mean

    try:
        unbiased = estimate_mean(counts) if len(counts.services) == 1 else estimate_combined_mean(counts)
    except InputError:
        return None
    return {"value": estimate.mean().value - unbiased.value, "std_error": unbiased.std_error}


def _one_report(counts: ReportCounts, estimate: DistributionEstimate) -> float | None:
    """Return the first-order influence of one report on the mean of a fit; None where there is none known."""
    from .....estimators import fitted_influence

    try:
        found = float(fitted_influence(counts, estimate).one_report[0])
    except InputError:
        return None
    return found if np.isfinite(found) else None
