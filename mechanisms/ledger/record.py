"""One report in a ledger, and the ledger's head: the two things that are sealed."""

import struct
from dataclasses import dataclass
from typing import Any, Self

from .seals import Seals


@dataclass(frozen=True)
class Record:
    """A report that was given, as one row of a ledger.

    Attributes
    ----------
    number : int
        Its place among all reports of the ledger, from 1.
    user, given : bytes
        Keyed digests of the user's name, and of user, mechanism and value together.
    epsilon : float
        What the report cost.
    report : bytes
        The report as text, UTF-8.
    salt : bytes
        Random, so that two histories of a ledger never agree in a record that each wrote for itself.

    Example
    -------
    >>> one = Record(1, b"ann", b"value", 0.5, b"42.0", b"salt")
    >>> Record.of(one.row()) == one, Record.of(("1", b"", b"", 0.5, b"", b"")) is None
    (True, True)
    """

    number: int
    user: bytes
    given: bytes
    epsilon: float
    report: bytes
    salt: bytes

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self | None:
        """Return the record of such a row, or None if its members are of other types."""
        return cls(*row) if tuple(map(type, row)) == (int, bytes, bytes, float, bytes, bytes) else None

    def row(self) -> tuple[int, bytes, bytes, float, bytes, bytes]:
        """Return the members in the order of the columns."""
        return self.number, self.user, self.given, self.epsilon, self.report, self.salt

    def seal(self, seals: Seals) -> bytes:
        """Return the keyed digest of all members."""
        numbers = struct.pack("<qd", self.number, self.epsilon)
        return seals.digest("record", numbers, self.user, self.given, self.report, self.salt)


@dataclass(frozen=True)
class Head:
    """What holds for the whole ledger.

    Attributes
    ----------
    ledger : bytes
        Its random name.
    budget : float
        Largest sum of epsilons per user.
    reports : int
        How many records there are.
    branches : bytes
        Digests of all records: 256 of 32 bytes, by the first byte of the users' digests.

    Example
    -------
    >>> head = Head(b"name", 1.0, 0, b"")
    >>> Head.of(head.row()) == head, Head.of((b"name", 1, 0, b"")) is None
    (True, True)
    """

    ledger: bytes
    budget: float
    reports: int
    branches: bytes

    @classmethod
    def of(cls, row: tuple[Any, ...]) -> Self | None:
        """Return the head of such a row, or None if its members are of other types."""
        return cls(*row) if tuple(map(type, row)) == (bytes, float, int, bytes) else None

    def row(self) -> tuple[bytes, float, int, bytes]:
        """Return the members in the order of the columns."""
        return self.ledger, self.budget, self.reports, self.branches

    def seal(self, seals: Seals) -> bytes:
        """Return the keyed digest of all members; `seals` know the ledger's name."""
        return seals.digest("head", struct.pack("<dq", self.budget, self.reports), self.branches)
