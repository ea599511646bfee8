"""The one query that an engine is asked: how many users have which output, at one service or at several.

It is written as duckdb reads it; sqlglot says it in the other dialects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import singledispatch
from typing import get_args

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.compact_tables.floor_and_windows import FloorForm
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.codes import FOREIGN, REPEATED, UNNAMED, OutputCodes
from ..methods import Dialect
from ..reading.columns.cells import quoted
from ..reading.columns.other_table import BETWEEN, TABLE
from ..reading.columns.simulated_columns import OUTPUT, USERS
from .daily import Daily
from .filters import condition
from .supports import bits_in_columns, bits_written, column_sums_query, support_query

DIALECTS = get_args(Dialect)
"""SQL that queries are written in."""

LONGEST_RELATION = 1024
"""Characters of a relation's name, dots between its parts included."""

Counted = TabulatedMechanism | FloorForm | CategoricalMechanism | KeyValueMechanism


def count_query(
    mechanisms: Sequence[Counted],
    relations: Sequence[str],
    *,
    dialect: Dialect = "duckdb",
    key: str | None = None,
    column: str = OUTPUT,
    cells: str | None = None,
    table: bool = True,
    where: Sequence[str] = (),
    daily: Daily | None = None,
) -> str:
    """Return the query whose answer is read by `ReportCounts.from_counts`, or by that of categories or pairs.

    Its columns are output, n and table; for several services output has codes of all of them, continued in output_2,
    ... beyond 63 bits. With a key, invalid entries are counted under numbers below 0, which estimators refuse: users
    with several reports to a service, users with an invalid report, and reports without a key.

    Parameters
    ----------
    mechanisms : sequence of mechanism
        One; or a table of numbers for each of several services, matched by the key.
    relations : sequence of str
        The engine's name for the reports of each, with parts divided by dots.
    dialect : {"duckdb", "spark", "bigquery", "snowflake", "postgres", "trino", "redshift", "clickhouse"}
    key : str, optional
        The column that names the user, in every relation.
    column : str
        Of the reports: numbers of outputs, or for categories and pairs the text of their `to_text`.
    cells : str, optional
        The engine's name for the table of `output_cells`: the column then has reports that are numbers, of one service.
        A report outside all cells is counted under no output.
    table : bool
        Use the column table of the reports, which names their mechanism, so that reports of other tables are found;
        False where the engine has no such column.
    where : sequence of str
        Comparisons "COLUMN OP VALUE", all of which must be true of the rows that are counted.
    daily : Daily, optional
        Split counts by table and day, for `load_days`.

    Returns
    -------
    query : str
        One SELECT.

    Raises
    ------
    InputError
        Another dialect, other numbers of relations than of mechanisms, several services without a key or of another
        kind than tables, invalid names; sqlglot (the extra sql) is needed and missing.

    Example
    -------
    >>> from optldp.estimators.engines import count_query
    >>> from optldp.mechanisms.families.grr import grr
    >>> print(count_query([grr([0, 1], 1.0)], ["idx"]))
    SELECT "output", "table", COUNT(*) AS "n" FROM "idx" GROUP BY "output", "table"
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r:.60}")
    if not mechanisms or len(mechanisms) != len(relations):
        raise InputError(f"there must be a relation for each mechanism, got {len(relations)} for {len(mechanisms)}")
    sizes = [size for made in mechanisms if (size := outputs_of_numbers(made)) is not None]
    if (len(mechanisms) > 1 or key is not None) and len(sizes) < len(mechanisms):
        raise InputError("users are matched by a key for tables of numbers, got another kind: count it by itself")
    if len(mechanisms) > 1 and key is None:
        raise InputError("key (--key) must name the column of users when services are matched, got none")
    chosen = condition(where)
    if daily is not None:
        if key is not None or cells is not None or len(mechanisms) > 1:
            raise InputError("counts by day are of one table of reports: leave out --key, --cells and other tables")
        if bits_in_columns(mechanisms[0]) is not None:
            raise InputError(
                "counts by day are of reports in one column, got a column for each bit: write them as bits"
            )
        bits = bits_written(mechanisms[0])
        return _in(dialect, daily.query(_relation(relations[0]), column, chosen, table=table, bits=bits))
    sources = [_chosen(_relation(name), chosen, alias="" if cells else " AS chosen") for name in relations]
    if cells is not None:
        if key is not None or len(sizes) != 1:
            raise InputError("cells are for one table of numbers without a key: write numbers of outputs for services")
        return _in(dialect, _joined(sources[0], column, _relation(cells), table))
    groups = f", {quoted(TABLE)}" if table else ""
    if key is None and (labels := bits_in_columns(mechanisms[0])) is not None:
        if table and TABLE in labels:
            raise InputError(f"a category is called {TABLE!r}, so that no column names what made reports: --no-table")
        return _in(dialect, column_sums_query(sources[0], list(map(quoted, labels)), groups))
    if key is None and (bits := bits_written(mechanisms[0])) is not None:
        return _in(dialect, support_query(sources[0], quoted(column), bits, groups))
    if key is None:
        return count_together(relations[0], {column: OUTPUT}, dialect, table=table, where=where)
    names = [table_identifier(made) for made in mechanisms] if table else None
    return _in(dialect, _matched(sizes, sources, column, key, names))


@singledispatch
def outputs_of_numbers(mechanism: Counted) -> int | None:
    """Return how many outputs there are whose numbers reports of numbers are counted by; None for other kinds.

    Example
    -------
    >>> from optldp.mechanisms.families.grr import grr
    >>> outputs_of_numbers(grr([0, 1], 1.0))
    2
    """
    return None


@outputs_of_numbers.register(TabulatedMechanism)
@outputs_of_numbers.register(FloorForm)
def _(mechanism: TabulatedMechanism | FloorForm) -> int:
    return mechanism.n_outputs


def count_together(
    relation: str,
    columns: Mapping[str, str],
    dialect: Dialect = "duckdb",
    *,
    table: bool = True,
    where: Sequence[str] = (),
) -> str:
    """Return the query that counts how many users have the same in all these columns, given the names that they get.

    `table`, `where` and what is raised are as of `count_query`.

    Example
    -------
    >>> print(count_together("r", {"report": "output", "level": "level"}, table=False))
    SELECT "report" AS "output", "level", COUNT(*) AS "n" FROM "r" GROUP BY "report", "level"
    """
    if dialect not in DIALECTS:
        raise InputError(f"dialect must be one of {', '.join(DIALECTS)}, got {dialect!r:.60}")
    columns = {**columns, TABLE: TABLE} if table else columns
    cells = [quoted(name) + ("" if name == named else f" AS {quoted(named)}") for name, named in columns.items()]
    groups = ", ".join(map(quoted, columns))
    source = _relation(relation) + (f" WHERE {chosen}" if (chosen := condition(where)) else "")
    return _in(dialect, f"SELECT {', '.join(cells)}, COUNT(*) AS {quoted(USERS)} FROM {source} GROUP BY {groups}")


def _chosen(relation: str, condition: str, alias: str) -> str:
    """What a query reads from: a relation, or those of its rows for which a condition is true."""
    return f"(SELECT * FROM {relation} WHERE {condition}){alias}" if condition else relation


def _relation(name: str) -> str:
    """A relation's name as SQL takes it, part by part."""
    parts = name.split(".")
    if len(name) > LONGEST_RELATION or not all(part and part.isprintable() for part in parts):
        raise InputError(f"a relation must have a name, or names with dots between them, got {name!r:.60}")
    return ".".join(map(quoted, parts))


def _joined(relation: str, column: str, cells: str, table: bool) -> str:
    report, low, below = f"r.{quoted(column)}", 'c."low"', 'c."below"'
    named, grouped = (f", r.{quoted(TABLE)} AS {quoted(TABLE)}", f", r.{quoted(TABLE)}") if table else ("", "")
    return (
        f"SELECT c.{quoted(OUTPUT)} AS {quoted(OUTPUT)}{named}, COUNT(*) AS {quoted(USERS)} FROM {relation} AS r "
        f"LEFT JOIN {cells} AS c ON {report} >= {low} AND {report} < {below} GROUP BY c.{quoted(OUTPUT)}{grouped}"
    )


def _matched(
    sizes: Sequence[int], relations: Sequence[str], column: str, key: str, tables: Sequence[str] | None
) -> str:
    """Codes of different services have no bit in common, so that their sum is the code of the user.

    Of each service the largest is taken: the sum of what a user sent several times might be no number of 64 bits. A
    user of whom one report is of another table than the service's is counted under the name of that.
    """
    codes, alone = OutputCodes.of(sizes), len(sizes) == 1
    output, parts = quoted(column), []
    for j, (size, relation) in enumerate(zip(sizes, relations, strict=True)):
        code = output if alone else f"(CAST({output} AS BIGINT) + 1) * {1 << codes.shifts[j]}"
        sound = f"CASE WHEN {output} BETWEEN 0 AND {size - 1} THEN {code} END"
        named = f"CASE WHEN {quoted(TABLE)} <> '{tables[j]}' THEN {quoted(TABLE)} END AS other, " if tables else ""
        parts.append(f"SELECT {quoted(key)} AS user_key, {named}{j} AS service, {sound} AS code FROM {relation}")
    repeated = " OR ".join(f"COUNT(CASE WHEN service = {j} THEN 1 END) > 1" for j in range(len(sizes)))
    users = []
    for word, name in enumerate(codes.columns):
        mine = [j for j, of in enumerate(codes.words) if of == word]
        code = " + ".join(f"COALESCE(MAX(CASE WHEN service = {j} THEN code END), 0)" for j in mine)
        users.append(
            f"CASE WHEN user_key IS NULL THEN {UNNAMED} WHEN {repeated} THEN {REPEATED} "
            f"WHEN COUNT(code) < COUNT(*) THEN {FOREIGN} ELSE {code} END AS {quoted(name)}"
        )
    names, told, grouped = ", ".join(map(quoted, codes.columns)), "", ""
    if tables:
        users.append("MAX(other) AS other")
        told, grouped = f"COALESCE(other, '{BETWEEN.join(tables)}') AS {quoted(TABLE)}, ", ", other"
    number = f"SUM(CASE WHEN {quoted(OUTPUT)} = {UNNAMED} THEN reports ELSE 1 END)"
    return (
        f"SELECT {names}, {told}{number} AS {quoted(USERS)} FROM (SELECT {', '.join(users)}, COUNT(*) AS reports "
        f"FROM ({' UNION ALL '.join(parts)}) AS each_report GROUP BY user_key) AS each_user GROUP BY {names}{grouped}"
    )


def _in(dialect: Dialect, query: str) -> str:
    """The query in another dialect; what is read is our own writing, so that nothing of it can be misread.

    Names keep their quotes, as user is a function in some dialects; but snowflake has plain names in capitals, whoever
    made the columns, and tells these from quoted ones in small letters; TABLE, which is a word of its own, is quoted.
    """
    if dialect == "duckdb":
        return query
    try:
        from sqlglot import parse_one
        from sqlglot.expressions import Identifier
    except ModuleNotFoundError:
        raise InputError(
            f"sqlglot writes {dialect}, which is not installed: pip install 'optldp[sql]', or ask for duckdb"
        ) from None
    tree = parse_one(query, read="duckdb")
    if dialect == "snowflake":
        for name in tree.find_all(Identifier):
            name.set("quoted", name.name == TABLE or not re.fullmatch("[a-z_][a-z0-9_]*", name.name))
            if name.name == TABLE:
                name.set("this", TABLE.upper())
    return tree.sql(dialect=dialect)
