"""Reports on pairs of a key and a value, counted whole or by what they show at each key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.display.summary import HeatMap, Told
from ...mechanisms.errors import InputError
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.user_numbers import total_users, whole_counts
from ..each_report import OfOneMechanism, OfUsers, WholeReports


class KeyCounts(OfUsers, Protocol):
    """What estimators of keys ask of counts of reports, by one mechanism or by one for each level."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The K keys."""
        ...

    @property
    def share_scale(self) -> int:
        """How many times more users hold a key than sample it."""
        ...

    @property
    def tables(self) -> tuple[TabulatedMechanism, ...]:
        """The value tables, on the same knots."""
        ...

    @property
    def symbols(self) -> int:
        """Outputs that are told apart at a key: of a value, beside each report of a level."""
        ...

    def require_reports(self) -> None:
        """Raise InputError if there are none."""


class _OfPairs(OfOneMechanism[KeyValueMechanism]):
    @property
    def keys(self) -> tuple[str, ...]:
        """The K keys."""
        return self.mechanism.keys.labels

    @property
    def share_scale(self) -> int:
        """How many times more users hold a key than sample it."""
        return self.mechanism.share_scale

    @property
    def tables(self) -> tuple[TabulatedMechanism, ...]:
        """The one value table."""
        return (self.mechanism.value,)

    @property
    def symbols(self) -> int:
        """Outputs of the value table."""
        return self.mechanism.value.low.size


def shown_at_keys(counts: KeyValueCounts | ShownCounts) -> HeatMap:
    """Return the picture of which output was shown how often at each key."""
    keys, m = counts.keys, counts.shown.shape[1]
    return HeatMap(counts.shown.astype(float), "key", "output shown", (keys[0], keys[-1]), ("0", str(m - 1)), "users")


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueCounts(_OfPairs, WholeReports[KeyValueMechanism]):
    """How often each report was made.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    mechanism : KeyValueMechanism
        K keys, m outputs.
    reports : (R, ...) ndarray
        Of the kind that ``mechanism.checked_reports`` returns, all different.
    counts : (R,) ndarray of int
        Positive.

    Raises
    ------
    InputError
        Reports that the mechanism cannot make, other counts than theirs, or too many users.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import KeyValueCounts
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0)
    >>> counts = KeyValueCounts.from_reports(made, np.array([[0, 2], [1, 2], [0, 2]]))
    >>> counts.counts.tolist(), counts.shown.tolist()
    ([2, 1], [[1, 0], [0, 3]])
    """

    def _told(self) -> Told:
        return Told(self._line(), picture=shown_at_keys(self))

    @property
    def shown(self) -> np.ndarray:
        """(K, m) how often each output was shown at each key."""
        return _shown(self.mechanism, self.reports, self.counts)

    @property
    def hidden(self) -> np.ndarray:
        """(K,) reports that show nothing at each key."""
        return self.n_users - self.shown.sum(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ShownCounts(_OfPairs):
    """How often each output was shown at each key: K m numbers, whatever the number of users; shards add up.

    All that means and fits key by key need; the likelihood of whole reports needs `KeyValueCounts`.

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
    >>> counts = ShownCounts.from_reports(made, np.array([[0, 2], [1, 2], [0, 0]]))
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
    def from_reports(cls, mechanism: KeyValueMechanism, reports: ArrayLike) -> Self:
        """Count reports; InputError for ones that the mechanism cannot make. O(N) or, for the unary form, O(N K)."""
        given = mechanism.checked_reports(reports)
        return cls(mechanism, len(given), _shown(mechanism, given, np.ones(len(given))))

    def _together(self, other: Self) -> Self:
        return type(self)(self.mechanism, self.n_users + other.n_users, self.shown + other.shown)

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        return Told(self._line(), picture=shown_at_keys(self))

    def _columns(self) -> dict[str, Any]:
        size, m = self.shown.shape
        keys = np.repeat(np.array(self.keys, dtype=object), m)
        return {"key": keys, "output": np.tile(np.arange(m), size), "n": self.shown.ravel()}

    @property
    def hidden(self) -> np.ndarray:
        """(K,) reports that show nothing at each key."""
        return self.n_users - self.shown.sum(axis=1)


def _shown(mechanism: KeyValueMechanism, reports: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How often (K, m) reports made so many times show each output at each key."""
    report, place, output = mechanism.shown(reports)
    size, n_keys = mechanism.value.low.size, len(mechanism.keys)
    real = place < n_keys
    shown = np.bincount(place[real] * size + output[real], counts[report[real]], n_keys * size)
    return np.rint(shown).astype(np.int64).reshape(n_keys, size)
