"""One source's rows in a work database: reports, and the columns that say a report's group, weight or user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar

import duckdb
import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.compact_tables.floor_and_windows import expanded
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.staged import key_column, require_keys
from ..counting.user_keys import KeyColumn
from ..reading.columns.cells import (
    blank,
    is_text,
    missing_message,
    number,
    number_fault,
    numeric_cell,
    quoted,
    text_fault,
)
from ..reading.columns.files import column_position
from ..reading.columns.rows.skipped_rows import OFFER, ROWS_NAMED, SkippedRows, failing_rows
from ..reading.columns.simulated_columns import OUTPUT, column_of_reports, is_marked, marked_column
from ..reading.columns.source import Source
from ..reading.columns.table_column import of_table

Mechanism = TabulatedMechanism | CategoricalMechanism

LARGEST_WEIGHT = 1e100
"""Squares of larger ones, and their sums, are no doubles any more."""


def tallied_mechanism(mechanism: Any) -> Mechanism:
    """Return a mechanism whose reports can be tallied, a floor form's table; InputError for other kinds."""
    return cells_of(expanded(mechanism)).mechanism


@dataclass(frozen=True, eq=False)
class ReportCells(ABC):
    """How reports of a mechanism stand in cells.

    Attributes
    ----------
    mechanism : table of numbers or mechanism for categories
    numeric : bool
        Whether a cell holds a number; else it holds text.
    """

    mechanism: Any
    numeric: ClassVar[bool]

    @abstractmethod
    def read(self, cells: np.ndarray, indexed: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the reports, or the numbers of outputs, of the cells (R,) that hold one, and which hold none (R,)."""


class NumberCells(ReportCells):
    """Numbers that a table reports, or the numbers of its outputs."""

    mechanism: TabulatedMechanism
    numeric = True

    def read(self, cells: np.ndarray, indexed: bool) -> tuple[np.ndarray, np.ndarray]:
        table, values = self.mechanism, np.ma.filled(np.ma.asarray(cells, dtype=np.float64), np.nan)
        if not indexed:
            found = table.locate(values)
        else:
            whole = np.where((values >= 0) & (values < table.low.size), values, -1.0).astype(np.intp)
            found = np.where((whole == values) & table.possible[whole], whole, -1)
        return found[found >= 0], found < 0


class TextCells(ReportCells):
    """Reports of categories as they are written."""

    mechanism: CategoricalMechanism
    numeric = False

    def read(self, cells: np.ndarray, indexed: bool) -> tuple[np.ndarray, np.ndarray]:
        texts, read = np.ma.getdata(cells).tolist(), self.mechanism.from_text
        wrong = np.zeros(len(texts), dtype=bool)
        try:
            return read(texts), wrong
        except InputError:
            listed = np.array(texts, dtype=object)
            wrong[failing_rows(lambda rows: read(listed[rows].tolist()), len(texts))] = True
            return read(listed[~wrong].tolist()), wrong


@singledispatch
def cells_of(mechanism: Any) -> ReportCells:
    """Return how reports of a mechanism stand in cells; InputError for kinds that are not tallied.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> cells_of(duchi([0.0, 1.0], 1.0)).numeric
    True
    """
    raise InputError(
        f"groups, weights and differences are for tables of numbers and for categories, got {mechanism!r:.60}"
    )


cells_of.register(TabulatedMechanism, NumberCells)
cells_of.register(CategoricalMechanism, TextCells)


@dataclass(frozen=True, eq=False)
class Columns:
    """What columns a source has, beside the reports.

    Attributes
    ----------
    report : str
    by, weights : str, optional
        Of the group, and of the weight.
    key : str, optional
        Of the user.
    """

    report: str = "report"
    by: str | None = None
    weights: str | None = None
    key: str | None = None

    @property
    def named(self) -> list[str]:
        """All of them that are asked for."""
        return [name for name in (self.report, self.by, self.weights, self.key) if name is not None]

    def __post_init__(self) -> None:
        if len(set(names := self.named)) < len(names):
            raise InputError(f"reports, groups, weights and users must have columns of their own, got {names}")


@dataclass(frozen=True, eq=False)
class OpenedReports:
    """A source that is open, with its columns found; its rows are not read yet.

    Attributes
    ----------
    held : ReportCells
    source : Source
    relation : duckdb.DuckDBPyRelation
    cells : dict of str to (str, bool, str)
        For report, grp and weight: the cell in SQL, whether it is text, and how messages call the column.
    key : KeyColumn, optional
    indexed, simulated : bool
        Whether reports are numbers of outputs, and whether the column is marked as simulated.
    tolerant : bool
        Whether rows that hold no report are left out.
    """

    held: ReportCells
    source: Source
    relation: duckdb.DuckDBPyRelation
    cells: dict[str, tuple[str, bool, str]]
    key: KeyColumn | None
    indexed: bool
    simulated: bool
    tolerant: bool

    @classmethod
    def of(
        cls,
        connection: duckdb.DuckDBPyConnection,
        mechanism: Mechanism,
        source: Source,
        columns: Columns,
        *,
        tolerant: bool,
    ) -> OpenedReports:
        """Open a source and find its columns; InputError where one is not there."""
        relation, names = source.open(connection, tolerant=tolerant)
        relation = of_table(
            relation, names, lambda: table_identifier(mechanism), source.where, path=source.path, own=columns.named
        )
        named = column_of_reports(names, columns.report)
        held = cells_of(mechanism)
        numeric = held.numeric
        marked = marked_column(names, named, source.where)
        cells = {"report": _cell(relation, names, marked, source, numeric=numeric)}
        if columns.by is not None:
            cells["grp"] = _cell(relation, names, columns.by, source, numeric=False)
        if columns.weights is not None:
            cells["weight"] = _cell(relation, names, columns.weights, source, numeric=True)
        key = None if columns.key is None else key_column(relation, names, source, columns.key)
        return cls(held, source, relation, cells, key, numeric and named == OUTPUT, is_marked(marked), tolerant)

    @property
    def reports_are_values(self) -> bool:
        """Whether cells hold the numbers that were reported themselves."""
        return self.held.numeric and not self.indexed

    def stage(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        *,
        key_type: str = "VARCHAR",
        drop_missing: bool,
        skipped: SkippedRows,
    ) -> None:
        """Read the rows into a table of the database with the columns report, grp, weight, key and row, from 1.

        Raises
        ------
        InputError
            Rows that hold no report, group, weight or user, unless they may be left out; weights that are negative, or
            beyond 1e100.
        """
        parts, faults, blanks = [], [], []
        if self.tolerant:
            faults.append(quoted(self.relation.columns[-1]))
        if self.key is not None:
            key = self.key.expression(key_type)
            parts += [f"{key} AS key", f"{self.key.cell} IS NULL AS anonymous"]
            faults.append(self.key.fault(key))
        for name, (cell, text, _) in self.cells.items():
            numeric = name == "weight" or (name == "report" and self.held.numeric)
            value = number(cell, text=text) if numeric else f"CASE WHEN {text_fault(cell)} IS NULL THEN {cell} END"
            parts.append(f"{value} AS {name}")
            faults.append(number_fault(cell, text=text) if numeric else text_fault(cell))
            empty = blank(cell, text=text or not numeric)
            blanks.append(f"({empty} OR coalesce(isnan({value}), false))" if numeric else empty)
        parts += [f"coalesce({', '.join([*faults, 'NULL'])}) AS fault"]
        parts += [f"{empty} AS missing_{i}" for i, empty in enumerate(blanks)]
        with self.source.reading():
            self.relation.project(", ".join(parts)).create(table)
        if self.key is not None and not self.tolerant:
            require_keys(connection, self.key, key_type, table)
        self._require_weights(connection, table)
        self._leave_out(connection, table, "fault IS NOT NULL", "fault", skipped)
        for i, (_, _, where) in enumerate(self.cells.values()):
            self._missing(connection, table, f"missing_{i}", where, drop_missing=drop_missing, skipped=skipped)

    def reports(self, texts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what `ReportCells.read` does."""
        return self.held.read(texts, self.indexed)

    def refuse_wrong(
        self, connection: duckdb.DuckDBPyConnection, table: str, cells: Sequence[Any], skipped: SkippedRows
    ) -> None:
        """Leave out, or refuse, the rows whose reports are these cells, which are no reports of the mechanism."""
        if not len(cells):
            return
        connection.register("wrong_cells", {"cell": np.array(cells)})
        try:
            wrong = "report IN (SELECT cell FROM wrong_cells)"
            shown = "left(CAST(report AS VARCHAR), 60) || ' is no report of this mechanism'"
            self._leave_out(connection, table, wrong, shown, skipped)
        finally:
            connection.unregister("wrong_cells")

    def _leave_out(
        self, connection: duckdb.DuckDBPyConnection, table: str, which: str, reason: str, skipped: SkippedRows
    ) -> None:
        first = connection.execute(
            f"SELECT rowid + 1, {reason} FROM {table} WHERE {which} ORDER BY rowid LIMIT {ROWS_NAMED}"
        ).fetchall()
        if not first:
            return
        many = connection.execute(f"SELECT count(*) FROM {table} WHERE {which}").fetchall()[0][0]
        if not self.tolerant:
            row, why = first[0]
            raise InputError(
                f"{self.source.where} must hold reports of this mechanism, got {many} rows that hold none, the first "
                f"in row {row}: {why}: correct them, {OFFER}"
            )
        skipped.note(many, first)
        connection.execute(f"DELETE FROM {table} WHERE {which}")  # keeps the rowid of others

    def _missing(
        self,
        connection: duckdb.DuckDBPyConnection,
        table: str,
        missing: str,
        where: str,
        *,
        drop_missing: bool,
        skipped: SkippedRows,
    ) -> None:
        many, row = connection.execute(f"SELECT count(*), min(rowid) + 1 FROM {table} WHERE {missing}").fetchall()[0]
        if not many:
            return
        if not drop_missing and not self.tolerant:
            raise InputError(missing_message(where, many, row))
        if not drop_missing:
            skipped.note(many, [(row, "no value")])
        connection.execute(f"DELETE FROM {table} WHERE {missing}")

    def _require_weights(self, connection: duckdb.DuckDBPyConnection, table: str) -> None:
        """Refuse weights that are none, whatever else may be left out: nobody is worth less than nothing."""
        if "weight" not in self.cells:
            return
        where = self.cells["weight"][2]
        bad = f"weight < 0 OR weight > {LARGEST_WEIGHT} AND NOT isnan(weight)"
        found = connection.execute(
            f"SELECT count(*), min(rowid) + 1, arg_min(weight, rowid) FROM {table} WHERE {bad}"
        ).fetchall()[0]
        if found[0]:
            raise InputError(
                f"{where} must hold weights from 0 to {LARGEST_WEIGHT:g}, got {found[0]} others, the first "
                f"({found[2]:g}) in row {found[1]}: correct them, or leave those rows out by hand"
            )


def _cell(
    relation: duckdb.DuckDBPyRelation, names: Sequence[str], column: str, source: Source, *, numeric: bool
) -> tuple[str, bool, str]:
    where = f"column {column!r} of {source.where}"
    position = column_position(names, column, where)
    if numeric:
        return numeric_cell(relation, position, where), is_text(relation, position), where
    return f"CAST({quoted(relation.columns[position])} AS VARCHAR)", True, where
