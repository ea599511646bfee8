"""`optldp perturb` and `optldp estimate`: what a client and a collector do with a table."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from .command_options import DropMissing, Json, Table
from .command_output import number, one_line_errors, print_facts, print_json, require_place, say

REPORT_COLUMN = "report"


@one_line_errors
def perturb_command(
    table: Table,
    data: Annotated[Path, typer.Argument(metavar="DATA", help="CSV or Parquet file with the values.")],
    column: Annotated[str, typer.Option("--column", help="Numeric column of DATA.")],
    out: Annotated[Path, typer.Option("--out", help="Reports to write, .csv or .parquet; one column, report.")],
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="For simulations only: whoever knows the seed can undo the noise."),
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values into the domain, counted.")] = False,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Perturb every value of a column through a table.

    Example: optldp perturb mech.json people.csv --column income --out reports.csv
    """
    import numpy as np

    from ..mechanisms import InputError, load_table
    from .columns import read_column, write_column

    require_place(out, (".csv", ".parquet"))
    if out.exists() and data.exists() and out.samefile(data):
        raise InputError(f"the reports must not replace the values, got {str(out)!r} for both: choose another --out")
    mechanism = load_table(table)
    values = read_column(data, column, drop_missing=drop_missing)
    clipped = 0
    if clip:
        values, clipped = mechanism.clip_to_domain(values)
    reports = mechanism.sample(values, np.random.default_rng(seed))
    write_column(out, REPORT_COLUMN, reports)
    if clipped:
        say(f"note: {clipped} of {len(values)} values were outside the domain and clipped")
    facts: dict[str, object] = {"n": len(values), "clipped": clipped, "out": str(out)}
    if as_json:
        print_json(facts)
    else:
        print_facts("perturbed", [(name, str(value)) for name, value in facts.items()])


@one_line_errors
def estimate_command(
    table: Table,
    reports: Annotated[Path, typer.Argument(metavar="REPORTS", help="CSV or Parquet file of reports.")],
    column: Annotated[str, typer.Option("--column", help="Column of REPORTS.")] = REPORT_COLUMN,
    level: Annotated[float, typer.Option("--level", help="Coverage of the confidence interval.")] = 0.95,
    drop_missing: DropMissing = False,
    as_json: Json = False,
) -> None:
    """Estimate the mean of the values, unbiased, with a confidence interval.

    Example: optldp estimate mech.json reports.csv
    """
    from ..estimators import estimate_mean
    from ..mechanisms import load_table
    from .columns import read_column

    mechanism = load_table(table)
    found = estimate_mean(mechanism, read_column(reports, column, drop_missing=drop_missing), level=level)
    keys = ("method", "n", "mean", "std_error", "ci_low", "ci_high", "level")
    facts = {key: asdict(found)[key] for key in keys}
    if as_json:
        print_json(facts)
    else:
        rows = [(name, number(v) if isinstance(v, float) else str(v)) for name, v in facts.items()]
        print_facts("mean of the values", rows)
