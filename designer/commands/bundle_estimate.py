"""`optldp estimate` for what is not tables of numbers: frequencies, key-value pairs, several attributes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from .output import (
    facts_shown,
    print_facts,
    print_json,
    print_rows,
    readable,
    refuse_given,
    say,
    say_of_reports,
    share_progress,
    told_of_reports,
)

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

    from ...estimators.frequencies.frequencies import FrequencyEstimate
    from ...mechanisms import (
        AttributeSampling,
        CategoricalMechanism,
        KeyValueMechanism,
        PersonalisedMechanism,
        TabulatedMechanism,
    )
    from ...mechanisms.composed.personalised import PersonalisedReports
    from ...mechanisms.documents.bundle import Bundle

MOST_ROWS = 25
"""Rows of a result that are printed; --out and --json have all."""


@dataclass(frozen=True)
class BundleOptions:
    """What the user asked for, beside the mechanism and its reports."""

    method: str | None
    level: float
    column: str
    level_column: str | None
    drop_missing: bool
    skip_invalid: bool


@dataclass(frozen=True)
class Found:
    """A result as facts and as columns of equal length, and how to draw it."""

    title: str
    facts: dict[str, Any]
    columns: dict[str, list[Any]]
    figure: Callable[[], Figure] | None = None
    moved: str = "a frequency"  # what one report moves


def estimate_bundle(
    mechanisms: Sequence[TabulatedMechanism | Bundle],
    reports: Path,
    options: BundleOptions,
    *,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Estimate from one file of reports, write what was asked for, and print."""
    from ...mechanisms import InputError
    from ...mechanisms.documents.bundle import Bundle
    from .report_columns import LEVEL_COLUMN
    from .report_reading import accounted, read_reports

    mechanism = mechanisms[0]
    if len(mechanisms) > 1 or not isinstance(mechanism, Bundle):
        raise InputError("several services must be tables of numbers, got another kind: estimate from it by itself")
    read = read_reports(
        mechanism,
        reports,
        column=options.column,
        level_column=options.level_column or LEVEL_COLUMN,
        drop_missing=options.drop_missing,
        skip_invalid=options.skip_invalid,
    )
    with accounted(read.skipped):
        found = _found(mechanism, read.reports, options)
    facts = found.facts | told_of_reports(read.simulated, read.skipped)
    figure = None
    if plot is not None:
        if found.figure is None:
            raise InputError(f"--plot is for frequencies, got reports of {mechanism.kind}: leave it out")
        figure = found.figure()
    if out is not None:
        if not found.columns:
            raise InputError("--out is for results of several rows, got a mean: leave it out")

        _write(out, found.columns)
    if plot is not None and figure is not None:
        from ..plots.heatmap import save_figure

        save_figure(figure, plot)
    say_of_reports(facts)
    if as_json:
        print_json(facts | found.columns)
        return
    shown = _rows(found, facts)
    if not found.columns:
        print_facts(found.title, shown)
        return
    header, rows = list(found.columns), list(zip(*found.columns.values(), strict=True))
    if len(rows) > MOST_ROWS:  # the second column is what a person would rank by
        rows = sorted(rows, key=lambda row: -row[1])
    print_rows(found.title, header, [[readable(value) for value in row] for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        typer.echo(f"the {MOST_ROWS} largest of {len(rows)}; all of them: --out FILE or --json")
    print_facts("estimate", shown)


def _rows(found: Found, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts for people to read."""
    from .influence_facts import moves_by

    rows = dict(facts_shown(facts))
    if "one_report" in rows:
        rows["one_report"] = moves_by(facts["one_report"], facts["n"], found.moved)
    return list(rows.items())


def _found(mechanism: Bundle, reports: Any, options: BundleOptions) -> Found:
    from ...mechanisms import (
        AttributeSampling,
        CategoricalMechanism,
        InputError,
        KeyValueMechanism,
        PersonalisedMechanism,
    )

    if isinstance(mechanism, CategoricalMechanism):
        return _frequencies(mechanism, reports, options)
    if isinstance(mechanism, PersonalisedMechanism):
        return _personalised(mechanism, reports, options)
    if isinstance(mechanism, KeyValueMechanism):
        return _pairs(mechanism, reports, options)
    if isinstance(mechanism, AttributeSampling):
        return _attributes(mechanism, reports, options)
    raise InputError(f"reports of {mechanism.kind} cannot be estimated from on the command line: use Python")


def _frequencies(mechanism: CategoricalMechanism, reports: np.ndarray, options: BundleOptions) -> Found:
    from ...estimators import CategoryCounts, estimate_frequencies, influence

    _only(options)
    method = _chosen(options.method, ("unbiased", "norm-sub", "base-cut", "iiw", "em", "mle", "mr"))
    counts = CategoryCounts.from_reports(mechanism, reports)
    with share_progress(f"estimating by {method}") as update:
        found = estimate_frequencies(
            counts,
            method=method,
            level=options.level,
            progress=lambda now: update(f"{method}: {now.step} steps", 0.0),
        )
    one_report = float(influence(mechanism, found).one_report.max()) if method == "unbiased" else None
    return _frequency_table(found, {"one_report": one_report})


def _personalised(mechanism: PersonalisedMechanism, sent: PersonalisedReports, options: BundleOptions) -> Found:
    from ...estimators import PersonalisedCounts, auem, personalised_mean, personalised_mle

    method = _chosen(options.method, ("mean",) if mechanism.tables else ("mle", "unbiased"))
    counts = PersonalisedCounts.from_reports(mechanism, sent)
    if mechanism.tables:
        found = personalised_mean(counts, level=options.level)
        names = ("method", "n", "mean", "std_error", "one_report", "ci_low", "ci_high", "level")
        return Found("mean of the values", {name: getattr(found, name) for name in names}, {}, moved="the mean")
    estimate = (personalised_mle if method == "mle" else auem)(counts, level=options.level)
    shares = {"levels": list(mechanism.epsilons), "level_shares": estimate.shares.shares.tolist()}
    return _frequency_table(estimate.frequency, shares)


def _pairs(mechanism: KeyValueMechanism, reports: np.ndarray, options: BundleOptions) -> Found:
    from ...estimators import KeyValueCounts, estimate_key_means, fit_key_values, influence

    method = _chosen(options.method, ("unbiased", "em", "mr", "mle"))
    _only(options)
    if method == "unbiased":
        found = estimate_key_means(KeyValueCounts.from_reports(mechanism, reports), level=options.level)
        shares = influence(mechanism, "frequencies").times_n / found.n
        facts = {"method": method, "n": found.n, "level": found.level, "one_report": float(shares.max())}
        names = ("frequencies", "frequency_errors", "frequency_low", "frequency_high",
                 "means", "mean_errors", "mean_low", "mean_high")  # fmt: skip
        columns = {name: getattr(found, name).tolist() for name in names}
        columns["mean_one_report"] = influence(mechanism, found).one_report.tolist()
        return Found("keys and the means of their values", facts, {"key": list(found.keys), **columns})
    fit = fit_key_values(mechanism, reports, method="joint" if method == "mle" else method)
    facts = {"method": method, "n": fit.n, "certificate": max(part.certificate for part in fit.fits)}
    columns = {"key": list(fit.keys), "frequencies": fit.frequencies.tolist(), "means": fit.means.tolist()}
    return Found("keys and the means of their values", facts, columns)


def _attributes(mechanism: AttributeSampling, reports: dict[str, np.ndarray], options: BundleOptions) -> Found:
    from ...estimators import estimate_attribute_means

    method = _chosen(options.method, ("unbiased",))
    _only(options)
    found = estimate_attribute_means(mechanism, reports, level=options.level)
    columns: dict[str, list[Any]] = {"attribute": list(found)}
    for name in ("n", "mean", "std_error", "ci_low", "ci_high", "one_report"):
        columns[name] = [getattr(mean, name) for mean in found.values()]
    return Found("means of the attributes", {"method": method, "level": options.level}, columns)


def _write(out: Path, columns: dict[str, list[Any]]) -> None:
    """Write a result; in a CSV, which people open in spreadsheets, no text is a formula."""
    from ...estimators.data.numbers import write_columns
    from ...estimators.data.spreadsheet_text import spreadsheet_columns

    if out.suffix.lower() != ".csv":
        write_columns(out, columns)
        return
    safe, changed = spreadsheet_columns(columns)
    write_columns(out, safe)
    if changed:
        say(
            f"note: {changed} cells of {str(out)!r} that a spreadsheet would run have an apostrophe before them: "
            "a .parquet file or --json has them as they are"
        )


def _only(options: BundleOptions) -> None:
    refuse_given("for levels of budgets", {"--level-column": options.level_column})


def _frequency_table(found: FrequencyEstimate, more: dict[str, Any]) -> Found:
    fit = found.fit
    facts = {"method": found.method, "n": found.n_users, "level": found.level, "target": found.target, **more}
    if fit is not None:
        facts |= {"iterations": fit.iterations, "certificate": fit.certificate, "stop": str(fit.stop)}
        facts |= {"components": found.components}
    columns = {
        "category": list(found.categories.labels),
        "frequency": found.frequencies.tolist(),
        "std_error": found.std_errors.tolist(),
        "low": found.low.tolist(),
        "high": found.high.tolist(),
    }

    def figure() -> Figure:
        from ..plots.frequencies import frequency_figure

        return frequency_figure(found)

    return Found("frequencies of the categories", facts, columns, figure)


def _chosen(method: str | None, known: tuple[str, ...]) -> Any:
    """Return the method, the first of the known ones by default, or raise InputError."""
    from ...mechanisms import InputError

    if method is not None and method not in known:
        raise InputError(f"--method must be one of {', '.join(known)} for these reports, got {method!r}")
    return method or known[0]
