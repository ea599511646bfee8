"""`optldp estimate` for what is not tables of numbers: frequencies, key-value pairs, several attributes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ..output import (
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

    from ....estimators import Estimate
    from ....estimators.frequencies.frequencies import FrequencyEstimate
    from ....mechanisms import (
        AttributeSampling,
        CategoricalMechanism,
        KeyValueMechanism,
        PersonalisedMechanism,
        TabulatedMechanism,
    )
    from ....mechanisms.composed.personalised import PersonalisedReports
    from ....mechanisms.documents.bundle import Bundle

MOST_ROWS = 25
"""Rows of a result that are printed; --out and --json have all."""


@dataclass(frozen=True)
class BundleOptions:
    """What the user asked for, beside the mechanism and its reports."""

    method: str | None
    confidence: float
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
    from ....mechanisms import InputError
    from ....mechanisms.documents.bundle import Bundle
    from .columns import LEVEL_COLUMN
    from .reading import accounted, read_reports

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
        from ...plots.heatmap import save_figure

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
    if len(rows) > MOST_ROWS:  # by frequency, which is the value itself but for keys
        rank = header.index("frequency" if "frequency" in header else "value")
        rows = sorted(rows, key=lambda row: -row[rank])
    print_rows(found.title, header, [[readable(value) for value in row] for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        typer.echo(f"the {MOST_ROWS} largest of {len(rows)}; all of them: --out FILE or --json")
    print_facts("estimate", shown)


def _rows(found: Found, facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The facts for people to read."""
    from .influence import moves_by

    rows = dict(facts_shown(facts))
    if "one_report" in rows:
        rows["one_report"] = moves_by(facts["one_report"], facts["n"], found.moved)
    return list(rows.items())


def _found(mechanism: Bundle, reports: Any, options: BundleOptions) -> Found:
    from ....mechanisms import (
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
    from ....estimators import count, estimate_frequencies, influence

    _only(options)
    method = _chosen(options.method, ("unbiased", "norm-sub", "base-cut", "iiw", "em", "mle", "mr"))
    counts = count(mechanism, reports)
    with share_progress(f"estimating by {method}") as update:
        found = estimate_frequencies(
            counts,
            method=method,
            progress=lambda now: update(f"{method}: {now.step} steps", 0.0),
        )
    one_report = float(influence(mechanism, found).one_report.max()) if method == "unbiased" else None
    return _frequency_table(found, options.confidence, {"one_report": one_report})


def _personalised(mechanism: PersonalisedMechanism, sent: PersonalisedReports, options: BundleOptions) -> Found:
    from ....estimators import auem, count, personalised_mean, personalised_mle

    method = _chosen(options.method, ("mean",) if mechanism.tables else ("mle", "unbiased"))
    counts = count(mechanism, sent)
    if mechanism.tables:
        facts = personalised_mean(counts).to_dict(options.confidence)
        return Found("mean of the values", facts, {}, moved="the mean")
    estimate = (personalised_mle if method == "mle" else auem)(counts)
    shares = {"levels": list(mechanism.epsilons), "level_shares": estimate.level_shares.value.tolist()}
    return _frequency_table(estimate, options.confidence, shares)


def _pairs(mechanism: KeyValueMechanism, reports: np.ndarray, options: BundleOptions) -> Found:
    from ....estimators import count, estimate_key_means, fit_key_values, influence

    method = _chosen(options.method, ("unbiased", "em", "mr", "mle"))
    _only(options)
    counts, title = count(mechanism, reports), "keys and the means of their values"
    if method == "unbiased":
        found = estimate_key_means(counts)
        shares = influence(mechanism, "frequencies").times_n / found.n
        facts, columns = _split(found, options.confidence)
        columns["mean_one_report"] = influence(mechanism, found).one_report.tolist()
        return Found(title, facts | {"one_report": float(shares.max())}, columns)
    fit = fit_key_values(counts, method="joint" if method == "mle" else method)
    facts, columns = _split(fit, options.confidence)
    facts["certificate"] = max(part.certificate for part in fit.fits)
    return Found(title, facts, {name: column for name, column in columns.items() if not _unknown(column)})


def _split(found: Estimate, confidence: float) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    """What an estimate says once, and its columns."""
    said = found.to_dict(confidence)
    columns = {name: fact for name, fact in said.items() if isinstance(fact, list)}
    return {name: fact for name, fact in said.items() if name not in columns}, columns


def _unknown(column: list[Any]) -> bool:
    """Whether it is standard errors that there are none of, or ends of intervals without them."""
    return all(isinstance(value, float) and math.isnan(value) for value in column)


def _attributes(mechanism: AttributeSampling, reports: dict[str, np.ndarray], options: BundleOptions) -> Found:
    from ....estimators import estimate_attribute_means

    method = _chosen(options.method, ("unbiased",))
    _only(options)
    facts, columns = _split(estimate_attribute_means(mechanism, reports), options.confidence)
    return Found("means of the attributes", facts | {"method": method}, columns)


def _write(out: Path, columns: dict[str, list[Any]]) -> None:
    """Write a result; in a CSV, which people open in spreadsheets, no text is a formula."""
    from ....estimators.data.numbers import write_columns
    from ....estimators.data.spreadsheet_text import spreadsheet_columns

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


def _frequency_table(found: FrequencyEstimate, confidence: float, more: dict[str, Any]) -> Found:
    fit = found.fit
    facts, columns = _split(found, confidence)
    facts |= more
    if fit is not None:
        facts |= {"iterations": fit.iterations, "certificate": fit.certificate, "stop": str(fit.stop)}
        facts |= {"components": found.components}

    def figure() -> Figure:
        from ...plots.frequencies import frequency_figure

        return frequency_figure(found, confidence=confidence)

    return Found("frequencies of the categories", facts, columns, figure)


def _chosen(method: str | None, known: tuple[str, ...]) -> Any:
    """Return the method, the first of the known ones by default, or raise InputError."""
    from ....mechanisms import InputError

    if method is not None and method not in known:
        raise InputError(f"--method must be one of {', '.join(known)} for these reports, got {method!r}")
    return method or known[0]
