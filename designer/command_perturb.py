"""`optldp perturb`: what a client does with a table, by the operating system's generator unless it is a simulation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .command_options import DropMissing, Json, Table
from .command_output import one_line_errors, print_facts, print_json, require_place, say

REPORT_COLUMN = "report"


@one_line_errors
def perturb_command(
    table: Table,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file with the values.")],
    column: Annotated[str, typer.Option("--column", help="Numeric column of DATA.")],
    out: Annotated[Path, typer.Option("--out", help="Reports to write, .csv or .parquet: the column report.")],
    key: Annotated[
        str | None, typer.Option("--key", help="Column of DATA that names the user, kept beside the reports.")
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="Simulate with numpy: whoever knows the seed can undo the noise."),
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values into the domain, counted.")] = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Perturb every value of a column through a table, by the operating system's random numbers.

    Example: optldp perturb mech.json people.csv --column income --out reports.csv
    """
    import numpy as np

    from ..mechanisms import InputError, Sampler, load_table
    from .columns import read_column, write_column
    from .keyed_reports import write_keyed_reports

    require_place(out, (".csv", ".parquet"))
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"the reports must not replace the values, got {str(out)!r} for both: choose another --out")
    mechanism = load_table(table)
    values = read_column(data, column, drop_missing=drop_missing)
    clipped = 0
    if clip:
        values, clipped = mechanism.clip_to_domain(values)
    sampler = Sampler(mechanism, None if seed is None else np.random.default_rng(seed))
    reports = sampler.sample(values)
    if key is None:
        write_column(out, REPORT_COLUMN, reports)
    else:
        write_keyed_reports(out, {REPORT_COLUMN: reports}, data=data, column=column, key=key)
    if clipped:
        say(f"note: {clipped} of {len(values)} values were outside the domain and clipped")
    facts = {"n": len(values), "clipped": clipped, "out": str(out), "simulated": sampler.simulated}
    if as_json:
        print_json(facts)
    else:
        print_facts("perturbed", [(name, str(value)) for name, value in facts.items()])
