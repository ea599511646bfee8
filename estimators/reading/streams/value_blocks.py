"""A column of values and those beside it, in blocks of rows: checked whole first, then read block by block."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np

from ....mechanisms.errors import InputError
from ..columns.cells import (
    column_notation,
    is_text,
    missing_message,
    number,
    quoted,
    refuse_bad_cells,
    text_fault,
)
from ..columns.files import UNREADABLE_FILE, FilePath, column_position, connected, extension_of, open_file, unreadable
from ..columns.other_table import Made
from ..columns.table_column import of_table
from ..formats.axis import TEMPORAL, converted
from ..formats.overrides import missing_in_sql
from ..formats.parquet_parts import parquet_parts
from ..formats.plain_file import existing

BLOCK_ROWS = 2**20
"""Rows that are in memory at a time: some 100 MB while reports of them are drawn and written."""

MEMORY = "192MB"
"""What duckdb may keep in memory meanwhile; the rest is on disk, where only the user can read it."""

ROW = "file_row_number"
"""What duckdb calls the place of a row in a Parquet file, from 0."""


LONG, LONG_PACKED = 2**22, 2**19
"""Bytes of a text file, and of a packed one, that may hold so many rows that blocks are worth it."""


def is_long(path: FilePath) -> bool:
    """Whether a file is to be read in blocks, as far as its size or a Parquet file's number of rows tells.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("income\\n1200.5\\n")
    >>> is_long(path)
    False
    """
    if (parts := parquet_parts(path)) is not None:
        return len(parts) > 1 or is_long(parts[0])
    file = existing(path)
    if extension_of(path) != ".parquet":
        return file.stat().st_size > (LONG_PACKED if file.suffix.lower() in (".gz", ".zst") else LONG)
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder, connected() as connection:
        link = Path(folder, "rows.parquet")  # its own name may be a pattern to duckdb
        link.symlink_to(file.absolute())
        query = "SELECT num_rows FROM parquet_file_metadata(?)"
        try:
            return connection.execute(query, [str(link)]).fetchall()[0][0] > BLOCK_ROWS
        except duckdb.Error:  # whoever reads it will say why
            return False


@dataclass(frozen=True, eq=False)
class ValueBlocks:
    """A column that has been checked, as duckdb sees it.

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
    relation : duckdb.DuckDBPyRelation
        The file as Parquet, with the number of each row.
    value, missing : str
        SQL for the value, and for whether there is none.
    beside : tuple of str
        SQL for what stands beside each report: the key if there is one, then the columns that are kept.
    units, target_units : str or None
        Of dates and times: those of the file, and those to count them in.
    where : str
        How messages call the column.
    rows, present : int
        Of the file, and those of them that have a value.
    size : int
        Rows of a block.
    """

    connection: duckdb.DuckDBPyConnection
    relation: duckdb.DuckDBPyRelation
    value: str
    missing: str
    beside: tuple[str, ...]
    units: str
    target_units: str | None
    where: str
    rows: int
    present: int
    size: int

    @property
    def many(self) -> int:
        """Number of blocks."""
        return -(-self.rows // self.size)

    def rows_of(self, block: int) -> tuple[int, int]:
        """Return the first row of a block, from 0, and the one after its last; after the last block there are none."""
        return min(self.rows, block * self.size), min(self.rows, (block + 1) * self.size)

    def values(self, block: int) -> np.ndarray:
        """Return the values (n,) of a block that are there, doubles or text."""
        fetched = self._present(block).project(f"{self.value} AS v").fetchnumpy()["v"]
        if fetched.dtype == object:
            return np.ma.getdata(fetched).astype(np.str_)
        values = np.asarray(np.ma.getdata(fetched), dtype=np.float64)
        return values if self.target_units is None else converted(values, self.units, self.target_units, self.where)

    def columns_beside(self, block: int) -> duckdb.DuckDBPyRelation:
        """Return the key and the kept columns k0, k1, ... of a block's rows with a value, as they stand in the file."""
        return self._present(block).project(", ".join(f"{cell} AS k{i}" for i, cell in enumerate(self.beside)))

    def users(self, block: int) -> np.ndarray:
        """Return the key (n,) of each of a block's rows with a value, as text; InputError for keys with a fraction."""
        keys = self._present(block).project(f"{self.beside[0]} AS k")
        if (kind := str(keys.types[0])) in ("FLOAT", "DOUBLE"):
            raise InputError(f"keys must be text or integers, got type {kind}: convert them")
        return np.array(keys.project("CAST(k AS VARCHAR) AS k").fetchnumpy()["k"], dtype=object)

    def _present(self, block: int) -> duckdb.DuckDBPyRelation:
        start, stop = self.rows_of(block)
        return self.relation.filter(f"{ROW} >= {start} AND {ROW} < {stop} AND NOT {self.missing}")


@contextmanager
def value_blocks(
    path: FilePath,
    column: str,
    *,
    key: str | None = None,
    keep: Sequence[str] = (),
    numeric: bool = True,
    drop_missing: bool = False,
    units: str | None = None,
    size: int | None = None,
    made: Made | None = None,
) -> Iterator[ValueBlocks]:
    """Yield a column of a file of any length, block by block, once all of it has been looked at.

    A Parquet file is read where it lies; of other files the columns are copied once, into a folder that only the user
    can read and that is gone at the end.

    Parameters
    ----------
    path : str or path-like
        As `read_column` takes them.
    column : str
    key : str, optional
        Column that names the users; each row with a value must have one.
    keep : sequence of str
        Columns that are kept as they are.
    numeric : bool
        Whether values are numbers; else they are text.
    drop_missing : bool
        Leave out rows without a value instead of refusing.
    units : str, optional
        What dates and times are to be counted in.
    size : int, optional
        Rows of a block. Default: BLOCK_ROWS.
    made : callable, optional
        Of reports, says which table made them, as `of_table` takes it: rows that name another one are refused.

    Raises
    ------
    InputError
        As `read_column` and `read_labels`, for the whole column, before the first block; keys that are missing.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("name,income\\nAnn,1200.5\\nBo,900\\n")
    >>> with value_blocks(path, "income") as blocks:
    ...     blocks.rows, blocks.many, blocks.values(0)
    (2, 1, array([1200.5,  900. ]))
    """
    try:
        with tempfile.TemporaryDirectory(prefix="optldp-") as folder:
            limits = {"memory_limit": MEMORY, "temp_directory": str(Path(folder, "spill")), "threads": "2"}
            with connected(limits) as connection:
                here = Path(folder)
                if made is not None:
                    _require_table(connection, path, column, made)
                yield _checked(
                    connection, here, path, column, key, keep, numeric, drop_missing, units, size or BLOCK_ROWS
                )
    except BrokenPipeError:
        raise  # the reader of standard output has gone
    except UNREADABLE_FILE as error:
        raise unreadable(path, error) from None


def _checked(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    path: FilePath,
    column: str,
    key: str | None,
    keep: Sequence[str],
    numeric: bool,
    drop_missing: bool,
    units: str | None,
    size: int,
) -> ValueBlocks:
    relation, names = open_file(connection, path)
    wanted = [column, *([] if key is None else [key]), *keep]
    wheres = [f"column {name!r} of {str(path)!r}" for name in wanted]
    places = [column_position(names, name, where) for name, where in zip(wanted, wheres, strict=True)]
    cells = [quoted(relation.columns[place]) for place in places]
    numbered = _numbered(connection, folder, path, relation, cells)
    where, beside = wheres[0], tuple(f"c{i}" for i in range(1, len(wanted)))
    cell, value, missing, file_units = (
        "c0",
        "CAST(c0 AS VARCHAR)",
        f"coalesce(CAST(c0 AS VARCHAR), '') IN {missing_in_sql()}",
        "",
    )
    if numeric:
        written = column_notation(numbered, 0, where, path)
        text, cell, file_units = is_text(numbered, 0), written.cell, written.units
        value = number(cell, text=text)
        missing = f"({value} IS NULL OR isnan({value}))"
        if units in TEMPORAL and not written.units:
            raise InputError(f"{where} must hold dates or times, as the units say ({units}), got numbers")
    rows, absent, first = _found(numbered, missing)
    if rows == absent and (drop_missing or not rows):
        raise InputError(f"{where} must hold at least one value, but it is empty")
    if numeric:
        _require_numbers(numbered, cell, value, where, drop_missing)
    else:
        _require_short(numbered, value, where)
        if absent and not drop_missing:
            raise InputError(missing_message(where, absent, first))
    if key is not None:
        _, nameless, row = _found(numbered, f"c1 IS NULL AND NOT {missing}")
        if nameless:
            raise InputError(f"{wheres[1]} must name every user, got {nameless} missing, the first in row {row}")
    target = units if numeric else None
    return ValueBlocks(
        connection, numbered, value, missing, beside, file_units, target, where, rows, rows - absent, size
    )


def _require_table(connection: duckdb.DuckDBPyConnection, path: FilePath, column: str, made: Made) -> None:
    relation, names = open_file(connection, path)
    of_table(relation, names, made, repr(str(path)), path=path, own=(column,)).aggregate("count(*)").fetchall()


def _numbered(
    connection: duckdb.DuckDBPyConnection,
    folder: Path,
    path: FilePath,
    relation: duckdb.DuckDBPyRelation,
    cells: list[str],
) -> duckdb.DuckDBPyRelation:
    """The cells as c0, c1 with the numbers of their rows: of the file itself if it is Parquet, else of a copy."""
    named = ", ".join(f"{cell} AS c{i}" for i, cell in enumerate(cells))
    part = folder / "values.parquet"
    if extension_of(path) == ".parquet" and ROW not in relation.columns:
        part.symlink_to(existing(path).absolute())  # its own name may be a pattern to duckdb
    else:
        relation.project(named).write_parquet(str(part))
        named = ", ".join(f"c{i}" for i in range(len(cells)))
    read = connection.read_parquet(str(part), hive_partitioning=False, file_row_number=True)
    return read.project(f"{named}, {ROW}")


def _found(numbered: duckdb.DuckDBPyRelation, condition: str) -> tuple[int, int, int]:
    """How many rows there are, of how many a condition holds, and the first of these, from 1."""
    asked = f"count(*), count(*) FILTER ({condition}), coalesce(min({ROW}) FILTER ({condition}), 0) + 1"
    return numbered.aggregate(asked).fetchall()[0]


def _require_numbers(numbered: duckdb.DuckDBPyRelation, cell: str, value: str, where: str, drop_missing: bool) -> None:
    if _found(numbered, f"{value} IS NULL")[1]:
        refuse_bad_cells(numbered.project(f"CAST({cell} AS VARCHAR) AS t"), where, drop_missing)
    none = f"isinf({value})" if drop_missing else f"NOT isfinite({value})"
    _, many, row = _found(numbered, none)
    if many:
        shown = numbered.filter(f"{ROW} = {row - 1}").project(value).fetchall()[0][0]
        raise InputError(
            f"{where} must hold finite values, got {many} NaN or infinite, the first ({shown}) in row {row}: "
            "replace them"
        )


def _require_short(numbered: duckdb.DuckDBPyRelation, text: str, where: str) -> None:
    fault = text_fault(text)
    _, many, row = _found(numbered, f"{fault} IS NOT NULL")
    if many:
        said = numbered.filter(f"{ROW} = {row - 1}").project(fault).fetchall()[0][0]
        raise InputError(f"{where} must hold short texts, got {said} in row {row}: correct it")
