"""Rows that say how many users made a report: what any engine's GROUP BY answers, from a file or a table in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .....mechanisms.errors import InputError
from ..other_table import TABLE, Made
from ..simulated_columns import OUTPUT, USERS, is_marked, marked_column
from .skipped_rows import OFFER, ROWS_NAMED, TEXT_SHOWN, SkippedRows, failing_rows

NOTHING = -1
"""In place of a whole number that may be missing."""


@dataclass(frozen=True)
class Wanted:
    """Columns that reports may stand in, whether they are whole numbers there and not text, and whether one may miss.

    `NOTHING` stands for what is missing.
    """

    columns: tuple[str, ...]
    whole: bool = True
    may_be_blank: bool = False


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Reports as they stand in columns, each row with the number of its users, which is above zero.

    Attributes
    ----------
    wanted : Wanted
        What was found.
    columns : tuple of (R,) ndarray
        Whole numbers (int64), or text.
    users : (R,) ndarray of int64
    rows : (R,) ndarray of int64
        Where each stood, from 1.
    simulated : bool
        Whether the columns say that a numpy Generator drew the reports.
    where : str
        How messages call what the rows came from.
    """

    wanted: Wanted
    columns: tuple[np.ndarray, ...]
    users: np.ndarray
    rows: np.ndarray
    simulated: bool
    where: str

    def those(self, kept: np.ndarray) -> CountedRows:
        """Return some of the rows, (R,) bool."""
        columns = tuple(column[kept] for column in self.columns)
        return replace(self, columns=columns, users=self.users[kept], rows=self.rows[kept])

    def refuse(self, wrong: np.ndarray, reasons: Sequence[str], skipped: SkippedRows | None) -> CountedRows:
        """Return the rows that are not wrong (R,), bool; the others are counted in an account, without it refused.

        Parameters
        ----------
        wrong : (R,) ndarray of bool
        reasons : sequence of str
            For the first rows that are wrong.
        skipped : SkippedRows, optional

        Raises
        ------
        InputError
            How many users such rows are of, the first row and the reason.
        """
        if not wrong.any():
            return self
        number = sum(self.users[wrong].tolist())
        first = list(zip(self.rows[wrong].tolist(), reasons, strict=False))
        if skipped is None:
            row, reason = first[0]
            raise InputError(
                f"{self.where} must hold counts of reports of this mechanism, got {number} of what is none, the first "
                f"in row {row}: {reason}: correct them, {OFFER}"
            )
        skipped.note(number, first)
        return self.those(~wrong)


def counted_rows(rows: Any, wanted: Sequence[Wanted], made: Made, skipped: SkippedRows | None = None) -> CountedRows:
    """Read rows of reports and numbers of users; those of no users are left out.

    Parameters
    ----------
    rows : path or table in memory
        As `count` takes sources.
    wanted : sequence of Wanted
        The first of these whose columns are all there is read.
    made : callable
        Says which table the reports have to be of, where rows name one.
    skipped : SkippedRows, optional
        Where users are counted whose reports are missing or unreadable; without it they are refused.

    Raises
    ------
    InputError
        One line each: no such file or columns; numbers of users that are none: negative, fractional, missing, too
        large; reports that are missing or unreadable, or of another table.

    Example
    -------
    >>> rows = {"output": np.array([2, 0]), "n": np.array([5, 7])}
    >>> found = counted_rows(rows, [Wanted(("output",))], lambda: "t0123456789ab")
    >>> found.columns, found.users
    ((array([2, 0]),), array([5, 7]))
    """
    where = repr(str(rows)) if isinstance(rows, str | os.PathLike) else "the table of counts"
    found = _plain_columns(rows, wanted, where)
    if found is None:
        from ..counted_cells import read_cells  # loads the engine

        found = read_cells(rows, wanted, made, where)
    form, names, cells = found
    counts, simulated = _users(cells, where), any(map(is_marked, names))
    reports = [cells[f"c{i}"] for i in range(len(names))]
    read = CountedRows(
        wanted[form],
        tuple(map(np.ma.getdata, reports)),
        counts,
        np.arange(1, counts.size + 1),
        simulated,
        where,
    ).those(counts > 0)
    wrong = np.any([np.ma.getmaskarray(column) for column in reports], axis=0)
    first = np.flatnonzero(wrong & (counts > 0))[:ROWS_NAMED]
    reasons = [_reason(cells, len(names), row, wanted[form].whole) for row in first.tolist()]
    return read.refuse(wrong[counts > 0], reasons, skipped)


def _plain_columns(rows: Any, wanted: Sequence[Wanted], where: str) -> tuple[int, list[str], dict[str, Any]] | None:
    """What `read_cells` returns, of numpy's whole numbers, which need no engine to be read; None for all else."""
    if not isinstance(rows, Mapping) or not all(isinstance(name, str) for name in rows) or TABLE in rows:
        return None
    marked = [[marked_column(list(rows), name, where) for name in each.columns] for each in wanted]
    form = next((i for i, names in enumerate(marked) if {USERS, *names} <= set(rows)), None)
    if form is None:
        return None
    columns = [rows[USERS], *(rows[name] for name in marked[form])]
    if not all(type(column) is np.ndarray and column.dtype.kind in "iu" for column in columns):
        return None
    shapes, exact = {column.shape for column in columns}, all(np.can_cast(c.dtype, np.int64) for c in columns)
    if len(shapes) > 1 or columns[0].ndim != 1 or not exact:
        return None
    users, *reports = (column.astype(np.int64) for column in columns)
    if not wanted[form].whole:
        reports = [np.array(list(map(str, column.tolist())), dtype=object) for column in reports]
    cells = {f"c{i}": column for i, column in enumerate(reports)}
    return form, marked[form], cells | {"users": users, "shown": users}


def _users(found: dict[str, Any], where: str) -> np.ndarray:
    """The numbers of users (R,), or the error that says which is none; what cannot be added cannot be left out."""
    users = np.ma.filled(found["users"], -1).astype(np.int64)
    if (wrong := users < 0).any():
        row = int(np.argmax(wrong))
        shown = np.ma.getdata(found["shown"])[row] if not np.ma.getmaskarray(found["shown"])[row] else None
        raise InputError(
            f"column {USERS!r} of {where} must hold whole numbers of users from 0 on, got "
            f"{'none' if shown is None else repr(str(shown))} in row {row + 1}: use the answer as the engine gave it"
        )
    return users


def _reason(found: dict[str, Any], many: int, row: int, whole: bool) -> str:
    """What to say of a row without a report."""
    for i in range(many):
        if np.ma.getmaskarray(found[f"c{i}"])[row]:
            shown = found[f"s{i}"]
            if np.ma.getmaskarray(shown)[row]:
                return "no output"
            return f"{str(np.ma.getdata(shown)[row])!r} is no {'whole number' if whole else 'short text'}"
    raise AssertionError("every row that is refused misses something")


def counted_reports(
    parse: Callable[[Sequence[str]], np.ndarray],
    rows: Any,
    made: Made,
    skipped: SkippedRows | None = None,
    *,
    columns: tuple[str, ...] = (OUTPUT,),
) -> tuple[np.ndarray, CountedRows]:
    """Return the reports (R, ...) that a column holds as text, and the rows; those that hold none are refused.

    Parameters
    ----------
    parse : callable
        Makes reports of texts, or raises InputError where one is none; of the first column.
    rows : path or table in memory
    made : callable
        As of `counted_rows`.
    skipped : SkippedRows, optional
        Where users are counted whose report is none; without it they are refused.
    columns : tuple of str

    Raises
    ------
    InputError
        As `counted_rows`, and texts that are no reports.

    Example
    -------
    >>> rows = {"output": np.array(["7", "8"]), "n": np.array([2, 1])}
    >>> counted_reports(lambda texts: np.array([int(text) for text in texts]), rows, lambda: "t0123456789ab")[0]
    array([7, 8])
    """
    found = counted_rows(rows, [Wanted(columns, whole=False)], made, skipped)
    texts = found.columns[0]
    wrong = np.zeros(texts.size, dtype=bool)
    try:
        parse(texts.tolist())
    except InputError:
        wrong[failing_rows(lambda some: parse(texts[some].tolist()), texts.size)] = True
    reasons = [f"{text!r:.{TEXT_SHOWN}} is no report of this mechanism" for text in texts[wrong][:ROWS_NAMED].tolist()]
    found = found.refuse(wrong, reasons, skipped)
    if not found.users.size:
        raise InputError(f"{found.where} must hold counts of at least one report, got none")
    return parse(found.columns[0].tolist()), found
