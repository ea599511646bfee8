"""Reports of a stream, and counts of reports in one: window by window, each let go before the next is read."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ....estimators.reading.columns.keyed import write_keyed_reports
from ....estimators.reading.columns.number_cells import write_columns
from ....estimators.reading.columns.simulated_columns import SIMULATED, USERS
from ....estimators.reading.formats.plain_file import STANDARD_INPUT
from ....estimators.reading.streams.csv_windows import csv_windows
from ....mechanisms.errors import InputError
from ..handlers.kind import Service, WrittenReports
from ..output.output import say
from .counts_so_far import CountsSoFar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..handlers.kind import Kind
    from ..handlers.options import CountOptions
    from ..options.perturb import PerturbOptions

WINDOW, FIRST_ROW, ROWS = "window", "first_row", "rows"
"""Columns of counts in windows, before those of any counts."""


def perturb_windows(asked: PerturbOptions, kind: Kind, rng: np.random.Generator | None) -> WrittenReports:
    """Let go of a report for each value of standard input, window by window; return what there is to say, no report."""
    _require_stream(asked.data)
    if str(asked.out) != STANDARD_INPUT:
        raise InputError(f"--window lets reports go to standard output, --out -, got {str(asked.out)!r}")
    require_no_rows_before("write to a file of its own")
    asked.refuse("of no use to a stream in windows", "--ledger", "--resume" if asked.resume else "--budget")
    kind.drawing(asked, rng)  # a user's pairs may stand in two windows: kinds of one column alone
    n, clipped, constants, names = 0, 0, kind.constants([]), [asked.needed("--column")]
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        part = Path(folder, "reports.csv")
        for window in csv_windows(asked.window or 1):
            with window.named():
                here = replace(asked, data=window.file)
                written = kind.perturb(here, rng)
                columns = asked.with_round(written.columns, kind.mechanism, lambda here=here: here.users_of(names))
                if not asked.beside:
                    write_columns(part, columns, constants)
                else:
                    write_keyed_reports(
                        part,
                        columns,
                        data=here.data,
                        columns=names,
                        key=asked.key,
                        keep=asked.keep or (),
                        constants=constants,
                    )
            text = part.read_bytes()
            _let_go(text if n == 0 else text.partition(b"\n")[2], asked.out)
            n, clipped = n + written.n, clipped + written.clipped
    return WrittenReports({}, n, clipped)


def count_windows(asked: CountOptions, kind: Kind, table: Path) -> int:
    """Let go of the counts of reports of each window of standard input; return the number of users.

    Rows are those of `count` with the number of the window, its first row and its number of rows before them. Counts
    of windows add up, so that estimators take them all as they are. A file that is there is gone on with.
    """
    _require_stream(asked.files[1])
    if len(asked.files) > 2:
        raise InputError(f"--window counts the reports of one service, got {len(asked.files) // 2}: count one by one")
    asked.refuse("of no use to windows, between which nobody looks for users", "--key")
    asked.refuse("of no use to windows, which go on with a file", "--force")
    if piped := str(asked.out) == STANDARD_INPUT:
        require_no_rows_before("--out FILE.csv goes on with one")
    before, users = CountsSoFar() if piped else CountsSoFar.of(asked.out), 0
    constants = kind.constants([])
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        part = Path(folder, "counts.csv")
        for window in csv_windows(asked.window or 1):
            number = before.windows + window.number
            with window.named():
                columns, told = kind.answer([Service(kind, table, window.file)], asked)
                if told["skipped"]:
                    say(f"note: window {number}: {told['skipped']} rows hold no report and were left out")
                many = int(columns[USERS].sum())
                place = {WINDOW: number, FIRST_ROW: before.rows + window.first_row, ROWS: window.rows}
                ahead = {name: np.full(columns[USERS].size, value) for name, value in place.items()}
                write_columns(part, ahead | marked_counts(columns, told), constants)
            text = part.read_bytes()
            header = text[: text.index(b"\n") + 1]
            before.require_like(header, constants, asked.out)
            _let_go(text if window.number == 0 and not before.header else text[len(header) :], asked.out)
            users += many
    return users


def marked_counts(columns: Mapping[str, np.ndarray], told: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return counts under the names that say whether their reports were simulated."""
    mark = SIMULATED if told["simulated"] else ""
    return {name if name == USERS else mark + name: column for name, column in columns.items()}


def require_no_rows_before(cure: str) -> None:
    """Raise InputError where standard output is a file that has rows already: another header would stand among them."""
    try:
        found = os.fstat(sys.stdout.fileno())
    except (OSError, ValueError):  # no descriptor, as in a notebook
        return
    if stat.S_ISREG(found.st_mode) and found.st_size:
        raise InputError(f"windows must go to a pipe or an empty file, got standard output with rows in it: {cure}")


def _require_stream(data: Path) -> None:
    if str(data) != STANDARD_INPUT:
        raise InputError(f"--window takes standard input, -, got {str(data)!r}: without it any file is taken")


def _let_go(text: bytes, out: Path) -> None:
    """Write rows to standard output, or at the end of a file, and have them sent on."""
    if str(out) != STANDARD_INPUT:
        with out.open("ab") as stream:
            stream.write(text)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()
