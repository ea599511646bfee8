"""Reports of a stream, and counts of reports in one: window by window, each let go before the next is read."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.data.keyed import write_keyed_reports
from ....estimators.data.numbers import write_columns
from ....estimators.data.simulated_columns import SIMULATED, USERS
from ....estimators.forms.plain_file import STANDARD_INPUT
from ....estimators.streams.csv_windows import csv_windows
from ....mechanisms.errors import InputError
from ..kinds.kind import Service, WrittenReports
from ..said.output import say

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..kinds.asked import CountOptions, PerturbOptions
    from ..kinds.kind import Kind

WINDOW, FIRST_ROW, ROWS = "window", "first_row", "rows"
"""Columns of counts in windows, before those of any counts."""


def perturb_windows(asked: PerturbOptions, kind: Kind, rng: np.random.Generator | None) -> WrittenReports:
    """Let go of a report for each value of standard input, window by window; return what there is to say, no report."""
    _require_stream(asked.data, asked.out)
    asked.refuse("of no use to a stream in windows", "--ledger", "--resume" if asked.resume else "--budget")
    kind.drawing(asked, rng)  # a user's pairs may stand in two windows: kinds of one column alone
    n = clipped = 0
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        part = Path(folder, "reports.csv")
        for window in csv_windows(asked.window or 1):
            with window.named():
                here = replace(asked, data=window.file)
                written = kind.perturb(here, rng)
                columns = asked.with_round(written.columns)
                if not asked.beside:
                    write_columns(part, columns)
                else:
                    write_keyed_reports(
                        part,
                        columns,
                        data=here.data,
                        column=asked.column,
                        key=asked.key,
                        keep=asked.keep or (),
                    )
            _let_go(part, header=n == 0)
            n, clipped = n + written.n, clipped + written.clipped
    return WrittenReports({}, n, clipped)


def count_windows(asked: CountOptions, kind: Kind, table: Path) -> int:
    """Let go of the counts of reports of each window of standard input; return the number of users.

    Rows are those of `count` with the number of the window, its first row and its number of rows before them. Counts
    of windows add up, so that estimators take them all as they are.
    """
    _require_stream(asked.files[1], asked.out)
    if len(asked.files) > 2:
        raise InputError(f"--window counts the reports of one service, got {len(asked.files) // 2}: count one by one")
    asked.refuse("of no use to windows, between which nobody looks for users", "--key")
    users = 0
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        part = Path(folder, "counts.csv")
        for window in csv_windows(asked.window or 1):
            with window.named():
                columns, told = kind.answer([Service(kind, table, window.file)], asked)
                if told["skipped"]:
                    say(f"note: window {window.number}: {told['skipped']} rows hold no report and were left out")
                many = int(columns[USERS].sum())
                place = {WINDOW: window.number, FIRST_ROW: window.first_row, ROWS: window.rows}
                ahead = {name: np.full(columns[USERS].size, value) for name, value in place.items()}
                write_columns(part, ahead | marked_counts(columns, told))
            _let_go(part, header=window.number == 0)
            users += many
    return users


def marked_counts(columns: Mapping[str, np.ndarray], told: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return counts under the names that say whether their reports were simulated."""
    mark = SIMULATED if told["simulated"] else ""
    return {name if name == USERS else mark + name: column for name, column in columns.items()}


def _require_stream(data: Path, out: Path) -> None:
    if str(data) != STANDARD_INPUT or str(out) != STANDARD_INPUT:
        raise InputError(
            f"--window takes standard input to standard output, - and --out -, got {str(data)!r} and {str(out)!r}"
        )


def _let_go(part: Path, *, header: bool) -> None:
    """Write a CSV file to standard output, and have it sent on."""
    text = part.read_bytes()
    sys.stdout.flush()
    sys.stdout.buffer.write(text if header else text.partition(b"\n")[2])
    sys.stdout.buffer.flush()
