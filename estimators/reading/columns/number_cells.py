"""Numeric columns of a CSV or Parquet file, in and out; columns of text too, on the way out.

CSV goes through duckdb as Parquet does, so that one set of queries and of messages serves both, and counting them may
stay out of core. `write_column` is for users' scripts, to write values that commands then read.
"""

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

import duckdb
import numpy as np
from numpy.typing import ArrayLike

from ....mechanisms.errors import InputError
from ..formats.axis import TEMPORAL, converted
from ..formats.destination import destination
from .cells import column_notation, is_text, number, quoted, refuse_bad_cells
from .files import (
    UNREADABLE_FILE,
    FilePath,
    column_position,
    connected,
    listed,
    open_file,
    short_message,
    unreadable,
    written_extension,
)
from .label_text import may_be_labels, write_labels
from .rows.written_rows import with_constants, write_parquet_rows

PLAIN = re.compile(r"[\w.+:-]+", re.ASCII)
"""Texts that stand in a CSV as they are."""


def read_matrix(path: FilePath) -> np.ndarray:
    """Read a table of numbers (r, c) without a header, with commas between them.

    Raises InputError for a file that is not there, or holds something else or nothing.

    Example
    -------
    >>> import pathlib, tempfile
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "loss.csv"
    >>> _ = file.write_text("0,1\\n1,0\\n")
    >>> read_matrix(file).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # an empty file is one
            return np.loadtxt(path, delimiter=",", ndmin=2)
    except (OSError, ValueError, UserWarning) as error:
        said = " ".join(str(error).split())
        raise InputError(f"{path} must have numbers with commas between them and no header: {said:.100}") from None


def read_column(path: FilePath, column: str, *, drop_missing: bool = False, units: str | None = None) -> np.ndarray:
    """Read one numeric column, in the file's row order.

    Parameters
    ----------
    path : str or path-like
        Text whose first line names the columns (`.csv`, `.tsv`, `.txt`, also packed: `.csv.gz`, `.csv.zst`),
        `.parquet`, `.feather`, or "-" for standard input. How it is written is recognised; `read_as` overrules.
    column : str
        Name of the column: numbers, or dates, times and durations, in the units of `column_units`.
    drop_missing : bool
        Leave out rows whose value is missing (an empty CSV cell, NA, a Parquet null, NaN) instead of refusing.
    units : str, optional
        Units of dates, times and durations, such as a table's units; by default units that fit the column.

    Returns
    -------
    values : (n,) ndarray of float
        Finite values, n >= 1.

    Raises
    ------
    InputError
        One line each: no such file, unreadable, unsupported extension, empty, no such column (the message names the
        existing ones), text in the column, missing values, NaN or infinite values, dates without units for them.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.estimators.reading.columns import read_column
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\nBo,900\\n")
    >>> read_column(path, "income")
    array([1200.5,  900. ])
    """
    with _opened(path) as (relation, names):
        return _finite_column(relation, names, column, path, drop_missing, units)


def column_units(path: FilePath, column: str) -> str:
    """Return what `read_column` counts the dates, times or durations of a column in; "" for numbers.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,born\\nAnn,1970-01-11\\n")
    >>> column_units(path, "born"), read_column(path, "born")
    ('days since 1970-01-01', array([10.]))
    """
    where = f"column {column!r} of {str(path)!r}"
    with _opened(path) as (relation, names):
        return column_notation(relation, column_position(names, column, where), where, path).units


def read_sparse_column(path: FilePath, column: str, *, units: str | None = None) -> np.ndarray:
    """Read one numeric column as `read_column` does, with NaN where the value is missing (n,), maybe everywhere.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\nBo,\\n")
    >>> read_sparse_column(path, "income")
    array([1200.5,    nan])
    """
    with _opened(path) as (relation, names):
        where = f"column {column!r} of {str(path)!r}"
        fetched = _doubles(relation, names, column, where, path, units, drop_missing=True)
        values = np.ma.filled(fetched.astype(np.float64), np.nan)
    if (infinite := np.isinf(values)).any():
        first = int(np.argmax(infinite))
        raise InputError(f"{where} must hold finite values, got {values[first]} in row {first + 1}: replace it")
    return values


def read_pairs(path: FilePath, *, units: str | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Read a prior given as pairs: the columns `value` and `weight` of a CSV or Parquet file.

    Parameters
    ----------
    path : path
        A `.csv` or `.parquet` file.
    units : str, optional
        As of `read_column`.

    Returns
    -------
    values, weights : (n,) ndarray of float
        Finite; the prior checks the signs and the sum of the weights.

    Raises
    ------
    InputError
        As `read_column`; missing values are always refused.

    Example
    -------
    >>> import pathlib, tempfile
    >>> from optldp.estimators.reading.columns import read_pairs
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "prior.csv"
    >>> _ = path.write_text("value,weight\\n0,3\\n10,1\\n")
    >>> read_pairs(path)
    (array([ 0., 10.]), array([3., 1.]))
    """
    with _opened(path) as (relation, names):
        if absent := [name for name in ("value", "weight") if name not in names]:
            raise InputError(
                f"a prior file must have the columns value and weight; {str(path)!r} lacks "
                f"{' and '.join(absent)}: it has {listed(names)}"
            )
        where, position = f"column 'value' of {str(path)!r}", column_position(names, "value", str(path))
        has_dates = bool(column_notation(relation, position, where, path).units)  # what estimate writes are numbers
        values = _finite_column(relation, names, "value", path, False, units if has_dates else None)
        return values, _finite_column(relation, names, "weight", path, False, None)


def write_column(path: FilePath, name: str, values: ArrayLike) -> None:
    """Write one column so that reading it gives back the same doubles; all of it or nothing.

    The file is written beside its destination under another name and then renamed.

    Parameters
    ----------
    path : str or path-like
        Destination, `.csv` or `.parquet`; an existing file is replaced.
    name : str
        Name of the column.
    values : (n,) array_like of float

    Raises
    ------
    InputError
        Unsupported extension, or a destination that cannot be written.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "reports.parquet"
    >>> write_column(path, "report", [0.1, -2.5])
    >>> read_column(path, "report")
    array([ 0.1, -2.5])
    """
    write_columns(path, {name: values})


def write_columns(
    path: FilePath, columns: Mapping[str, ArrayLike], constants: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Write columns of equal length, by name, as `write_column` writes one; text stays text.

    Missing numbers, NaN, become empty cells.

    Parameters
    ----------
    path : str or path-like
    columns : mapping of str to (n,) array_like
    constants : mapping of str to str
        Columns after these that hold one text each, which the metadata of a Parquet file have, too.

    Raises
    ------
    InputError
        As `write_column`, and columns of different lengths.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "weights.csv"
    >>> write_columns(path, {"knot": [0, 1], "weight": [0.25, 0.75]})
    >>> path.read_text().split()
    ['knot,weight', '0.0,0.25', '1.0,0.75']
    """
    extension = written_extension(path)
    arrays = {f"c{i}": writable(values) for i, values in enumerate(columns.values())}
    if len({array.shape for array in arrays.values()}) != 1 or any(array.ndim != 1 for array in arrays.values()):
        raise InputError(
            f"columns must be one-dimensional and equally long, got shapes {[a.shape for a in arrays.values()]}"
        )
    try:
        with destination(path) as part, connected() as connection:
            connection.register("columns_out", arrays)
            relation = connection.view("columns_out").project(named_cells(arrays, list(columns)))
            relation = with_constants(relation, constants)
            if extension == ".parquet":
                write_parquet_rows(connection, relation, part, constants)
            elif not _write_few(connection, relation, part, arrays, constants):
                relation.write_csv(str(part))
    except duckdb.Error as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {short_message(error)}") from None


def _write_few(
    connection: duckdb.DuckDBPyConnection,
    relation: duckdb.DuckDBPyRelation,
    part: Path,
    arrays: dict[str, np.ndarray],
    constants: Mapping[str, str],
) -> bool:
    """Write a CSV of few different numbers, whose header duckdb writes; False where there are too many."""
    if not may_be_labels(arrays) or not all(map(PLAIN.fullmatch, constants.values())):
        return False
    relation.limit(0).write_csv(str(part))
    with part.open("ab") as stream:
        return write_labels(connection, stream, arrays, tuple(constants.values()))


def writable(values: ArrayLike) -> np.ndarray:
    """Return a column as duckdb takes it: text as Python's, arrays of whole numbers so, whatever else as doubles.

    Example
    -------
    >>> writable(["a", "bc"]).dtype, writable([1, 2]).dtype, writable(np.array([1, 2])).dtype
    (dtype('O'), dtype('float64'), dtype('int64'))
    """
    given = np.asarray(values)
    if given.dtype.kind in "UO":
        return given.astype(object)
    if isinstance(values, np.ndarray) and given.dtype.kind in "iu":
        return np.ascontiguousarray(given, dtype=np.int64)
    return np.ascontiguousarray(given, dtype=np.float64)


def named_cells(arrays: Mapping[str, np.ndarray], names: Sequence[str]) -> str:
    """Return SQL for columns under other names, with NaN as a missing value.

    Example
    -------
    >>> print(named_cells({"c0": np.array([1.0])}, ["x"]))
    CASE WHEN isnan(c0) THEN NULL ELSE c0 END AS "x"
    """
    cells = [
        cell if array.dtype.kind in "Oi" else f"CASE WHEN isnan({cell}) THEN NULL ELSE {cell} END"
        for cell, array in arrays.items()
    ]
    return ", ".join(f"{cell} AS {quoted(name)}" for cell, name in zip(cells, names, strict=True))


@contextmanager
def _opened(path: FilePath) -> Iterator[tuple[duckdb.DuckDBPyRelation, list[str]]]:
    """Yield the file as a relation and its column names; what goes wrong meanwhile is one line."""
    try:
        with connected() as connection:
            yield open_file(connection, path)
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None


def _finite_column(
    relation: duckdb.DuckDBPyRelation,
    names: list[str],
    column: str,
    path: FilePath,
    drop_missing: bool,
    units: str | None,
) -> np.ndarray:
    """The named column as finite doubles, or the error that says which row stands in the way."""
    where = f"column {column!r} of {str(path)!r}"
    fetched = _doubles(relation, names, column, where, path, units, drop_missing=drop_missing)
    if drop_missing:
        fetched = np.ma.masked_where(np.ma.filled(fetched != fetched, False), fetched)
    values = np.asarray(np.ma.compressed(fetched), dtype=np.float64)
    if values.size == 0:
        raise InputError(f"{where} must hold at least one value, but it is empty")
    if not (finite := np.isfinite(values)).all():
        first = int(np.argmin(finite))
        row = int(np.flatnonzero(~np.ma.getmaskarray(fetched))[first]) + 1
        raise InputError(
            f"{where} must hold finite values, got {np.sum(~finite)} NaN or infinite, the first ({values[first]}) in "
            f"row {row}: replace them"
        )
    return values


def _doubles(
    relation: duckdb.DuckDBPyRelation,
    names: list[str],
    column: str,
    where: str,
    path: FilePath,
    units: str | None,
    *,
    drop_missing: bool,
) -> np.ndarray:
    """The named column as doubles, masked where missing values may be dropped; text is refused."""
    position = column_position(names, column, where)
    written = column_notation(relation, position, where, path)
    cell = written.cell
    # Asking for the text's nullness too keeps the cast out of duckdb 2.0's CSV scanner, where a TRY_CAST
    # fails instead of giving null: https://github.com/duckdb/duckdb/issues/23818
    value = number(cell, text=is_text(relation, position))
    query = relation.project(f"{value} AS v, {cell} IS NULL AS missing")
    fetched = query.fetchnumpy()["v"]
    if np.ma.is_masked(fetched):
        refuse_bad_cells(relation.project(f"CAST({cell} AS VARCHAR) AS t"), where, drop_missing)
    if units in TEMPORAL and not written.units:
        raise InputError(f"{where} must hold dates or times, as the units say ({units}), got numbers")
    return fetched if units is None else converted(fetched, written.units, units, where)
