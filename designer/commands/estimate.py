"""`optldp estimate`: from the reports of one or several services to a mean, a distribution or quantiles."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from .kinds.estimates import BundleOptions, estimate_bundle
from .options import CONFIDENCE, AllowUnproved, Confidence, DropMissing, Json, SkipInvalid
from .output import (
    facts_shown,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_rows,
    refuse_given,
    require_place,
    say_of_reports,
    share_progress,
    told_of_reports,
)
from .perturb import REPORT_COLUMN

if TYPE_CHECKING:
    from ...estimators import DistributionEstimate, InputGrid, MeanEstimate, ReportCounts

MEAN_METHODS = ("ua", "uwa", "population", "decoder")
BUNDLE_METHODS = ("unbiased", "norm-sub", "base-cut", "iiw", "mle")
DISTRIBUTION_METHODS = ("ule", "em", "ems", "mr", "penalised")

Of = Literal["mean", "distribution", "quantiles"]
Method = Literal[
    "ua", "uwa", "population", "decoder", "ule", "em", "ems", "mr", "penalised",
    "unbiased", "norm-sub", "base-cut", "iiw", "mle",
]  # fmt: skip
StopRule = Literal["certificate", "loglik"]

DATA_SUFFIXES = (".csv", ".parquet")
PLOT_SUFFIXES = (".png", ".svg", ".pdf")

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@one_line_errors
def estimate_command(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="TABLE REPORTS", help="A service's table and its reports; then the next service's."),
    ],
    column: Annotated[str, typer.Option("--column", help="Column of the reports.")] = REPORT_COLUMN,
    key: Annotated[
        str | None,
        typer.Option("--key", help="Column that names the user, in every file; needed for several services."),
    ] = None,
    method: Annotated[
        Method | None,
        typer.Option(
            "--method",
            help="Default: population for a mean of several services, penalised for distributions; unbiased for "
            "categories and pairs, mle for levels of categories.",
        ),
    ] = None,
    of: Annotated[Of | None, typer.Option("--of", help="What to estimate. Default: mean.")] = None,
    confidence: Confidence = CONFIDENCE,
    level_column: Annotated[
        str | None, typer.Option("--level-column", help="Column of the reported levels. Default: level.")
    ] = None,
    cells: Annotated[
        int | None, typer.Option("--cells", min=1, help="Equal cells to estimate on. Default: the tables' knots.")
    ] = None,
    quantile: Annotated[
        list[float] | None, typer.Option("--quantile", help="With --of quantiles; may be repeated.")
    ] = None,
    between: Annotated[
        tuple[float, float] | None,
        typer.Option("--between", metavar="LO HI", help="Add the probability of this range of values."),
    ] = None,
    stop: Annotated[
        StopRule | None,
        typer.Option("--stop", help="em, ule: at a certificate of 1e-8 (default), or at a step of 0.001 as in papers."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write the distribution, .csv or .parquet.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw the distribution, .png, .svg or .pdf.")] = None,
    winsorise: Annotated[
        float | None,
        typer.Option(
            "--winsorise",
            help="Mean of one table: move reports beyond limits that at most this share of honest ones exceeds; "
            "the bias is stated and in the interval.",
        ),
    ] = None,
    keep_first: Annotated[bool, typer.Option("--keep-first", help="Keep a user's first report to a service.")] = False,
    allow_disjoint: Annotated[
        bool, typer.Option("--allow-disjoint", help="Accept services without common users.")
    ] = False,
    drop_missing: DropMissing = False,
    skip_invalid: SkipInvalid = False,
    allow_unproved: AllowUnproved = False,
    as_json: Json = False,
) -> None:
    """Estimate means, distributions, quantiles or frequencies of the values from perturbed reports.

    \b
    Example: optldp estimate mech.json reports.csv
    Example: optldp estimate mech.json reports.csv --of distribution --out d.csv
    Example: optldp estimate mech.json reports.csv --method mr --plot dist.png
    Example: optldp estimate a.json a.csv b.json b.parquet --key user
    Example: optldp estimate jobs.json reports.csv --method mr --out frequencies.csv --plot jobs.png
    """
    from ...estimators import InputGrid, SkippedRows, count, estimate_mean
    from ...estimators.intervals import check_confidence
    from ...mechanisms import InputError, TabulatedMechanism, load_mechanism
    from ...mechanisms.documents.bundle import Bundle
    from .kinds.reading import accounted, holds_simulated, read_reports

    started = time.perf_counter()
    if len(files) % 2:
        raise InputError(
            f"tables and reports must come in pairs, got {len(files)} files: TABLE REPORTS [TABLE REPORTS ...]"
        )
    check_confidence(confidence)
    _require_outputs(files, (out, DATA_SUFFIXES), (plot, PLOT_SUFFIXES))
    mechanisms = [load_mechanism(path, allow_unproved=allow_unproved) for path in files[::2]]
    if any(isinstance(mechanism, Bundle) for mechanism in mechanisms):
        numeric = {"--of": of, "--key": key, "--cells": cells, "--quantile": quantile or None, "--between": between,
                   "--stop": stop, "--winsorise": winsorise, "--keep-first": keep_first or None,
                   "--allow-disjoint": allow_disjoint or None}  # fmt: skip
        refuse_given("for tables of numbers", numeric)
        options = BundleOptions(method, confidence, column, level_column, drop_missing, skip_invalid)
        estimate_bundle(mechanisms, files[1], options, out=out, plot=plot, as_json=as_json)
        return
    refuse_given("for levels of budgets", {"--level-column": level_column})
    if method in BUNDLE_METHODS:
        raise InputError(f"--method {method} is for frequencies, got tables of numbers: leave it out")
    tables = [mechanism for mechanism in mechanisms if isinstance(mechanism, TabulatedMechanism)]
    of = of or "mean"
    alone = len(files) == 2 and key is None and of == "mean" and method is None
    # A grid without a distribution serves the priors of several services.
    unused = cells if alone or method == "ua" else None
    needs = (("--out", out), ("--plot", plot), ("--between", between), ("--cells", unused))
    _require_method(method, of, stop, quantile, [name for name, value in needs if value is not None])
    _require_range(between)
    if alone:
        read = read_reports(tables[0], files[1], column=column, drop_missing=drop_missing, skip_invalid=skip_invalid)
        told = told_of_reports(read.simulated, read.skipped)
        with accounted(read.skipped):
            found = estimate_mean(tables[0], read.reports, winsorise=winsorise)
        _print_mean(found, confidence, told, as_json)
        return
    refuse_given("for the plain mean of one table", {"--winsorise": winsorise})
    names, skipped = _service_names(files[::2]), SkippedRows()
    with share_progress("counting reports") as update:
        counts = count(
            list(zip(names, tables, files[1::2], strict=True)),
            key=key,
            column=column,
            keep_first=keep_first,
            allow_disjoint=allow_disjoint,
            drop_missing=drop_missing,
            skip_invalid=skipped if skip_invalid else False,
            progress=update,
        )
    told = told_of_reports(any(holds_simulated(path, column) for path in files[1::2]), skipped)
    grid = None if cells is None else InputGrid.equal_cells(*tables[0].domain, cells)
    if of == "mean" and method not in DISTRIBUTION_METHODS:
        from ...estimators import estimate_combined_mean

        found = estimate_combined_mean(counts, method=method or "population", grid=grid)
        _print_mean(found, confidence, {"seconds": time.perf_counter() - started} | told, as_json)
        return
    estimate = _distribution(counts, method or "penalised", grid, stop)
    _write(estimate, confidence, tables[0].units, out, plot)
    facts = _evidence(estimate) | {"seconds": time.perf_counter() - started} | told
    if of != "quantiles":
        from .kinds.influence import fitted_one_report

        facts["one_report"] = fitted_one_report(counts, estimate)
    if between is not None:
        share = estimate.probability(*between).to_dict(confidence)
        facts["between"] = {"low_end": between[0], "high_end": between[1], **share}
    if of == "mean":
        _print_mean(estimate.mean(), confidence, facts, as_json)
    elif of == "quantiles":
        _print_quantiles(estimate, confidence, quantile or list(QUANTILES), facts, as_json)
    else:
        _print_distribution(estimate, confidence, facts, as_json)


def _require_method(
    method: str | None, of: str, stop: str | None, quantile: list[float] | None, needs_distribution: list[str]
) -> None:
    """Refuse combinations of options that contradict each other."""
    from ...mechanisms import InputError

    if of != "mean" and method in MEAN_METHODS:
        raise InputError(
            f"--method {method} estimates a mean, not {of}: use one of {', '.join(DISTRIBUTION_METHODS)}, or --of mean"
        )
    if stop is not None and method not in ("em", "ule"):
        raise InputError(f"--stop is for --method em and ule, got {method or 'none'}: leave it out")
    if quantile and of != "quantiles":
        raise InputError(f"--quantile is for --of quantiles, got --of {of}: leave it out")
    for share in quantile or ():
        if not 0.0 < share < 1.0:
            raise InputError(f"a quantile's share must lie strictly between 0 and 1, got {share!r}")
    if needs_distribution and of == "mean" and method not in DISTRIBUTION_METHODS:
        raise InputError(
            f"{needs_distribution[0]} needs a distribution, got --of mean: add --of distribution, or choose one of "
            f"{', '.join(DISTRIBUTION_METHODS)} as its --method"
        )


def _require_range(between: tuple[float, float] | None) -> None:
    """Refuse a range whose ends are not in order, before the long work begins."""
    from ...mechanisms import InputError

    if between is not None and not between[0] <= between[1]:
        raise InputError(f"--between must have its ends in order, got {between[0]!r} {between[1]!r}: swap them")


def _require_outputs(inputs: list[Path], *outputs: tuple[Path | None, tuple[str, ...]]) -> None:
    """Refuse outputs that cannot be written or are inputs, so that no other output is written either."""
    from ...mechanisms import InputError

    for place, suffixes in outputs:
        require_place(place, suffixes)
        if place is None:
            continue
        if place.is_dir():
            raise InputError(f"the output must be a file, got the folder {str(place)!r}: name a file in it")
        if place.exists() and any(path.exists() and place.samefile(path) for path in inputs):
            raise InputError(f"outputs must not replace inputs, got {str(place)!r} for both: choose another name")


def _service_names(tables: list[Path]) -> list[str]:
    """Name services by their tables' files, numbered where those repeat."""
    names = [path.stem for path in tables]
    return [f"{name}#{i + 1}" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _distribution(
    counts: ReportCounts, method: Any, grid: InputGrid | None, stop: StopRule | None
) -> DistributionEstimate:
    from ...estimators import estimate_distribution
    from ...estimators.distributions.smoothed_em import LOGLIK_CHANGE

    options: dict[str, Any] = {"solver": "em", "loglik_change": LOGLIK_CHANGE} if stop == "loglik" else {}
    with share_progress(f"estimating by {method}") as update:
        return estimate_distribution(
            counts,
            method=method,
            grid=grid,
            progress=lambda now: update(f"{method}: {now.step} steps", 0.0),
            split_progress=lambda done, of: update("choosing the smoothness", done / of),
            **options,
        )


def _evidence(estimate: DistributionEstimate) -> dict[str, Any]:
    fit = estimate.fit
    return {
        "iterations": fit.iterations,
        "certificate": fit.certificate,
        "loglik": fit.loglik,
        "stop": str(fit.stop),
        "solver": fit.method if estimate.method == "em" else None,
        "smoothness": estimate.smoothness,
        "components": estimate.components,
    }


def _print_mean(found: MeanEstimate, confidence: float, evidence: dict[str, Any], as_json: bool) -> None:
    facts = found.to_dict(confidence) | evidence
    say_of_reports(facts)
    if as_json:
        print_json(facts)
    else:
        print_facts("mean of the values", _readable(facts))


def _print_distribution(
    estimate: DistributionEstimate, confidence: float, evidence: dict[str, Any], as_json: bool
) -> None:
    mean = estimate.mean().to_dict(confidence) | {"one_report": evidence.pop("one_report", None)}
    say_of_reports(evidence)
    if as_json:
        print_json(estimate.to_dict(confidence) | {"mean": mean} | evidence)
    else:
        print_facts("distribution of the values, and their mean", _readable(mean | evidence))
        typer.echo("the weights themselves: --out FILE, --plot FILE or --json")


def _print_quantiles(
    estimate: DistributionEstimate, confidence: float, shares: list[float], evidence: dict[str, Any], as_json: bool
) -> None:
    found = [{"quantile": share, **estimate.quantile(share).to_dict(confidence)} for share in shares]
    facts = {"method": estimate.method, "n": estimate.n, "confidence": confidence, "target": estimate.target} | evidence
    say_of_reports(facts)
    if as_json:
        print_json(facts | {"quantiles": found})
        return
    names = ("value", "low", "high")
    rows = [[f"{one['quantile']:g}", *(number(one[name]) for name in names)] for one in found]
    print_rows("quantiles of the values", ["quantile", *names], rows)
    print_facts("fit", _readable(facts))


def _readable(facts: dict[str, Any]) -> list[tuple[str, str]]:
    from .kinds.influence import moves_by

    rows = []
    for name, value in facts.items():
        if value is None:
            continue
        if name == "one_report":
            rows.append((name, moves_by(value, facts["n"])))
        elif name == "between":
            ends = f"between {number(value['low_end'])} and {number(value['high_end'])}"
            found = f"{number(value['value'])}, from {number(value['low'])} to {number(value['high'])}"
            rows.append((ends, found))
        else:
            rows += facts_shown({name: value})
    return rows


def _write(estimate: DistributionEstimate, confidence: float, units: str, out: Path | None, plot: Path | None) -> None:
    """Write what was asked for; the picture is drawn before anything is written."""
    figure = None
    if plot is not None:
        from ..plots.distribution import distribution_figure

        figure = distribution_figure(estimate, units=units, confidence=confidence)
    if out is not None:
        from ...estimators.data.numbers import write_columns

        columns = estimate.to_dict(confidence)
        write_columns(out, {name: column for name, column in columns.items() if isinstance(column, list)})
    if plot is not None and figure is not None:
        from ..plots.heatmap import save_figure

        save_figure(figure, plot)
