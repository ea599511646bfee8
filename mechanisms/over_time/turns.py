"""Public draws of the periods in which users report: a hash of the name of the user, which no value enters.

Word i of a user is the first 8 bytes, the lowest first, of SHA-256 over tag, salt, user and i, each with its length
before it (8 bytes, the lowest first), the user in UTF-8 as the ledger writes names, i as 8 bytes. A word W picks one of
m places as floor(W m / 2^64), so that every program in any language picks the same.
"""

import struct
from collections.abc import Callable, Sequence
from hashlib import sha256

import numpy as np

TAG = b"optldp-turn/1"

DIGEST_BYTES = 32
"""Of SHA-256."""

LARGEST_TOTAL = 2**31
"""Below it the product of half a word and a number of places is exact in 64 bits."""


def turn_words(salt: bytes, users: Sequence[bytes], number: int) -> np.ndarray:
    """Return word (N,) of each user by its number, whole numbers of 64 bits.

    Example
    -------
    >>> turn_words(bytes(16), [b"ann", b"bo"], 0)
    array([9063613175810504058, 3134818047600637579], dtype=uint64)
    """
    first, last = _framed(TAG) + _framed(salt), _framed(struct.pack("<Q", number))
    begun = [first + struct.pack("<Q", size) for size in range(max(map(len, users), default=0) + 1)]
    digests = b"".join([sha256(begun[len(user)] + user + last).digest() for user in users])
    return np.frombuffer(digests, dtype="<u8")[:: DIGEST_BYTES // 8].astype(np.uint64)


def places_of(drawn: np.ndarray, many: int) -> np.ndarray:
    """Return floor(word * many / 2^64) of each word, exactly, for fewer than 2^31 places.

    Example
    -------
    >>> places_of(np.array([0, 2**63, 2**64 - 1], dtype=np.uint64), 12)
    array([ 0,  6, 11])
    """
    many64, half = np.uint64(many), np.uint64(32)
    high, low = drawn >> half, drawn & np.uint64(2**32 - 1)
    return ((high * many64 + (low * many64 >> half)) >> half).astype(np.int64)


Word = Callable[[int], np.ndarray]
"""Returns word i (N,) of each of N users, by its number i."""


def even_turns(word: Word, periods: int, reports: int) -> np.ndarray:
    """Return different periods (N, reports) of each user, from 1 on and rising; every set of them is as likely.

    Source: Floyd's algorithm for random samples (Bentley and Floyd, 1987).

    Example
    -------
    >>> even_turns(lambda number: turn_words(bytes(16), [b"ann", b"bo"], number), 12, 3)
    array([[ 5,  7, 11],
           [ 1,  2, 11]])
    """
    chosen = places_of(word(0), periods - reports + 1)[:, None] + 1
    for number in range(1, reports):
        last = periods - reports + number
        drawn = places_of(word(number), last + 1) + 1
        taken = (chosen == drawn[:, None]).any(axis=1)
        chosen = np.column_stack([chosen, np.where(taken, last + 1, drawn)])
    return np.sort(chosen, axis=1)


def shared_turns(word: Word, shares: Sequence[int]) -> np.ndarray:
    """Return one period (N, 1) of each user, from 1 on, with probabilities in proportion to whole numbers.

    Example
    -------
    >>> shared_turns(lambda number: turn_words(bytes(16), [b"ann", b"bo"], number), [1, 0, 3])
    array([[3],
           [1]])
    """
    ends = np.cumsum(shares)
    drawn = places_of(word(0), int(ends[-1]))
    return np.searchsorted(ends, drawn, side="right")[:, None] + 1


def _framed(part: bytes) -> bytes:
    return struct.pack("<Q", len(part)) + part
