"""Sources in which nothing is wrong, counted by the engine that reads them: most are, and so need no row of their own.

A table of points has few reports, so its reports are grouped by value; users are matched by the engine's own full join.
Wherever something is missing, foreign or repeated, the answer here is None, and the rows go
the long way of `users`, which knows which of them are at fault and what to say.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from ...mechanisms.user_name import LONGEST_NAME
from ..reading.columns.cells import number, number_fault
from ..reading.columns.files import UNREADABLE_FILE, extension_of
from .codes import OutputCodes
from .group import NOT_REPORTED
from .source import ReportSource
from .staged import BLOCK, SourceRows

INTEGER = re.compile(r"U?(TINY|SMALL|BIG)?INT(EGER)?")
"""Types of columns whose cells are whole numbers of 64 bits at the most."""


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


def keyed_codes(
    connection: duckdb.DuckDBPyConnection,
    rows: Sequence[SourceRows],
    codes: OutputCodes,
    key_type: str,
    *,
    drop_missing: bool,
) -> list[str] | None:
    """Return SQL for each source's users and codes, where its numbers of outputs can be coded as they are read.

    None where reports are no integers, or a row that may be skipped is at fault. Of other rows at fault the key or the
    code is NULL, which `users_joined` finds.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        That the sources were opened with; views of them are made in it.
    rows : sequence of SourceRows
        With keys.
    codes : OutputCodes
        Of the sources' tables.
    key_type : str
        In which keys are compared.
    drop_missing : bool
        Whether reports may be missing.

    Raises
    ------
    InputError
        A source that cannot be read.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.estimators.counting.staged import source_rows
    >>> from optldp.mechanisms.families.grr import grr
    >>> reports = {"user": np.array([7, 9, 8]), "output": np.array([1, 0, 1])}
    >>> with duckdb.connect() as connection:
    ...     source = report_sources([(grr([0, 1], 1.0), reports)])[0].knowing(connection, "output")
    ...     rows = [source_rows(connection, source, "report", "user")]
    ...     parts = keyed_codes(connection, rows, OutputCodes.of([2]), "BIGINT", drop_missing=False)
    ...     users_joined(connection, parts, OutputCodes.of([2]))
    (array([[0],
           [1]], dtype=int32), array([1, 2]))
    """
    if not all(part.key is not None and part.source.indexed and not part.is_text and _is_plain(part) for part in rows):
        return None
    found = []
    for j, part in enumerate(rows):
        if part.key is None or not INTEGER.fullmatch(str(part.relation.project(part.cell).types[0])):
            return None
        key, size = part.key.expression(key_type), part.source.service.mechanism.low.size
        named = f"CASE WHEN strlen({key}) <= {LONGEST_NAME} THEN {key} END" if key_type == "VARCHAR" else key
        code = f"(CAST({part.cell} AS BIGINT) + {-NOT_REPORTED}) << {codes.shifts[j]}"
        columns = [f"{named} AS key", f"CASE WHEN {part.cell} BETWEEN 0 AND {size - 1} THEN {code} END AS code"]
        relation = part.relation.filter(f"{part.cell} IS NOT NULL") if drop_missing else part.relation
        with part.source.reading():
            if part.is_tolerant:
                told = relation.project(f"{', '.join(columns)}, {part.key.fault(key)} AS fault")
                rows_in, keys, sound, faults = told.aggregate(
                    "count(*), count(key), count(code), count(fault)"
                ).fetchall()[0]
                if not rows_in == keys == sound or faults:
                    return None
            relation.project(", ".join(columns)).create_view(f"sound_{j}")
        found.append(f"sound_{j}")
    return found


def users_joined(
    connection: duckdb.DuckDBPyConnection, parts: Sequence[str], codes: OutputCodes
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the distinct outputs (R, J) of users and the users (R,) of each, or None where one is in a part twice.

    A user who is twice in a part is in more rows of the full join than sent reports, unless in no other part: so rows
    are counted, and keys where users are in one part alone. None, too, where a row has no key or no code: a key that is
    NULL matches none and stays in the join, and a report without a code is missing there among its part's rows.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    parts : sequence of str
        Relations of the columns key and code, of each service.
    codes : OutputCodes

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     _ = connection.execute("CREATE TABLE a AS SELECT 7 AS key, CAST(2 AS BIGINT) << 61 AS code")
    ...     _ = connection.execute("CREATE TABLE b AS SELECT 7 AS key, CAST(1 AS BIGINT) << 59 AS code")
    ...     users_joined(connection, ["a", "b"], OutputCodes.of([2, 2]))
    (array([[1, 0]], dtype=int32), array([1]))
    """
    names = [f"word_{i}" for i in range(codes.n_words)]
    words = []
    for word, name in enumerate(names):
        mine = [f"coalesce(p{j}.code, 0)" for j, of in enumerate(codes.words) if of == word]
        words.append(f"{' | '.join(mine)} AS {name}")
    joins = " ".join(f"FULL JOIN {part} AS p{j} USING (key)" for j, part in enumerate(parts) if j)
    grouped = (
        f"SELECT {', '.join(names)}, count(*) AS users, count(key) AS keyed "
        f"FROM (SELECT key, {', '.join(words)} FROM {parts[0]} AS p0 {joins}) "
        "GROUP BY ALL ORDER BY ALL"
    )
    try:
        read = connection.execute(grouped).fetchnumpy()
    except (duckdb.InterruptException, duckdb.OutOfMemoryException):
        raise
    except UNREADABLE_FILE:  # who looks at each row says which source it is
        return None
    found = {name: np.ma.getdata(column) for name, column in read.items()}
    if (found["users"] != found["keyed"]).any():
        return None
    outputs, users = codes.decode([found[name] for name in names]), found["users"]
    there = outputs != NOT_REPORTED
    alone = (there & (there.sum(axis=1, keepdims=True) == 1)).any(axis=0)
    for part, reported, lone in zip(parts, (there * users[:, None]).sum(axis=0), alone, strict=True):
        rows = f"SELECT count(*){', count(DISTINCT key)' if lone else ''} FROM {part}"
        if any(many != reported for many in connection.execute(rows).fetchall()[0]) or not reported:
            return None
    return outputs, users


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
