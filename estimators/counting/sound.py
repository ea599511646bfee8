"""Sources in which nothing is wrong, counted by the engine that reads them: most are, and so need no row of their own.

A table of points has few reports, so its reports are grouped by value; users who are numbered are counted in an array
that has a place for each.  Wherever something is missing, foreign or repeated, the answer here is None, and the rows go
the long way of `users`, which knows which of them are at fault and what to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from ..reading.columns.cells import number, number_fault
from ..reading.columns.files import extension_of
from .codes import OutputCodes
from .group import NOT_REPORTED
from .source import ReportSource
from .staged import BLOCK, TABLE, SourceRows

NUMBERS_A_ROW = 4
"""Users are numbered densely where at most so many numbers fall on each row of all sources."""

MOST_NUMBERS = 2**27
"""And where at most so many numbers are to be kept: a gigabyte at the most."""

MOST_COUNTED = 22
"""Bits of combinations of outputs up to which each has a counter of its own: 32 megabytes; beyond, they are sorted."""


@dataclass(frozen=True, eq=False)
class DistinctReports:
    """The distinct reports of one source, each an output of its table or NaN for none.

    Parameters
    ----------
    values : (R,) ndarray of float
    rows : (R,) ndarray of int64
        How many rows hold each; values of different text may be equal.
    """

    values: np.ndarray
    rows: np.ndarray


def distinct_reports(rows: SourceRows, *, drop_missing: bool) -> DistinctReports | None:
    """Return the distinct reports of a table of points, or None where rows have to be looked at.

    Raises
    ------
    InputError
        A source that cannot be read.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.estimators.counting.staged import source_rows
    >>> from optldp.mechanisms.families.grr import grr
    >>> source = report_sources([(grr([0, 1], 1.0), {"report": np.array([1.0, 1.0, 1.0])})])[0]
    >>> with duckdb.connect() as connection:
    ...     found = distinct_reports(source_rows(connection, source, "report", None), drop_missing=False)
    >>> found.values, found.rows
    (array([1.]), array([3]))
    """
    source = rows.source
    if not (source.indexed or source.service.mechanism.is_discrete) or not _is_plain(rows):
        return None
    # Cells are grouped as they stand and only then read as numbers, a few of them and far from the scanner.
    grouped = rows.relation.project(f"{rows.cell} AS cell").aggregate("cell, count(*) AS users", "cell")
    report, fault = (make("cell", text=rows.is_text) for make in (number, number_fault))
    with rows.source.reading():
        found = grouped.project(f"{report} AS report, {fault} IS NOT NULL AS faulty, users").limit(BLOCK).fetchnumpy()
    values = np.ma.filled(found["report"].astype(np.float64), np.nan)
    located = located_reports(source, values, drop_missing=drop_missing)
    if values.size == BLOCK or found["faulty"].any() or located is None or (located < 0).all():
        return None
    return DistinctReports(values, np.ma.getdata(found["users"]).astype(np.int64))


def users_by_number(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[SourceRows],
    codes: OutputCodes,
    *,
    drop_missing: bool,
    progress: Callable[[str, float], object],
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the distinct outputs (R, J) of users whose keys are integers close together, and the users (R,) of each.

    None where keys are none such or missing, where reports are text, a user has two of them to a service, or a row
    holds none.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        That the sources were opened with.
    rows : sequence of SourceRows
        With keys of integers.
    codes : OutputCodes
        Of the sources' tables, in one word.
    drop_missing : bool
        Whether reports may be missing.
    progress : callable

    Raises
    ------
    InputError
        A source that cannot be read.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.estimators.counting.staged import source_rows
    >>> from optldp.mechanisms.families.grr import grr
    >>> reports = {"user": np.array([7, 9, 8]), "report": np.array([1.0, 0.0, 1.0])}
    >>> source = report_sources([(grr([0, 1], 1.0), reports)])[0]
    >>> with duckdb.connect() as connection:
    ...     rows = [source_rows(connection, source, "report", "user")]
    ...     users_by_number(connection, rows, OutputCodes.of([2]), drop_missing=False, progress=lambda *told: None)
    (array([[0],
           [1]], dtype=int32), array([1, 2]))
    """
    span = _dense_span(rows) if all(map(_is_plain, rows)) else None
    if span is None:
        return None
    first, size = span
    low = codes.shifts[-1]  # no field is below it
    bits = codes.shifts[0] + codes.widths[0] - low
    users = np.zeros(size, dtype=np.int32 if bits < 32 else np.int64)
    for j, part in enumerate(rows):
        progress(f"reading {part.source.where}", j / (len(rows) + 1))
        reported = 0
        for reports, keys in _keyed_blocks(connection, part):
            outputs = located_reports(part.source, reports, drop_missing=drop_missing)
            if outputs is None:
                return None
            there = slice(None) if (outputs >= 0).all() else outputs >= 0
            coded = (codes.encode(j, outputs[there]) >> low).astype(users.dtype)
            users[keys[there] - first] |= coded
            reported += coded.size
        field = ((1 << codes.widths[j]) - 1) << (codes.shifts[j] - low)
        if not reported or np.count_nonzero(users & field) != reported:
            return None
    progress("counting users", len(rows) / (len(rows) + 1))
    words, counts = _counted(users, bits)
    progress("counting users", 1.0)
    return codes.decode([words.astype(np.int64) << low]), counts


def located_reports(source: ReportSource, reports: np.ndarray, *, drop_missing: bool) -> np.ndarray | None:
    """Return the output (n,) of each report, -1 for NaN; None where one is missing unasked, or none of the table's.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.mechanisms.families.grr import grr
    >>> source = report_sources([(grr([0, 1], 1.0), "reports.csv")])[0]
    >>> located_reports(source, np.array([1.0, np.nan]), drop_missing=True)
    array([ 1, -1])
    >>> located_reports(source, np.array([0.5]), drop_missing=True) is None
    True
    """
    outputs = source.locate(reports)
    none = outputs == NOT_REPORTED
    if none.any() and not (drop_missing and np.isnan(reports[none]).all()):
        return None
    return outputs


def _is_plain(rows: SourceRows) -> bool:
    """Whether the engine can read the rows again, and as they are: a CSV whose rows may be none is read by lines."""
    path = rows.source.path
    return rows.source.is_stored and not (rows.is_tolerant and path is not None and extension_of(path) == ".csv")


def _dense_span(rows: Sequence[SourceRows]) -> tuple[int, int] | None:
    """The least key of all sources and how many integers there are to the largest, if that is not too many."""
    ends, total = [], 0
    for part in rows:
        if part.is_text:  # of which a number that is none would look like one that is missing
            return None
        with part.source.reading():
            found = part.relation.project(f"{_key_of(part)} AS key")
            low, high, n, named = found.aggregate("min(key), max(key), count(*), count(key)").fetchall()[0]
        if named < n or not n:
            return None
        ends += [low, high]
        total += n
    size = max(ends) - min(ends) + 1
    return (min(ends), size) if size <= min(MOST_NUMBERS, NUMBERS_A_ROW * total) else None


def _keyed_blocks(connection: duckdb.DuckDBPyConnection, rows: SourceRows) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Read a source whose keys are integers, all there, and yield its reports, NaN for none, and its keys by blocks."""
    with rows.source.reading():
        connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
        rows.relation.project(f"{number(rows.cell, text=False)} AS report, {_key_of(rows)} AS key").create(TABLE)
    n_rows = connection.execute(f"SELECT count(*) FROM {TABLE}").fetchall()[0][0]
    for start in range(0, n_rows, BLOCK):
        query = f"SELECT report, key FROM {TABLE} WHERE rowid >= {start} AND rowid < {start + BLOCK}"
        found = connection.execute(query).fetchnumpy()
        yield np.ma.filled(found["report"].astype(np.float64, copy=False), np.nan), np.ma.getdata(found["key"])
    connection.execute(f"DROP TABLE {TABLE}")


def _key_of(rows: SourceRows) -> str:
    """SQL for the key as an integer."""
    return "NULL" if rows.key is None else rows.key.expression("BIGINT")


def _counted(users: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Distinct numbers above zero (R,), increasing, and how often each is there."""
    if bits <= MOST_COUNTED:
        totals = np.bincount(users)
        totals[0] = 0
        words = np.flatnonzero(totals)
        return words, totals[words]
    words, counts = np.unique(users[users != 0], return_counts=True)
    return words, counts
