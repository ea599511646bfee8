"""Single reports, each read as what costs least once it is seen.

Block by block into a file of any length, where reports are of one column and no row is left out; else at once.
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.reading.columns.keyed import require_other_columns
from ....estimators.reading.columns.rows.skipped_rows import SkippedRows
from ....estimators.reading.columns.simulated_columns import OUTPUT, SIMULATED
from ....estimators.reading.columns.spreadsheet_text import spreadsheet_columns
from ....estimators.reading.streams.output_parts import output_parts
from ....estimators.reading.streams.value_blocks import value_blocks
from ....mechanisms.errors import InputError
from ..handlers.kind import Found, Rows
from ..handlers.reading import column_in
from ..output.output import readable, rows_progress, say, say_wrote, told_of_reports
from .blocks import write_block
from .reports_at_once import read_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..handlers.kind import Reader, Service
    from ..handlers.options import EstimateOptions

READING, RISK = "reading", "posterior_risk"
"""Columns that are written beside each report."""

MOST_ROWS = 25
"""Readings that are printed; --json has all."""

SINGLY = "note: each report is read by itself, nearer what the prior expects: nobody should average readings"

OTHERS = (
    "--method", "--attribute", "--level-column", "--cells", "--between", "--above", "--plot", "--winsorise", "--raw",
    "--target", "--alike", "--counts", "--by", "--weights", "--versus", "--simultaneous", "--top", "--confidence",
    "--keep-first", "--allow-disjoint", "--rounds",
)  # fmt: skip
"""Options of `estimate` that are for estimates from many reports."""


def read_singly(services: Sequence[Service], asked: EstimateOptions) -> Found:
    """Write what each report of one service is read as, and return how often each reading came.

    Raises
    ------
    InputError
        Several services, options for estimates from many reports, no prior or loss, or reports that are none.
    """
    asked.refuse("for estimates from many reports, and --of reports reads each by itself", *OTHERS)
    if len(services) > 1:
        raise InputError(f"--of reports reads the reports of one service, got {len(services)}: read one by one")
    service, started = services[0], time.perf_counter()
    named, simulated = column_in(service.reports, asked.column)
    reader = service.kind.reader(asked, numbered=named == OUTPUT)
    layout = service.kind.layout(named, "")
    if asked.skip_invalid or len(layout.columns) > 1:
        best, risk, skipped = read_at_once(service, layout, reader, asked, (READING, RISK))
        many = np.bincount(best, minlength=reader.readings.size)
        say(SINGLY)
        seconds = {"seconds": time.perf_counter() - started}
        return _found(reader, many, np.bincount(best, risk, minlength=many.size), seconds, simulated, skipped)
    many, risks, n = np.zeros(reader.readings.size, dtype=np.int64), np.zeros(reader.readings.size), 0
    with ExitStack() as stack:
        blocks = stack.enter_context(
            value_blocks(
                service.reports,
                SIMULATED * simulated + named,
                key=asked.key,
                numeric=layout.numeric[0],
                drop_missing=asked.drop_missing,
                made=service.kind.identifier,
            )
        )
        readings = reader.readings
        if asked.out is not None and asked.out.suffix.lower() == ".csv":
            readings = np.asarray(spreadsheet_columns({READING: readings.tolist()})[0][READING])
        parts = None if asked.out is None else stack.enter_context(output_parts(asked.out))
        with rows_progress("reading reports", blocks.rows) as update:
            for block in range(blocks.many):
                first, stop = blocks.rows_of(block)
                update(first)
                reports = blocks.values(block)
                try:
                    best, risk = reader.read(reports)
                except InputError as error:
                    raise InputError(f"rows {first + 1:,} to {stop:,}, counted anew from 1: {error}") from None
                many += np.bincount(best, minlength=many.size)
                risks += np.bincount(best, risk, minlength=many.size)
                n += best.size
                if parts is not None:
                    mark = SIMULATED * simulated
                    columns = {mark + named: reports, mark + READING: readings[best], RISK: risk}
                    require_other_columns(asked.key, (), [], columns)
                    with parts.writing(block) as part:
                        write_block(blocks, block, columns, [] if asked.key is None else [asked.key], part, {})
            update(blocks.rows)
        if parts is not None and asked.out is not None:
            parts.join(asked.out)
            say_wrote(asked.out, f"{n:,} rows")
    say(SINGLY)
    return _found(reader, many, risks, {"seconds": time.perf_counter() - started}, simulated, SkippedRows())


def _found(
    reader: Reader, many: np.ndarray, risks: np.ndarray, more: dict[str, Any], simulated: bool, skipped: SkippedRows
) -> Found:
    seen = np.flatnonzero(many)
    each = (risks[seen] / many[seen]).tolist()
    columns = {READING: reader.readings[seen].tolist(), "n_read": many[seen].tolist(), "risk_read": each}
    n = int(many.sum())
    facts = {"n": n, "loss": reader.loss, RISK: float(risks.sum() / n), "expected_risk": reader.expected}
    order = np.argsort(-many[seen], kind="stable")[:MOST_ROWS]
    cells = [[readable(column[i]) for column in columns.values()] for i in order]
    last = f"the {MOST_ROWS} most frequent of {seen.size}; all of them: --json" if seen.size > MOST_ROWS else None
    told = told_of_reports(simulated, skipped)
    return Found("reports, each by itself", facts | more | told, columns, Rows("readings", list(columns), cells, last))
