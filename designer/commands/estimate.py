"""`optldp estimate`: from the reports of one or several services to what their mechanisms' kind can tell."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...mechanisms.errors import InputError
from .handlers.options import EstimateOptions
from .options.shared import PLOTS, takes_options
from .output.fit import FIT, told_of_fit
from .output.output import (
    facts_shown,
    number,
    one_line_errors,
    print_facts,
    print_json,
    print_rows,
    require_place,
    say,
    say_of_reports,
    say_wrote,
    write_figure,
)
from .output.shortest import none_below

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .handlers.kind import Found, Kind, Service

TABLE_SUFFIXES = (".json", ".npz")
"""Of mechanisms among files of reports."""

DATA_SUFFIXES = (".csv", ".parquet")
AT = ("value", "low", "high")
"""Facts that lie on the axis of the values."""

EVIDENCE = (
    "iterations",
    "certificate",
    "certificate_of",
    "loglik",
    "solver",
    "components",
    "decrement",
    "orders",
    "masses_at",
    "masses_sure",
)
"""Facts of the JSON object that say how well a fit is solved: a person is told only if it is not."""

LIMIT = "iteration-limit"


@one_line_errors
@takes_options
def estimate_command(asked: EstimateOptions) -> None:
    """Estimate means, distributions, quantiles or frequencies of the values from perturbed reports.

    \b
    Example: optldp estimate mech.json reports.csv
    Example: optldp estimate mech.json reports.csv --of distribution --out d.csv
    Example: optldp estimate mech.json reports.csv --of quantiles --above 0
    Example: optldp estimate mech.json reports.csv --above 20
    Example: optldp estimate mech.json reports.csv --method mr --plot dist.png
    Example: optldp estimate mech.json reports.csv --method bias-aware:trust=2 --prior last_year.csv
    Example: optldp estimate mech.json reports.csv --of reports:absolute --prior prior.csv --out read.csv
    Example: optldp estimate mech.json reports.csv --of quantiles --assume shape=1.1,exempt=0.01 --prior last_year.csv
    Example: optldp estimate mech.json --counts counts.csv
    Example: optldp estimate mech.json this_year.csv --versus mech.json last_year.csv --key user
    Example: optldp estimate mech.json this_year.csv --versus mech.json last_year.csv --above 20
    Example: optldp estimate mech.json reports.csv --by region --simultaneous --out regions.csv
    Example: optldp estimate mech.json reports.csv --by region --above 20
    Example: optldp estimate jobs.json reports.csv --weights weight --top 10
    Example: optldp estimate a.json a.csv b.json b.parquet --key user
    Example: optldp estimate mech.json may.csv mech.json june.csv --key user --rounds
    Example: optldp estimate both.json r1.csv both2.json r2.csv --key user --attribute income --of quantiles
    Example: optldp estimate way.json r07.csv r08.csv --of each --smooth 0.005
    Example: optldp estimate jobs.json reports.csv --method mr:preselect=2
    Example: optldp estimate jobs.json reports.csv --method em:stop=loglik
    Example: optldp estimate jobs.json reports.csv --method mr --out frequencies.csv --plot jobs.png
    """
    from ...estimators.intervals import check_confidence
    from ...mechanisms import load_mechanism
    from ...mechanisms.third_party.mark import MARK, is_adopted
    from .handlers.kind import Service
    from .handlers.registry import kind_of

    check_confidence(asked.confidence)
    inputs = [
        *asked.files,
        *(asked.counts or ()),
        *([] if asked.prior_file is None else [asked.prior_file]),
        *(asked.assume_from or ()),
        *(asked.versus or ()),
    ]
    _require_outputs(inputs, (asked.out, DATA_SUFFIXES), (asked.plot, PLOTS), force=asked.force)
    first = load_mechanism(asked.files[0], allow_unproved=asked.allow_unproved)
    if kind_of(first).over_time:
        _over_time(asked)
        return
    asked.refuse("for a way over time", "--smooth")
    tables, reports = _tables_and_reports(asked)
    _ = asked.told  # before reports are read
    loaded = [first, *(load_mechanism(path, allow_unproved=asked.allow_unproved) for path in tables[1:])]
    others = [load_mechanism(path, allow_unproved=asked.allow_unproved) for path in (asked.versus or ())[:1]]
    kinds = [kind_of(mechanism).for_estimates() for mechanism in loaded]
    services = [Service(*each) for each in zip(kinds, tables, reports, strict=True)]
    # One that is estimated from by itself says so; those that are estimated from together are of one kind.
    leading = next((kind for kind in kinds if kind.by_itself), kinds[0])
    found = _estimated(leading, services, asked)
    if asked.of != "reports":  # of which one by itself fits any law
        found = _with_facts(found, told_of_fit(found.counts))
    if any(map(is_adopted, [*loaded, *others])):
        found = _with_facts(found, {"origin": MARK})
    found = _as_counted(found, kinds, asked.attribute)
    if not asked.counts:
        from .handlers.reading import told_of_users

        found = replace(found, facts=found.facts | told_of_users(reports, asked.key))
    _write(found, asked.out, asked.plot)
    say_of_reports(found.facts)
    if asked.as_json:
        print_json(found.facts | found.more)
    else:
        _print(found, leading.units(asked.attribute))


def _over_time(asked: EstimateOptions) -> None:
    """Estimate from ways, each with the files of its periods after it, and say what was found."""
    from ...mechanisms import load_mechanism
    from .handlers.registry import kind_of
    from .over_time.estimate import estimate_over_time

    starts = [place for place, path in enumerate(asked.files) if path.suffix in TABLE_SUFFIXES]
    ends = [*starts[1:], len(asked.files)]
    kinds = [kind_of(load_mechanism(asked.files[start], allow_unproved=asked.allow_unproved)) for start in starts]
    if other := [asked.files[start] for start, kind in zip(starts, kinds, strict=True) if not kind.over_time]:
        raise InputError(f"a way over time is estimated together with others of its kind, got {str(other[0])!r}")
    files = [asked.files[start + 1 : end] for start, end in zip(starts, ends, strict=True)]
    kind, found = kinds[0], estimate_over_time(kinds, files, asked)
    _write(found, asked.out, None)
    say_of_reports(found.facts)
    if asked.as_json:
        print_json(found.facts | found.more)
    else:
        _print(found, kind.units(None))


def _as_counted(found: Found, kinds: list[Kind], attribute: str | None) -> Found:
    """Return what was found with the ranges that values are counted into, where tables were designed so."""
    from .handlers.numbers.clipped import clipped_line, clipped_words, counted_into

    ranges = [one for one in counted_into(kinds) if attribute in (None, one["table"])]
    if not ranges:
        return found
    lines = [line for line in (found.last, *map(clipped_line, ranges)) if line is not None]
    words = list(dict.fromkeys(map(clipped_words, ranges)))
    title = f"{found.title}, {words[0]}" if len(words) == 1 else found.title
    return replace(found, title=title, more=found.more | {"counted_into": ranges}, last="\n".join(lines))


def _with_facts(found: Found, facts: Mapping[str, Any]) -> Found:
    """Return what was found with further facts, for programs and for people."""
    return replace(found, facts={**found.facts, **facts}, said=None if found.said is None else {**found.said, **facts})


def _estimated(leading: Kind, services: list[Service], asked: EstimateOptions) -> Found:
    """Return the difference, the groups or the weighted estimate that was asked for, or what the kind tells alone."""
    if not leading.assumes or asked.of == "reports" or asked.versus is not None or asked.by or asked.weights:
        asked.refuse("for the distribution of all values behind tables of numbers", "--assume", "--assume-from")
    if asked.of == "reports":
        from .streaming.single_reports import read_singly

        return read_singly(services, asked)
    if asked.versus is not None:
        from .differences.versus import versus

        return versus(services[0], asked)
    if asked.by is not None or asked.weights is not None:
        from .differences.grouped import by_group, of_weights

        return (of_weights if asked.by is None else by_group)(services[0], asked)
    return leading.estimate(services, asked)


def _tables_and_reports(asked: EstimateOptions) -> tuple[list[Path], list[Path]]:
    """Return the tables, and the file of the reports of each; with counts, which are of all of them, that file."""

    files = asked.files
    if asked.counts:
        asked.refuse(
            "for reports, and --counts has them counted", "--key", "--keep-first", "--allow-disjoint", "--drop-missing",
            "--column", "--raw",
        )  # fmt: skip
        return files, asked.counts[:1] * len(files)
    if len(files) % 2:
        raise InputError(
            f"tables and reports must come in pairs, got {len(files)} files: TABLE REPORTS [TABLE REPORTS ...], or "
            "tables alone and --counts"
        )
    return files[::2], files[1::2]


def _require_outputs(inputs: list[Path], *outputs: tuple[Path | None, tuple[str, ...]], force: bool) -> None:
    """Refuse outputs that cannot be written or are inputs, so that no other output is written either."""

    for place, suffixes in outputs:
        if place is not None and place.exists() and any(path.exists() and place.samefile(path) for path in inputs):
            raise InputError(f"outputs must not replace inputs, got {str(place)!r} for both: choose another name")
        require_place(place, suffixes, force=force)


def _write(found: Found, out: Path | None, plot: Path | None) -> None:
    """Write what was asked for; the picture is drawn before anything is written."""
    figure = found.figure() if plot is not None and found.figure is not None else None
    if out is not None and found.columns is not None:
        _write_columns(out, found.columns)
        say_wrote(out, f"{len(next(iter(found.columns.values()))):,} rows")
    if plot is not None and figure is not None:
        write_figure(figure, plot)


def _whole(column: Any) -> Any:
    """Return a list of whole numbers, such as of users, as an array of these, so that none is written as 972.0."""
    import numpy as np

    whole = isinstance(column, list) and all(type(cell) is int for cell in column)
    return np.array(column, dtype=np.int64) if whole else column


def _write_columns(out: Path, columns: dict[str, Any]) -> None:
    """Write a result; in a CSV, which people open in spreadsheets, no text is a formula."""
    from ...estimators.reading.columns.number_cells import write_columns
    from ...estimators.reading.columns.spreadsheet_text import spreadsheet_columns

    columns = {name: _whole(column) for name, column in columns.items()}
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


def _print(found: Found, units: str) -> None:
    if found.rows is not None:
        print_rows(found.rows.title, found.rows.header, found.rows.cells)
        if found.rows.last is not None:
            typer.echo(found.rows.last)
    print_facts(found.title, _readable(found, units))
    if found.last is not None:
        typer.echo(found.last)


def _with_ends(share: Mapping[str, Any]) -> str:
    words = f"{number(share['value'])}, from {number(share['low'])} to {number(share['high'])}"
    return ", ".join(filter(None, [words, none_below(share, units="")]))


def _readable(found: Found, units: str) -> list[tuple[str, str]]:
    """Return the facts that a person is shown, in words where they have any."""
    from ...estimators.reading.formats.axis import TEMPORAL, length_on, said_on

    rows = []
    facts: Mapping[str, Any] = found.facts if found.said is None else found.said
    evidence = (*EVIDENCE, FIT)
    hidden = evidence if facts.get("stop") == LIMIT else (*evidence, "stop")
    for name, value in facts.items():
        if name == FIT and value is None:
            rows.append(("fit", "cannot be tested"))
        if value is None or name in hidden:
            continue
        if name == "one_report":
            moves = length_on(value, units) or f"{value:.4g}"
            rows.append((name, f"moves {found.moved} by at most {moves} (of {facts['n']:,})"))
        elif name in AT and units in TEMPORAL:
            rows.append((name, said_on(value, units) or number(value)))
        elif name == "std_error" and units in TEMPORAL:
            rows.append((name, length_on(value, units) or number(value)))
        elif name == "between":
            low, high = (said_on(value[end], units) or number(value[end]) for end in ("low_end", "high_end"))
            ends = f"between {low} and {high}"
            rows.append((ends, _with_ends(value)))
        elif name == "above":
            rows.append((f"above {said_on(value['limit'], units) or number(value['limit'])}", _with_ends(value)))
        elif name == "ratio_to_no_privacy":
            rows.append(("without privacy", f"an interval {value:.3g} times shorter"))
        elif name in ("others", "repeated_users", "not_one_value"):
            continue  # a line below the rows, or a note, has said it
        else:
            rows += facts_shown({name: value})
    return rows
