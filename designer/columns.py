"""One numeric column of a CSV or Parquet file, in and out, through duckdb.

A CSV is read as text and cast afterwards, so that the first cell that is no number can be named with its
row. Columns are addressed by position, never by splicing a name into a query. Row numbers count data rows
from 1; the header is no data row.
"""

import csv
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb
import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms.atomic_write import replacing
from ..mechanisms.errors import InputError

FilePath: TypeAlias = str | os.PathLike[str]

MISSING_MARKS = ("", "NA")
"""CSV cells that mean "no value": an empty cell (spreadsheets, pandas) and NA (R)."""

NAMES_SHOWN = 20
"""Column names listed in an error message: enough to see the typing mistake, still one line."""

TEXT_SHOWN = 60
"""Characters of an offending cell, or of another library's message, that an error repeats."""

_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN|VARCHAR)")


def read_column(path: FilePath, column: str, *, drop_missing: bool = False) -> np.ndarray:
    """Read one numeric column, in the file's row order.

    Parameters
    ----------
    path : str or path-like
        A `.csv` (comma separated, UTF-8, first line names the columns) or `.parquet` file.
    column : str
        Name of the column.
    drop_missing : bool
        Leave out rows whose value is missing (an empty CSV cell, NA, a Parquet null) instead of refusing.

    Returns
    -------
    values : (n,) ndarray of float
        Finite values, n >= 1.

    Raises
    ------
    InputError
        One line each: no such file, unreadable, unsupported extension, empty, no such column (the message
        names those there are), text in the column, missing values, NaN or infinite values.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\nBo,900\\n")
    >>> read_column(path, "income")
    array([1200.5,  900. ])
    """
    with _opened(path) as (relation, names):
        return _finite_column(relation, names, column, path, drop_missing)


def read_pairs(path: FilePath) -> tuple[np.ndarray, np.ndarray]:
    """Read a prior given as pairs: the columns `value` and `weight` of a CSV or Parquet file.

    Returns
    -------
    values, weights : (n,) ndarray of float
        Finite; the signs and the sum of the weights are the prior's business.

    Raises
    ------
    InputError
        As `read_column`; missing values are always refused.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "prior.csv"
    >>> _ = path.write_text("value,weight\\n0,3\\n10,1\\n")
    >>> read_pairs(path)
    (array([ 0., 10.]), array([3., 1.]))
    """
    with _opened(path) as (relation, names):
        if absent := [name for name in ("value", "weight") if name not in names]:
            raise InputError(
                f"a prior file must have the columns value and weight; {str(path)!r} lacks "
                f"{' and '.join(absent)}: it has {_listed(names)}"
            )
        values = _finite_column(relation, names, "value", path, drop_missing=False)
        return values, _finite_column(relation, names, "weight", path, drop_missing=False)


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
    extension = _extension(path)
    array = np.ascontiguousarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"a column must be one-dimensional, got shape {array.shape}")
    try:
        with replacing(path) as part, _connected() as connection:
            connection.register("columns_out", {"c0": array})
            relation = connection.view("columns_out").project(f"c0 AS {_quoted(name)}")
            if extension == ".csv":
                relation.write_csv(str(part))
            else:
                relation.write_parquet(str(part))
    except duckdb.Error as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {_short(error)}") from None


@contextmanager
def _connected() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection in which Ctrl-C is KeyboardInterrupt, not the RuntimeError that duckdb makes of it."""
    try:
        with duckdb.connect() as connection:
            yield connection
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _opened(path: FilePath) -> Iterator[tuple[duckdb.DuckDBPyRelation, list[str]]]:
    """Yield the file as a relation and its column names, turning what duckdb raises into one line."""
    extension = _extension(path)
    file = Path(path)
    if not file.exists():
        raise InputError(f"a data file must exist, got {str(path)!r}: check the path")
    if not file.is_file():
        raise InputError(f"a data file must be a file, got {str(path)!r}, which is not one")
    # duckdb reads *, ? and [ in a path as a pattern; a bracketed character stands for itself.
    literal = re.sub(r"([*?\[])", r"[\1]", str(file.absolute()))
    try:
        with _connected() as connection:
            if extension == ".parquet":
                relation = connection.read_parquet(literal)
                yield relation, list(relation.columns)
            else:
                names = _header(file)
                yield _csv_relation(connection, literal, len(names)), names
    except (OSError, UnicodeDecodeError, csv.Error, duckdb.Error) as error:
        raise InputError(f"{str(path)!r} must be a readable {extension} file: {_short(error)}") from None


def _csv_relation(connection: duckdb.DuckDBPyConnection, literal: str, n_columns: int):
    """All columns as text under the names c0, c1, ...; nothing is left for duckdb to guess."""
    return connection.read_csv(
        literal,
        auto_detect=False,
        columns={f"c{i}": "VARCHAR" for i in range(n_columns)},
        header=True,
        delimiter=",",
        quotechar='"',
        escapechar='"',
        na_values=list(MISSING_MARKS),
    )


def _header(file: Path) -> list[str]:
    """Column names on the first line of a CSV."""
    with file.open(encoding="utf-8-sig", newline="") as stream:
        names = [name.strip() for name in next(csv.reader(stream), [])]
    if not any(names):
        raise InputError(f"the first line of {str(file)!r} must name the columns, but it is empty")
    return names


def _finite_column(
    relation: duckdb.DuckDBPyRelation, names: list[str], column: str, path: FilePath, drop_missing: bool
) -> np.ndarray:
    """The named column as finite doubles, or the error that says which row stands in the way."""
    where = f"column {column!r} of {str(path)!r}"
    if column not in names:
        raise InputError(f"{where} must exist: the file has {_listed(names)}")
    if (times := names.count(column)) > 1:
        raise InputError(f"{where} must be the only one of its name, got {times}: rename the others")
    index = names.index(column)
    if not _NUMERIC.fullmatch(kind := str(relation.types[index])):
        raise InputError(f"{where} must hold numbers, got type {kind}")
    cell = _quoted(relation.columns[index])
    # Asking for the text's nullness too keeps the cast out of duckdb 2.0's CSV scanner, where a TRY_CAST
    # fails instead of giving null: https://github.com/duckdb/duckdb/issues/23818
    query = relation.project(f"TRY_CAST({cell} AS DOUBLE) AS v, {cell} IS NULL AS missing")
    fetched = query.fetchnumpy()["v"]
    if np.ma.is_masked(fetched):
        _refuse_bad_cells(relation.project(f"CAST({cell} AS VARCHAR) AS t"), where, drop_missing)
        fetched = fetched.compressed()
    values = np.asarray(fetched, dtype=np.float64)
    if values.size == 0:
        raise InputError(f"{where} must hold at least one value, but it is empty")
    if not (finite := np.isfinite(values)).all():
        first = int(np.argmin(finite))
        row = "" if drop_missing else f", the first ({values[first]}) in row {first + 1}"
        raise InputError(f"{where} must hold finite values, got {np.sum(~finite)} NaN or infinite{row}: replace them")
    return values


def _refuse_bad_cells(texts: duckdb.DuckDBPyRelation, where: str, drop_missing: bool) -> None:
    """Raise for the first cell that is text, or for missing cells unless they may be dropped."""
    blank = f"t IS NULL OR trim(t) IN {MISSING_MARKS}"
    failed = texts.project(f"row_number() OVER () AS r, t, TRY_CAST(t AS DOUBLE) AS v, {blank} AS blank").filter(
        "v IS NULL"
    )
    if bad := failed.filter("NOT blank").order("r").limit(1).fetchall():
        row, text = bad[0][:2]
        raise InputError(f"{where} must hold numbers, got the text {text[:TEXT_SHOWN]!r} in row {row}")
    count, row = failed.aggregate("count(*), min(r)").fetchall()[0]
    if not drop_missing:
        raise InputError(
            f"{where} must not miss values, got {count} missing, the first in row {row}: "
            "fill them in, or leave them out with --drop-missing"
        )


def _extension(path: FilePath) -> str:
    extension = Path(path).suffix.lower()
    if extension not in (".csv", ".parquet"):
        raise InputError(f"a data file must end in .csv or .parquet, got {str(path)!r}: convert or rename it")
    return extension


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(repr(name) for name in names[:NAMES_SHOWN]) + more


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _short(error: Exception) -> str:
    """The part of another library's message that says what and where, on one line."""
    text = " ".join(str(error).split("Possible")[0].split())
    return text if len(text) <= 3 * TEXT_SHOWN else text[: 3 * TEXT_SHOWN] + " ..."
