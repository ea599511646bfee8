"""Counts of distinct reports of one categorical mechanism: all that an estimator may use of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import Profile, Told
from ...solvers.likelihood.bits import count_bit_rows
from ..counting.user_numbers import counts_of_rows, whole_counts
from ..data.counted_rows import counted_reports
from ..data.skipped_rows import SkippedRows
from .support_counts import support_counts, supports_of


@dataclass(frozen=True, eq=False, repr=False)
class CategoryCounts(Shown):
    """How often each report was made.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    mechanism : CategoricalMechanism
        That made them.
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
    >>> from optldp.estimators import CategoryCounts
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> grr = categorical_grr(["red", "green", "blue"], 1.0)
    >>> monday = CategoryCounts.from_reports(grr, [0, 2, 2])
    >>> both = monday + CategoryCounts.from_reports(grr, [1, 2])
    >>> both.reports, both.counts, both.n_users
    (array([0, 1, 2]), array([1, 1, 3]), 5)
    """

    mechanism: CategoricalMechanism
    reports: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        reports = self.mechanism.checked_reports(self.reports)
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "counts", counts_of_rows(self.counts, len(reports)))

    @classmethod
    def from_reports(cls, mechanism: CategoricalMechanism, reports: ArrayLike, counts: ArrayLike | None = None) -> Self:
        """Count reports, one for each user or, with counts (N,), of so many users each; O(N log N).

        Raises InputError for reports that the mechanism cannot make, and counts that are none of theirs.
        """
        checked = mechanism.checked_reports(reports)
        many = np.ones(len(checked), dtype=np.int64) if counts is None else counts_of_rows(counts, len(checked))
        return cls(mechanism, *_counted(checked, many))

    @classmethod
    def from_counts(
        cls,
        mechanism: CategoricalMechanism,
        rows: Any,
        *,
        skip_invalid: bool | SkippedRows = False,
        parse: Callable[[Sequence[str]], np.ndarray] | None = None,
    ) -> Self:
        """Take over what another engine has counted: rows of reports and of how many users made them.

        Parameters
        ----------
        mechanism : CategoricalMechanism
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them; the column output has reports as ``mechanism.to_text`` writes
            them, numbers or digits of bits, the column n the numbers of users.
        skip_invalid : bool or SkippedRows
            Leave out, and count, users whose reports are none, instead of refusing them.
        parse : callable, optional
            Makes reports of their texts; ``mechanism.from_text`` by default.

        Raises
        ------
        InputError
            As `ReportCounts.from_counts`.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import CategoryCounts
        >>> from optldp.mechanisms.categorical.table import categorical_grr
        >>> grr = categorical_grr(["red", "green", "blue"], 1.0)
        >>> CategoryCounts.from_counts(grr, {"output": np.array([2, 0]), "n": np.array([5, 7])}).counts
        array([7, 5])
        """
        account, skip = SkippedRows.of(skip_invalid)
        made = partial(table_identifier, mechanism)
        reports, found = counted_reports(parse or mechanism.from_text, rows, made, account if skip else None)
        account.tell(skip_invalid)
        return cls(mechanism, *_counted(reports, whole_counts("n", found.users, least=1)))

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "reports": len(self.counts), "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        places = np.arange(len(self.counts))
        return Told(self._line(), picture=Profile(places, self.counts, "report, in order", "users"))

    def _columns(self) -> dict[str, Any]:
        return {"output": self.mechanism.to_text(self.reports), "n": self.counts}

    @property
    def n_users(self) -> int:
        """Number of reports."""
        return int(self.counts.sum())

    def support_counts(self) -> np.ndarray:
        """Return how many users (K,) made a report that supports each category; for pure protocols."""
        return support_counts(self.supports, self.counts, len(self.mechanism.categories))

    @cached_property
    def supports(self) -> np.ndarray:
        """The categories that each report supports as bits (R, ceil(K / 8)) uint8; for pure protocols."""
        return supports_of(self.mechanism).support(self.reports)

    def __add__(self, other: CategoryCounts) -> CategoryCounts:
        """Return the counts of the union of two sets of users without a user in common."""
        if not isinstance(other, CategoryCounts):
            return NotImplemented
        if not self.mechanism.same_law(other.mechanism):
            raise InputError(
                f"counts can be added for the same mechanism only, got {self.mechanism!r} and {other.mechanism!r}"
            )
        both = np.concatenate([self.reports, other.reports])
        return CategoryCounts(self.mechanism, *_counted(both, np.concatenate([self.counts, other.counts])))

    def require_reports(self) -> None:
        """Raise InputError if there are none."""
        if not self.counts.size:
            raise InputError("there must be at least one report, got none: there is nothing to estimate from")


def _counted(reports: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct reports, which are numbers or rows of bytes, and the count of each."""
    if reports.ndim > 1:
        return count_bit_rows(reports, counts)
    distinct, which = np.unique(reports, return_inverse=True)
    total = np.zeros(distinct.size, dtype=np.int64)
    np.add.at(total, which, counts)
    return distinct, total
