"""Reports on pairs of a key and a value, counted whole or by what they show at each key."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ...mechanisms.files.bundle import bundle_to_document
from ...mechanisms.files.checksum import checksum
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.key_value.mechanism import KeyValueMechanism
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import HeatMap, Told
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.user_numbers import counts_of_rows, total_users, whole_counts
from ..data.counted_rows import counted_reports
from ..data.skipped_rows import SkippedRows


class KeyCounts(Protocol):
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

    @property
    def n_users(self) -> int:
        """Number of reports."""
        ...


class _OfOneMechanism(Shown):
    mechanism: KeyValueMechanism

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


def require_reports(counts: KeyCounts) -> None:
    """Raise InputError if there are none."""
    if not counts.n_users:
        raise InputError("there must be at least one report, got none: there is nothing to estimate from")


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueCounts(_OfOneMechanism):
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

    mechanism: KeyValueMechanism
    reports: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        reports = self.mechanism.checked_reports(self.reports)
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "counts", counts_of_rows(self.counts, len(reports)))

    @classmethod
    def from_reports(cls, mechanism: KeyValueMechanism, reports: ArrayLike) -> KeyValueCounts:
        """Count reports, one for each user; O(N log N). InputError for ones that the mechanism cannot make."""
        given = mechanism.checked_reports(reports)
        return cls(mechanism, *np.unique(given, axis=0, return_counts=True))

    @classmethod
    def from_counts(
        cls, mechanism: KeyValueMechanism, rows: Any, *, skip_invalid: bool | SkippedRows = False
    ) -> KeyValueCounts:
        """Take over what another engine has counted: rows of reports and of how many users made them.

        Rows, options and errors are those of `CategoryCounts.from_counts`.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import KeyValueCounts
        >>> from optldp.mechanisms.families.duchi import duchi
        >>> from optldp.mechanisms.key_value.unary import key_value_unary
        >>> made = key_value_unary(["a", "b"], duchi([0.0, 1.0], 1.0), 1.0)
        >>> rows = {"output": np.array(made.to_text(np.array([[0, 2], [1, 2]]))), "n": np.array([5, 7])}
        >>> KeyValueCounts.from_counts(made, rows).shown.tolist()
        [[7, 0], [0, 12]]
        """
        account, skip = SkippedRows.of(skip_invalid)
        made = partial(table_identifier, mechanism)
        reports, found = counted_reports(mechanism.from_text, rows, made, account if skip else None)
        account.tell(skip_invalid)
        return cls(mechanism, *added_up(reports, whole_counts("n", found.users, least=1)))

    def __add__(self, other: KeyValueCounts) -> KeyValueCounts:
        """Return the counts of the union of two sets of users without a user in common."""
        if not isinstance(other, KeyValueCounts):
            return NotImplemented
        _require_same(self.mechanism, other.mechanism)
        both = np.concatenate([self.reports, other.reports])
        return KeyValueCounts(self.mechanism, *added_up(both, np.concatenate([self.counts, other.counts])))

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "reports": len(self.counts), "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        return Told(self._line(), picture=shown_at_keys(self))

    def _columns(self) -> dict[str, Any]:
        return {"output": self.mechanism.to_text(self.reports), "n": self.counts}

    @property
    def n_users(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())

    @property
    def shown(self) -> np.ndarray:
        """(K, m) how often each output was shown at each key."""
        return _shown(self.mechanism, self.reports, self.counts)

    @property
    def hidden(self) -> np.ndarray:
        """(K,) reports that show nothing at each key."""
        return self.n_users - self.shown.sum(axis=1)


@dataclass(frozen=True, eq=False, repr=False)
class ShownCounts(_OfOneMechanism):
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
    def from_reports(cls, mechanism: KeyValueMechanism, reports: ArrayLike) -> ShownCounts:
        """Count reports; InputError for ones that the mechanism cannot make. O(N) or, for the unary form, O(N K)."""
        given = mechanism.checked_reports(reports)
        return cls(mechanism, len(given), _shown(mechanism, given, np.ones(len(given))))

    def __add__(self, other: ShownCounts) -> ShownCounts:
        if not isinstance(other, ShownCounts):
            return NotImplemented
        _require_same(self.mechanism, other.mechanism)
        return ShownCounts(self.mechanism, self.n_users + other.n_users, self.shown + other.shown)

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


def added_up(reports: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct reports and the count of each."""
    distinct, which = np.unique(reports, axis=0, return_inverse=True)
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, which.reshape(-1), counts)
    return distinct, total


def _shown(mechanism: KeyValueMechanism, reports: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """How often (K, m) reports made so many times show each output at each key."""
    report, place, output = mechanism.shown(reports)
    size, n_keys = mechanism.value.low.size, len(mechanism.keys)
    real = place < n_keys
    shown = np.bincount(place[real] * size + output[real], counts[report[real]], n_keys * size)
    return np.rint(shown).astype(np.int64).reshape(n_keys, size)


def _require_same(mine: KeyValueMechanism, theirs: KeyValueMechanism) -> None:
    if checksum(bundle_to_document(mine)) != checksum(bundle_to_document(theirs)):
        raise InputError("counts must be of one and the same mechanism to be added, got two")
