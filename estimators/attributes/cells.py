"""The cells of sources with a column for each attribute: only those that are filled are ever looked at by themselves.

A row has a cell for each attribute and a report in k of them.  The work database reads the rows once and keeps lists of
what is filled in each, which become the reports of each attribute with the numbers of their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ..counting.staged import key_column, require_keys
from ..counting.user_keys import KeyColumn
from ..reading.columns.cells import is_text, number, number_fault, numeric_cell, quoted
from ..reading.columns.files import column_position
from ..reading.columns.rows.skipped_rows import ROWS_NAMED
from ..reading.columns.simulated_columns import marked_column
from ..reading.columns.table_column import of_table
from .source import AttributeSource

Reports = tuple[np.ndarray, np.ndarray]
"""Rows (r,) from 0 on, and the report (r,) or its output in each."""


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
        relation = of_table(relation, names, source.made, source.where, path=source.path, own=attributes)
        if key in attributes:
            raise InputError(f"the key must be another column than the attributes, got {key!r} for both")
        values = []
        for attribute in attributes:
            column = marked_column(names, attribute, source.where, others=attributes)
            where = f"column {column!r} of {source.where}"
            position = column_position(names, column, where)
            with source.reading():
                cell = numeric_cell(relation, position, where, source.path)
            values.append((cell, is_text(relation, position)))
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
