"""Rows of several attributes: which of them hold the reports of one user, and are counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ..reading.columns.cells import missing_message
from ..reading.columns.rows.skipped_rows import OFFER, ROWS_NAMED, SkippedRows
from .cells import Cells, Reports
from .source import AttributeSource


@dataclass(frozen=True, eq=False)
class AttributeRows:
    """What the rows of a service hold.

    Parameters
    ----------
    drawn : tuple of Reports
        For each attribute, the rows that have drawn it and their outputs.
    kept : (n,) ndarray of bool
        Rows that hold the reports of a user; no other row is among those drawn.
    """

    drawn: tuple[Reports, ...]
    kept: np.ndarray


@dataclass(frozen=True, eq=False)
class RowRules:
    """Which rows count: what may be missing, and where rows that hold no report are counted instead of refused.

    Parameters
    ----------
    drop_missing : bool
        Whether rows may be empty.
    skipped : SkippedRows or None
    """

    drop_missing: bool
    skipped: SkippedRows | None

    def rows(self, cells: Cells, source: AttributeSource, position: int, *, several: bool) -> AttributeRows:
        """Return the rows of a source that hold what a user reports, with the outputs.

        Raises
        ------
        InputError
            One line each, unless such rows may be left out: rows that are none, that are empty, that do not have k
            reports or have one that its table cannot make; or no report at all.
        """
        made, where = source.mechanism, source.where
        kept = np.ones(cells.n_rows, dtype=bool)
        told = _Told(self.skipped, f"reports of {where}", where if several else "", position)

        def leave_out(rows: np.ndarray, reasons: Sequence[str]) -> None:
            told.of(rows, reasons, cells.n_rows)
            kept[rows] = False

        leave_out(*cells.faults)
        many = np.zeros(cells.n_rows, dtype=np.int64)
        for rows, _ in cells.reports:
            many[rows] += 1
        empty = np.flatnonzero(kept & (many == 0))
        if self.drop_missing:
            kept[empty] = False
        elif empty.size and self.skipped is None:
            raise InputError(missing_message(f"reports of {where}", empty.size, int(empty[0]) + 1))
        else:
            leave_out(empty, ["no report"] * ROWS_NAMED)
        other = np.flatnonzero(kept & (many != made.sampled))
        leave_out(other, [f"{many[row]} reports, where {made.sampled} are drawn" for row in other[:ROWS_NAMED]])
        outputs = [table.locate(values) for table, (_, values) in zip(made.mechanisms, cells.reports, strict=True)]
        leave_out(*_foreign(made.attributes, cells.reports, outputs, kept))
        if not kept.any():
            raise InputError(f"every service must have reports, got none for {where}: leave it out")
        drawn = [(rows[kept[rows]], found[kept[rows]]) for (rows, _), found in zip(cells.reports, outputs, strict=True)]
        return AttributeRows(tuple(drawn), kept)


def _foreign(
    attributes: Sequence[str], reports: Sequence[Reports], outputs: Sequence[np.ndarray], kept: np.ndarray
) -> tuple[np.ndarray, list[str]]:
    """Rows with a report that its table cannot make, in their order, and the reasons of the first."""
    reasons: dict[int, str] = {}
    for name, (rows, values), found in zip(attributes, reports, outputs, strict=True):
        wrong = (found < 0) & kept[rows]
        for row, value in zip(rows[wrong].tolist(), values[wrong].tolist(), strict=True):
            reasons.setdefault(row, f"attribute {name!r}: {value!r} is no output of its table")
    first = sorted(reasons)
    return np.array(first, dtype=np.int64), [reasons[row] for row in first[:ROWS_NAMED]]


@dataclass(frozen=True)
class _Told:
    """Where rows that hold no report are told of: in an account, or in an error."""

    skipped: SkippedRows | None
    reports: str
    where: str
    position: int

    def of(self, rows: np.ndarray, reasons: Sequence[str], n_rows: int) -> None:
        if not rows.size:
            return
        first = [(int(row) + 1, reason) for row, reason in zip(rows, reasons, strict=False)]
        if self.skipped is None:
            row, reason = first[0]
            raise InputError(
                f"{self.reports} must be those of its mechanism, got {rows.size} of {n_rows} rows that cannot be, the "
                f"first in row {row}: {reason}; correct them, {OFFER}"
            )
        self.skipped.note(rows.size, first, source=self.position, where=self.where)
