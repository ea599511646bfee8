"""How often each report of one mechanism was made: all that an estimator may use, counted and added in one way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial, singledispatch
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..mechanisms.categorical.mechanism import CategoricalMechanism
from ..mechanisms.channel import Channel
from ..mechanisms.display.display import Shown
from ..mechanisms.errors import InputError
from ..mechanisms.files.identifier import file_checksum, table_identifier
from .counting.counts import runs
from .counting.user_numbers import counts_of_rows, whole_counts
from .reading.columns.rows.counted_rows import counted_reports
from .reading.columns.rows.skipped_rows import SkippedRows
from .reading.columns.simulated_columns import OUTPUT

Made = TypeVar("Made", bound=Channel)

MOST_DIGITS = 24
"""Bytes of a report from which on comparing whole rows is faster than making numbers of them, some bytes at a time."""


class OfUsers(Protocol):
    """Counts of any kind."""

    @property
    def n_users(self) -> int:
        """Number of users."""
        ...


class OfOneMechanism(Shown, ABC, Generic[Made]):
    """Counts of reports of one mechanism, whatever is counted of them; those of shards with different users add up."""

    mechanism: Made

    def require_reports(self: OfUsers) -> None:
        """Raise InputError if there are none."""
        if not self.n_users:
            raise InputError("there must be at least one report, got none: there is nothing to estimate from")

    def __add__(self, other: Self) -> Self:
        """Return the counts of the union of two sets of users without a user in common."""
        if type(other) is not type(self):
            return NotImplemented
        if not (self.mechanism is other.mechanism or same_law(self.mechanism, other.mechanism)):
            raise InputError(
                f"counts can be added for the same mechanism only, got {self.mechanism!r} and {other.mechanism!r}"
            )
        return self._together(other)

    @abstractmethod
    def _together(self, other: Any) -> Self:
        """Return the counts of both sets of users, of the same mechanism."""


class EachReport(OfOneMechanism[Made]):
    """Distinct reports, and how often each was made: a frozen dataclass of a mechanism, columns and `counts`."""

    told_by: ClassVar[tuple[str, ...]] = ("reports",)
    """The members (R, ...) that tell reports apart, in the order of the constructor, which takes `counts` last."""

    counts: np.ndarray

    @classmethod
    def of_rows(cls, mechanism: Made, *columns: np.ndarray) -> Self:
        """Return the counts of rows (N, ...) that may be alike: what tells them apart and, last, the users of each."""
        made: Any = cls
        return made(mechanism, *added_up(*columns))

    def _together(self, other: Self) -> Self:
        names = (*self.told_by, "counts")
        joined = (np.concatenate([getattr(one, name) for one in (self, other)]) for name in names)
        return self.of_rows(self.mechanism, *joined)

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "reports": len(self.counts), "mechanism": repr(self.mechanism)}

    @property
    def n_users(self) -> int:
        """Number of users, who made a report each."""
        return int(self.counts.sum())


@dataclass(frozen=True, eq=False, repr=False)
class WholeReports(EachReport[Made]):
    """How often each report was made, of a mechanism whose reports are numbers or rows of numbers.

    Parameters
    ----------
    mechanism : Channel
        That made them.
    reports : (R, ...) ndarray
        Of the kind that ``mechanism.checked_reports`` returns, all different.
    counts : (R,) ndarray of int
        Positive.

    Raises
    ------
    InputError
        Reports that the mechanism cannot make, other counts than theirs, or too many users.
    """

    mechanism: Made
    reports: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        reports = self.mechanism.checked_reports(self.reports)
        object.__setattr__(self, "reports", reports)
        object.__setattr__(self, "counts", counts_of_rows(self.counts, len(reports)))

    @classmethod
    def from_reports(cls, mechanism: Made, reports: ArrayLike, counts: ArrayLike | None = None) -> Self:
        """Count reports, one for each user or, with counts (N,), of so many users each; O(N log N).

        Raises InputError for reports that the mechanism cannot make, and counts that are none of theirs.
        """
        checked = mechanism.checked_reports(reports)
        many = np.ones(len(checked), dtype=np.int64) if counts is None else counts_of_rows(counts, len(checked))
        return cls.of_rows(mechanism, checked, many)

    @classmethod
    def from_counts(
        cls,
        mechanism: Made,
        rows: Any,
        *,
        skip_invalid: bool | SkippedRows = False,
        parse: Callable[[Sequence[str]], np.ndarray] | None = None,
    ) -> Self:
        """Take over what another engine has counted: rows of reports and of how many users made them.

        Parameters
        ----------
        mechanism : Channel
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them; the column output has reports as ``mechanism.to_text`` writes
            them, the column n the numbers of users.
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
        return cls.of_rows(mechanism, reports, whole_counts("n", found.users, least=1))

    def _columns(self) -> dict[str, Any]:
        return {OUTPUT: self.mechanism.to_text(self.reports), "n": self.counts}


@singledispatch
def same_law(mine: Channel, theirs: Channel) -> bool:
    """Whether reports of two mechanisms can be counted together: those whose files are the same.

    Of mechanisms for categories those that make the same reports alike, whatever they say of themselves.

    Example
    -------
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> same_law(categorical_grr("ab", 1.0), categorical_grr("ab", 1.0))
    True
    """
    return file_checksum(mine) == file_checksum(theirs)


same_law.register(CategoricalMechanism, CategoricalMechanism.same_law)


def added_up(*columns: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return the distinct rows of columns (N, ...) of whole numbers, in lexicographic order, and the sum of the last.

    Example
    -------
    >>> added_up(np.array([1, 0, 1]), np.array([[0, 2], [0, 2], [0, 2]]), np.array([5, 1, 2]))
    (array([0, 1]), array([[0, 2],
           [0, 2]]), array([1, 7]))
    """
    *told, counts = columns
    if not counts.size:
        return columns
    if len(told) == 1 and (told[0].ndim == 1 or (told[0].dtype == np.uint8 and told[0].shape[1] > MOST_DIGITS)):
        return _added_up_whole(told[0], counts)
    digits = [digit for column in told for digit in column.reshape(len(column), -1).T]
    lows = [int(digit.min()) for digit in digits]
    sizes = [int(digit.max()) - low + 1 for digit, low in zip(digits, lows, strict=True)]
    raised = [digit if not low else digit.astype(np.int64) - low for digit, low in zip(digits, lows, strict=True)]
    order, starts = runs(raised, sizes)
    return *(column[order[starts]] for column in told), np.add.reduceat(counts[order], starts)


def _added_up_whole(column: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return what `added_up` does of numbers (N,), or of rows of bytes, whose order is that of the bytes."""
    whole = column if column.ndim == 1 else np.ascontiguousarray(column).view(f"V{column.shape[1]}")[:, 0]
    distinct, which = np.unique(whole, return_inverse=True)
    total = np.zeros(distinct.size, dtype=counts.dtype)
    np.add.at(total, which, counts)
    return distinct.view(column.dtype).reshape(-1, *column.shape[1:]), total
