"""How many reports support each category: K numbers are all that unbiased frequencies of a pure protocol need."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.display.summary import Profile, Told
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.statistics import Supports, as_supports
from ...solvers.likelihood.bits import bit_sums
from ..counting.user_numbers import total_users, whole_counts
from ..each_report import OfOneMechanism
from ..reading.columns.rows.counted_rows import Wanted, counted_reports, counted_rows
from ..reading.columns.rows.skipped_rows import ROWS_NAMED, SkippedRows
from ..reading.columns.simulated_columns import BIT, NO_BIT, OUTPUT, SUPPORTS


@dataclass(frozen=True, eq=False, repr=False)
class SupportCounts(OfOneMechanism[CategoricalMechanism]):
    """Support counts of users whose reports need not be kept; O(K) memory, whatever their number.

    For `estimate_frequencies` by "unbiased", "norm-sub", "base-cut" and "iiw".  Likelihoods need whole reports
    (`CategoryCounts`), because the number of categories that a report supports is informative too.  Counts of shards
    with different users add up.

    Parameters
    ----------
    mechanism : CategoricalMechanism
        That made the reports: a pure protocol.
    supports : (K,) ndarray of int
        Reports that support each category.
        From 0 to n_users.
    n_users : int

    Raises
    ------
    InputError
        Supports that are none of so many users, or too many users.

    Example
    -------
    >>> from optldp.estimators import SupportCounts
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> oue = optimised_unary(["a", "b", "c"], 1.0)
    >>> shards = [oue.sample(["a"] * 1000), oue.sample(["b"] * 500)]
    >>> counts = SupportCounts.from_reports(oue, shards[0]) + SupportCounts.from_reports(oue, shards[1])
    >>> counts.n_users, counts.supports.shape
    (1500, (3,))
    """

    mechanism: CategoricalMechanism
    supports: np.ndarray
    n_users: int

    def __post_init__(self) -> None:
        supports = whole_counts("supports", self.supports, least=0, together=False)
        users, size = total_users([self.n_users]), len(self.mechanism.categories)
        if supports.shape != (size,) or supports.max() > users:
            raise InputError(
                f"supports must be {size} numbers from 0 to {users}, one for each category, "
                f"got shape {supports.shape} and at most {supports.max(initial=0)}"
            )
        supports_of(self.mechanism)
        object.__setattr__(self, "supports", supports)
        object.__setattr__(self, "n_users", users)

    @classmethod
    def from_reports(cls, mechanism: CategoricalMechanism, reports: ArrayLike) -> Self:
        """Count the supports of reports; InputError for other mechanisms, or reports that they cannot make. O(N K)."""
        supports, checked = supports_of(mechanism), mechanism.checked_reports(reports)
        bits = supports.support(checked)
        return cls(mechanism, support_counts(bits, np.ones(len(checked)), len(mechanism.categories)), len(checked))

    @classmethod
    def from_counts(cls, mechanism: CategoricalMechanism, rows: Any, *, n_users: int) -> Self:
        """Take over what another engine has summed: rows of categories and of how many reports support them.

        Of bit vectors with a column for each category that is its sum.

        Parameters
        ----------
        mechanism : CategoricalMechanism
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them; the column output has categories by their labels, of which those
            that no report supports may be missing, the column n the numbers of reports.
        n_users : int
            Reports in all, which supports do not tell.

        Raises
        ------
        InputError
            As `ReportCounts.from_counts`, other categories, or more supports of one than there are reports.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import SupportCounts
        >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
        >>> rows = {"output": np.array(["c", "a"]), "n": np.array([5, 7])}
        >>> SupportCounts.from_counts(optimised_unary(["a", "b", "c"], 1.0), rows, n_users=9).supports
        array([7, 0, 5])
        """
        codes, found = counted_reports(mechanism.categories.codes, rows, partial(table_identifier, mechanism))
        supports = np.zeros(len(mechanism.categories), dtype=np.int64)
        np.add.at(supports, codes, whole_counts("n", found.users, least=1, together=False))
        return cls(mechanism, supports, n_users)

    @classmethod
    def from_sums(cls, mechanism: CategoricalMechanism, rows: Any, *, skip_invalid: bool | SkippedRows = False) -> Self:
        """Take over what an engine answered to the query of support sums, a row per bit; days and shards add up.

        Parameters
        ----------
        mechanism : CategoricalMechanism
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them; the column bit has the number of the category, from 0, supports
            how many of n reports support it. In a row of bit -1 these are no reports.
        skip_invalid : bool or SkippedRows
            Leave out, and count, users whose reports are none, instead of refusing them.

        Raises
        ------
        InputError
            As `ReportCounts.from_counts`, bits that there are not, or that are not of equally many reports.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators import SupportCounts
        >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
        >>> rows = {"bit": np.array([0, 1]), "supports": np.array([3, 5]), "n": np.array([9, 9])}
        >>> SupportCounts.from_sums(optimised_unary(["a", "b"], 1.0), rows).n_users
        9
        """
        account, skip = SkippedRows.of(skip_invalid)
        made, size = partial(table_identifier, mechanism), len(mechanism.categories)
        found = counted_rows(rows, [Wanted((BIT, SUPPORTS))], made)
        bits, supports = found.columns
        wrong = (bits < 0) | (bits >= size) | (supports < 0) | (supports > found.users)
        reasons = [
            "no report of the mechanism" if bit == NO_BIT else f"bit {bit} with {many} supports of {users} reports"
            for bit, many, users in zip(
                *(column[wrong][:ROWS_NAMED].tolist() for column in (bits, supports, found.users)), strict=True
            )
        ]
        found = found.refuse(wrong, reasons, account if skip else None)
        account.tell(skip_invalid)
        total, sums = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        bits, supports = found.columns
        np.add.at(total, bits, whole_counts("n", found.users, least=1, together=False))
        np.add.at(sums, bits, supports)
        if (total != total[0]).any():
            raise InputError(
                f"{found.where} must have all {size} bits of as many reports each, got from {total.min()} to "
                f"{total.max()}: use the whole answer of the query"
            )
        return cls(mechanism, sums, int(total[0]))

    def support_counts(self) -> np.ndarray:
        """Return `supports`."""
        return self.supports

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        places = np.arange(len(self.supports))
        return Told(self._line(), picture=Profile(places, self.supports, "category, in order", "users"))

    def _columns(self) -> dict[str, Any]:
        return {OUTPUT: list(self.mechanism.categories.labels), "n": self.supports}

    def _together(self, other: Self) -> Self:
        return type(self)(self.mechanism, self.supports + other.supports, self.n_users + other.n_users)


def supports_of(mechanism: CategoricalMechanism) -> Supports:
    """Return which categories a mechanism's reports support; InputError for one of whole outputs.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> supports_of(optimised_unary(["a", "b"], 1.0)).own_support
    0.5
    """
    if (supports := as_supports(mechanism.statistic)) is None:
        raise InputError(f"support counts need a pure protocol, got {mechanism!r}: use CategoryCounts")
    return supports


def support_counts(bits: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    """Return how many users (K,) int64 made a report that supports each of K categories.

    Parameters
    ----------
    bits : (R, ceil(K / 8)) ndarray of uint8
        What each report supports, packed.
    counts : (R,) ndarray
        How often each report was made.
    size : int
        K.

    Example
    -------
    >>> support_counts(np.array([[0b10100000], [0b10000000]], np.uint8), np.array([5, 1]), 3)
    array([6, 0, 5])
    """
    return np.rint(bit_sums(bits, np.asarray(counts, dtype=np.float64))[:size]).astype(np.int64)
