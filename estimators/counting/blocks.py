"""Blocks of reports to blocks of outputs, and an account of the reports that are none."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ...mechanisms.errors import InputError
from ..reading.columns.cells import missing_message
from ..reading.columns.rows.skipped_rows import OFFER, ROWS_NAMED
from .group import NOT_REPORTED
from .source import ReportSource
from .staged import Block

Rows = Sequence[tuple[int, str]]
"""Rows, from 1, with the reasons why they hold no report."""


def output_blocks(
    source: ReportSource,
    blocks: Iterator[Block],
    *,
    drop_missing: bool,
    skipped: Callable[[int, Rows], None] | None = None,
) -> Iterator[np.ndarray]:
    """Turn each block of reports into a block of outputs, -1 for a missing report, or a row at fault.

    Parameters
    ----------
    source : ReportSource
        Its table says which output a report is.
    blocks : iterator of two (n,) ndarray, of float and bool
        Reports, of which NaN is a missing one, and rows that are at fault and accounted for already.
    drop_missing : bool
        Whether reports may be missing.
    skipped : callable, optional
        Called after the last block with the number of rows that hold no report, and the first of them with the reasons;
        without it such rows are refused.

    Raises
    ------
    InputError
        After the last block: reports that the table cannot produce, or that are missing, with their number and the
        row of the first, counted from 1; or no report at all.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> from optldp.estimators.counting.source import report_sources
    >>> source = report_sources([(grr([0, 1, 2], 1.0), "reports.csv")])[0]
    >>> blocks = [(np.array([2.0, np.nan]), np.zeros(2, dtype=bool)), (np.array([1.0]), np.array([False]))]
    >>> [block.tolist() for block in output_blocks(source, iter(blocks), drop_missing=True)]
    [[2, -1], [1]]
    """
    missing, foreign = _Faults(), _Faults()
    n_rows = n_reports = 0
    for block, faulty in blocks:
        outputs = source.locate(block)
        outputs[faulty] = NOT_REPORTED
        absent = np.isnan(block) & ~faulty
        missing.note(absent, block, n_rows)
        foreign.note((outputs == NOT_REPORTED) & ~absent & ~faulty, block, n_rows)
        n_rows += block.size
        n_reports += int(np.count_nonzero(outputs != NOT_REPORTED))
        yield outputs
    if skipped is not None:
        skipped(foreign.count, [(row, f"{value!r} is no output of its table") for row, value in foreign.first])
        if not drop_missing:
            skipped(missing.count, [(row, "no report") for row, _ in missing.first])
    elif missing.count and not drop_missing:
        raise InputError(missing_message(f"reports of {source.where}", missing.count, missing.first[0][0]))
    elif foreign.count:
        row, value = foreign.first[0]
        raise InputError(
            f"reports of {source.where} must be outputs of its table, got {foreign.count} of {n_rows} that cannot "
            f"be, the first {value} in row {row}: they come from another table or lost digits; correct them, {OFFER}"
        )
    if not n_reports:
        among = f" among {n_rows} rows" if skipped is not None and n_rows else ""
        raise InputError(f"every service must have reports, got none for {source.where}{among}: leave it out")


class _Faults:
    """How many rows have a fault, and the first of them with their values."""

    def __init__(self) -> None:
        self.count = 0
        self.first: list[tuple[int, float]] = []

    def note(self, at_fault: np.ndarray, block: np.ndarray, start: int) -> None:
        number = int(np.count_nonzero(at_fault))
        if number and len(self.first) < ROWS_NAMED:
            rows = np.flatnonzero(at_fault)[: ROWS_NAMED - len(self.first)]
            self.first += [(start + int(row) + 1, float(block[row])) for row in rows]
        self.count += number
