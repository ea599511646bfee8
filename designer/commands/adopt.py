"""`optldp adopt`: a file that says by which law others drew reports, so that these can be estimated from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from .options.shared import Force, Json
from .output.output import one_line_errors, print_facts, print_json, readable, require_place, say, say_wrote

Law = Literal["grr", "rappor", "oue", "olh", "subset"]
Form = Literal["index", "label", "bits", "integer", "columns", "set", "seeded"]


@one_line_errors
def adopt_command(
    law: Annotated[
        Law,
        typer.Argument(
            metavar="LAW",
            help="grr: randomised response. rappor: a bit for each category, symmetric (SUE). oue: optimised bits. "
            "olh: local hashing by XXH32, as in pure-ldp and multi-freq-ldpy. subset: subset selection, as in "
            "multi-freq-ldpy.",
        ),
    ],
    categories: Annotated[
        Path, typer.Option("--categories", help="File with the categories, in the order of their numbers from 0.")
    ],
    out: Annotated[Path, typer.Option("--out", help="Mechanism to write, .json.")],
    column: Annotated[
        str | None, typer.Option("--column", help="Column of the categories. Default: value, or the only one.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option("--epsilon", help="The budget at which the reports were drawn.")] = (
        None
    ),
    own: Annotated[
        float | None,
        typer.Option(
            "--own", help="Instead of --epsilon: probability of the user's own category (grr), or of its bit."
        ),
    ] = None,
    other: Annotated[
        float | None, typer.Option("--other", help="Beside --own, for rappor: probability of any other bit.")
    ] = None,
    values: Annotated[
        int | None, typer.Option("--values", help="olh: values of the hash. Default: round(e^epsilon) + 1.")
    ] = None,
    written: Annotated[
        Form | None,
        typer.Option(
            "--written",
            help="How reports are written: index or label; bits, integer or columns; set; seeded. Default: the form "
            "in which those packages return them.",
        ),
    ] = None,
    drawn_by: Annotated[str, typer.Option("--drawn-by", help="Software that drew them, as a note for readers.")] = "",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Record the law by which other software drew reports, as a mechanism for estimates, marked as drawn by others.

    \b
    Example: optldp adopt grr --categories jobs.csv --epsilon 1 --drawn-by pure-ldp --out theirs.json
    Example: optldp adopt grr --categories jobs.csv --own 0.6 --written label --drawn-by OpenDP --out theirs.json
    Example: optldp adopt olh --categories jobs.csv --epsilon 1 --out theirs.json
    Example: optldp estimate theirs.json their_reports.csv
    """
    from ...estimators.reading.columns.texts import read_labels
    from ...mechanisms.files.bundle import save_bundle
    from ...mechanisms.third_party import adopt
    from .handlers.categories import Categories
    from .handlers.reading import only_column

    require_place(out, (".json",), force=force)
    labels = read_labels(categories, column or only_column(categories, "value"))
    made = adopt(
        law,
        labels.tolist(),
        epsilon,
        own=own,
        other=other,
        n_values=values,
        written=written,
        drawn_by=drawn_by,
    )
    save_bundle(made, out)
    kind = Categories(made)
    for note in kind.notes():
        say(note)
    say_wrote(out, f"a mechanism, {made.kind}")
    if as_json:
        print_json(kind.facts() | {"out": str(out)})
    else:
        print_facts("adopted", [(name, readable(value)) for name, value in kind.facts().items() if value is not None])
