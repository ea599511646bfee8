"""Reports of a column of any length: a block of rows at a time, in parts that a run can go on from."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from ....estimators.reading.columns.cells import quoted
from ....estimators.reading.columns.files import short_message
from ....estimators.reading.columns.keyed import require_other_columns
from ....estimators.reading.columns.number_cells import named_cells, writable
from ....estimators.reading.columns.rows.written_rows import with_constants, write_parquet_rows
from ....estimators.reading.formats.plain_file import STANDARD_INPUT, existing
from ....estimators.reading.streams import value_blocks
from ....estimators.reading.streams.output_parts import output_parts, partial_folder, refuse_partial, resumed_parts
from ....mechanisms.errors import InputError
from ..handlers.kind import WrittenReports
from ..output.output import rows_progress, say

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from ....estimators.reading.streams.output_parts import OutputParts
    from ....estimators.reading.streams.value_blocks import ValueBlocks
    from ....mechanisms.channel import Channel
    from ..handlers.kind import Drawing, Kind
    from ..options.perturb import PerturbOptions


KEYED_ROWS = 2**18
"""Rows drawn by a secret at a time: names and digests of each are objects of their own."""


def is_long(asked: PerturbOptions, kind: Kind) -> bool:
    """Whether reports are to be drawn block by block: where a run is to be gone on with, or the file is large."""
    if asked.resume:
        return True
    if str(asked.out) != STANDARD_INPUT:
        refuse_partial(asked.out)
    if asked.ledger is not None or not (kind.of_one_column and _is_there(asked.data)):
        return False
    return value_blocks.is_long(asked.data)


def _is_there(data: Path) -> bool:
    """Whether there is a file to look at; where there is none, whoever reads it says so."""
    return str(data) == STANDARD_INPUT or data.is_file()


def perturb_blocks(asked: PerturbOptions, kind: Kind, rng: np.random.Generator | None) -> WrittenReports:
    """Write a report of every value of a column, in constant memory, and return what there is to say of it, no report.

    Raises
    ------
    InputError
        As `perturb` of the kind, before anything is drawn but for values that the mechanism does not take; reports of
        blocks before these are kept with --resume, and else thrown away.
    """
    asked.refuse("of no use where reports are drawn block by block", "--ledger")
    drawing, column = kind.drawing(asked, rng), asked.needed("--column")
    with ExitStack() as stack:
        blocks = stack.enter_context(
            value_blocks.value_blocks(
                asked.data,
                column,
                key=asked.key,
                keep=asked.keep or (),
                numeric=drawing.numeric,
                drop_missing=asked.drop_missing,
                units=drawing.units,
                size=None if drawing.mark is None else min(KEYED_ROWS, value_blocks.BLOCK_ROWS),
            )
        )
        if drawing.mark is not None:
            _require_one_value(blocks, drawing)
        if asked.resume:
            parts = stack.enter_context(resumed_parts(asked.out, _run(asked, kind, blocks, drawing.mark)))
        else:
            parts = stack.enter_context(output_parts(asked.out))
        try:
            constants = kind.constants([])
            clipped = _drawn(asked, kind.mechanism, drawing, column, blocks, parts, constants)
            parts.join(asked.out, constants)
        except BaseException:
            if asked.resume:
                rows = blocks.rows_of(parts.done)[0]
                say(
                    f"note: the reports of {rows:,} of {blocks.rows:,} rows are kept in {partial_folder(asked.out)}: "
                    "the same command goes on from there"
                )
            raise
        return WrittenReports({}, blocks.present, clipped)


def _require_one_value(blocks: ValueBlocks, drawing: Drawing) -> None:
    """Refuse users with several values before anything is drawn: blocks, which are drawn by themselves, do not see."""
    connection, kind = blocks.connection, "DOUBLE" if drawing.numeric else "VARCHAR"
    connection.execute(f"CREATE TABLE held (r BIGINT, k VARCHAR, v {kind})")
    before = 0
    for block in range(blocks.many):
        columns = {"k": writable(blocks.users(block)), "v": writable(drawing.counted(blocks.values(block)))}
        connection.register("block", columns)
        numbered = f"row_number() OVER () + {before}, nfc_normalize(k), v"
        connection.execute(f"INSERT INTO held SELECT {numbered} FROM block")
        before += columns["v"].size
    connection.unregister("block")
    wrong = "SELECT k, arg_max(v, r) AS last FROM held GROUP BY k HAVING min(v) <> max(v)"
    query = f"SELECT count(DISTINCT k), min(r) FROM held JOIN ({wrong}) USING (k) WHERE v <> last"
    users, row = connection.execute(query).fetchall()[0]
    if users:
        from ....mechanisms.pseudorandom.reports import several_values

        raise several_values(users, row)
    connection.execute("DROP TABLE held")


def _run(asked: PerturbOptions, kind: Kind, blocks: ValueBlocks, mark: str | None) -> Mapping[str, object]:
    """What a run must have in common with the one that it goes on with; no digest of values, which could be guessed."""
    if str(asked.data) == STANDARD_INPUT or str(asked.out) == STANDARD_INPUT:
        raise InputError("--resume needs files, which are there for another run, got -: write to a file first")
    asked.refuse("of a simulation, which can be run again: leave out --resume", "--seed")
    stat = existing(asked.data).stat()
    return {
        "mechanism": hashlib.sha256(Path(asked.table).read_bytes()).hexdigest(),
        "data": [stat.st_size, stat.st_mtime_ns, blocks.rows, blocks.present],
        "--column": asked.column,
        "--key": asked.key,
        "--keep": asked.keep,
        "--as": asked.form,
        "--clip": asked.clip,
        "--rounding": asked.rounding,
        "--drop-missing": asked.drop_missing,
        "--secret or --period": mark,
        "block": blocks.size,
        "columns at the end": kind.constants([]),
    }


def _drawn(
    asked: PerturbOptions,
    mechanism: Channel,
    drawing: Drawing,
    column: str,
    blocks: ValueBlocks,
    parts: OutputParts,
    constants: Mapping[str, str],
) -> int:
    """Draw what is not there yet; return how many of these values were clipped."""
    clipped = 0
    with rows_progress("perturbing", blocks.rows) as update:
        start = parts.done
        if start:
            say(f"note: {blocks.rows_of(start)[0]:,} of {blocks.rows:,} rows have reports already, and keep them")
        for block in range(start, blocks.many):
            first, stop = blocks.rows_of(block)
            update(first)
            try:
                users = None if drawing.mark is None else blocks.users(block)
                written = drawing.draw(blocks.values(block), users)
            except InputError as error:
                raise InputError(f"rows {first + 1:,} to {stop:,}, counted anew from 1: {error}") from None
            columns = asked.with_round(written.columns, mechanism, lambda block=block: blocks.users(block))
            require_other_columns(asked.key, asked.keep or (), [column], [*columns, *constants])
            with parts.writing(block) as part:
                write_block(blocks, block, columns, asked.beside, part, constants)
            clipped += written.clipped
        update(blocks.rows)
    return clipped


def write_block(
    blocks: ValueBlocks,
    block: int,
    columns: Mapping[str, np.ndarray],
    beside: Sequence[str],
    part: Path,
    constants: Mapping[str, str],
) -> None:
    """Write what was made of the values of a block, after what stands beside them; the first has a CSV's header."""
    values = {f"r{i}": writable(column) for i, column in enumerate(columns.values())}
    cells = named_cells(values, list(columns))
    connection = blocks.connection
    connection.register("reports", values)
    try:
        if beside:
            blocks.columns_beside(block).create_view("beside", replace=True)
            named = ", ".join(f"k{i} AS {quoted(name)}" for i, name in enumerate(beside))
            found = connection.sql(f"SELECT {named}, {cells} FROM beside POSITIONAL JOIN reports")
        else:
            found = connection.sql(f"SELECT {cells} FROM reports")
        found = with_constants(found, constants)
        if part.suffix == ".parquet":
            write_parquet_rows(connection, found, part, constants)
        else:
            found.write_csv(str(part), header=block == 0)
    except duckdb.IOException as error:
        raise InputError(f"the output must be writable, got {str(part.parent)!r}: {short_message(error)}") from None
    finally:
        connection.unregister("reports")
