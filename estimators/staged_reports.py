"""One source's rows in a work database, in their order: read once, then handed to numpy block by block."""

from collections.abc import Iterator
from dataclasses import dataclass

import duckdb
import numpy as np

from ..mechanisms.errors import InputError
from .data_file import (
    MISSING_MARKS,
    TEXT_SHOWN,
    column_position,
    extension_of,
    numeric_cell,
    quoted,
)
from .report_source import ReportSource
from .user_keys import CSV_TEXT, KeyColumn

BLOCK = 2**20
"""Reports held by numpy at a time: large enough for vector speed, small enough for memory to stay flat."""

TABLE = "staged"


@dataclass(frozen=True, eq=False)
class SourceRows:
    """The rows of a source, not read yet, and the columns to take from them.

    Parameters
    ----------
    source : ReportSource
    relation : duckdb.DuckDBPyRelation
    cell : str
        The column of reports, quoted.
    is_text : bool
        Whether the reports are text, to be read as numbers.
    key : KeyColumn or None
        The column of users.
    """

    source: ReportSource
    relation: duckdb.DuckDBPyRelation
    cell: str
    is_text: bool
    key: KeyColumn | None

    def stage(self, connection: duckdb.DuckDBPyConnection, key_type: str) -> int:
        """Read the rows into the database and return their number.

        duckdb keeps the order of rows in CREATE TABLE AS, so that the rowid counts the source's rows:
        https://duckdb.org/docs/stable/sql/dialect/order_preservation

        Raises
        ------
        InputError
            A source that cannot be read, reports that are text, keys that are missing or of another type.
        """
        number = f"TRY_CAST({self.cell} AS DOUBLE)"
        blank = f"{self.cell} IS NULL OR trim({self.cell}) IN {MISSING_MARKS}"
        text = f"CASE WHEN {number} IS NULL AND NOT ({blank}) THEN left({self.cell}, {TEXT_SHOWN}) END"
        columns = [f"{number} AS report", f"{text if self.is_text else 'CAST(NULL AS VARCHAR)'} AS odd"]
        if self.key is not None:
            columns += [f"{self.key.expression(key_type)} AS key", f"{self.key.cell} IS NULL AS anonymous"]
        with self.source.reading():
            connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
            self.relation.project(", ".join(columns)).create(TABLE)
        self._require_numbers(connection)
        if self.key is not None:
            _require_keys(connection, self.key, key_type)
        return _one_row(connection, f"SELECT count(*) FROM {TABLE}")[0]

    def _require_numbers(self, connection: duckdb.DuckDBPyConnection) -> None:
        query = f"SELECT odd, rowid + 1 FROM {TABLE} WHERE odd IS NOT NULL ORDER BY rowid LIMIT 1"
        if bad := connection.execute(query).fetchall():
            text, row = bad[0]
            raise InputError(f"reports of {self.source.where} must be numbers, got the text {text!r} in row {row}")


def source_rows(
    connection: duckdb.DuckDBPyConnection, source: ReportSource, column: str, key: str | None
) -> SourceRows:
    """Open a source and find its columns, without reading its rows.

    Raises
    ------
    InputError
        A source that cannot be opened, or without the columns.
    """
    relation, names = source.open(connection)
    where = f"column {column!r} of {source.where}"
    position = column_position(names, column, where)
    cell = numeric_cell(relation, position, where)
    is_text = str(relation.types[position]) == "VARCHAR"
    if key is None:
        return SourceRows(source, relation, cell, is_text, None)
    where = f"key column {key!r} of {source.where}"
    position = column_position(names, key, where)
    is_csv = source.path is not None and extension_of(source.path) == ".csv"
    kind = CSV_TEXT if is_csv else str(relation.types[position])
    return SourceRows(source, relation, cell, is_text, KeyColumn(where, quoted(relation.columns[position]), kind))


def staged_blocks(connection: duckdb.DuckDBPyConnection, n_rows: int) -> Iterator[np.ndarray]:
    """Return the staged reports, block by block in the order of rows; NaN for a missing one.

    Example
    -------
    >>> from optldp.estimators.report_source import report_sources
    >>> from optldp.mechanisms.grr import grr
    >>> reports = {"user": np.array(["ann", "bo"]), "report": np.ma.masked_array([1, 0], [False, True])}
    >>> source = report_sources([(grr([0, 1], 1.0), reports)])[0]
    >>> with duckdb.connect() as connection:
    ...     rows = source_rows(connection, source, "report", "user")
    ...     n_rows = rows.stage(connection, "VARCHAR")
    ...     list(staged_blocks(connection, n_rows))
    [array([ 1., nan])]
    """
    for start in range(0, n_rows, BLOCK):
        query = f"SELECT report FROM {TABLE} WHERE rowid >= {start} AND rowid < {start + BLOCK}"
        block = connection.execute(query).fetchnumpy()["report"]
        yield np.ma.filled(block.astype(np.float64, copy=False), np.nan)


def _require_keys(connection: duckdb.DuckDBPyConnection, key: KeyColumn, key_type: str) -> None:
    number, row = _one_row(connection, f"SELECT count(*), min(rowid) + 1 FROM {TABLE} WHERE anonymous")
    if number:
        raise InputError(
            f"{key.where} must not miss values, got {number} missing, the first in row {row}: leave those rows out"
        )
    number, row = _one_row(connection, f"SELECT count(*), min(rowid) + 1 FROM {TABLE} WHERE key IS NULL")
    if number:
        raise InputError(
            f"{key.where} must hold integers ({key_type}) as the other sources do, got {number} that are none, "
            f"the first in row {row}"
        )


def _one_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple:
    return connection.execute(query).fetchall()[0]
