"""What every user has spent, and the reports already given: a second report costs budget, a repeated one nothing.

The file holds no user names and no values: both are stored as HMAC-SHA-256 under a key that the ledger's owner keeps
elsewhere. What is stored in plain are reports, which are private by themselves, and sums of epsilons.
"""

import hashlib
import hmac
import json
import math
import os
import secrets
import struct
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from .atomic_write import replacing
from .checksum import checksum
from .errors import BudgetError, InputError
from .sampler import Sampler
from .table_document import table_to_document

FORMAT = "optldp-ledger/1"

KEY_BYTES = 32
"""As long as a SHA-256 digest; a shorter key could be guessed, and with it users and values."""

OWNER_ONLY = 0o600


def new_ledger_key() -> bytes:
    """Return 32 random bytes of the operating system's generator.

    Example
    -------
    >>> len(new_ledger_key())
    32
    """
    return secrets.token_bytes(KEY_BYTES)


@dataclass(frozen=True)
class Ledger:
    """A file of budgets spent and reports given, for one process at a time.

    Epsilons of different reports of a user add up (basic composition), as exact fractions. The same user's same value
    under the same table gets the same report again, at no cost; so a change of the report tells that the value has
    changed, which this ledger does not hide.

    Parameters
    ----------
    path : path
        The ledger's file; it is made with the first report.
    key : bytes
        At least 32, such as from `new_ledger_key`; whoever has key and file can test guesses of users and values.
    budget : float
        Largest sum of epsilons per user.

    Raises
    ------
    InputError
        A key or budget that is not usable; later, a file that is not a ledger of this key.

    Example
    -------
    >>> import tempfile
    >>> from .grr import grr
    >>> sampler = Sampler(grr([0, 1], 1.0))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = Ledger(Path(folder, "ledger.json"), new_ledger_key(), 1.5)
    ...     first = ledger.report(sampler, "ann", 1.0)
    ...     ledger.report(sampler, "ann", 1.0) == first, ledger.spent("ann")
    (True, 1.0)
    """

    path: str | os.PathLike[str]
    key: bytes = field(repr=False)
    budget: float

    def __post_init__(self) -> None:
        if not (isinstance(self.key, bytes) and len(self.key) >= KEY_BYTES):
            raise InputError(f"the ledger's key must be at least {KEY_BYTES} bytes: make one with new_ledger_key")
        if not (isinstance(self.budget, int | float) and 0 < self.budget < math.inf):
            raise InputError(f"the budget must be positive and finite, got {self.budget!r}")

    def spent(self, user: str) -> float:
        """Return the sum of epsilons that a user has spent."""
        return float(Fraction(self._read().get(self._digest("user", user.encode()), {}).get("spent", "0")))

    def report(self, sampler: Sampler, user: str, value: float, *, fresh: bool = False) -> float:
        """Return the user's report on a value: the one already given, or a new one if the budget allows it.

        Parameters
        ----------
        sampler : Sampler
            Not a simulated one.
        user : str
            Any name; only its keyed digest is stored.
        value : float
            In the table's domain; only its keyed digest, together with user and table, is stored.
        fresh : bool
            Draw a new report even where one was given; it costs epsilon again.

        Raises
        ------
        BudgetError
            A new report would exceed the user's budget; nothing is drawn.
        InputError
            A value outside the domain, a simulated sampler, or a file that is not a ledger of this key.
        """
        if sampler.simulated:
            raise InputError("a ledger is for real reports, got a simulated sampler: make one without an rng")
        table = sampler.mechanism
        low, high = table.domain
        if not (isinstance(value, int | float) and low <= value <= high):
            raise InputError(f"the value must be a number in [{low:g}, {high:g}], got another: clip it")  # not shown
        name = self._digest("user", user.encode())
        given = self._digest("value", f"{name} {checksum(table_to_document(table))} ".encode() + _bytes(float(value)))
        entries = self._read()
        entry = entries.setdefault(name, {"spent": "0", "reports": {}})
        if given in entry["reports"] and not fresh:
            return entry["reports"][given]
        spent = Fraction(entry["spent"]) + Fraction(table.epsilon)
        if spent > Fraction(self.budget):
            raise BudgetError(
                f"a user's epsilons must sum to at most {self.budget:g}, got {float(spent):g} with this report: "
                "repeat the report already given, or stop"
            )
        report = float(sampler.sample([value])[0])
        entry["spent"], entry["reports"][given] = str(spent), report
        self._write(entries)  # before anyone sees the report
        return report

    def _digest(self, purpose: str, content: bytes) -> str:
        return hmac.new(self.key, f"{FORMAT} {purpose} ".encode() + content, hashlib.sha256).hexdigest()

    def _read(self) -> dict[str, Any]:
        path = Path(self.path)
        try:
            document = json.loads(path.read_bytes()) if path.exists() else None
        except (OSError, ValueError, RecursionError):
            raise InputError(f"the ledger must be a whole JSON file, got {str(path)!r}: restore it") from None
        if document is None:
            return {}
        if not (isinstance(document, dict) and document.get("format") == FORMAT and _whole(document.get("users"))):
            raise InputError(f"the ledger must be of format {FORMAT}, got another file {str(path)!r}")
        if not hmac.compare_digest(str(document.get("key")), self._digest("key", b"")):
            raise InputError(f"the ledger {str(path)!r} must be opened with the key that it was made with")
        return document["users"]

    def _write(self, entries: dict[str, Any]) -> None:
        with replacing(self.path) as temporary:
            temporary.touch(OWNER_ONLY)
            document = {"format": FORMAT, "key": self._digest("key", b""), "users": entries}
            temporary.write_text(json.dumps(document, allow_nan=False))


def _bytes(number: float) -> bytes:
    return struct.pack("<d", number + 0.0)  # -0 is 0


def _whole(users: object) -> bool:
    """Whether the users' entries have the form that `Ledger` writes."""
    try:
        return isinstance(users, dict) and all(
            Fraction(entry["spent"]) >= 0 and all(isinstance(r, float) for r in entry["reports"].values())
            for entry in users.values()
        )
    except (AttributeError, LookupError, TypeError, ValueError, ZeroDivisionError):
        return False
