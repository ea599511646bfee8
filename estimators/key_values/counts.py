"""What key-value reports show at each key, counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.files.bundle_file import bundle_to_document
from ...mechanisms.files.checksum import checksum
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ..counting.user_numbers import total_users, whole_counts


@dataclass(frozen=True, eq=False)
class KeyValueCounts:
    """How often each output was shown at each key; counts of shards add up.

    Parameters
    ----------
    mechanism : KeyValueMechanism
        K keys, m outputs.
    n_users : int
    shown : (K, m) ndarray of int

    Raises
    ------
    InputError
        More shown at a key than there are users, or too many users.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0)
    >>> counts = KeyValueCounts.from_reports(made, np.array([[0, 2], [1, 2], [0, 0]]))
    >>> counts.n_users, counts.shown.tolist()
    (3, [[1, 0], [0, 2]])
    """

    mechanism: KeyValueMechanism
    n_users: int
    shown: np.ndarray

    def __post_init__(self) -> None:
        users, shown = total_users([self.n_users]), whole_counts("shown", self.shown, least=0, together=False)
        shape = len(self.mechanism.keys), self.mechanism.value.low.size
        if shown.shape != shape:
            raise InputError(f"shown must be counts of shape {shape} (keys, outputs), got {shown.shape}")
        hidden = np.full(shape[0], users)
        for column in shown.T:
            if (column > hidden).any():
                key = self.mechanism.keys.labels[int(np.argmax(column > hidden))]
                raise InputError(f"a key must be shown to at most all of {users} users, got more for {key!r:.60}")
            hidden -= column
        object.__setattr__(self, "n_users", users)
        object.__setattr__(self, "shown", shown)

    @classmethod
    def from_reports(cls, mechanism: KeyValueMechanism, reports: ArrayLike) -> KeyValueCounts:
        """Count reports; InputError for ones that the mechanism cannot make. O(N) or, for the unary form, O(N K)."""
        given = mechanism.checked_reports(reports)
        _, place, output = mechanism.shown(given)
        size, n_keys = mechanism.value.low.size, len(mechanism.keys)
        real = place < n_keys
        shown = np.bincount(place[real] * size + output[real], minlength=n_keys * size)
        return cls(mechanism, len(given), shown.reshape(n_keys, size))

    def __add__(self, other: KeyValueCounts) -> KeyValueCounts:
        mine, theirs = (checksum(bundle_to_document(counts.mechanism)) for counts in (self, other))
        if mine != theirs:
            raise InputError("counts must be of one and the same mechanism to be added, got two")
        return KeyValueCounts(self.mechanism, self.n_users + other.n_users, self.shown + other.shown)

    @property
    def hidden(self) -> np.ndarray:
        """(K,) reports that show nothing at each key."""
        return self.n_users - self.shown.sum(axis=1)
