"""Where reports wait until they are published, and marks of tokens until their round is over.

PostgreSQL by psycopg, or SQLite. Not DuckDB: the service and the publisher are two processes, of which DuckDB lets one
in. Tokens and reports have no column in common. A transaction sorts both by their random names, so their order says
nothing either; publishing rewrites the reports, sorted anew, and deletes them here.
"""

from __future__ import annotations

import importlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

MIGRATIONS = (
    """CREATE TABLE tokens (mark {bytes} PRIMARY KEY, round TEXT NOT NULL) {clustered};
    CREATE TABLE reports (report_id TEXT PRIMARY KEY, tbl TEXT NOT NULL, output INTEGER NOT NULL, day TEXT NOT NULL)
    {clustered}""",
    """ALTER TABLE reports ADD COLUMN part INTEGER;
    CREATE TABLE parts (part INTEGER PRIMARY KEY)""",
)
"""Each is applied once, in one transaction. They only add: a service of the version before goes on beside them."""

DIALECTS = {
    "sqlite": {"bytes": "BLOB", "clustered": "WITHOUT ROWID"},
    "postgresql": {"bytes": "BYTEA", "clustered": ""},
}


class StoreDownError(Exception):
    """The database does not answer; nothing of the batch was acknowledged."""


@dataclass(frozen=True)
class Row:
    """A report as it is collected; docs/report-format.md."""

    table: str
    output: int
    day: str
    report_id: str


class Store:
    """A connection to the database, opened at its first use and again after a fault.

    Parameters
    ----------
    url : str
        `postgresql://...`, or the path of a SQLite file.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.kind = "postgresql" if url.startswith("postgresql:") else "sqlite"
        self._connection: Any = None

    def keep(self, batch: Sequence[tuple[bytes, Row]], round_: str) -> int:
        """Keep the report of each token that has given none, and return how many; all of them or none.

        A token that comes again leaves everything as it is: its report is there already.
        """
        firsts: dict[bytes, Row] = {}
        for mark, row in batch:
            firsts.setdefault(mark, row)
        with self._transaction():
            marks = sorted(firsts)
            fresh = self._insert("tokens (mark, round)", [(mark, round_) for mark in marks], "mark")
            rows = sorted((firsts[bytes(mark)] for (mark,) in fresh), key=lambda row: row.report_id)
            values = [(row.report_id, row.table, row.output, row.day) for row in rows]
            return len(self._insert("reports (report_id, tbl, output, day)", values, "1")) if rows else 0

    def next_part(self, at_least: int, closed: str) -> int | None:
        """Return the number of a part to publish: one that was begun, or a new one.

        A new one has the tables and days with `at_least` reports, and those of days before `closed`, which get no more.
        """
        with self._transaction():
            begun = self._execute("SELECT part FROM parts ORDER BY part LIMIT 1").fetchone()
            if begun is not None:
                return begun[0]
            ready = self._execute(
                "SELECT tbl, day FROM reports WHERE part IS NULL GROUP BY tbl, day HAVING count(*) >= ? OR day < ?",
                (at_least, closed),
            ).fetchall()
            if not ready:
                return None
            last = self._execute("SELECT value FROM counters WHERE name = 'part'").fetchone()
            part = (last[0] if last else 0) + 1
            self._execute("DELETE FROM counters WHERE name = 'part'")
            self._execute("INSERT INTO counters VALUES ('part', ?)", (part,))
            self._execute("INSERT INTO parts VALUES (?)", (part,))
            for table, day in ready:
                self._execute(
                    "UPDATE reports SET part = ? WHERE part IS NULL AND tbl = ? AND day = ?", (part, table, day)
                )
            return part

    def rows_of(self, part: int) -> list[Row]:
        """Return the reports of a part, sorted by their random names."""
        found = self._read("SELECT tbl, output, day, report_id FROM reports WHERE part = ? ORDER BY report_id", (part,))
        return [Row(*row) for row in found]

    def published(self, part: int) -> None:
        """Delete the reports of a part, which is in its file and counted."""
        with self._transaction():
            self._execute("DELETE FROM reports WHERE part = ?", (part,))
            self._execute("DELETE FROM parts WHERE part = ?", (part,))

    def forget_rounds(self, but: str | None) -> int:
        """Delete the marks of all rounds but one, and return how many."""
        with self._transaction():
            return self._execute("DELETE FROM tokens WHERE round <> ?", (but or "",)).rowcount

    def sizes(self) -> Mapping[str, int]:
        """Return how many marks and reports are here."""
        return {name: self.ask(f"SELECT count(*) FROM {name}") for name in ("tokens", "reports")}

    def ask(self, query: str) -> Any:
        """Return the one number that a query answers."""
        return self._read(query)[0][0]

    def alive(self) -> None:
        """Raise `StoreDownError` unless the database answers."""
        self._read("SELECT 1")

    def close(self) -> None:
        """Close the connection; the next use opens another."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            try:
                connection.close()
            except self._faults():
                pass  # it is gone, as was wanted

    def migrate(self, until: int = len(MIGRATIONS)) -> int:
        """Bring the schema to a version, the newest; return which it had."""
        with self._transaction():
            if self.kind == "postgresql":  # two processes that start at once migrate one after the other
                self._execute("SELECT pg_advisory_xact_lock(36)")
            self._execute("CREATE TABLE IF NOT EXISTS counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL)")
            found = self._execute("SELECT value FROM counters WHERE name = 'schema'").fetchone()
            version = found[0] if found else 0
            for step in MIGRATIONS[version:until]:
                for statement in step.format(**DIALECTS[self.kind]).split(";"):
                    self._execute(statement)
            if version < until:
                self._execute("DELETE FROM counters WHERE name = 'schema'")
                self._execute("INSERT INTO counters VALUES ('schema', ?)", (until,))
            return version

    def _faults(self) -> tuple[type[Exception], ...]:
        if self.kind == "sqlite":
            return (sqlite3.Error,)
        return (_driver().Error,)

    def _open(self) -> None:
        if self._connection is not None:
            return
        if self.kind == "sqlite":
            self._connection = sqlite3.connect(self.url, timeout=10, isolation_level=None, check_same_thread=False)
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")  # what is acknowledged is on the disk
            self._connection.execute("PRAGMA secure_delete = ON")
        else:
            self._connection = _driver().connect(self.url, autocommit=True, connect_timeout=3)

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        try:
            self._open()
            self._execute("BEGIN IMMEDIATE" if self.kind == "sqlite" else "BEGIN")
            yield
            self._execute("COMMIT")
        except self._faults() as fault:
            self.close()
            raise StoreDownError(type(fault).__name__) from None
        except BaseException:
            self.close()  # which rolls back
            raise

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> Any:
        if self.kind == "postgresql":
            statement = statement.replace("?", "%s")
        return self._connection.execute(statement, values)

    def _read(self, statement: str, values: Sequence[Any] = ()) -> list[Any]:
        try:
            self._open()
            return self._execute(statement, values).fetchall()
        except self._faults() as fault:
            self.close()
            raise StoreDownError(type(fault).__name__) from None

    def _insert(self, where: str, rows: Sequence[Sequence[Any]], returning: str) -> list[Any]:
        one = f"({', '.join('?' * len(rows[0]))})"
        places = ", ".join([one] * len(rows))
        statement = f"INSERT INTO {where} VALUES {places} ON CONFLICT DO NOTHING RETURNING {returning}"
        return self._execute(statement, [value for row in rows for value in row]).fetchall()


def _driver() -> Any:
    return importlib.import_module("psycopg")  # only where PostgreSQL is used
