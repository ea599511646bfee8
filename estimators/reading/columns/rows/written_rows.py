"""Rows of a relation as a CSV or Parquet file, with what is the same in all of them as columns at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb

from ...formats.parquet_parts import parquet_parts
from ...formats.plain_file import existing
from ..cells import quoted
from ..files import FilePath, connected, extension_of

METADATA = "optldp."
"""Before the name of a constant column, where the metadata of a Parquet file say it once."""


def with_constants(relation: duckdb.DuckDBPyRelation, constants: Mapping[str, str]) -> duckdb.DuckDBPyRelation:
    """Return rows with further columns, of one text each.

    Example
    -------
    >>> with_constants(duckdb.sql("SELECT 1 AS a"), {"table": "t0123456789ab"}).fetchall()
    [(1, 't0123456789ab')]
    """
    cells = [f"{literal(text)} AS {quoted(name)}" for name, text in constants.items()]
    return relation.project(", ".join(["*", *cells])) if cells else relation


def write_parquet_rows(
    connection: duckdb.DuckDBPyConnection, relation: duckdb.DuckDBPyRelation, path: Path, constants: Mapping[str, str]
) -> None:
    """Write rows that have these constants as Parquet, whose metadata say them, too."""
    if not constants:
        relation.write_parquet(str(path))
        return
    relation.create_view("rows_written", replace=True)
    said = ", ".join(f"{literal(METADATA + name)}: {literal(text)}" for name, text in constants.items())
    connection.execute(f"COPY rows_written TO {literal(str(path))} (FORMAT parquet, KV_METADATA {{{said}}})")


def said_of_rows(path: FilePath, name: str) -> str | None:
    """Return what the metadata of a Parquet file say of all rows under the name of a column; None where nothing.

    Example
    -------
    >>> path = Path(tempfile.mkdtemp()) / "reports.parquet"
    >>> with connected() as connection:
    ...     write_parquet_rows(connection, connection.sql("SELECT 1 AS a"), path, {"table": "t0123456789ab"})
    >>> said_of_rows(path, "table")
    't0123456789ab'
    """
    if extension_of(path) != ".parquet":
        return None
    if (parts := parquet_parts(path)) is not None:
        said = {said_of_rows(part, name) for part in parts} - {None}
        return min(filter(None, said), default=None) if len(said) < 2 else " and ".join(sorted(filter(None, said)))
    with tempfile.TemporaryDirectory(prefix="optldp-") as folder, connected() as connection:
        link = Path(folder, "rows.parquet")  # its own name may be a pattern to duckdb
        link.symlink_to(existing(path).absolute())
        query = "SELECT value FROM parquet_kv_metadata(?) WHERE key = ?"
        found = connection.execute(query, [str(link), (METADATA + name).encode()]).fetchone()
    return None if found is None else found[0].decode(errors="replace")


def literal(text: str) -> str:
    """Return a text as SQL takes it literally.

    Example
    -------
    >>> print(literal("it's"))
    'it''s'
    """
    return "'" + text.replace("'", "''") + "'"
