"""Reports beside the key of the user they came from, so that several services' reports can be matched."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

import duckdb
import numpy as np
from numpy.typing import ArrayLike

from ....mechanisms.errors import InputError
from ..formats.destination import destination
from ..formats.overrides import missing_in_sql
from .cells import quoted
from .files import (
    UNREADABLE_FILE,
    FilePath,
    column_position,
    connected,
    open_file,
    short_message,
    unreadable,
    written_extension,
)
from .number_cells import named_cells, writable
from .rows.written_rows import with_constants, write_parquet_rows


def write_keyed_reports(
    path: FilePath,
    reports: Mapping[str, ArrayLike],
    *,
    data: FilePath,
    columns: Sequence[str],
    key: str | None,
    keep: Sequence[str] = (),
    constants: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """Write reports, one for each row of a data file that has its values, beside that row's key and public columns.

    Parameters
    ----------
    path : str or path-like
        Destination, `.csv` or `.parquet`; whole or not at all.
    reports : mapping of str to (n,) array_like of float or str
        Columns of reports by name, in the order of the data file's rows; rows that miss a value have none.
    data : str or path-like
        The `.csv` or `.parquet` file that the values were read from.
    columns : sequence of str
        Its columns of values: a row that misses one of them has no report.
    key : str or None
        Its column of the users' keys, kept as it is; None for no keys.
    keep : sequence of str
        Further columns that are kept as they are: what is no secret, such as a region or a weight.
    constants : mapping of str to str
        As of `write_columns`.

    Raises
    ------
    InputError
        No such column, a key that is missing (with count and first row), a key or a kept column by a report's name or
        the values', a column named twice, or a destination that cannot be written.

    Example
    -------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "people.csv").write_text("id,x\\nann,1\\nbo,2\\n")
    >>> reports = {"report": [0.5, -3.0]}
    >>> write_keyed_reports(folder / "out.csv", reports, data=folder / "people.csv", columns=["x"], key="id")
    >>> (folder / "out.csv").read_text().split()
    ['id,report', 'ann,0.5', 'bo,-3.0']
    """
    require_other_columns(key, keep, columns, [*reports, *constants])
    extension = written_extension(path)
    values = {f"c{i}": writable(column) for i, column in enumerate(reports.values())}
    try:
        with connected() as connection:
            beside = ([] if key is None else [key]) + list(keep)
            rows = _keys(connection, data, columns, key, beside)
            if wrong := [column.size for column in values.values() if column.size != rows]:
                raise InputError(f"there must be one report for each of {rows} values, got {wrong[0]}")
            connection.register("reports", values)
            joined = connection.sql(
                f"SELECT {''.join(f'k{i} AS {quoted(name)}, ' for i, name in enumerate(beside))}"
                f"{named_cells(values, list(reports))} "
                "FROM (SELECT * FROM keys ORDER BY r) POSITIONAL JOIN reports"
            )
            _write(connection, with_constants(joined, constants), path, extension, constants)
    except BrokenPipeError:
        raise  # the reader of standard output has gone
    except UNREADABLE_FILE as error:
        raise unreadable(data, error) from None


def require_columns(data: FilePath, names: Sequence[str]) -> None:
    """Raise InputError unless a data file has all of these columns.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,x\\nann,1\\n")
    >>> require_columns(path, ["id", "x"])
    """
    try:
        with connected() as connection:
            _, held = open_file(connection, data)
            for name in names:
                column_position(held, name, f"column {name!r} of {str(data)!r}")
    except UNREADABLE_FILE as error:
        raise unreadable(data, error) from None


def require_other_columns(key: str | None, keep: Sequence[str], columns: Sequence[str], reports: Iterable[str]) -> None:
    """Raise InputError for a key or a kept column by the name of values or of reports, or named twice.

    Example
    -------
    >>> require_other_columns("id", ["region"], ["income"], ["report"])
    """
    others = ", ".join(map(repr, reports))
    if key is not None and key in (*columns, *reports):
        raise InputError(f"the key must be another column than the values and {others}, got {key!r} for both")
    for place, name in enumerate(keep):
        if name in (*columns, key, *reports, *keep[:place]):
            raise InputError(
                f"a column that is kept must be another one than the values, the key, {others} and those kept already, "
                f"got {name!r}: leave it out"
            )


def read_keys(data: FilePath, columns: Sequence[str], key: str) -> np.ndarray:
    """Return the key (n,) of each row of a data file that misses none of its values, as text, in the rows' order.

    Raises
    ------
    InputError
        As `write_keyed_reports`, and keys that are numbers with a fraction, which are not written alike everywhere.

    Example
    -------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("id,x\\nann,1\\nbo,\\n")
    >>> read_keys(path, ["x"], "id")
    array(['ann'], dtype=object)
    """
    try:
        with connected() as connection:
            _keys(connection, data, columns, key, [key])
            keys = connection.table("keys").order("r")
            if (kind := str(keys.types[1])) in ("FLOAT", "DOUBLE"):
                raise InputError(f"column {key!r} of {str(data)!r} must hold text or integers, got type {kind}")
            return np.array(keys.project("CAST(k0 AS VARCHAR) AS k").fetchnumpy()["k"], dtype=object)
    except UNREADABLE_FILE as error:
        raise unreadable(data, error) from None


def common_keys(first: FilePath, second: FilePath, key: str) -> int:
    """Return how many users two data files have in common, by the column that names them in both; see below.

    Example
    -------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("id,x\\nann,1\\nbo,2\\n"), (folder / "b.csv").write_text("id\\nbo\\ncy\\n")
    >>> common_keys(folder / "a.csv", folder / "b.csv", "id")
    1
    """
    return int(users_of_files([first, second], key)[0][0, 1])


def users_of_files(paths: Sequence[FilePath], key: str) -> tuple[np.ndarray, int]:
    """Return how many users each two data files have in common (J, J), each with itself too, and how many there are.

    Raises
    ------
    InputError
        A file that cannot be read, has no such column, or has a user twice.

    Example
    -------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("id,x\\nann,1\\nbo,2\\n"), (folder / "b.csv").write_text("id\\nbo\\ncy\\n")
    >>> users_of_files([folder / "a.csv", folder / "b.csv"], "id")
    (array([[2, 1],
           [1, 2]]), 3)
    """
    with connected() as connection:
        connection.execute("CREATE TABLE users (file INTEGER, k VARCHAR)")
        for number, path in enumerate(paths):
            try:
                relation, names = open_file(connection, path)
                column = quoted(relation.columns[column_position(names, key, f"column {key!r} of {str(path)!r}")])
                relation.project(f"CAST({column} AS VARCHAR) AS k").filter("k IS NOT NULL").create_view("read")
                connection.execute(f"INSERT INTO users SELECT {number}, k FROM read")
                many, users = connection.sql("SELECT count(*), count(DISTINCT k) FROM read").fetchall()[0]
            except UNREADABLE_FILE as error:
                raise unreadable(path, error) from None
            if many > users:
                raise InputError(
                    f"a user must report to a service once, got {many - users} more reports to {str(path)!r} than "
                    "users: remove all but one of each"
                )
        found = np.zeros((len(paths), len(paths)), dtype=np.int64)
        pairs = "SELECT a.file, b.file, count(*) FROM users a JOIN users b USING (k) GROUP BY ALL"
        for first, second, many in connection.sql(pairs).fetchall():
            found[first, second] = many
        return found, connection.sql("SELECT count(DISTINCT k) FROM users").fetchall()[0][0]


def _write(
    connection: duckdb.DuckDBPyConnection,
    relation: duckdb.DuckDBPyRelation,
    path: FilePath,
    extension: str,
    constants: Mapping[str, str],
) -> None:
    try:
        with destination(path) as part:
            if extension == ".csv":
                relation.write_csv(str(part))
            else:
                write_parquet_rows(connection, relation, part, constants)
    except duckdb.Error as error:
        raise InputError(f"the output must be writable, got {str(path)!r}: {short_message(error)}") from None


def _keys(
    connection: duckdb.DuckDBPyConnection,
    data: FilePath,
    columns: Sequence[str],
    key: str | None,
    beside: Sequence[str],
) -> int:
    """Make the table keys (row r, cells k0, k1, ... of the columns beside) of the rows that miss no value; return how
    many there are. InputError for one without a key."""
    relation, names = open_file(connection, data)

    def cell(wanted: str) -> str:
        return quoted(relation.columns[column_position(names, wanted, f"column {wanted!r} of {str(data)!r}")])

    missing = [f"v{i} IS NULL OR trim(CAST(v{i} AS VARCHAR)) IN {missing_in_sql()}" for i in range(len(columns))]
    held = f"NOT ({' OR '.join(missing)})" if missing else "true"
    cells = [f"{cell(name)} AS k{i}" for i, name in enumerate(beside)]
    cells += [f"{cell(name)} AS v{i}" for i, name in enumerate(columns)]
    numbered = relation.project(f"row_number() OVER () AS r, {', '.join(cells)}")
    numbered.filter(held).project(", ".join(["r", *(f"k{i}" for i in range(len(beside)))])).create("keys")
    if key is not None:
        absent = connection.sql("SELECT count(*), min(r) FROM keys WHERE k0 IS NULL").fetchall()[0]
        if absent[0]:
            raise InputError(
                f"column {key!r} of {str(data)!r} must name every user, got {absent[0]} missing, "
                f"the first in row {absent[1]}"
            )
    return connection.sql("SELECT count(*) FROM keys").fetchall()[0][0]
