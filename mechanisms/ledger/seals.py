"""Keyed digests of a ledger: what it stores in place of names and values, and what shows that a record was altered."""

import hashlib
import hmac
import secrets
import struct
from dataclasses import dataclass, field

from ..errors import InputError

FORMAT = "optldp-ledger/2"

KEY_BYTES = 32
"""As long as a SHA-256 digest; a shorter key could be guessed, and with it users and values."""

DIGEST_BYTES = 32
"""Of SHA-256."""

NOTHING = bytes(DIGEST_BYTES)
"""Stands for the digest of no records; that SHA-256 ever gives it is as unlikely as any forgery."""


def new_ledger_key() -> bytes:
    """Return 32 random bytes of the operating system's generator.

    Returns
    -------
    key : bytes
        If the key is kept apart from the file, `Ledger` notices changes by anybody else.

    Example
    -------
    >>> from optldp.mechanisms.ledger import new_ledger_key
    >>> len(new_ledger_key())
    32
    """
    return secrets.token_bytes(KEY_BYTES)


def checked_key(key: object) -> bytes:
    """Return the key if it is bytes and long enough, or raise InputError without showing it.

    Example
    -------
    >>> len(checked_key(bytes(40)))
    40
    """
    if not (isinstance(key, bytes) and len(key) >= KEY_BYTES):
        raise InputError(f"the ledger's key must be at least {KEY_BYTES} bytes: make one with new_ledger_key")
    return key


@dataclass(frozen=True)
class Seals:
    """HMAC-SHA-256 under one key for one ledger, so that nothing of one ledger fits into another.

    Parameters
    ----------
    key : bytes
    ledger : bytes
        The ledger's own random name.

    Example
    -------
    >>> seals = Seals(bytes(32), b"this one")
    >>> seals.digest("user", b"a", b"bc") == seals.digest("user", b"ab", b"c")
    False
    """

    key: bytes = field(repr=False)
    ledger: bytes

    def digest(self, purpose: str, *parts: bytes) -> bytes:
        """Return the digest (32 bytes) of parts, each with its length, for one purpose."""
        framed = [
            struct.pack("<Q", len(part)) + part for part in (FORMAT.encode(), purpose.encode(), self.ledger, *parts)
        ]
        return hmac.digest(self.key, b"".join(framed), "sha256")


def digest_of_all(digests: list[bytes]) -> bytes:
    """Return one digest of digests in their order; `NOTHING` if there are none, or nothing in any of them.

    Example
    -------
    >>> digest_of_all([NOTHING, NOTHING]) == NOTHING, len(digest_of_all([b"a" * 32]))
    (True, 32)
    """
    joined = b"".join(digests)
    return hashlib.sha256(joined).digest() if any(joined) else NOTHING
