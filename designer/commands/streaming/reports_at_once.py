"""Single reports of several columns, or with rows among them that hold none, read whole and not block by block."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ....estimators.reading.columns.keyed import require_other_columns
from ....estimators.reading.columns.number_cells import write_columns
from ....estimators.reading.columns.simulated_columns import OUTPUT, SIMULATED
from ....estimators.reading.columns.spreadsheet_text import spreadsheet_columns
from ....mechanisms.errors import InputError
from ..handlers.reading import read_laid_out
from ..output.output import say_wrote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....estimators.reading.columns.rows.skipped_rows import SkippedRows
    from ..handlers.kind import Layout, Reader, Service
    from ..handlers.options import EstimateOptions


def read_at_once(
    service: Service, layout: Layout, reader: Reader, asked: EstimateOptions, beside: tuple[str, str]
) -> tuple[np.ndarray, np.ndarray, SkippedRows]:
    """Write what each report is read as beside it and its key, with `beside` over the reading and its risk.

    Returns the numbers of the readings (n,), their risks (n,), and an account of the rows that were left out.

    Raises
    ------
    InputError
        As `read_laid_out`, and numbers of outputs, which no layout knows.
    """
    many = len(layout.columns)
    if layout.columns == (OUTPUT,):
        raise InputError(
            f"--skip-invalid is for reports as they are sent, got column {OUTPUT!r} of numbers: leave it out"
        )
    laid_out, check = _with_key(layout, asked.key), layout.wrong

    def parse(cells: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
        layout.parse(cells[:many])
        return cells

    wrong = None if check is None else lambda cells: check(cells[:many])
    read = read_laid_out(
        replace(laid_out, parse=parse, wrong=wrong),
        service.reports,
        service.kind.identifier,
        drop_missing=asked.drop_missing,
        skip_invalid=asked.skip_invalid,
    )
    cells = read.reports
    try:
        best, risk = reader.read(cells[0] if many == 1 else np.column_stack(cells[:many]))
    except InputError as error:
        raise InputError(f"rows that hold a report, counted from 1: {error}") from None
    if asked.out is not None:
        mark = SIMULATED * read.simulated
        named = {mark + name: column for name, column in zip(layout.columns, cells[:many], strict=True)}
        columns = named | {mark + beside[0]: reader.readings[best], beside[1]: risk}
        require_other_columns(asked.key, (), [], columns)
        if asked.key is not None:
            columns = {asked.key: cells[-1]} | columns
        if asked.out.suffix.lower() == ".csv":
            columns = spreadsheet_columns({name: column.tolist() for name, column in columns.items()})[0]
        write_columns(asked.out, columns)
        say_wrote(asked.out, f"{best.size:,} rows")
    return best, risk, read.skipped


def _with_key(layout: Layout, key: str | None) -> Layout:
    """The layout with the users' keys after the reports, so that a row is left out with its key."""
    if key is None:
        return layout
    return replace(layout, columns=(*layout.columns, key), numeric=(*layout.numeric, False))
