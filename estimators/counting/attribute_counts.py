"""Counts of the reports of several attributes, of which every user has made some."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.composed.attributes import AttributeSampling, naming
from ...mechanisms.errors import InputError
from .counts import ReportCounts, same_table


@dataclass(frozen=True, eq=False)
class AttributeCounts:
    """The counts of each attribute, of the users who have drawn it; ``counts["age"]`` is one of them.

    Counts of shards with different users add up: ``a + b``.

    Parameters
    ----------
    mechanism : AttributeSampling
        That made the reports: k of d attributes of each user.
    counts : tuple of ReportCounts
        One of one service for each attribute, in their order.

    Raises
    ------
    InputError
        Counts of other tables, or numbers of reports that no users with k reports each have made.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> table = make_exact(duchi([0, 100], 2.0)).mechanism
    >>> made = AttributeSampling(["age", "hours"], [table, table], 1, 2.0)
    >>> low, high = table.low.tolist()
    >>> counts = AttributeCounts.from_reports(made, {"age": [low, high, np.nan], "hours": [np.nan, np.nan, low]})
    >>> counts.n_users, counts["age"].n_users, counts["hours"].reports_of(0).tolist()
    (3, 2, [1, 0])
    """

    mechanism: AttributeSampling
    counts: tuple[ReportCounts, ...]

    def __post_init__(self) -> None:
        tables = self.mechanism.mechanisms
        if len(self.counts) != len(tables) or not all(
            len(each.services) == 1 and same_table(each.mechanisms[0], table)
            for each, table in zip(self.counts, tables, strict=True)
        ):
            raise InputError(f"counts must be of the table of each of {len(tables)} attributes, got others")
        reports = [each.n_users for each in self.counts]
        if sum(reports) % self.mechanism.sampled or max(reports) > self.n_users:
            raise InputError(f"every user must have {self.mechanism.sampled} reports, got {reports} by attribute")

    @classmethod
    def from_reports(cls, mechanism: AttributeSampling, reports: Mapping[str, ArrayLike] | ArrayLike) -> Self:
        """Count reports, (n,) by attribute or (n, d), NaN where an attribute was not drawn.

        Raises
        ------
        InputError
            Columns that do not match the attributes, users without exactly k reports, or reports that the table of
            their attribute cannot make.
        """
        columns = mechanism.columns(reports)
        drawn = ~np.isnan(columns)
        wrong = np.flatnonzero(drawn.sum(axis=0) != mechanism.sampled)
        if wrong.size:
            raise InputError(
                f"every user must have {mechanism.sampled} reports, got {wrong.size} who have not, the first in row "
                f"{wrong[0] + 1}: keep whole rows, and leave unsampled attributes empty"
            )
        counts = []
        for name, table, column, mine in zip(mechanism.attributes, mechanism.mechanisms, columns, drawn, strict=True):
            with naming(name):
                counts.append(ReportCounts.from_reports(table, column[mine], name=name))
        return cls(mechanism, tuple(counts))

    @property
    def n_users(self) -> int:
        """Number of users."""
        return sum(each.n_users for each in self.counts) // self.mechanism.sampled

    def __getitem__(self, attribute: str) -> ReportCounts:
        """Return the counts of one attribute; InputError for an unknown one."""
        names = self.mechanism.attributes
        if attribute not in names:
            raise InputError(f"attributes are {', '.join(names)}, got {attribute!r:.60}")
        return self.counts[names.index(attribute)]

    def __add__(self, other: AttributeCounts) -> AttributeCounts:
        """Return the counts of two sets of users together; InputError for those of another mechanism."""
        if not isinstance(other, AttributeCounts):
            return NotImplemented
        if (self.mechanism.attributes, self.mechanism.sampled) != (other.mechanism.attributes, other.mechanism.sampled):
            raise InputError("counts can be added for the same attributes and numbers of them only, got others")
        pairs = zip(self.counts, other.counts, strict=True)
        return AttributeCounts(self.mechanism, tuple(mine + theirs for mine, theirs in pairs))
