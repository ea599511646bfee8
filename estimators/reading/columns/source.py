"""Where rows come from: a file, a table in memory, or plain numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import numpy as np

from ....mechanisms.errors import InputError
from .cells import quoted
from .files import UNREADABLE_FILE, FilePath, open_file, open_tolerant, short_message, unreadable
from .other_table import other_table
from .rows.skipped_rows import OFFER

KINDS = "a CSV or Parquet path, an Arrow, pandas or polars table, numpy arrays by column, or one numpy array"


@dataclass(frozen=True, eq=False)
class Source:
    """A service's reports, and how messages call them.

    Parameters
    ----------
    reports : object
        A CSV or Parquet path; an Arrow table, a pandas or polars data frame; a mapping of column names to numpy
        arrays or a structured array; or one array of numbers, without names.
    where : str
        Such as "service 'a' ('a.csv')".
    """

    reports: Any
    where: str

    @property
    def path(self) -> FilePath | None:
        """The file, or None for reports in memory."""
        return self.reports if isinstance(self.reports, str | os.PathLike) else None

    @property
    def is_stored(self) -> bool:
        """Whether the rows can be read again: a stream, which has no length, is gone when it has been."""
        return self.path is not None or hasattr(self.reports, "__len__")

    @property
    def vector(self) -> np.ndarray | None:
        """The reports as one array of numbers, or None for anything with columns."""
        shape = getattr(self.reports, "shape", None)
        if shape is None or len(shape) != 1 or _numpy_columns(self.reports) is not None:
            return None
        array = np.asarray(self.reports)
        if array.dtype.kind not in "iufb":
            raise InputError(f"reports of {self.where} must be numbers, got an array of {array.dtype}: convert it")
        return array

    def open(
        self, connection: duckdb.DuckDBPyConnection, *, tolerant: bool = False
    ) -> tuple[duckdb.DuckDBPyRelation, list[str]]:
        """Return the rows as a relation, and the names of its columns in order.

        A tolerant one has another column at its end: what makes a row of a CSV none, else NULL.

        Raises
        ------
        InputError
            A file or an object that cannot be read.
        """
        with self.reading():
            if self.path is not None:
                return (open_tolerant if tolerant else open_file)(connection, self.path)
            columns = _numpy_columns(self.reports)
            view = f"reports_{id(self)}"  # whatever the service is called
            if columns is None:
                connection.register(view, self.reports)
                relation = connection.view(view)
                names = list(relation.columns)
            else:
                connection.register(view, {f"c{i}": array for i, array in enumerate(columns.values())})
                relation, names = connection.view(view), list(columns)
            return relation.project("*, CAST(NULL AS VARCHAR) AS fault") if tolerant else relation, names

    def said_once(self, connection: duckdb.DuckDBPyConnection, column: str) -> str | None:
        """Return the text that a column has in all rows that have any, what differs joined by " and "; None for none.

        Rows that can be read but once are not looked at.
        """
        if self.vector is not None or not self.is_stored:
            return None
        relation, names = self.open(connection)
        if column not in names:
            return None
        cell = quoted(relation.columns[names.index(column)])
        with self.reading():
            told = relation.project(f"CAST({cell} AS VARCHAR) AS told").filter("told IS NOT NULL").distinct()
            named = told.order("told").limit(3).fetchall()
        return " and ".join(text for (text,) in named) or None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Turn what goes wrong while the rows are read into one line, unless it is the database's own trouble."""
        try:
            yield
        except (duckdb.InterruptException, duckdb.OutOfMemoryException):
            raise
        except (*UNREADABLE_FILE, TypeError) as error:
            if self.path is not None:
                raise unreadable(self.path, error, f": correct it, {OFFER}") from None
            if (other := other_table(error)) is not None:
                raise other from None
            kind, reason = type(self.reports).__name__, short_message(error)
            raise InputError(f"reports of {self.where} must be {KINDS}, got {kind}: {reason}") from None


def _numpy_columns(reports: Any) -> dict[str, np.ndarray] | None:
    """Numpy arrays by column name, in a form that duckdb reads; None for other kinds of reports."""
    if isinstance(reports, Mapping):
        columns = {str(name): np.ma.asarray(values) for name, values in reports.items()}
    elif isinstance(reports, np.ndarray) and reports.dtype.names:
        columns = {name: np.ma.asarray(reports[name]) for name in reports.dtype.names}
    else:
        return None
    if len({array.shape for array in columns.values()}) > 1 or any(array.ndim != 1 for array in columns.values()):
        shapes = ", ".join(f"{name!r} of shape {array.shape}" for name, array in columns.items())
        raise InputError(f"columns of reports must be lists of equal length, got {shapes}")
    return {name: _native(array) for name, array in columns.items()}


def _native(array: np.ma.MaskedArray) -> np.ndarray:
    """Text, and whatever has masked rows, as Python objects; numbers in the machine's own byte order."""
    values = array.data.astype("U") if array.dtype.kind == "S" else array.data
    if values.dtype.kind not in "UT" and not np.ma.is_masked(array):
        return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
    objects = values.astype(object)
    objects[np.ma.getmaskarray(array)] = None
    return objects
