"""`optldp show` and `optldp verify`: what a mechanism's file says, and whether it is so."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import AllowUnproved, Force, Json, Table
from .output import NOT_SO, one_line_errors, print_facts, print_json, readable, require_place, say, say_wrote

VERDICTS = {
    "proved": "keeps its promise, proved by whole numbers",
    "not proved": "NOT PROVED: probabilities are in doubles, for research only; make_exact makes a table exact",
    "broken": "DOES NOT KEEP ITS PROMISE",
}


@one_line_errors
def show_command(
    table: Table,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", help="Write a heat map of it and its parts, or of a biased table its bias (png, pdf, svg)."
        ),
    ] = None,
    force: Force = False,
    allow_unproved: AllowUnproved = False,
    as_json: Json = False,
) -> None:
    """Show how a table was made and what it costs; optionally draw it.

    Example: optldp show mech.json --plot heatmap.png
    """
    from ...mechanisms import load_mechanism
    from .kinds.registry import kind_of

    require_place(plot, force=force)
    kind = kind_of(load_mechanism(table, allow_unproved=allow_unproved))
    figure = None if plot is None else kind.figure()
    facts = kind.shown()
    if plot is not None and figure is not None:
        from ..plots.saving import save_figure

        save_figure(figure, plot)
        facts["plot"] = str(plot)
    for note in kind.notes():
        say(note)
    if plot is not None:
        say_wrote(plot, "a figure")
    if as_json:
        print_json(facts)
        return
    rows: list[tuple[str, str]] = []
    for name, value in facts.items():
        if isinstance(value, dict):
            rows += [(f"{name}: {key}", readable(item)) for key, item in value.items()]
        elif name == "one_report_times_n" and value is not None:
            rows.append(("one_report", kind.one_report(value)))
        elif value not in (None, ""):
            rows.append((name, readable(value)))
    print_facts(str(table), rows)


@one_line_errors
def verify_command(
    table: Table,
    exact: Annotated[
        bool, typer.Option("--exact", help="Prove it by whole numbers alone, and print the proof's facts.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Prove from a table's numbers that it keeps its promise; exit code 1 if it does not or cannot be proved.

    Example: optldp verify --exact mech.json
    """
    from ...mechanisms.files.bundle import read_unverified_mechanism
    from .kinds.registry import kind_of

    checked = kind_of(read_unverified_mechanism(table)).checked(exact)
    proved = checked.verdict == "proved"
    if as_json:
        found = {"ok": proved, "verdict": checked.verdict}
        print_json(found | checked.facts | {"failures": checked.failures})
    else:
        rows = [("verdict", VERDICTS[checked.verdict])]
        rows += [(name, readable(value)) for name, value in checked.facts.items() if value is not None]
        print_facts(str(table), rows + [("failure", failure) for failure in checked.failures])
    if not proved:
        raise typer.Exit(NOT_SO)
