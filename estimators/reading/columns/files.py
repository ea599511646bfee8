"""CSV and Parquet files as duckdb relations, and one line for everything that can be wrong with one.

A CSV is read as text and cast afterwards, so that the first cell that is no number can be named with its
row. Columns are addressed by position, never by splicing a name into a query. Row numbers count data rows
from 1; the header is no data row.  A path means that very file: no pattern, no address, and folders named
like report=7 say nothing of the columns.
"""

from __future__ import annotations

import atexit
import csv
import functools
import os
import re
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import TypeAlias

import duckdb

from ....mechanisms.cost import columns_cost, require_affordable
from ....mechanisms.errors import InputError
from ..formats.overrides import missing_marks
from ..formats.parquet_parts import parquet_parts
from ..formats.plain_file import NO_EXTENSIONS, STANDARD_INPUT, PlainFile, existing, kind_of_file, plain_file
from .other_table import other_table
from .rows.csv_rows import first_fault, is_unicode, load_rows
from .rows.skipped_rows import TEXT_SHOWN

FilePath: TypeAlias = str | os.PathLike[str]

NAMES_SHOWN = 20
"""Column names listed in an error message: enough to see the typing mistake, still one line."""

LONGEST_HEADER = 2**20
"""Characters of the first line that are read to find the columns' names."""

FEW_ROWS, ROWS_A_BYTE = 2**20, 16
"""A Parquet file may hold so many rows, and so many more for each of its bytes: a report of two outputs takes a bit."""

FEW_BYTES, BYTES_A_BYTE = 2**25, 64
"""And unpack to so many bytes; equal cells that are said once for thousands of rows do not count."""

_PLAIN_PATH = re.compile(r"[^*?\[\]{}\\\ud800-\udfff]*")
"""Paths that mean the file and nothing else to duckdb, too."""

UNREADABLE_FILE = (OSError, csv.Error, duckdb.Error)
"""What duckdb, Python and the file system raise for a file that cannot be read."""


@contextmanager
def connected(options: dict[str, str] | None = None) -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection to an empty database; Ctrl-C in it is KeyboardInterrupt, not duckdb's RuntimeError.

    What is asked for with options has an engine of its own, which takes ten times as long to start.

    Example
    -------
    >>> with connected() as connection:
    ...     connection.execute("SELECT 1 + 1").fetchone()
    (2,)
    """
    try:
        with _shared() if options is None else duckdb.connect(config=NO_EXTENSIONS | options) as connection:
            connection.execute("SET enable_progress_bar = false")  # it would be drawn on stdout
            yield connection
    except (RuntimeError, duckdb.InterruptException) as error:
        if "interrupt" in str(error).lower():
            raise KeyboardInterrupt from None
        raise


@contextmanager
def _shared() -> Iterator[duckdb.DuckDBPyConnection]:
    """Yield a connection of this process's engine, with an empty database that is gone at the end."""
    with _engine(os.getpid()).cursor() as connection:
        database = f"optldp_{uuid.uuid4().hex}"
        connection.execute(f"ATTACH ':memory:' AS {database}; USE {database}")
        try:
            yield connection
        finally:
            connection.execute(f"USE memory; DETACH {database}")


@functools.cache
def _engine(process: int) -> duckdb.DuckDBPyConnection:
    """Return what all connections of a process share: it starts threads, which a fork does not take along."""
    return duckdb.connect(config=NO_EXTENSIONS)


atexit.register(_engine.cache_clear)  # its bindings complain of what outlives the interpreter


def open_file(connection: duckdb.DuckDBPyConnection, path: FilePath) -> tuple[duckdb.DuckDBPyRelation, list[str]]:
    """Return a file of text, Parquet or Feather as a relation, and its column names in order.

    The columns of text are all text, under the names c0, c1, ...

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
    path : str or path-like
        Text whose first line names the columns (`.csv`, `.tsv`, `.txt`, also packed by gzip or Zstandard), `.parquet`,
        `.feather`, or "-" for standard input. A folder of Parquet files, or a pattern of their names.

    Raises
    ------
    InputError
        No such file, a folder of other files, an unsupported extension, or text that cannot be unpacked or may be read
        in two ways.
    OSError, csv.Error, duckdb.Error
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
    if (parts := parquet_parts(path)) is not None:
        relation = _relation_of_parts(connection, parts)
        return relation, list(relation.columns)
    kind = extension_of(path)
    if kind == ".csv":
        with plain_file(path) as plain:
            names = _header(plain, path)
            return _text_relation(connection, plain, names, path), names
    file = existing(path)
    if kind == ".feather":
        relation = _feather_relation(connection, file)
    else:
        relation = _relation(connection, file, lambda name: _parquet_relation(connection, name, file))
    return relation, list(relation.columns)


def open_tolerant(connection: duckdb.DuckDBPyConnection, path: FilePath) -> tuple[duckdb.DuckDBPyRelation, list[str]]:
    """Return a file as `open_file` does, but with a last column `fault`: what makes a row of a CSV none, else NULL.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\nBo\\n")
    >>> with connected() as connection:
    ...     open_tolerant(connection, path)[0].fetchall()
    [('Ann', '1200.5', None), (None, None, 'has 1 cell and not 2')]
    """
    if extension_of(path) != ".csv":
        relation, names = open_file(connection, path)
        return relation.project("*, CAST(NULL AS VARCHAR) AS fault"), names
    with plain_file(path) as plain:
        names, table = _header(plain, path), _new_name()
        load_rows(connection, plain.file, len(names), table, plain.delimiter)
    return connection.table(table), names


def _text_relation(
    connection: duckdb.DuckDBPyConnection, plain: PlainFile, names: list[str], path: FilePath
) -> duckdb.DuckDBPyRelation:
    """The rows of a text file; of a copy, which does not last, they are read now."""

    def read(name: str) -> duckdb.DuckDBPyRelation:
        return _csv_relation(connection, name, len(names), plain.delimiter)

    if not plain.is_copy:
        return _relation(connection, plain.file, read)
    table = _new_name()
    try:
        read(str(plain.file)).create(table)
    except duckdb.Error as error:
        fault = first_fault(plain.file, len(names), plain.delimiter)
        raise InputError(f"{str(path)!r} must be readable: {fault or short_message(error)}") from None
    return connection.table(table)


def _feather_relation(connection: duckdb.DuckDBPyConnection, file: Path) -> duckdb.DuckDBPyRelation:
    """The rows of a Feather (Arrow) file, for which pyarrow is needed, if its size can account for so many."""
    try:
        import pyarrow
        from pyarrow.feather import read_table
    except ImportError:
        raise InputError(
            f"{str(file)!r} needs pyarrow, which is not installed: pip install pyarrow, or write the file as Parquet"
        ) from None
    size = file.stat().st_size
    try:
        table = read_table(file, memory_map=False)
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise InputError(f"{str(file)!r} must be a readable .feather file: {short_message(error)}") from None
    if table.num_rows > (most := FEW_ROWS + ROWS_A_BYTE * size):
        raise InputError(f"{str(file)!r} of {size} bytes must hold at most {most} rows, got {table.num_rows}")
    name = _new_name()
    connection.register(name, table)
    return connection.view(name)


def _parquet_relation(connection: duckdb.DuckDBPyConnection, name: str, file: Path) -> duckdb.DuckDBPyRelation:
    """The rows of a Parquet file that holds no more of them, and no more text, than its size can account for."""
    size = file.stat().st_size
    columns = connection.execute("SELECT count(*) FROM parquet_schema(?)", [name]).fetchall()[0][0]
    _require_modest(columns, str(file))
    rows = connection.execute("SELECT num_rows FROM parquet_file_metadata(?)", [name]).fetchall()[0][0]
    if rows > (most := FEW_ROWS + ROWS_A_BYTE * size):
        raise InputError(f"{str(file)!r} of {size} bytes must hold at most {most} rows, got {rows}: write it as CSV")
    query = "SELECT sum(total_uncompressed_size) FROM parquet_metadata(?)"
    unpacked = connection.execute(query, [name]).fetchall()[0][0] or 0
    if unpacked > (most := FEW_BYTES + BYTES_A_BYTE * size):
        raise InputError(
            f"{str(file)!r} of {size} bytes must unpack to at most {most}, got {unpacked}: write it as CSV"
        )
    return connection.read_parquet(name, hive_partitioning=False)


def _relation_of_parts(connection: duckdb.DuckDBPyConnection, parts: Sequence[Path]) -> duckdb.DuckDBPyRelation:
    """The rows of several Parquet files, each checked by itself; columns are found by their names."""
    names = [str(part.absolute()) for part in parts]
    if strange := [name for name in names if not _PLAIN_PATH.fullmatch(name)]:
        raise InputError(f"files of a folder must have plain names, got {strange[0]!r:.120}: rename it")
    for name, part in zip(names, parts, strict=True):
        _parquet_relation(connection, name, part)
    return connection.read_parquet(names, union_by_name=True, hive_partitioning=False)


def _relation(
    connection: duckdb.DuckDBPyConnection, file: Path, read: Callable[[str], duckdb.DuckDBPyRelation]
) -> duckdb.DuckDBPyRelation:
    """The rows of the very file; where its path may be a pattern to duckdb, they are read now, by another name."""
    file = file.absolute()
    if _PLAIN_PATH.fullmatch(file.as_posix()):
        return read(str(file))
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
        link, table = Path(folder, f"data{file.suffix.lower()}"), _new_name()
        link.symlink_to(file)
        read(str(link)).create(table)
    return connection.table(table)


def _new_name() -> str:
    return f"rows_{uuid.uuid4().hex}"


def unreadable(path: FilePath, error: Exception, cure: str = "") -> InputError:
    """Return what to raise instead of one of `UNREADABLE_FILE`; a CSV's faulty row is named by its number.

    A row of another table is said to be that.

    Example
    -------
    >>> unreadable("people.csv", OSError("disk on fire"))
    InputError("'people.csv' must be a readable .csv file: disk on fire")
    """
    if (other := other_table(error)) is not None:
        return other
    return InputError(f"{str(path)!r} must be a readable {extension_of(path)} file: {_reason(path, error)}{cure}")


def _reason(path: FilePath, error: Exception) -> str:
    if isinstance(error, duckdb.Error) and extension_of(path) == ".csv":
        try:
            with plain_file(path) as plain:
                fault = first_fault(plain.file, len(_header(plain, path)), plain.delimiter)
        except (OSError, csv.Error, InputError):
            fault = None
        if fault is not None:
            return fault
    return short_message(error)


def _csv_relation(
    connection: duckdb.DuckDBPyConnection, name: str, n_columns: int, delimiter: str
) -> duckdb.DuckDBPyRelation:
    """All columns as text under the names c0, c1, ...; nothing is left for duckdb to guess."""
    return connection.read_csv(
        name,
        auto_detect=False,
        columns={f"c{i}": "VARCHAR" for i in range(n_columns)},
        header=True,
        delimiter=delimiter,
        quotechar='"',
        escapechar='"',
        na_values=list(missing_marks()),
        hive_partitioning=False,
    )


def _header(plain: PlainFile, path: FilePath) -> list[str]:
    """Column names on the first line of a text file, which messages call by its path."""
    file = str(path)
    with plain.file.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as stream:
        first = stream.readline(LONGEST_HEADER)
        if len(first) == LONGEST_HEADER:
            raise InputError(f"the first line of {file!r} must name the columns, but it does not end")
        _require_modest(first.count(plain.delimiter) + 1, file)
        lines = chain([first], iter(lambda: stream.readline(LONGEST_HEADER), ""))
        names = [name.strip() for name in next(csv.reader(lines, delimiter=plain.delimiter), [])]
    if not is_unicode("".join(names)):
        raise InputError(f"{file!r} must be a readable .csv file: its first line is not UTF-8: save it as UTF-8")
    if not any(names):
        raise InputError(f"the first line of {file!r} must name the columns, but it is empty")
    return names


def _require_modest(columns: int, file: str) -> None:
    """Raise InputError for a file of so many columns that reading any of them would take too much."""
    require_affordable(f"the {columns} columns of {file!r}", columns_cost(columns), "keep those that are needed")


def columns_of(path: FilePath) -> list[str]:
    """Return the names of a data file's columns; InputError for a file that cannot be opened.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,x\\nann,1\\n")
    >>> columns_of(path)
    ['id', 'x']
    """
    try:
        with connected() as connection:
            return open_file(connection, path)[1]
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None


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
        folded = {name.casefold(): name for name in names}
        near = get_close_matches(column.casefold(), folded, 1)
        meant = f"did you mean {folded[near[0]]!r}? " if near else ""
        raise InputError(f"{where} must exist: {meant}the file has {listed(names)}")
    if (times := list(names).count(column)) > 1:
        raise InputError(f"{where} must be the only one of its name, got {times}: rename the others")
    return list(names).index(column)


def extension_of(path: FilePath) -> str:
    """Return ".csv" for text of any form, ".parquet" or ".feather", or raise InputError.

    Example
    -------
    >>> extension_of("Reports.CSV"), extension_of("people.tsv.gz")
    ('.csv', '.csv')
    """
    return kind_of_file(path)


def written_extension(path: FilePath) -> str:
    """Return ".csv" or ".parquet", in which files are written; "-", standard output, is CSV; InputError for others.

    Example
    -------
    >>> written_extension("Reports.CSV")
    '.csv'
    """
    extension = ".csv" if str(path) == STANDARD_INPUT else Path(path).suffix.lower()
    if extension not in (".csv", ".parquet"):
        raise InputError(f"a file that is written must end in .csv or .parquet, got {str(path)!r}: rename it")
    return extension


def listed(names: Sequence[str]) -> str:
    """Return the first names, quoted and shortened, and how many more there are.

    Example
    -------
    >>> listed(["user", "report"])
    "'user', 'report'"
    """
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (
        ", ".join(repr(name if len(name) <= TEXT_SHOWN else f"{name[:TEXT_SHOWN]} ...") for name in names[:NAMES_SHOWN])
        + more
    )


def short_message(error: Exception) -> str:
    """Return the part of another library's message that says what and where, on one line.

    Example
    -------
    >>> short_message(ValueError("no\\nsuch thing"))
    'no such thing'
    """
    text = " ".join(str(error).split("Possible")[0].split())
    return text if len(text) <= 3 * TEXT_SHOWN else text[: 3 * TEXT_SHOWN] + " ..."
