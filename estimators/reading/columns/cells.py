"""Cells of a column: which hold a number, which hold nothing, and what to say of the others."""

from __future__ import annotations

import os
import re

import duckdb

from ....mechanisms.errors import InputError
from ..formats.notation import Notation, notation
from ..formats.overrides import missing_in_sql
from ..formats.plain_file import has_commas
from .rows.skipped_rows import TEXT_SHOWN

LONGEST_CELL = 4096
"""Characters of a cell that can be a report, a value or a key; longer ones are not looked at."""

_NUMERIC = re.compile(r"(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|BIGNUM|FLOAT|DOUBLE|DECIMAL.*|BOOLEAN|VARCHAR)")
_TEMPORAL = re.compile(r"(DATE|TIME.*|INTERVAL)")


def quoted(name: str) -> str:
    """Return a column's name as SQL takes it literally.

    Example
    -------
    >>> print(quoted('say "when"'))
    "say ""when"\""
    """
    return '"' + name.replace('"', '""') + '"'


def numeric_cell(
    relation: duckdb.DuckDBPyRelation, position: int, where: str, path: str | os.PathLike[str] | None = None
) -> str:
    """Return SQL for a column that holds numbers, dates or times, or text that may be such; else raise InputError.

    Text of a file is judged by how all of it is written; that of tables in memory, which may be streams, is as it is.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     numeric_cell(connection.sql("SELECT 1.5 AS v"), 0, "column 'v'")
    '"v"'
    """
    return column_notation(relation, position, where, path).cell


def column_notation(
    relation: duckdb.DuckDBPyRelation, position: int, where: str, path: str | os.PathLike[str] | None
) -> Notation:
    """Return what `numeric_cell` does, with the units that dates and times are in."""
    kind = str(relation.types[position])
    if not (_NUMERIC.fullmatch(kind) or (path is not None and _TEMPORAL.fullmatch(kind))):
        raise InputError(f"{where} must hold numbers, got type {kind}")
    if path is None:
        return Notation(quoted(relation.columns[position]))
    return notation(relation, position, where, plain=has_commas(path))


def is_text(relation: duckdb.DuckDBPyRelation, position: int) -> bool:
    """Whether a column holds text."""
    return str(relation.types[position]) == "VARCHAR"


def number(cell: str, *, text: bool) -> str:
    """Return SQL for a cell as a double: NULL where it is none.  1_000 is none, though duckdb would take it.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     cells = connection.sql("SELECT unnest(['1.5', ' 2 ', '1_000', '0x10', '٣']) AS t")
    ...     cells.project(number("t", text=True)).fetchall()
    [(1.5,), (2.0,), (None,), (None,), (None,)]
    """
    if not text:
        return f"TRY_CAST({cell} AS DOUBLE)"
    return (
        f"CASE WHEN length({cell}) <= {LONGEST_CELL} AND NOT contains({cell}, '_') THEN TRY_CAST({cell} AS DOUBLE) END"
    )


def blank(cell: str, *, text: bool) -> str:
    """Return SQL for whether a cell holds nothing."""
    if not text:
        return f"({cell} IS NULL)"
    return f"({cell} IS NULL OR (length({cell}) <= {LONGEST_CELL} AND trim({cell}) IN {missing_in_sql()}))"


def text_fault(cell: str) -> str:
    """Return SQL for what makes a cell of text none that is looked at, NULL where nothing does.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     connection.sql(f"SELECT {text_fault('t')} FROM (SELECT repeat('x', 5000) AS t)").fetchall()
    [('a cell of 5000 characters, more than 4096',)]
    """
    return (
        f"CASE WHEN length({cell}) > {LONGEST_CELL} "
        f"THEN 'a cell of ' || length({cell}) || ' characters, more than {LONGEST_CELL}' "
        f"WHEN contains({cell}, chr(0)) THEN 'a cell with the character NUL' END"
    )


def number_fault(cell: str, *, text: bool) -> str:
    """Return SQL for what is wrong with a cell that should be a number, NULL where it is one or blank.

    A number that is too large for a double counts as none; one that was infinite before is for others to judge.

    Example
    -------
    >>> with duckdb.connect() as connection:
    ...     connection.sql(f"SELECT {number_fault('t', text=True)} FROM (SELECT 'banana' AS t)").fetchall()
    [("'banana' is no number",)]
    """
    if not text:
        return "NULL"
    shown = f"left({cell}, {TEXT_SHOWN})"
    return (
        f"CASE WHEN {number(cell, text=True)} IS NULL AND NOT {blank(cell, text=True)} "
        f"THEN coalesce({text_fault(cell)}, '''' || {shown} || ''' is no number') "
        f"WHEN isinf({number(cell, text=True)}) THEN {shown} || ' is no finite number' END"
    )


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
    >>> with duckdb.connect() as connection:
    ...     refuse_bad_cells(connection.sql("SELECT NULL AS t"), "column 'v'", drop_missing=True)
    """
    long = text_fault("t")
    failed = texts.project(
        f"row_number() OVER () AS r, left(t, {TEXT_SHOWN}) AS t, {long} AS long, "
        f"{number('t', text=True)} AS v, {blank('t', text=True)} AS blank"
    ).filter("v IS NULL")
    if bad := failed.filter("NOT blank").order("r").limit(1).fetchall():
        row, text, fault = bad[0][:3]
        cure = "" if fault else ": correct it, or say by --na (read_as(na=...) in Python) that it means no value"
        raise InputError(f"{where} must hold numbers, got {fault or f'the text {text!r}'} in row {row}{cure}")
    if drop_missing:
        return
    count, row = failed.aggregate("count(*), min(r)").fetchall()[0]
    if count:
        shown = "which shows who has none (see optldp design --missing)"
        raise InputError(f"{missing_message(where, count, row)}, {shown}")


def missing_message(where: str, count: int, row: int) -> str:
    """Return what to say of missing values.

    Example
    -------
    >>> missing_message("column 'v'", 2, 7).split(": ")[0]
    "column 'v' must not miss values, got 2 missing, the first in row 7"
    """
    return (
        f"{where} must not miss values, got {count:,} missing, the first in row {row}: "
        "fill them in, or leave them out by --drop-missing (drop_missing=True in Python)"
    )
