"""`optldp count` and `count-sql`: how many users made which report, by the embedded engine or by the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from ...estimators.methods import Dialect
from ...estimators.reading.columns.simulated_columns import OUTPUT, USERS
from ...mechanisms.errors import InputError
from .handlers.options import CountOptions
from .options.days import DayOptions
from .options.shared import AllowUnproved, Force, Json, takes_options
from .output.output import one_line_errors, print_facts, print_json, require_place, say, say_of_reports, say_wrote

SUFFIXES = (".csv", ".parquet")


@one_line_errors
@takes_options
def count_command(asked: CountOptions) -> None:
    """Count how many users made each report, for estimate --counts; estimators use nothing else.

    \b
    Example: optldp count mech.json reports.csv --out counts.csv
    Example: producer | optldp count mech.json - --window 100000 --out counts.csv
    Example: optldp count a.json a.parquet b.json b.parquet --key user --out counts.parquet
    Example: optldp count mech.json batch.parquet --by table,day --out counts
    """
    import numpy as np

    from ...estimators.reading.columns.number_cells import write_columns
    from ...estimators.reading.columns.table_column import constants_beside
    from ...mechanisms import load_mechanism
    from .handlers.kind import Service
    from .handlers.reading import ROUNDS, told_of_users
    from .handlers.registry import kind_of

    if (daily := asked.daily()) is not None:
        from .streaming.days import count_days

        count_days(asked, daily)
        return
    asked.refuse("for counts --by table,day", "--where")
    files, out, piped = asked.files, asked.out, str(asked.out) == "-"
    if len(files) % 2:
        raise InputError(f"tables and reports must come in pairs, got {len(files)} files: TABLE REPORTS [...]")
    if out.exists() and any(path.exists() and out.samefile(path) for path in files):
        raise InputError(f"outputs must not replace inputs, got {str(out)!r} for both: choose another name")
    windows = asked.window is not None
    require_place(out, () if piped else SUFFIXES[:1] if windows else SUFFIXES, force=asked.force or windows)
    loaded = [load_mechanism(path, allow_unproved=asked.allow_unproved) for path in files[::2]]
    kinds = [kind_of(mechanism).for_estimates() for mechanism in loaded]
    services = [Service(*each) for each in zip(kinds, files[::2], files[1::2], strict=True)]
    leading = next((kind for kind in kinds if kind.by_itself), kinds[0])
    from .streaming.windows import count_windows, marked_counts

    if windows:
        many = count_windows(asked, leading, files[0])
        say(f"note: the reports of {many:,} users, counted, {'to standard output' if piped else f'into {out}'}")
        if asked.as_json and not piped:
            print_json({USERS: many, "out": str(out)})
        return
    columns, told = leading.answer(services, asked)
    users = columns[USERS]
    of_rounds = {ROUNDS: np.ones(users.size, dtype=np.int64)} if asked.rounds else {}
    columns = marked_counts(columns, told) | of_rounds
    write_columns(out, columns, constants_beside(columns, [kind.mechanism for kind in kinds]))
    told |= told_of_users(files[1::2], asked.key)
    say_of_reports(told)
    if piped:  # what people are told would be among the counts
        say(f"note: the reports of {int(users.sum()):,} users, counted, to standard output")
        return
    say_wrote(out, f"the reports of {int(users.sum()):,} users, counted")
    facts = {USERS: int(users.sum()), "rows": users.size, "out": str(out)} | told
    if asked.as_json:
        print_json(facts)
    else:
        print_facts("counted", [(name, str(facts[name])) for name in (USERS, "rows", "out")])


@dataclass(frozen=True, kw_only=True)
class CountSqlOptions(DayOptions):
    """What `optldp count-sql` may be asked."""

    tables: Annotated[list[Path], typer.Argument(metavar="TABLE", help="Table file of each service, .json or .npz.")]
    relations: Annotated[
        list[str], typer.Option("--from", help="The engine's name for the reports; one for each TABLE, in order.")
    ]
    dialect: Annotated[Dialect, typer.Option("--dialect", help="SQL of the engine.")] = "duckdb"
    column: Annotated[str, typer.Option("--column", help="Column of the numbers of outputs, or of text reports.")] = (
        OUTPUT
    )
    key: Annotated[
        str | None, typer.Option("--key", help="Column that names the user; needed for several services.")
    ] = None
    cells: Annotated[
        Path | None,
        typer.Option(
            "--cells",
            help="For a column of reports that are numbers: write the outputs as intervals, .csv or .parquet. The "
            "query joins them from a table of the file's name in the engine.",
        ),
    ] = None
    table: Annotated[
        bool,
        typer.Option(
            "--table/--no-table",
            help="Use the column table of the reports, which identifies their table; perturb writes it.",
        ),
    ] = True
    arrived: Annotated[
        str | None,
        typer.Option(
            "--arrived",
            metavar="COLUMN",
            help="With --by: column of the days on which reports came; reports that came too late are counted "
            "separately.",
        ),
    ] = None
    ids: Annotated[
        bool, typer.Option("--ids/--no-ids", help="With --by: reports have the column report_id, which shows copies.")
    ] = True
    force: Force = False
    allow_unproved: AllowUnproved = False
    as_json: Json = False


@one_line_errors
@takes_options
def count_sql_command(asked: CountSqlOptions) -> None:
    """Print one query that counts reports where they lie; estimate --counts takes its answer.

    \b
    Example: optldp count-sql mech.json --from idx --dialect duckdb
    Example: optldp count-sql mech.json --from idx --by table,day --where "region = north" --late 3
    Example: optldp count-sql a.json b.json --from web.reports --from app.reports --key user --dialect bigquery
    Example: optldp count-sql mech.json --from reports --column report --cells cells.parquet --dialect postgres
    """
    from ...mechanisms import load_mechanism
    from .handlers.registry import kind_of

    cells = asked.cells
    daily = asked.daily(arrived=asked.arrived, ids=asked.ids)
    require_place(cells, SUFFIXES, force=asked.force)
    loaded = [load_mechanism(path, allow_unproved=asked.allow_unproved) for path in asked.tables]
    kinds = [kind_of(mechanism).for_estimates() for mechanism in loaded]
    query = kinds[0].query(
        kinds,
        asked.relations,
        dialect=asked.dialect,
        key=asked.key,
        column=asked.column,
        cells=None if cells is None else cells.stem,
        table=asked.table and (daily is None or asked.by_table),
        where=asked.where or (),
        daily=daily,
    )
    if cells is not None:
        from ...estimators.reading.columns.number_cells import write_columns

        written = kinds[0].cells()
        write_columns(cells, written)
        say_wrote(cells, f"{next(iter(written.values())).size:,} intervals")
    if asked.as_json:
        print_json({"query": query, "dialect": asked.dialect, "cells": None if cells is None else str(cells)})
    else:
        typer.echo(query)
