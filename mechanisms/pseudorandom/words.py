"""Random words that are a function of a secret and of what a report is of: HMAC-SHA-256, counted up.

The words of one report are the digests of HMAC-SHA-256 under the secret, each cut into four numbers of 64 bits, the
lowest byte first, over

    tag, table checksum, column name, round label, user, value, number of the digest from 0

each with its length before it (8 bytes, the lowest first), texts in UTF-8. The tag tells this use from every other;
with lengths no two lists of parts are the same bytes. With the column, the round and the value in it, two columns, two
periods and two values have words of their own: equal values of a user show in none of them that they are equal.
"""

import hmac
import struct
from collections.abc import Iterator, Sequence

import numpy as np

from ..errors import InputError
from ..report_id import ID_BYTES
from ..sampling.law import Words
from .secret import Secret

TAG, ID_TAG = b"optldp-keyed-report/1", b"optldp-report-id/1"

WORDS_A_DIGEST = 4


def framed(part: bytes) -> bytes:
    """Return a part with its length.

    Example
    -------
    >>> framed(b"a") + framed(b"bc") == framed(b"ab") + framed(b"c")
    False
    """
    return struct.pack("<Q", len(part)) + part


class ReportWords:
    """The words of reports of one table, column and round.

    Parameters
    ----------
    secret : Secret
    checksum, column, label : str
        Of the table; of the values; of the round.

    Example
    -------
    >>> from .secret import new_secret
    >>> words = ReportWords(Secret(new_secret()), "sha256:00", "income", "")
    >>> words.stream(b"ann", b"7")(5).tolist() == words.stream(b"ann", b"7")(5).tolist()
    True
    """

    __slots__ = ("__begun", "__ids")

    def __init__(self, secret: Secret, checksum: str, column: str, label: str) -> None:
        shared = b"".join(map(framed, map(_utf8, (checksum, column, label))))
        self.__begun = hmac.new(secret.reveal(), framed(TAG) + shared, "sha256")  # what all have in common, hashed once
        self.__ids = hmac.new(secret.reveal(), framed(ID_TAG) + shared, "sha256")

    def __repr__(self) -> str:
        return "ReportWords(...)"

    def digest(self, user: bytes, value: bytes, number: int) -> bytes:
        """Return a digest of a user's report of a value, by its number from 0."""
        whole = self.__begun.copy()
        whole.update(framed(user) + framed(value) + framed(struct.pack("<Q", number)))
        return whole.digest()

    def report_id(self, user: bytes) -> str:
        """Return the id of a user's report; the value has no part in it, so that ids tell nothing of values."""
        whole = self.__ids.copy()
        whole.update(framed(user))
        return whole.digest()[:ID_BYTES].hex()

    def stream(self, user: bytes, value: bytes) -> Words:
        """Return the source of the words of one report: each call goes on where the one before it ended."""
        following = self._words_of(user, value)

        def words(size: int) -> np.ndarray:
            return np.fromiter((next(following) for _ in range(size)), dtype=np.uint64, count=size)

        return words

    def _words_of(self, user: bytes, value: bytes) -> Iterator[int]:
        number = 0
        while True:
            yield from struct.unpack("<4Q", self.digest(user, value, number))
            number += 1

    def aligned(self, users: Sequence[bytes], values: Sequence[bytes]) -> Words:
        """Return a source for reports of N users that are drawn together: the k-th call gives each user's k-th word.

        For laws that ask for one word for each of the users at a time: then they draw the report that each user alone
        would have. InputError for a call that asks for another number.
        """
        digests: list[np.ndarray] = []
        called = 0

        def words(size: int) -> np.ndarray:
            nonlocal called
            if size != len(users):
                raise InputError(f"words for {len(users)} users must be asked for together, got {size}")
            number, place = divmod(called, WORDS_A_DIGEST)
            called += 1
            if number == len(digests):
                pairs = zip(users, values, strict=True)
                joined = b"".join(self.digest(user, value, number) for user, value in pairs)
                digests.append(np.frombuffer(joined, dtype="<u8").reshape(-1, WORDS_A_DIGEST))
            return np.ascontiguousarray(digests[number][:, place], dtype=np.uint64)

        return words


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise InputError(f"names and labels must be Unicode, got {text!r:.60}") from None
