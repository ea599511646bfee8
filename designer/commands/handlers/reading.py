"""Reports of every kind of mechanism from a file: row by row checked, and rows that hold none refused or left out."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import duckdb
import numpy as np

from ....estimators.reading.columns.cells import (
    TEXT_SHOWN,
    blank,
    is_text,
    missing_message,
    number,
    number_fault,
    numeric_cell,
    quoted,
    text_fault,
)
from ....estimators.reading.columns.files import (
    UNREADABLE_FILE,
    FilePath,
    column_position,
    columns_of,
    connected,
    open_file,
    open_tolerant,
    unreadable,
)
from ....estimators.reading.columns.other_table import Made
from ....estimators.reading.columns.rows.skipped_rows import OFFER, ROWS_NAMED, SkippedRows, failing_rows
from ....estimators.reading.columns.simulated_columns import column_of_reports, is_marked, marked_column
from ....estimators.reading.columns.table_column import of_table
from ....estimators.reading.columns.work_database import work_database
from ....mechanisms.errors import InputError
from .kind import Layout

C = TypeVar("C")

ROUNDS = "rounds"
"""The column of counts that says that their services are files of different times."""

USER_COLUMNS = ("user", "user_id", "userid", "uid", "id", "key")
"""What columns of users are called where none is named."""

ONCE_MEMORY = "256MB"
"""What duckdb may keep in memory to find equal rows; the rest is on disk."""


@dataclass(frozen=True, eq=False)
class ReadReports:
    """Reports as estimators take them, and what else the file told.

    Attributes
    ----------
    reports : object
        (n,) numbers for a table; what ``checked_reports`` describes for categories and pairs; `PersonalisedReports` for
        levels; a mapping of columns for attributes.
    simulated : bool
        Whether the file says that a numpy Generator drew them.
    skipped : SkippedRows
        Rows that hold no report and were left out.
    many : (n,) ndarray of int
        How many rows hold each report: one, unless equal rows are read once.
    """

    reports: Any
    simulated: bool
    skipped: SkippedRows
    many: np.ndarray


def read_laid_out(
    layout: Layout, path: FilePath, made: Made, *, drop_missing: bool, skip_invalid: bool, once: bool = False
) -> ReadReports:
    """Read the rows of a file that hold reports of the mechanism that `made` names; see `read_reports` for what is
    refused.

    `once` has equal rows read once, whatever their number, so that memory is that of the different ones.
    """
    try:
        with work_database(ONCE_MEMORY) if once else connected() as connection:
            cells = _Cells.read(connection, path, layout, made, tolerant=skip_invalid, once=once)
    except UNREADABLE_FILE as error:
        raise unreadable(path, error, "" if skip_invalid else f": correct it, {OFFER}") from None
    where = f"column {cells.names[0]!r} of {str(path)!r}" if len(cells.names) == 1 else repr(str(path))
    skipped, kept = SkippedRows(), np.ones(len(cells.faults), dtype=bool)

    def leave_out(rows: np.ndarray, reason: Callable[[int], str]) -> None:
        kept[rows] = False
        named = [(int(cells.rows[row]), reason(int(row))) for row in rows[:ROWS_NAMED]]
        skipped.note(int(cells.many[rows].sum()), named)

    leave_out(np.flatnonzero(cells.faults != None), lambda row: str(cells.faults[row]))  # noqa: E711 -- elementwise
    if not skip_invalid:
        _require_reports(where, skipped, int(cells.many.sum()))
    missing = np.flatnonzero(cells.missing & kept)
    if drop_missing:
        kept[missing] = False
    elif missing.size and not skip_invalid:
        raise InputError(missing_message(where, int(cells.many[missing].sum()), int(cells.rows[missing[0]])))
    else:
        leave_out(missing, lambda _: "no value")
    present = np.flatnonzero(kept)
    if not present.size:
        raise InputError(f"{where} must hold at least one value, but it is empty{_left_out(skipped)}")
    wrong = _failing(layout, [part[present] for part in cells.columns])
    leave_out(present[wrong], lambda row: _shown(layout, [part[row] for part in cells.columns]))
    if not skip_invalid:
        _require_reports(where, skipped, int(cells.many.sum()))
    present = np.flatnonzero(kept)
    if not present.size:
        raise InputError(f"{where} must hold at least one report, got none{_left_out(skipped)}")
    reports = layout.parse([part[present] for part in cells.columns])
    return ReadReports(reports, any(map(is_marked, cells.names)), skipped, cells.many[present])


def _failing(layout: Layout, columns: list[np.ndarray]) -> np.ndarray:
    """Rows that hold no report, each different one of them looked at once, or all at a glance."""
    if layout.wrong is not None:
        return np.flatnonzero(layout.wrong(columns))
    try:
        layout.parse(columns)
    except InputError:
        numbers: dict[tuple, int] = {}
        cells = zip(*(column.tolist() for column in columns), strict=True)
        which = np.array([numbers.setdefault(row, len(numbers)) for row in cells])
        first = np.unique(which, return_index=True)[1]
        wrong = failing_rows(lambda rows: layout.parse([column[first[rows]] for column in columns]), first.size)
        return np.flatnonzero(np.isin(which, wrong))
    return np.zeros(0, dtype=np.int64)


def column_in(path: FilePath, column: str) -> tuple[str, bool]:
    """Return what a file calls its column of reports, without the mark of a simulation, and whether it has the mark.

    Raises InputError for a file that cannot be opened.
    """
    names = columns_of(path)
    named = column_of_reports(names, column)
    return named, is_marked(marked_column(names, named, repr(str(path))))


def only_column(path: FilePath, usual: str) -> str:
    """Return the name of a file's only column, or the usual one; InputError for a file that cannot be opened."""
    names = columns_of(path)
    return names[0] if len(names) == 1 else usual


def answer_simulated(path: FilePath) -> bool:
    """Whether a file of counts says that they are of simulated reports; InputError for one that cannot be opened."""
    return any(map(is_marked, columns_of(path)))


def answers_simulated(paths: Sequence[FilePath]) -> bool:
    """Whether files of counts say that they are of simulated reports; InputError where some say so and others not."""
    simulated = [answer_simulated(path) for path in paths]
    if any(simulated) and not all(simulated):
        one, other = paths[simulated.index(True)], paths[simulated.index(False)]
        raise InputError(
            f"counts that are added must all be of reports in earnest, or all of a simulation, got {str(one)!r} of a "
            f"simulation and {str(other)!r} in earnest: leave one out"
        )
    return simulated[0]


def require_rounds(paths: Sequence[FilePath], rounds: bool) -> None:
    """Raise InputError for files of counts that say that they are of rounds where these were not asked for."""
    if not rounds and (said := [path for path in paths if ROUNDS in columns_of(path)]):
        raise InputError(f"counts of rounds are estimated by --rounds, got {str(said[0])!r} without it: add it")


def repeated_users(path: FilePath) -> tuple[str, int, int] | None:
    """Return the column that names users in a file, its rows and its users, where these are fewer; else None.

    It is the first that has one of the names in `USER_COLUMNS`.
    """
    try:
        with work_database(ONCE_MEMORY) as connection:
            relation, names = open_tolerant(connection, path)
            column = next((name for name in USER_COLUMNS if name in names), None)
            if column is None:
                return None
            cell = quoted(relation.columns[names.index(column)])
            rows, users = relation.aggregate(f"count({cell}), count(DISTINCT {cell})").fetchall()[0]
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None
    return (column, rows, users) if users < rows else None


def told_of_users(paths: Sequence[FilePath], key: str | None) -> dict[str, Any]:
    """Return what is to be said of users with several rows in a file; nothing where a key is named, or none has."""
    told = [(str(path), found) for path in paths if (found := repeated_users(path))] if key is None else []
    columns = ("file", "column", "rows", "users")
    return {"repeated_users": [dict(zip(columns, (path, *found), strict=True)) for path, found in told]} if told else {}


def added(counts: Iterable[C]) -> C:
    """Return the sum of counts, at least one, of disjoint users.

    Example
    -------
    >>> added([1, 2])
    3
    """
    each: Iterable[Any] = counts
    return functools.reduce(lambda one, other: one + other, each)


def holds_simulated(path: FilePath, column: str) -> bool:
    """Whether a file's column of reports is marked as simulated; InputError for a file that cannot be opened."""
    return column_in(path, column)[1]


def _require_reports(where: str, skipped: SkippedRows, n: int) -> None:
    if skipped.count:
        raise InputError(
            f"{where} must hold reports of this mechanism, got {skipped.count} of {n} rows that hold none, the first "
            f"in {skipped.first[0]}: correct them, {OFFER}"
        )


@contextmanager
def accounted(skipped: SkippedRows) -> Iterator[None]:
    """Say in an error what rows were left out before it: what is left may be too little to estimate from."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error}{_left_out(skipped)}") from None


def _left_out(skipped: SkippedRows) -> str:
    return f": {skipped}" if skipped.count else ""


def _shown(layout: Layout, row: Sequence[Any]) -> str:
    """What to say of a row that is no report."""
    cells = [cell if isinstance(cell, str) else float(cell) for cell in row]
    texts = [f"{cell!r:.{TEXT_SHOWN}}" for cell in cells if isinstance(cell, str) or not math.isnan(cell)]
    return f"{' with '.join(texts[:3]) or 'an empty row'} is {layout.none}"


@dataclass(frozen=True, eq=False)
class _Cells:
    """Columns as they were read, row by row, with what is wrong with a row's cells, and which miss one."""

    names: tuple[str, ...]
    columns: list[np.ndarray]
    faults: np.ndarray
    missing: np.ndarray
    many: np.ndarray
    rows: np.ndarray

    @classmethod
    def read(
        cls,
        connection: duckdb.DuckDBPyConnection,
        path: FilePath,
        layout: Layout,
        made: Made,
        *,
        tolerant: bool,
        once: bool,
    ) -> _Cells:
        relation, names = (open_tolerant if tolerant else open_file)(connection, path)
        place = repr(str(path))
        relation = of_table(relation, names, made, place, path=path, own=layout.columns)
        found = tuple(marked_column(names, name, place, others=layout.columns) for name in layout.columns)
        faults, blanks, columns = [quoted(relation.columns[-1])] if tolerant else [], [], []
        for i, (name, numeric) in enumerate(zip(found, layout.numeric, strict=True)):
            where = f"column {name!r} of {place}"
            position = column_position(names, name, where)
            cell = numeric_cell(relation, position, where, path) if numeric else quoted(relation.columns[position])
            if numeric:
                text = is_text(relation, position)
                value, fault = number(cell, text=text), number_fault(cell, text=text)
                empty = f"({blank(cell, text=text)} OR coalesce(isnan({value}), false))"
            else:
                cell = f"CAST({cell} AS VARCHAR)"
                fault, empty = text_fault(cell), blank(cell, text=True)
                value = f"CASE WHEN {fault} IS NULL THEN {cell} END"
            columns.append(f"{value} AS c{i}")
            faults.append(fault)
            blanks.append(empty)
        absent = " AND ".join(blanks) if layout.may_be_blank else " OR ".join(blanks)
        query = f"{', '.join(columns)}, coalesce({', '.join([*faults, 'NULL'])}) AS fault, {absent} AS missing"
        told = relation.project(query)
        if once:
            same = ", ".join(told.columns)
            told = told.project(f"{same}, row_number() OVER () AS r")
            told = told.aggregate(f"{same}, count(*) AS many, min(r) AS r", same).order("r")
        fetched = told.fetchnumpy()
        size = len(fetched["missing"])
        many, rows = np.ones(size, dtype=np.int64), np.arange(1, size + 1)
        if once:
            many, rows = np.ma.getdata(fetched["many"]), np.ma.getdata(fetched["r"])
        return cls(
            found,
            [_plain(fetched[f"c{i}"], numeric) for i, numeric in enumerate(layout.numeric)],
            _plain(fetched["fault"], False),
            np.ma.filled(fetched["missing"], True).astype(bool),
            many,
            rows,
        )


def _plain(fetched: np.ndarray, numeric: bool) -> np.ndarray:
    """Numbers with NaN, or text with None, where duckdb masks."""
    if numeric:
        return np.ma.filled(np.ma.asarray(fetched).astype(np.float64), np.nan)
    texts = np.array(np.ma.getdata(fetched), dtype=object)
    texts[np.ma.getmaskarray(fetched)] = None
    return texts
