"""One source's rows in a work database, in their order: read once, then handed to numpy block by block."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import duckdb
import numpy as np

from ...mechanisms.errors import InputError
from ..reading.columns.cells import is_text, number, number_fault, numeric_cell, quoted
from ..reading.columns.files import column_position, extension_of
from ..reading.columns.rows.skipped_rows import OFFER, ROWS_NAMED
from ..reading.columns.simulated_columns import OUTPUT, marked_column
from ..reading.columns.source import Source
from ..reading.columns.table_column import of_table
from .source import ReportSource
from .user_keys import CSV_TEXT, KeyColumn

BLOCK = 2**20
"""Reports held by numpy at a time: large enough for vector speed, small enough for memory to stay flat."""

TABLE = "staged"

Block = tuple[np.ndarray, np.ndarray]
"""Reports (n,) of float, NaN where there is none, and which of the rows (n,) are at fault."""


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
    is_tolerant : bool
        Whether rows may hold no report: the relation's last column then says so of a row that is none.
    key : KeyColumn or None
        The column of users.
    """

    source: ReportSource
    relation: duckdb.DuckDBPyRelation
    cell: str
    is_text: bool
    is_tolerant: bool
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
        faults = [number_fault(self.cell, text=self.is_text)]
        columns = [f"{number(self.cell, text=self.is_text)} AS report"]
        if self.key is not None:
            key = self.key.expression(key_type)
            columns += [f"{key} AS key", f"{self.key.cell} IS NULL AS anonymous"]
            faults = [self.key.fault(key), *faults]
        if self.is_tolerant:
            faults = [quoted(self.relation.columns[-1]), *faults]
        columns.append(f"coalesce({', '.join([*faults, 'NULL'])}) AS fault")
        with self.source.reading():
            connection.execute(f"DROP TABLE IF EXISTS {TABLE}")
            self.relation.project(", ".join(columns)).create(TABLE)
        if not self.is_tolerant:
            if self.key is not None:
                require_keys(connection, self.key, key_type, TABLE)
            self._require_sound(connection)
        return _one_row(connection, f"SELECT count(*) FROM {TABLE}")[0]

    def _require_sound(self, connection: duckdb.DuckDBPyConnection) -> None:
        number, faulty = faulty_rows(connection)
        if number:
            row, reason = faulty[0]
            raise InputError(
                f"reports of {self.source.where} must be numbers, got {number} rows that hold none, the first in row "
                f"{row}: {reason}: correct them, {OFFER}"
            )


def source_rows(
    connection: duckdb.DuckDBPyConnection, source: ReportSource, column: str, key: str | None, *, tolerant: bool = False
) -> SourceRows:
    """Open a source and find its columns, without reading its rows.

    Raises
    ------
    InputError
        A source that cannot be opened, or without the columns.
    """
    relation, names = source.open(connection, tolerant=tolerant)
    relation = of_table(relation, names, source.made, source.where, path=source.path)
    column = marked_column(names, OUTPUT if source.indexed else column, source.where)
    where = f"column {column!r} of {source.where}"
    position = column_position(names, column, where)
    with source.reading():
        cell = numeric_cell(relation, position, where, source.path)
    text = is_text(relation, position)
    if key is None:
        return SourceRows(source, relation, cell, text, tolerant, None)
    return SourceRows(source, relation, cell, text, tolerant, key_column(relation, names, source, key))


def key_column(relation: duckdb.DuckDBPyRelation, names: Sequence[str], source: Source, key: str) -> KeyColumn:
    """Return the column of users of an opened source; InputError where it is not there.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     people = connection.sql("SELECT 7 AS user")
    ...     key_column(people, ["user"], Source(None, "service 'a'"), "user").kind
    'INTEGER'
    """
    where = f"key column {key!r} of {source.where}"
    position = column_position(names, key, where)
    is_csv = source.path is not None and extension_of(source.path) == ".csv"
    kind = CSV_TEXT if is_csv else str(relation.types[position])
    return KeyColumn(where, quoted(relation.columns[position]), kind)


def faulty_rows(connection: duckdb.DuckDBPyConnection) -> tuple[int, list[tuple[int, str]]]:
    """Return how many staged rows hold no report, and the first of them, from 1, with the reasons."""
    faulty = f"FROM {TABLE} WHERE fault IS NOT NULL"
    first = f"SELECT rowid + 1, fault {faulty} ORDER BY rowid LIMIT {ROWS_NAMED}"
    return _one_row(connection, f"SELECT count(*) {faulty}")[0], connection.execute(first).fetchall()


def staged_blocks(connection: duckdb.DuckDBPyConnection, n_rows: int) -> Iterator[Block]:
    """Return the staged reports, block by block in their order, NaN where it is missing, and which rows are faulty.

    Example
    -------
    >>> from optldp.estimators.counting.source import report_sources
    >>> from optldp.mechanisms.families.grr import grr
    >>> reports = {"user": np.array(["ann", "bo"]), "report": np.ma.masked_array([1, 0], [False, True])}
    >>> source = report_sources([(grr([0, 1], 1.0), reports)])[0]
    >>> with duckdb.connect() as connection:
    ...     rows = source_rows(connection, source, "report", "user")
    ...     n_rows = rows.stage(connection, "VARCHAR")
    ...     list(staged_blocks(connection, n_rows))
    [(array([ 1., nan]), array([False, False]))]
    """
    for start in range(0, n_rows, BLOCK):
        rows = f"rowid >= {start} AND rowid < {start + BLOCK}"
        query = f"SELECT report, fault IS NOT NULL AS faulty FROM {TABLE} WHERE {rows}"
        fetched = connection.execute(query).fetchnumpy()
        reports = np.ma.filled(fetched["report"].astype(np.float64, copy=False), np.nan)
        yield reports, np.ma.filled(fetched["faulty"], True).astype(bool, copy=False)


def require_keys(connection: duckdb.DuckDBPyConnection, key: KeyColumn, key_type: str, table: str) -> None:
    """Raise InputError for rows of a staged table, with columns key and anonymous, that name no user.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     _ = connection.execute("CREATE TABLE t AS SELECT 'ann' AS key, false AS anonymous")
    ...     require_keys(connection, KeyColumn("column 'user'", "user", "VARCHAR"), "VARCHAR", "t")
    """
    number, row = _one_row(connection, f"SELECT count(*), min(rowid) + 1 FROM {table} WHERE anonymous")
    if number:
        raise InputError(
            f"{key.where} must not miss values, got {number} missing, the first in row {row}: leave those rows out, by "
            "hand or with skip_invalid (--skip-invalid)"
        )
    number, row = _one_row(connection, f"SELECT count(*), min(rowid) + 1 FROM {table} WHERE key IS NULL")
    if number:
        raise InputError(
            f"{key.where} must hold integers ({key_type}) as the other sources do, got {number} that are none, "
            f"the first in row {row}: correct them, {OFFER}"
        )


def _one_row(connection: duckdb.DuckDBPyConnection, query: str) -> tuple:
    return connection.execute(query).fetchall()[0]
