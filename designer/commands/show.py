"""`optldp show` and `optldp verify`: what a mechanism's file says, as a report too, and whether it is so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...mechanisms.errors import InputError
from .options.shared import (
    CONFIDENCE,
    PAGES_ARE_USUAL,
    AllowUnproved,
    Confidence,
    Explain,
    Force,
    Json,
    Table,
    checked_confidence,
    people,
)
from .output.output import (
    NOT_SO,
    means_facts,
    one_line_errors,
    print_explained,
    print_facts,
    print_json,
    print_means,
    readable,
    refuse_given,
    require_place,
    say,
    say_wrote,
)
from .output.words import MEAN_WITHIN, explained, with_brief
from .rendering.mechanism_reports import report_pages, require_report_place, write_pages

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..planning.people import MeanWithin
    from .handlers.kind import Kind

NO_PEOPLE = "--confidence is for how far off the mean of --n people may be: add --n, or leave it out"

Tables = Annotated[list[Path], typer.Argument(metavar="TABLE...", help="Table files, .json or .npz.")]

VERDICTS = {
    "proved": "keeps its promise, proved by whole numbers",
    "not proved": "NOT PROVED: probabilities are in doubles, for research only; make_exact makes a table exact",
    "broken": "DOES NOT KEEP ITS PROMISE",
}


@one_line_errors
def show_command(
    tables: Tables,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Draw a heat map of the table and its parts, or the bias of a biased table (png, pdf, svg)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Report to write, .html; of several tables a folder of them, with an index."),
    ] = None,
    n: Annotated[int | None, people("People who will report, once each, for the error of their mean.")] = None,
    confidence: Confidence = CONFIDENCE,
    record: Annotated[
        bool,
        typer.Option(
            "--record",
            help="Print a record for a registry of deployments and for evaluators instead, as Markdown or by --json; "
            "facts that the file lacks are left blank, and named.",
        ),
    ] = False,
    explain: Explain = False,
    force: Force = False,
    allow_unproved: AllowUnproved = False,
    as_json: Json = False,
) -> None:
    """Show how a table was made and its errors; optionally draw it, or write a report with a first page to sign.

    \b
    Example: optldp show mech.json --plot heatmap.png
    Example: optldp show mech.json --n 20000 --out report.html
    Example: optldp show mech.json --n 20000
    Example: optldp show mech.json --record
    """
    from ...estimators.reading.columns.other_table import TABLE
    from ...mechanisms import load_mechanism
    from .handlers.registry import kind_of

    require_place(plot, force=force)
    if plot is not None and len(tables) > 1:
        raise InputError(f"--plot draws one table, got {len(tables)}: show them one by one")
    if out is not None:
        require_report_place(out, tables, force=force)
    kinds = [kind_of(load_mechanism(table, allow_unproved=allow_unproved)) for table in tables]
    if record:
        refuse_given("of no use to a record", {"--plot": plot, "--out": out, "--n": n, "--explain": explain or None})
        _print_record(kinds, as_json=as_json)
        return
    sure = checked_confidence(confidence)
    if n is None and confidence != CONFIDENCE:
        raise InputError(NO_PEOPLE)
    within = [_means(kind, n, sure, out is not None) for kind in kinds]
    figure = None if plot is None else kinds[0].figure()
    shown = [kind.shown() | {TABLE: kind.identifier()} for kind in kinds]
    rows = [shown_rows(kind, facts) for kind, facts in zip(kinds, shown, strict=True)]
    pages = {} if out is None else report_pages(out, tables, kinds, rows, n)
    if plot is not None and figure is not None:
        from ..plots.saving import save_figure

        if lacking := save_figure(figure, plot):
            say(f"warning: {lacking}")
        shown[0]["plot"] = str(plot)
        rows[0].append(("plot", str(plot)))
    if out is not None:
        write_pages(out, pages)
        if sure != CONFIDENCE:
            say(PAGES_ARE_USUAL)
    for kind in kinds:
        for note in kind.notes():
            say(note)
    if plot is not None:
        say_wrote(plot, "a figure")
    if out is not None:
        say_wrote(out, "a report")
    if as_json:
        told = {} if out is None else {"report": str(out)}
        shown = [
            facts | means_facts(means) | ({"explained": explained(_names(facts))} if explain else {})
            for facts, means in zip(shown, within, strict=True)
        ]
        print_json((shown[0] if len(shown) == 1 else {"tables": shown}) | told)
        return
    for table, told, facts, means in zip(tables, rows, shown, within, strict=True):
        print_facts(str(table), told)
        print_means(means, facts.get("units") or "")
    if explain:
        names = dict.fromkeys(name for told in rows for name, _ in told)
        print_explained([*names] + [MEAN_WITHIN] * any(within))
    if out is not None:
        typer.echo(f"report: {out}")


def _print_record(kinds: list[Kind], *, as_json: bool) -> None:
    """Print the record of one mechanism."""
    from .rendering.record import record_of, record_text

    if len(kinds) > 1:
        raise InputError(f"--record is of one table, got {len(kinds)}: record them one by one")
    found = record_of(kinds[0])
    if as_json:
        print_json(found)
    else:
        typer.echo(record_text(found))


def shown_rows(kind: Kind, facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return facts as names and values for people."""
    from ...estimators.reading.formats.axis import said_on

    rows: list[tuple[str, str]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            rows += [(f"{name}: {key}", with_brief(f"{name}: {key}", readable(item))) for key, item in value.items()]
        elif name == "one_report_times_n" and value is not None:
            rows.append(("one_report", kind.one_report(value)))
        elif name == "domain" and value is not None:
            rows.append((name, readable([said_on(end, facts.get("units") or "") or end for end in value])))
        elif value not in (None, ""):
            rows.append((name, with_brief(name, readable(value))))
    return rows


def _means(kind: Kind, n: int | None, confidence: float, reported: bool) -> Mapping[str, MeanWithin]:
    """Return how far means may be off; a report says other errors where there are none."""
    try:
        return {} if n is None else kind.means_within(n, confidence=confidence)
    except InputError:
        if not reported:
            raise
        return {}


def _names(facts: Mapping[str, Any]) -> list[str]:
    """The names of facts, those of parts as people are shown them."""
    return [name for name, _ in _parts(facts)]


def _parts(facts: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Facts by the names that people are shown, those of parts one by one."""
    parts = (
        [(f"{name}: {key}", part) for key, part in fact.items()] if isinstance(fact, dict) else [(name, fact)]
        for name, fact in facts.items()
    )
    return [each for some in parts for each in some]


@one_line_errors
def verify_command(
    table: Table,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prove it by whole numbers alone, and print the proof's facts.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove from a table's numbers that it keeps its promise; the exit code is 1 if it does not or cannot be proved.

    Example: optldp verify --exact mech.json
    """
    from ...mechanisms.files.bundle import read_unverified_mechanism
    from .handlers.registry import kind_of

    checked = kind_of(read_unverified_mechanism(table)).checked(exact)
    proved = checked.verdict == "proved"
    if as_json:
        found = {"ok": proved, "verdict": checked.verdict}
        print_json(found | checked.facts | {"failures": checked.failures})
    else:
        rows = [("verdict", VERDICTS[checked.verdict])]
        rows += [(name, readable(value)) for name, value in _parts(checked.facts) if value is not None]
        print_facts(str(table), rows + [("failure", failure) for failure in checked.failures])
    if not proved:
        raise typer.Exit(NOT_SO)
