"""Blocks of reports to blocks of outputs, and an account of the reports that are none."""

from collections.abc import Iterator

import numpy as np

from ..mechanisms.errors import InputError
from .data_file import missing_message
from .report_group import NOT_REPORTED
from .report_source import ReportSource


def output_blocks(source: ReportSource, blocks: Iterator[np.ndarray], *, drop_missing: bool) -> Iterator[np.ndarray]:
    """Turn each block of reports into a block of outputs, -1 for a missing report.

    Parameters
    ----------
    source : ReportSource
        Its table says which output a report is.
    blocks : iterator of (n,) ndarray of float
        NaN is a missing report.
    drop_missing : bool
        Whether reports may be missing.

    Raises
    ------
    InputError
        After the last block: reports that the table cannot produce, or that are missing, with their number and the
        row of the first, counted from 1; or no report at all.

    Example
    -------
    >>> from optldp.mechanisms.grr import grr
    >>> from optldp.estimators.report_source import report_sources
    >>> source = report_sources([(grr([0, 1, 2], 1.0), "reports.csv")])[0]
    >>> blocks = iter([np.array([2.0, np.nan]), np.array([1.0])])
    >>> [block.tolist() for block in output_blocks(source, blocks, drop_missing=True)]
    [[2, -1], [1]]
    """
    mechanism = source.service.mechanism
    missing, foreign = _Faults(), _Faults()
    n_rows = 0
    for block in blocks:
        outputs = mechanism.locate(block)
        absent = np.isnan(block)
        missing.note(absent, block, n_rows)
        foreign.note((outputs == NOT_REPORTED) & ~absent, block, n_rows)
        n_rows += block.size
        yield outputs
    if missing.count and not drop_missing:
        raise InputError(missing_message(f"reports of {source.where}", missing.count, missing.row))
    if foreign.count:
        raise InputError(
            f"reports of {source.where} must be outputs of its table, got {foreign.count} of {n_rows} that cannot "
            f"be, the first {foreign.value} in row {foreign.row}: they come from another table or lost digits"
        )
    if missing.count == n_rows:
        raise InputError(f"every service must have reports, got none for {source.where}: leave it out")


class _Faults:
    """How many rows have a fault, and the first of them."""

    def __init__(self) -> None:
        self.count, self.row, self.value = 0, 0, 0.0

    def note(self, at_fault: np.ndarray, block: np.ndarray, start: int) -> None:
        number = int(np.count_nonzero(at_fault))
        if number and not self.count:
            first = int(np.argmax(at_fault))
            self.row, self.value = start + first + 1, float(block[first])
        self.count += number
