"""Rows held to the table that they are to be read with, by the column that names it.

Rows are looked at while they are read for whatever they are read for, and the first of another table ends that.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from ....mechanisms.files.identifier import table_identifier
from .other_table import BETWEEN, MARK, NAMES, TABLE, Made, require_table

if TYPE_CHECKING:
    import duckdb

    from ....mechanisms.documents.bundle import Bundle
    from ....mechanisms.table.table import TabulatedMechanism
    from .files import FilePath


def named_tables(mechanisms: Iterable[TabulatedMechanism | Bundle]) -> str:
    """Return what rows are named that hold counts of reports of these mechanisms together.

    Example
    -------
    >>> from ....mechanisms.families.grr import grr
    >>> named_tables([grr([0, 1], 1.0)] * 2) == "+".join([named_tables([grr([0, 1], 1.0)])] * 2)
    True
    """
    return BETWEEN.join(map(table_identifier, mechanisms))


def constants_beside(columns: Collection[str], mechanisms: Sequence[TabulatedMechanism | Bundle]) -> dict[str, str]:
    """Return what is written beside reports or counts in these columns: nothing where one of them has the name.

    Example
    -------
    >>> from ....mechanisms.families.grr import grr
    >>> list(constants_beside(["report"], [grr([0, 1], 1.0)])), constants_beside(["chair", "table"], [])
    (['table'], {})
    """
    return {} if TABLE in columns else {TABLE: named_tables(mechanisms)}


def of_table(
    relation: duckdb.DuckDBPyRelation,
    names: Sequence[str],
    made: Made,
    where: str,
    *,
    path: FilePath | None = None,
    own: Collection[str] = (),
) -> duckdb.DuckDBPyRelation:
    """Return rows that end where one is of another table: reading them raises what `other_table` knows.

    Rows that name no table are taken as they are.

    Parameters
    ----------
    relation : duckdb.DuckDBPyRelation
    names : sequence of str
        Of its columns.
    made : callable
        Says which table it has to be.
    where : str
        How messages call the rows.
    path : path, optional
        The file; one of Parquet may name the table beside its rows.
    own : collection of str
        Columns that hold reports: one of this name holds no tables.

    Raises
    ------
    InputError
        A file that says of all its rows that they are of another table.

    Example
    -------
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT 't0123456789ab' AS \\"table\\"")
    >>> of_table(rows, ["table"], lambda: "t0123456789ab", "'day.csv'").fetchall()
    [('t0123456789ab',)]
    """
    from .cells import quoted  # loads the engine, which names of tables do not need
    from .rows.written_rows import said_of_rows

    if TABLE in own:
        return relation
    places = [place for place, name in enumerate(names) if name == TABLE]
    if not places and path is not None and (found := said_of_rows(path, TABLE)) is not None:
        require_table(found, made(), where)
    for place in places:
        relation = relation.filter(_held(f"CAST({quoted(relation.columns[place])} AS VARCHAR)", made(), where))
    return relation


def _held(cell: str, name: str, where: str) -> str:
    """SQL that is true of a row of the table, or of none, and an error of any other."""
    from .rows.written_rows import literal

    shown = f"CASE WHEN regexp_full_match({cell}, {literal(NAMES)}) THEN {cell} ELSE '' END"
    said = f"{literal(MARK)} || {shown} || {literal(MARK + name + MARK + where + MARK)}"
    held = f"{cell} IS NULL OR {cell} = {literal(name)} OR trim({cell}) = ''"
    return f"CASE WHEN {held} THEN true ELSE error({said}) END"
