"""CSV and Parquet files as duckdb relations, and one line for everything that can be wrong with one.

A CSV is read as text and cast afterwards, so that the first cell that is no number can be named with its
row. Columns are addressed by position, never by splicing a name into a query. Row numbers count data rows
from 1; the header is no data row.
"""

import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import duckdb

from ..mechanisms.errors import InputError

FilePath: TypeAlias = str | os.PathLike[str]

MISSING_MARKS = ("", "NA")
"""CSV cells that mean "no value": an empty cell (spreadsheets, pandas) and NA (R)."""

NAMES_SHOWN = 20
"""Column names listed in an error message: enough to see the typing mistake, still one line."""

TEXT_SHOWN = 60
"""Characters of an offending cell, or of another library's message, that an error repeats."""

UNREADABLE_FILE = (OSError, UnicodeDecodeError, csv.Error, duckdb.Error)
"""What duckdb, Python and the file system raise for a file that cannot be read."""

_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN|VARCHAR)")


@contextmanager
def connected(options: dict[str, str] | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an empty database; Ctrl-C in it is KeyboardInterrupt, not duckdb's RuntimeError.

    Example
    -------
    >>> with connected() as connection:
    ...     connection.execute("SELECT 1 + 1").fetchone()
    (2,)
    """
    try:
        with duckdb.connect(config=dict(options or {})) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would be drawn on stdout
            yield connection
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


def open_file(connection: duckdb.DuckDBPyConnection, path: FilePath) -> tuple[duckdb.DuckDBPyRelation, list[str]]:
    """Return a CSV or Parquet file as a relation, and its column names in order.

    A CSV's columns are all text, under the names c0, c1, ...

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    path : str or path-like
        A `.csv` (comma separated, UTF-8, first line names the columns) or `.parquet` file.

    Raises
    ------
    InputError
        No such file, a folder, or an unsupported extension.
    OSError, UnicodeDecodeError, csv.Error, duckdb.Error
        A file that cannot be read; `unreadable` says it in one line.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\n")
    >>> with connected() as connection:
    ...     relation, names = open_file(connection, path)
    ...     names, relation.fetchall()
    (['name', 'income'], [('Ann', '1200.5')])
    """
    extension = extension_of(path)
    file = Path(path)
    if not file.exists():
        raise InputError(f"a data file must exist, got {str(path)!r}: check the path")
    if not file.is_file():
        raise InputError(f"a data file must be a file, got {str(path)!r}, which is not one")
    # duckdb reads *, ? and [ in a path as a pattern; a bracketed character stands for itself.
    literal = re.sub(r"([*?\[])", r"[\1]", str(file.absolute()))
    if extension == ".parquet":
        relation = connection.read_parquet(literal)
        return relation, list(relation.columns)
    names = _header(file)
    return _csv_relation(connection, literal, len(names)), names


def unreadable(path: FilePath, error: Exception) -> InputError:
    """Return what to raise instead of one of `UNREADABLE_FILE`.

    Example
    -------
    >>> unreadable("people.csv", OSError("disk on fire"))
    InputError("'people.csv' must be a readable .csv file: disk on fire")
    """
    return InputError(f"{str(path)!r} must be a readable {extension_of(path)} file: {short_message(error)}")


def _csv_relation(connection: duckdb.DuckDBPyConnection, literal: str, n_columns: int) -> duckdb.DuckDBPyRelation:
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


def column_position(names: Sequence[str], column: str, where: str) -> int:
    """Return the place of a column among the names, or raise InputError unless it is there once.

    Parameters
    ----------
    names : sequence of str
    column : str
    where : str
        The column and its file, for the message.

    Example
    -------
    >>> column_position(["user", "report"], "report", "column 'report' of 'day.csv'")
    1
    """
    if column not in names:
        raise InputError(f"{where} must exist: the file has {listed(names)}")
    if (times := list(names).count(column)) > 1:
        raise InputError(f"{where} must be the only one of its name, got {times}: rename the others")
    return list(names).index(column)


def numeric_cell(relation: duckdb.DuckDBPyRelation, position: int, where: str) -> str:
    """Return the quoted name of a column that holds numbers, or text that may be numbers; else raise InputError.

    Example
    -------
    >>> with connected() as connection:
    ...     numeric_cell(connection.sql("SELECT 1.5 AS v"), 0, "column 'v'")
    '"v"'
    """
    if not _NUMERIC.fullmatch(kind := str(relation.types[position])):
        raise InputError(f"{where} must hold numbers, got type {kind}")
    return quoted(relation.columns[position])


def refuse_bad_cells(texts: duckdb.DuckDBPyRelation, where: str, drop_missing: bool) -> None:
    """Raise InputError for the first cell that is text, or for missing cells unless they may be dropped.

    Parameters
    ----------
    texts : duckdb.DuckDBPyRelation
        One column ``t`` of text.
    where : str
        The column and its file, for the message.

    Example
    -------
    >>> with connected() as connection:
    ...     refuse_bad_cells(connection.sql("SELECT NULL AS t"), "column 'v'", drop_missing=True)
    """
    blank = f"t IS NULL OR trim(t) IN {MISSING_MARKS}"
    failed = texts.project(f"row_number() OVER () AS r, t, TRY_CAST(t AS DOUBLE) AS v, {blank} AS blank").filter(
        "v IS NULL"
    )
    if bad := failed.filter("NOT blank").order("r").limit(1).fetchall():
        row, text = bad[0][:2]
        raise InputError(f"{where} must hold numbers, got the text {text[:TEXT_SHOWN]!r} in row {row}")
    if drop_missing:
        return
    count, row = failed.aggregate("count(*), min(r)").fetchall()[0]
    if count:
        raise InputError(missing_message(where, count, row))


def missing_message(where: str, count: int, row: int) -> str:
    """Return what to say of missing values.

    Example
    -------
    >>> missing_message("column 'v'", 2, 7).split(": ")[0]
    "column 'v' must not miss values, got 2 missing, the first in row 7"
    """
    return (
        f"{where} must not miss values, got {count} missing, the first in row {row}: "
        "fill them in, or leave them out with drop_missing (--drop-missing)"
    )


def extension_of(path: FilePath) -> str:
    """Return ".csv" or ".parquet", or raise InputError.

    Example
    -------
    >>> extension_of("Reports.CSV")
    '.csv'
    """
    extension = Path(path).suffix.lower()
    if extension not in (".csv", ".parquet"):
        raise InputError(f"a data file must end in .csv or .parquet, got {str(path)!r}: convert or rename it")
    return extension


def listed(names: Sequence[str]) -> str:
    """Return the first names, quoted, and how many more there are.

    Example
    -------
    >>> listed(["user", "report"])
    "'user', 'report'"
    """
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return ", ".join(repr(name) for name in names[:NAMES_SHOWN]) + more


def quoted(name: str) -> str:
    """Return a column's name as SQL takes it literally.

    Example
    -------
    >>> print(quoted('say "when"'))
    "say ""when"\""
    """
    return '"' + name.replace('"', '""') + '"'


def short_message(error: Exception) -> str:
    """Return the part of another library's message that says what and where, on one line.

    Example
    -------
    >>> short_message(ValueError("no\\nsuch thing"))
    'no such thing'
    """
    text = " ".join(str(error).split("Possible")[0].split())
    return text if len(text) <= 3 * TEXT_SHOWN else text[: 3 * TEXT_SHOWN] + " ..."
