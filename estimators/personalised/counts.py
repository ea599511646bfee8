"""Counts of distinct pairs of a reported level and a report: all that an estimator may use of personalised reports."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from ...mechanisms.channel import Channel
from ...mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.report_text import integers_of_text
from ...mechanisms.statistics import Outputs, Supports, as_supports, unread
from ...solvers.likelihood.bits import bit_sums
from ..counting.user_numbers import counts_of_rows, whole_counts
from ..each_report import EachReport, OfOneMechanism
from ..reading.columns.rows.counted_rows import counted_reports
from ..reading.columns.simulated_columns import OUTPUT
from .reports import categories_of, reports_at_levels

LEVEL = "level"
"""The column of reported levels."""


class AtLevels(OfOneMechanism[PersonalisedMechanism]):
    """Counts of users by what they reported of their level, and of their value."""

    @classmethod
    @abstractmethod
    def of_rows(cls, mechanism: PersonalisedMechanism, *columns: np.ndarray) -> Self:
        """Return the counts of rows that may be alike: reports of levels, what is held of reports, users of each."""

    @property
    @abstractmethod
    def level_counts(self) -> np.ndarray:
        """(m,) how often each report of a level was sent."""

    @classmethod
    def from_reports(cls, mechanism: PersonalisedMechanism, sent: PersonalisedReports) -> Self:
        """Count the pairs of reports, one pair for each user; O(N log N).

        Raises InputError for levels or reports that the mechanism cannot make, or lists of different lengths.
        """
        levels = mechanism.checked_level_reports(sent.levels)
        reports = reports_at_levels(mechanism).checked(sent.reports)
        if len(levels) != len(reports):
            raise InputError(f"levels and reports must be as many, got {len(levels)} and {len(reports)}")
        _require_of_some_level(mechanism, levels, reports)
        return cls.of_rows(mechanism, levels, reports, np.ones(len(levels), dtype=np.int64))

    @classmethod
    def from_counts(cls, mechanism: PersonalisedMechanism, rows: Any) -> Self:
        """Take over what another engine has counted: rows of a level, a report and of how many users sent both.

        Parameters
        ----------
        mechanism : PersonalisedMechanism
        rows : path or table in memory
            As `ReportCounts.from_counts` takes them: the columns level, numbers from 0 or reports of another protocol;
            output, reports as categories write them or, of numbers, the reports themselves; and n.

        Raises
        ------
        InputError
            As `ReportCounts.from_counts`, and levels that there are not.

        Example
        -------
        >>> import numpy as np
        >>> from optldp import PersonalisedMechanism
        >>> from optldp.estimators import PersonalisedCounts
        >>> from optldp.mechanisms.categorical.table import categorical_grr
        >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 0.3)
        >>> rows = {"level": np.array([0, 1, 1]), "output": np.array([1, 0, 1]), "n": np.array([3, 4, 5])}
        >>> PersonalisedCounts.from_counts(made, rows).level_counts
        array([3., 9.])
        """
        held, made = reports_at_levels(mechanism), partial(table_identifier, mechanism)
        given, found = counted_reports(held.parse, rows, made, columns=(OUTPUT, LEVEL))
        levels = mechanism.checked_level_reports(integers_of_text(found.columns[1].tolist()))
        reports = held.checked(given)
        _require_of_some_level(mechanism, levels, reports)
        return cls.of_rows(mechanism, levels, reports, whole_counts("n", found.users, least=1))

    def _told(self) -> Told:
        counted = self.level_counts
        names = [f"reported as level {number}" for number in range(len(counted))]
        return Told(self._line(), picture=Dots(names, counted, "users"))


@dataclass(frozen=True, eq=False, repr=False)
class PersonalisedCounts(EachReport[PersonalisedMechanism], AtLevels):
    """How often each pair of a reported level and a report was sent.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
        That made them, of t levels.
    levels : (R,) ndarray of int
        Reported levels; of another protocol than randomised response, its reports.
    reports : (R, ...) ndarray
        For categories, of the kind that the levels' ``checked_reports`` return.  For numbers (R, t): the report's
        output in each level's table, -1 for none; reports with the same outputs everywhere are merged.
    counts : (R,) ndarray of int
        Positive; the pairs are all different.

    Raises
    ------
    InputError
        Unknown levels; levels, reports and counts of different numbers; or too many users.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import PersonalisedMechanism
    >>> from optldp.estimators import PersonalisedCounts
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedReports
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 0.3)
    >>> monday = PersonalisedCounts.from_reports(made, PersonalisedReports(np.array([0, 1]), np.array([1, 1])))
    >>> both = monday + monday
    >>> both.levels, both.reports, both.counts, both.n_users
    (array([0, 1]), array([1, 1]), array([2, 2]), 4)
    """

    told_by: ClassVar[tuple[str, ...]] = ("levels", "reports")
    mechanism: PersonalisedMechanism
    levels: np.ndarray
    reports: np.ndarray
    counts: np.ndarray

    def __post_init__(self) -> None:
        levels = self.mechanism.checked_level_reports(self.levels)
        if len(levels) != len(self.reports):
            raise InputError(f"levels and reports must be as many, got {len(levels)} and {len(self.reports)}")
        object.__setattr__(self, "levels", levels)
        object.__setattr__(self, "counts", counts_of_rows(self.counts, len(levels)))

    def _columns(self) -> dict[str, Any]:
        return {LEVEL: self.levels, OUTPUT: reports_at_levels(self.mechanism).written(self.reports), "n": self.counts}

    @property
    def level_counts(self) -> np.ndarray:
        """(m,) how often each report of a level was sent."""
        return np.bincount(self.levels, self.counts, self.mechanism.level_report.n_reports)

    def support_counts(self) -> np.ndarray:
        """Return how many users (m, K) sent each report of a level and a report that supports each category.

        A table with as many outputs as categories is randomised response: a report supports itself.  Raises InputError
        where `require_pure` does.
        """
        require_pure(self.mechanism)
        size, many = len(categories_of(self.mechanism)), self.mechanism.level_report.n_reports
        if (statistic := as_supports(self.mechanism.levels[0].statistic)) is None:
            seen = np.bincount(self.levels * size + self.reports, self.counts, many * size)
            return seen.reshape(many, size)
        bits, rows = statistic.support(self.reports), np.arange(many)[:, None] == self.levels
        return np.array([bit_sums(bits[row], self.counts[row].astype(np.float64))[:size] for row in rows])


def require_pure(mechanism: PersonalisedMechanism) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities p* and q* (t,) that a report of each level supports its own and another category.

    Raises
    ------
    InputError
        Levels that are neither pure protocols nor randomised response, or of numbers.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> require_pure(PersonalisedMechanism([optimised_unary("ab", e) for e in (1.0, 2.0)]))[0]
    array([0.5, 0.5])
    """
    categories_of(mechanism)  # raises where values are numbers
    laws = [_support_law(level) for level in mechanism.levels]
    return np.array([own for own, _ in laws]), np.array([other for _, other in laws])


def _support_law(level: Channel) -> tuple[float, float]:
    match level.statistic:
        case Supports(own_support=own, other_support=other):
            return own, other
        case Outputs(randomised_response=(own, other)):
            return own, other
        case Outputs():
            raise InputError(
                f"levels must be pure protocols or randomised response, got {level!r}: use personalised_mle or "
                "personalised_distribution"
            )
        case statistic:
            raise unread(statistic)


def _require_of_some_level(mechanism: PersonalisedMechanism, levels: np.ndarray, reports: np.ndarray) -> None:
    """Raise InputError for a report that no level gives, or not its own where levels are reported in the clear."""
    made = reports_at_levels(mechanism).possible(reports)
    if made is None:
        return
    if mechanism.level_epsilon is None:
        _require_possible(made[np.arange(len(levels)), levels], "an output of its level's table")
    else:
        _require_possible(made.max(axis=1), "an output of some level's table")


def _require_possible(possible: np.ndarray, what: str) -> None:
    if not possible.all():
        raise InputError(
            f"every report must be {what}, got {np.count_nonzero(~possible)} that cannot be, "
            f"the first in row {int(np.argmin(possible)) + 1}: another mechanism made it"
        )
