"""Rows of counts as the engine reads them: columns of whole numbers or short texts, and what to show where none is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import duckdb

from ....mechanisms.errors import InputError
from ..formats.overrides import MISSING_MARKS
from .cells import quoted, text_fault
from .files import column_position, connected, listed
from .other_table import TABLE, Made
from .rows.counted_rows import NOTHING, Wanted
from .rows.skipped_rows import TEXT_SHOWN
from .simulated_columns import SIMULATED, USERS, marked_column
from .source import Source
from .table_column import of_table

NO_NUMBER = (*MISSING_MARKS, "nan", "NaN", "<NA>", "null", "NULL")
"""What engines, and those who write down their answers, say where there is no number."""

WHOLE = "[+-]?[0-9]{1,19}([.]0*)?"
"""How whole numbers are written: an engine may give them a point, and those with an exponent have lost digits."""


def read_cells(rows: Any, wanted: Sequence[Wanted], made: Made, where: str) -> tuple[int, list[str], dict[str, Any]]:
    """Return which of the wanted columns are there, what they are called, and their cells.

    Parameters
    ----------
    rows : path or table in memory
    wanted : sequence of Wanted
    made : callable
        Says which table the reports have to be of.
    where : str
        How messages call the rows.

    Returns
    -------
    int
        The first of `wanted` whose columns are all there.
    list of str
        Their names.
    dict of str to (R,) ndarray
        The column users and what was read of it, shown; c0, c1, ... and s0, s1, ... of the reports.

    Raises
    ------
    InputError
        No such file or columns, reports of another table.

    Example
    -------
    >>> import numpy as np
    >>> rows = {"output": np.array(["7"]), "n": np.array([2])}
    >>> read_cells(rows, [Wanted(("output",))], lambda: "t0123456789ab", "the table")[2]["c0"].tolist()
    [7]
    """
    source = Source(rows, where)
    with connected() as connection:
        relation, there = source.open(connection)
        there = _small({USERS, TABLE, *(name for each in wanted for name in each.columns)}, there)
        marked = [[marked_column(there, name, where) for name in each.columns] for each in wanted]
        form = next((i for i, names in enumerate(marked) if set(names) <= set(there)), 0)
        relation = of_table(relation, there, made, where, path=source.path, own=marked[form])
        users, *cells = [_cell(relation, there, name, where) for name in (USERS, *marked[form])]
        parts = [f"{_whole(users)} AS users, left({users}, {TEXT_SHOWN}) AS shown"]
        for i, cell in enumerate(cells):
            value, marks = (_whole(cell), NO_NUMBER) if wanted[form].whole else (_text(cell), MISSING_MARKS)
            empty = f"coalesce(trim({cell}), '') IN {marks}"
            if wanted[form].may_be_blank:
                value = f"CASE WHEN {empty} THEN {NOTHING} ELSE {value} END"
            parts.append(f"{value} AS c{i}, CASE WHEN NOT {empty} THEN left({cell}, {TEXT_SHOWN}) END AS s{i}")
        with source.reading():
            return form, marked[form], relation.project(", ".join(parts)).fetchnumpy()


def _small(names: set[str], there: Sequence[str]) -> list[str]:
    """The columns, in small letters where an engine has answered in capitals."""
    known = names | {SIMULATED + name for name in names}
    return [name.lower() if name.lower() in known and name.lower() not in there else name for name in there]


def _cell(relation: duckdb.DuckDBPyRelation, there: Sequence[str], name: str, where: str) -> str:
    """SQL for a column's cell as text; InputError where it is not there."""
    if name not in there:
        raise InputError(f"{where} must have the columns of counts, among them {name!r}: it has {listed(there)}")
    position = column_position(there, name, f"column {name!r} of {where}")
    return f"CAST({quoted(relation.columns[position])} AS VARCHAR)"


def _whole(cell: str) -> str:
    return (
        f"CASE WHEN length({cell}) < {TEXT_SHOWN} AND regexp_full_match(trim({cell}), '{WHOLE}') "
        f"THEN TRY_CAST(regexp_extract(trim({cell}), '[+-]?[0-9]+') AS BIGINT) END"
    )


def _text(cell: str) -> str:
    """A number that an engine gave a point is the whole number again; no other kind of report ends in such."""
    text = f"regexp_replace(trim({cell}), '[.]0*$', '')"
    return f"CASE WHEN {text_fault(cell)} IS NULL AND trim({cell}) NOT IN {MISSING_MARKS} THEN {text} END"
