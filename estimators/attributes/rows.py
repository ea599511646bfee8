"""The rows of services that ask for several attributes: which attributes each has drawn, and whose row it is.

A row has a cell for each attribute and a report in k of them.  Only these are ever looked at by themselves: the cells
of a source lie in the work database, or are arrays already, and each attribute's reports come out of them with the
numbers of their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from ...mechanisms.composed.attributes import AttributeSampling
from ...mechanisms.errors import InputError
from ..counting.source import Source, described
from ..counting.staged import key_column, require_keys
from ..counting.user_keys import KeyColumn
from ..data.cells import is_text, missing_message, number, number_fault, numeric_cell, quoted
from ..data.files import column_position
from ..data.simulated_columns import marked_column
from ..data.skipped_rows import OFFER, ROWS_NAMED, SkippedRows

Reports = tuple[np.ndarray, np.ndarray]
"""Rows (r,) from 0 on, and the report (r,) or its output in each."""


@dataclass(frozen=True, eq=False)
class AttributeSource(Source):
    """A service that asks for several attributes, and its reports."""

    name: str
    mechanism: AttributeSampling

    @property
    def columns(self) -> list[np.ndarray] | None:
        """The reports as a column of floats for each attribute; None for a file, a frame or whatever has other columns.

        Raises InputError for columns that do not match the attributes.
        """
        given = self.reports
        plain = isinstance(given, list | tuple) or (isinstance(given, np.ndarray) and not given.dtype.names)
        if isinstance(given, Mapping) or plain:
            return self.mechanism.columns(given)
        return None


def attribute_sources(sources: Sequence[Sequence[Any]]) -> tuple[AttributeSource, ...]:
    """Return the sources that tuples of (mechanism, reports) or (name, mechanism, reports) describe.

    Raises InputError for something else, or services of one name.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> made = AttributeSampling.of({"age": make_exact(duchi([0, 1], 1.0)).mechanism}, 1, 1.0)
    >>> attribute_sources([("web", made, "web.csv")])[0].where
    "service 'web' ('web.csv')"
    """
    found = tuple(
        AttributeSource(reports, where, name, mechanism)
        for name, mechanism, reports, where in described(sources, AttributeSampling)
    )
    names = [source.name for source in found]
    if len(set(names)) < len(names):
        raise InputError(f"services must have different names, got {names}")
    return found


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
class Cells:
    """The cells of a source: what each attribute's hold, and which rows are at fault whatever they hold."""

    n_rows: int
    reports: tuple[Reports, ...]
    faults: tuple[np.ndarray, Sequence[str]]
    """Rows, and the reasons of the first of them."""

    @classmethod
    def of_columns(cls, columns: Sequence[np.ndarray]) -> Cells:
        """Return the cells of arrays, NaN where an attribute was not drawn.

        Example
        -------
        >>> Cells.of_columns([np.array([np.nan, 2.0])]).reports
        ((array([1]), array([2.])),)
        """
        rows = [np.flatnonzero(~np.isnan(column)) for column in columns]
        reports = tuple((mine, column[mine]) for mine, column in zip(rows, columns, strict=True))
        return cls(columns[0].size, reports, (np.zeros(0, dtype=np.int64), ()))


@dataclass(frozen=True, eq=False)
class AttributeTable:
    """A source that was opened, and the columns to take from it.

    Parameters
    ----------
    source : AttributeSource
    relation : duckdb.DuckDBPyRelation
    values : tuple of (str, bool)
        Each attribute's column, quoted, and whether it holds text.
    is_tolerant : bool
        Whether rows may hold no report: the relation's last column then says so of a row that is none.
    key : KeyColumn or None
        The column of users.
    """

    source: AttributeSource
    relation: duckdb.DuckDBPyRelation
    values: tuple[tuple[str, bool], ...]
    is_tolerant: bool
    key: KeyColumn | None

    @classmethod
    def open(
        cls, connection: duckdb.DuckDBPyConnection, source: AttributeSource, key: str | None, *, tolerant: bool
    ) -> AttributeTable:
        """Open a source and find its columns, without reading its rows; InputError where they are not there."""
        relation, names = source.open(connection, tolerant=tolerant)
        attributes = source.mechanism.attributes
        if key in attributes:
            raise InputError(f"the key must be another column than the attributes, got {key!r} for both")
        values = []
        for attribute in attributes:
            column = marked_column(names, attribute, source.where, others=attributes)
            where = f"column {column!r} of {source.where}"
            position = column_position(names, column, where)
            values.append((numeric_cell(relation, position, where), is_text(relation, position)))
        found = None if key is None else key_column(relation, names, source, key)
        return cls(source, relation, tuple(values), tolerant, found)

    def read(self, connection: duckdb.DuckDBPyConnection, table: str, key_type: str) -> Cells:
        """Read the rows once, leave the keys in a table of that name, in the order of rows, and return the cells.

        Raises InputError for a source that cannot be read, and keys that are missing or of another type.
        """
        wide, faults, columns = f"wide_{table}", [], _filled(self.values)
        if self.key is not None:
            key = self.key.expression(key_type)
            columns += [f"{key} AS key", f"{self.key.cell} IS NULL AS anonymous"]
            faults = [self.key.fault(key)]
        if self.is_tolerant:
            faults = [quoted(self.relation.columns[-1]), *faults]
        columns.append(f"coalesce({', '.join([*faults, 'CAST(NULL AS VARCHAR)'])}) AS fault")
        with self.source.reading():
            self.relation.project(", ".join(columns)).create(wide)
        if self.key is not None and not self.is_tolerant:
            require_keys(connection, self.key, key_type, wide)
        cells = _cells(connection, wide, len(self.values))
        if self.key is not None:
            connection.execute(f"CREATE TABLE {table} AS SELECT key FROM {wide}")
        connection.execute(f"DROP TABLE {wide}")
        return cells


def _filled(values: Sequence[tuple[str, bool]]) -> list[str]:
    """Return SQL for the cells of a row that are filled, and their attributes: lists of numbers, and lists of texts.

    Most cells are empty: only these lists are looked at again, cell by cell.
    """
    columns = []
    for kind, text in (("numbers", False), ("texts", True)):
        mine = [
            (i, cell if text else number(cell, text=False)) for i, (cell, held) in enumerate(values) if held == text
        ]
        found = {
            f"{kind}_of": [f"CASE WHEN {cell} IS NOT NULL THEN {i} END" for i, cell in mine] or ["NULL::INTEGER"],
            kind: [cell for _, cell in mine] or ["NULL::VARCHAR" if text else "NULL::DOUBLE"],
        }
        columns += [f"[x FOR x IN [{', '.join(some)}] IF x IS NOT NULL] AS {name}" for name, some in found.items()]
    return columns


def _cells(connection: duckdb.DuckDBPyConnection, wide: str, attributes: int) -> Cells:
    """Return the cells of rows that were read into a table with the columns of `_filled`, and `fault`."""
    n_rows = connection.execute(f"SELECT count(*) FROM {wide}").fetchall()[0][0]
    of_numbers = (
        f"SELECT rowid AS row, unnest(numbers_of) AS place, unnest(numbers) AS report, NULL AS fault FROM {wide}"
    )
    texts = f"SELECT rowid AS row, unnest(texts_of) AS place, unnest(texts) AS cell FROM {wide}"
    of_texts = f"SELECT row, place, {number('cell', text=True)}, {number_fault('cell', text=True)} FROM ({texts})"
    connection.execute(f"CREATE TABLE cells AS {of_numbers} UNION ALL {of_texts}")
    every = f"SELECT rowid AS row, -1 AS place, fault FROM {wide} UNION ALL SELECT row, place, fault FROM cells"
    faults = f"SELECT row, arg_min(fault, place) FROM ({every}) WHERE fault IS NOT NULL GROUP BY row ORDER BY row"
    faulty = np.asarray(connection.execute(f"SELECT row FROM ({faults})").fetchnumpy()["row"])
    reasons = [reason for _, reason in connection.execute(f"{faults} LIMIT {ROWS_NAMED}").fetchall()]
    sound = "report IS NOT NULL AND NOT isnan(report)"
    found = connection.execute(f"SELECT row, place, report FROM cells WHERE {sound} ORDER BY place, row").fetchnumpy()
    connection.execute("DROP TABLE cells")
    rows, places, reports = (np.asarray(found[name]) for name in ("row", "place", "report"))
    kept = ~np.isin(rows, faulty)
    ends = np.searchsorted(places[kept], np.arange(1, attributes))
    parts = zip(np.split(rows[kept], ends), np.split(reports[kept], ends), strict=True)
    return Cells(n_rows, tuple(parts), (faulty, reasons))


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
