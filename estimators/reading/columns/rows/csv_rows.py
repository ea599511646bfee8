"""A CSV read row by row, whatever is in it: a row that is none is told apart from its neighbours, which stay.

duckdb reads well-made files many times faster, and stops at the first row that is not.  This reader goes on: each row
is its cells or a fault, and memory stays small whatever a cell holds.  A quote that is not closed takes nothing with
it but its own line; duckdb (2.0), told to go on by `store_rejects`, loses the rows after it.  What is a cell is left to
the standard library's `csv`, a line at a time.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TextIO

import duckdb
import numpy as np

from ...formats.overrides import missing_marks

LONGEST_RECORD = 2**16
"""Characters of a row: 16 of the longest cells that are looked at. Longer ones are a fault."""

ROWS_AT_ONCE = 2**14
"""Rows handed to duckdb at a time."""

Row = tuple[list[str], str | None]
"""The cells of a row, or none and what is wrong with it."""


def csv_rows(file: Path, n_columns: int, delimiter: str = ",") -> Iterator[Row]:
    r"""Return every row below the header: its cells, or what is wrong with it.

    Lines end with any of CR, LF and CR LF.  Empty lines are no rows, except in a file of one column, where they are an
    empty cell.

    Parameters
    ----------
    file : Path
    n_columns : int
        Cells that a row must have.
    delimiter : str
        What stands between them.

    Example
    -------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_bytes(b'id,x\nann,1\n"bo,2\ncy,\xff\ndi,"4"\ned\n')
    >>> for cells, fault in csv_rows(path, 2):
    ...     print(cells, fault)
    ['ann', '1'] None
    [] has a quote in a wrong place or not closed
    [] is not UTF-8
    ['di', '4'] None
    [] has 1 cell and not 2
    """
    with file.open(encoding="utf-8-sig", errors="surrogateescape", newline=None) as stream:
        for cells, fault in islice(_records(_lines(stream), delimiter), 1, None):
            if fault is None and not cells:
                if n_columns > 1:
                    continue
                cells = [""]
            if fault is None and len(cells) != n_columns:
                fault = f"has {len(cells)} cell{'s'[: len(cells) - 1]} and not {n_columns}"
            yield ([], fault) if fault is not None else (cells, None)


def first_fault(file: Path, n_columns: int, delimiter: str = ",") -> str | None:
    """Return the first row that is none, by its number from 1, and what is wrong with it; None where all are rows."""
    for row, (_, fault) in enumerate(csv_rows(file, n_columns, delimiter), 1):
        if fault is not None:
            return f"row {row} {fault}"
    return None


def load_rows(
    connection: duckdb.DuckDBPyConnection, file: Path, n_columns: int, table: str, delimiter: str = ","
) -> None:
    """Create a table of the rows in their order: columns c0, c1, ... of text, NULL in faulty rows, and `fault`."""
    names = [f"c{i}" for i in range(n_columns)]
    columns = ", ".join(f"{name} VARCHAR" for name in (*names, "fault"))
    connection.execute(f"CREATE TABLE {table} ({columns})")
    rows, marks = csv_rows(file, n_columns, delimiter), missing_marks()
    while block := list(islice(rows, ROWS_AT_ONCE)):
        cells = np.full((len(block), n_columns + 1), None, dtype=object)
        for i, (row, fault) in enumerate(block):
            if fault is None:
                cells[i, :-1] = [None if cell in marks else cell for cell in row]
            else:
                cells[i, -1] = fault
        connection.register("csv_block", dict(zip((*names, "fault"), cells.T.copy(), strict=True)))
        connection.execute(f"INSERT INTO {table} SELECT * FROM csv_block")
        connection.unregister("csv_block")


def _lines(stream: TextIO) -> Iterator[str]:
    """Lines without their ends; of one that is too long only the beginning."""
    while line := stream.readline(LONGEST_RECORD):
        yield line.removesuffix("\n")
        while not line.endswith("\n") and (line := stream.readline(LONGEST_RECORD)):
            pass


def _records(lines: Iterator[str], delimiter: str) -> Iterator[Row]:
    """Records: a line, or several where a quoted cell goes on.  After a faulty one the next line begins another."""
    waiting: deque[str] = deque()
    while True:
        first = waiting.popleft() if waiting else next(lines, None)
        if first is None:
            return
        if '"' not in first and first.isascii() and len(first) < LONGEST_RECORD:  # most lines: twice as fast
            yield first.split(delimiter) if first else [], None
            continue
        taken, size = [first], len(first)
        is_open = first.count('"') % 2 == 1
        while is_open and size < LONGEST_RECORD:
            line = waiting.popleft() if waiting else next(lines, None)
            if line is None:
                break
            taken.append(line)
            size += len(line) + 1
            is_open ^= line.count('"') % 2 == 1
        cells, fault, used = _parsed(taken, delimiter)
        waiting.extendleft(reversed(taken[used:]))
        yield cells, fault


def _parsed(lines: list[str], delimiter: str) -> tuple[list[str], str | None, int]:
    """The cells of the record that begins with the first line, its fault, and how many lines it has."""
    if len(lines[0]) >= LONGEST_RECORD:
        return [], f"has more than {LONGEST_RECORD} characters", 1
    if '"' not in lines[0]:
        cells, used = lines[0].split(delimiter) if lines[0] else [], 1
    else:
        reader = csv.reader([line + "\n" for line in lines], delimiter=delimiter, strict=True)
        try:
            cells, used = next(reader), reader.line_num
        except csv.Error:
            return [], "has a quote in a wrong place or not closed", 1
    if not all(map(is_unicode, lines[:used])):
        return [], "is not UTF-8", used
    return cells, None, used


def is_unicode(text: str) -> bool:
    """Whether the bytes were UTF-8: what was not has become halves of surrogate pairs.

    Example
    -------
    >>> is_unicode("Gr\u00f6\u00dfe"), is_unicode(b"\\xff".decode(errors="surrogateescape"))
    (True, False)
    """
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
