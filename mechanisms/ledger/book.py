"""A ledger's tables within one transaction: nothing is believed that its seals do not show to be as it was written.

Every record carries a keyed digest of its content. Users are spread by the first two bytes of their digests over 256
branches of 256 leaves; a leaf is the digest of its users' seals, a branch that of its leaves, and the head, which has a
keyed digest of its own, holds the branches. Whoever reads a user's records thus reads a leaf, one branch and the head,
however many records there are, and sees a record that is missing, older or moved as well as one that was altered.
"""

import hmac
import re
import secrets
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from ..errors import InputError
from .record import Head, Record
from .seals import DIGEST_BYTES, FORMAT, NOTHING, Seals, digest_of_all

SCHEMA = [
    (
        "table",
        "head",
        "head",
        "CREATE TABLE head (ledger BLOB, budget REAL, reports INTEGER, branches BLOB, seal BLOB)",
    ),
    ("table", "branches", "branches", "CREATE TABLE branches (place INTEGER PRIMARY KEY, leaves BLOB)"),
    (
        "table",
        "records",
        "records",
        "CREATE TABLE records "
        "(number INTEGER PRIMARY KEY, user BLOB, given BLOB, epsilon REAL, report BLOB, salt BLOB, seal BLOB)",
    ),
    ("index", "records_of_user", "records", "CREATE INDEX records_of_user ON records (user)"),
]
"""What sqlite_master must hold, and nothing else: no views, no triggers."""

CHILDREN = 256
"""Values of a byte; 65,536 leaves hold a few records each up to a million, and a report reads one of them."""

SALT_BYTES = 16
"""No two alike, ever."""

MARK = re.compile(r"(0|[1-9][0-9]{0,17}):[0-9a-f]{64}", re.ASCII)


class LedgerBook:
    """The tables of one ledger, read and written through a connection that is in a transaction.

    Parameters
    ----------
    connection : sqlite3.Connection
    name : str
        The ledger's path, for messages.
    key : bytes

    Raises
    ------
    InputError
        Not a ledger, or not as it was left.
    """

    def __init__(self, connection: sqlite3.Connection, name: str, key: bytes) -> None:
        self._connection, self._name, self._key = connection, name, key
        found = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master LIMIT 9").fetchall()
        if found != SCHEMA:
            raise InputError(f"the ledger must be of format {FORMAT}, got another file {name!r}")
        self.head, self.seals = self._read_head()

    @classmethod
    def begin(cls, connection: sqlite3.Connection, name: str, key: bytes, budget: float) -> "LedgerBook":
        """Write the tables of a new ledger into an empty file."""
        for *_, statement in SCHEMA:
            connection.execute(statement)
        head = Head(secrets.token_bytes(SALT_BYTES), budget, 0, NOTHING * CHILDREN)
        seal = head.seal(Seals(key, head.ledger))
        connection.execute("INSERT INTO head VALUES (?, ?, ?, ?, ?)", (*head.row(), seal))
        return cls(connection, name, key)

    def records(self, user: bytes) -> list[Record]:
        """Return a user's records, oldest first, after checking the leaf that they are in."""
        found = list(self._leaf(user))
        leaves = self._branch(user[0])
        if digest_of_all([seal for _, seal in found]) != leaves[user[1]]:
            raise self._altered("a record, or one is missing")
        return [record for record, _ in found if record.user == user]

    def append(self, user: bytes, given: bytes, epsilon: float, report: bytes) -> None:
        """Write one more record, and read it back: what cannot be found again must not be committed."""
        before = self.records(user)
        record = Record(self.head.reports + 1, user, given, epsilon, report, secrets.token_bytes(SALT_BYTES))
        self._connection.execute(
            "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)", (*record.row(), record.seal(self.seals))
        )
        leaves, branches = self._branch(user[0]), _split(self.head.branches)
        leaves[user[1]] = digest_of_all([seal for _, seal in self._leaf(user)])
        branches[user[0]] = digest_of_all(leaves)
        self._connection.execute("INSERT OR REPLACE INTO branches VALUES (?, ?)", (user[0], b"".join(leaves)))
        head = replace(self.head, reports=record.number, branches=b"".join(branches))
        self._connection.execute(
            "UPDATE head SET reports = ?, branches = ?, seal = ?", (head.reports, head.branches, head.seal(self.seals))
        )
        self.head, _ = self._read_head()
        if self.head != head or self.records(user) != [*before, record]:
            raise self._altered("its pages")

    def check(self) -> None:
        """Check every record and that none is missing; InputError otherwise."""
        for place in range(CHILDREN):
            leaves = [NOTHING] * CHILDREN
            ends = bytes([place]) + bytes(DIGEST_BYTES - 1), bytes([place]) + b"\xff" * (DIGEST_BYTES - 1)
            for leaf, found in groupby(self._between(*ends), lambda one: one[0].user[1]):
                leaves[leaf] = digest_of_all([seal for _, seal in found])
            if leaves != self._branch(place):
                raise self._altered("a record, or one is missing")

    def mark(self) -> str:
        """Return what tells this history of the ledger, up to its last record, from every other."""
        number = self.head.reports
        return f"{number}:{self._history(number).hex()}"

    def require_mark(self, mark: str) -> None:
        """Raise InputError if a mark is none, or not of this history of the ledger."""
        if not (isinstance(mark, str) and MARK.fullmatch(mark)):
            raise InputError("the mark must be a text that Ledger.mark returned, got something else")
        number, digest = mark.split(":")
        if int(number) > self.head.reports or not hmac.compare_digest(self._history(int(number)).hex(), digest):
            raise InputError(
                f"the ledger {self._name!r} must hold report {number} of its mark, got an older or another ledger of "
                f"{self.head.reports} reports in its place: put the latest copy back"
            )

    def _history(self, number: int) -> bytes:
        """A record's salt is new in every history, and its seal covers the salt."""
        row = self._connection.execute("SELECT seal FROM records WHERE number = ?", (number,)).fetchone()
        if number and not (row and isinstance(row[0], bytes)):
            raise self._altered("a record, or one is missing")
        return self.seals.digest("mark", str(number).encode(), row[0] if number else b"")

    def _leaf(self, user: bytes) -> Iterator[tuple[Record, bytes]]:
        free = DIGEST_BYTES - 2
        return self._between(user[:2] + bytes(free), user[:2] + b"\xff" * free)

    def _between(self, first: bytes, last: bytes) -> Iterator[tuple[Record, bytes]]:
        """Records and their seals by user and number; each is checked before the next is read."""
        previous: tuple[bytes, int] = b"", 0
        for *members, seal in self._connection.execute(
            "SELECT number, user, given, epsilon, report, salt, seal FROM records "
            "WHERE user BETWEEN ? AND ? ORDER BY user, number",
            (first, last),
        ):
            record = Record.of(tuple(members))
            if record is None or not _same(seal, record.seal(self.seals)) or (record.user, record.number) <= previous:
                raise self._altered("a record")
            previous = record.user, record.number
            yield record, seal

    def _branch(self, place: int) -> list[bytes]:
        """The leaves of a branch, which the head vouches for."""
        row = self._connection.execute("SELECT leaves FROM branches WHERE place = ?", (place,)).fetchone()
        content = row[0] if row else NOTHING * CHILDREN
        if not isinstance(content, bytes) or len(content) != DIGEST_BYTES * CHILDREN:
            raise self._altered("a branch")
        leaves = _split(content)
        if digest_of_all(leaves) != _split(self.head.branches)[place]:
            raise self._altered("a branch")
        return leaves

    def _read_head(self) -> tuple[Head, Seals]:
        rows = self._connection.execute("SELECT ledger, budget, reports, branches, seal FROM head LIMIT 2").fetchall()
        head = Head.of(rows[0][:-1]) if len(rows) == 1 else None
        if head is None:
            raise self._altered("its head")
        seals = Seals(self._key, head.ledger)
        if not _same(rows[0][-1], head.seal(seals)):
            raise InputError(
                f"the ledger {self._name!r} must be opened with the key that it was made with, "
                "got another, or its head was altered: put the latest copy back"
            )
        return head, seals

    def _altered(self, what: str) -> InputError:
        return InputError(
            f"the ledger {self._name!r} must be as it was left, got {what} altered: "
            "put the latest copy back, and take what was reported since as spent"
        )


def _split(digests: bytes) -> list[bytes]:
    return [digests[start : start + DIGEST_BYTES] for start in range(0, len(digests), DIGEST_BYTES)]


def _same(found: object, seal: bytes) -> bool:
    return isinstance(found, bytes) and hmac.compare_digest(found, seal)
