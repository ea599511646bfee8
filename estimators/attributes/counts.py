"""Reports on several attributes, at one service or at several: for each attribute, counts as of a table of its own.

Which attributes a user reports is drawn independent of the values, so the users who have drawn one at some service are
a random share of all, and their reports on it are what a collection of that attribute alone would have.  So each
attribute has the `ReportCounts` of the services that hold it, which every estimator takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.combinators.attribute_sampling import AttributeSampling
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.spaces.columns import naming
from ..counting.counts import ReportCounts, Service
from ..counting.drawn_outputs import drawn_outputs
from ..counting.user_numbers import exact_sum, total_users
from ..reading.columns.rows.skipped_rows import SkippedRows


class Addable(Protocol):
    """Counts of one attribute."""

    @property
    def n_users(self) -> int:
        """Users who have reported it."""
        ...

    def __add__(self, other: Any, /) -> Any:
        """Return the counts of the union of two sets of users."""
        ...


Counts = TypeVar("Counts", bound=Addable)


@dataclass(frozen=True, eq=False)
class ByAttribute(Shown, Mapping[str, Counts], Generic[Counts]):
    """Counts of some kind by attribute, of which those of shards with different users add up.

    Parameters
    ----------
    by_attribute : mapping of str to counts
        At least one.
    n_users : int
        Users who reported anything.

    Raises
    ------
    InputError
        No attribute, or a number of users that is invalid or below that of an attribute.
    """

    by_attribute: Mapping[str, Counts]
    n_users: int

    def __post_init__(self) -> None:
        if not self.by_attribute:
            raise InputError("there must be at least one attribute, got none")
        total_users([self.n_users])
        for name, counts in self.by_attribute.items():
            if counts.n_users > self.n_users:
                raise InputError(
                    f"attribute {name!r} must have at most the {self.n_users} users there are, got {counts.n_users}"
                )
        object.__setattr__(self, "by_attribute", MappingProxyType(dict(self.by_attribute)))

    def __getitem__(self, attribute: str) -> Counts:
        """Return the counts of one attribute; InputError for one that no service holds."""
        if attribute not in self.by_attribute:
            raise InputError(f"attributes are {', '.join(self.by_attribute)}, got {attribute!r:.60}")
        return self.by_attribute[attribute]

    def __contains__(self, attribute: object) -> bool:
        return attribute in self.by_attribute

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_attribute)

    def __len__(self) -> int:
        return len(self.by_attribute)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(attributes={len(self)}, n_users={self.n_users})"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self.by_attribute), self.n_users)

    def _told(self) -> Told:
        columns = self._columns()
        return Told({"n": self.n_users}, columns, Dots(columns["attribute"], np.array(columns["n"]), "users"))

    def _columns(self) -> dict[str, Any]:
        return {"attribute": list(self), "n": [counts.n_users for counts in self.values()]}

    def __add__(self, other: Self) -> Self:
        """Return the counts of the union of two sets of users without a user in common."""
        if type(other) is not type(self):
            return NotImplemented
        if set(self) != set(other):
            odd = sorted(set(self) ^ set(other))[0]
            raise InputError(f"counts can be added for the same attributes only, got {odd!r} in one of them")
        return type(self)({name: self[name] + other[name] for name in self}, self.n_users + other.n_users)


@dataclass(frozen=True, eq=False, repr=False)
class AttributeCounts(ByAttribute[ReportCounts]):
    """Counts of reports by attribute: estimators of one attribute take ``counts["age"]``.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    by_attribute : mapping of str to ReportCounts
        The services that hold the attribute, and the users who reported it to at least one of them.
    n_users : int
        Users who reported anything.

    Raises
    ------
    InputError
        No attribute, or a number of users that is invalid or below that of an attribute.

    Example
    -------
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.attributes import AttributeCounts
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> ages = ReportCounts.from_reports(table, table.high[[0, 1, 1]])
    >>> counts = AttributeCounts({"age": ages}, 5)
    >>> counts["age"].n_users, (counts + counts).n_users
    (3, 10)
    """

    @classmethod
    def from_reports(cls, mechanism: AttributeSampling, reports: Mapping[str, ArrayLike] | ArrayLike) -> Self:
        """Count reports of one service, (n,) by attribute or (n, d), NaN where an attribute was not drawn.

        Raises
        ------
        InputError
            Columns that do not match the attributes, users without exactly k reports, or reports that the table of
            their attribute cannot make.
        """
        columns, drawn = drawn_columns(mechanism, reports)
        counts = {}
        for name, table, column, mine in zip(mechanism.attributes, mechanism.mechanisms, columns, drawn, strict=True):
            with naming(name):
                counts[name] = ReportCounts.from_reports(table, column[mine], name=name)
        return cls(counts, columns[0].size)

    @classmethod
    def from_counts(cls, mechanism: AttributeSampling, rows: Any, *, skip_invalid: bool | SkippedRows = False) -> Self:
        """Take over what another engine has counted at one service: rows of outputs and of how many users have them.

        Parameters
        ----------
        mechanism : AttributeSampling
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them: a column of numbers of outputs for each attribute, by its name,
            empty where it was not drawn, and the column n.
        skip_invalid : bool or SkippedRows
            Leave out, and count, users whose reports are none, instead of refusing them.

        Raises
        ------
        InputError
            As `ReportCounts.from_counts`, and users with another number of reports than are drawn.

        Example
        -------
        >>> import numpy as np
        >>> from optldp import AttributeSampling
        >>> from optldp.estimators.attributes import AttributeCounts
        >>> from optldp.mechanisms import duchi, make_exact
        >>> table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
        >>> made = AttributeSampling(["age", "pay"], [table, table], 1, 1.0)
        >>> rows = {"age": np.array([1.0, np.nan]), "pay": np.array([np.nan, 0.0]), "n": np.array([5, 7])}
        >>> counts = AttributeCounts.from_counts(made, rows)
        >>> counts.n_users, counts["age"].groups[0].counts
        (12, array([5]))
        """
        account, skip = SkippedRows.of(skip_invalid)
        services = [Service(name, t) for name, t in zip(mechanism.attributes, mechanism.mechanisms, strict=True)]
        named = [(service.name, service.mechanism.possible) for service in services]
        made = partial(table_identifier, mechanism)
        outputs, users = drawn_outputs(named, mechanism.sampled, rows, made, account if skip else None)
        account.tell(skip_invalid)
        counts = {s.name: ReportCounts.from_outputs([s], outputs[:, [j]], users) for j, s in enumerate(services)}
        return cls(counts, total_users([exact_sum(users)]))


def drawn_columns(
    mechanism: AttributeSampling, reports: Mapping[str, ArrayLike] | ArrayLike
) -> tuple[list[np.ndarray], np.ndarray]:
    """Return a column (n,) for each attribute, and which have been drawn (d, n).

    Raises InputError for columns that do not match, or users without exactly k reports.
    """
    columns = mechanism.inputs.split(reports)
    drawn = ~np.isnan(columns)
    wrong = np.flatnonzero(drawn.sum(axis=0) != mechanism.sampled)
    if wrong.size:
        raise InputError(
            f"every user must have {mechanism.sampled} reports, got {wrong.size} who have not, the first in row "
            f"{wrong[0] + 1}: keep whole rows, and leave unsampled attributes empty"
        )
    return columns, drawn
