"""Counts of distinct pairs of a reported level and a report: all that an estimator may use of personalised reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.composed.personalised import PersonalisedMechanism, PersonalisedReports
from ...mechanisms.errors import InputError
from ...mechanisms.files.bundle import bundle_to_document
from ...mechanisms.files.checksum import checksum
from ...mechanisms.files.identifier import table_identifier
from ...mechanisms.laws.domain import numbers
from ...mechanisms.report_text import integers_of_text, report_numbers
from ...mechanisms.shown.shown import Shown
from ...mechanisms.shown.told import Dots, Told
from ...mechanisms.statistics import Outputs, Supports
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.likelihood.bits import bit_sums
from ..counting.counts import count_rows
from ..counting.user_numbers import counts_of_rows, whole_counts
from ..data.counted_rows import counted_reports
from ..data.simulated_columns import OUTPUT

LEVEL = "level"
"""The column of reported levels."""


@dataclass(frozen=True, eq=False, repr=False)
class PersonalisedCounts(Shown):
    """How often each pair of a reported level and a report was sent.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
        That made them, of t levels.
    levels : (R,) ndarray of int
        Reported levels; of another protocol than randomised response, its reports.
    reports : (R, ...) ndarray
        For categories, of the kind that the levels' ``checked_reports`` return.  For numbers (R, t): which output of
        each level's table the report is, -1 for none; reports that are the same outputs everywhere are one.
    counts : (R,) ndarray of int
        Positive; the pairs are all different.

    Raises
    ------
    InputError
        Levels that there are not, levels, reports and counts of different numbers, or too many users.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import PersonalisedMechanism
    >>> from optldp.estimators import PersonalisedCounts
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> from optldp.mechanisms.composed.personalised import PersonalisedReports
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], e) for e in (0.5, 1.0)], 0.3)
    >>> monday = PersonalisedCounts.from_reports(made, PersonalisedReports(np.array([0, 1]), np.array([1, 1])))
    >>> both = monday + monday
    >>> both.levels, both.reports, both.counts, both.n_users
    (array([0, 1]), array([1, 1]), array([2, 2]), 4)
    """

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

    @classmethod
    def from_reports(cls, mechanism: PersonalisedMechanism, sent: PersonalisedReports) -> Self:
        """Count the pairs of reports, one pair for each user; O(N log N).

        Raises InputError for levels or reports that the mechanism cannot make, or lists of different lengths.
        """
        levels = mechanism.checked_level_reports(sent.levels)
        reports = _checked_reports(mechanism, sent.reports)
        if len(levels) != len(reports):
            raise InputError(f"levels and reports must be as many, got {len(levels)} and {len(reports)}")
        _require_of_some_level(mechanism, levels, reports)
        return cls(mechanism, *_counted(mechanism, levels, reports, np.ones(len(levels), dtype=np.int64)))

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
        parse = doubles if mechanism.tables else mechanism.categorical[0].from_text
        given, found = counted_reports(parse, rows, partial(table_identifier, mechanism), columns=(OUTPUT, LEVEL))
        levels = mechanism.checked_level_reports(integers_of_text(found.columns[1].tolist()))
        reports = _checked_reports(mechanism, given)
        _require_of_some_level(mechanism, levels, reports)
        return cls(mechanism, *_counted(mechanism, levels, reports, whole_counts("n", found.users, least=1)))

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "reports": len(self.counts), "mechanism": repr(self.mechanism)}

    def _told(self) -> Told:
        counted = self.level_counts
        names = [f"reported as level {number}" for number in range(len(counted))]
        return Told(self._line(), picture=Dots(names, counted, "users"))

    def _columns(self) -> dict[str, Any]:
        if self.mechanism.categorical:
            reports = self.mechanism.levels[0].to_text(self.reports)  # pyright: ignore[reportAttributeAccessIssue] -- of categories
        else:
            reports = [" ".join(map(str, row)) for row in self.reports.tolist()]
        return {LEVEL: self.levels, OUTPUT: reports, "n": self.counts}

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

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
        first, many = self.mechanism.categorical[0], self.mechanism.level_report.n_reports
        size = len(first.categories)
        if isinstance(statistic := first.statistic, Outputs):
            seen = np.bincount(self.levels * size + self.reports, self.counts, many * size)
            return seen.reshape(many, size)
        bits, rows = statistic.support(self.reports), np.arange(many)[:, None] == self.levels
        return np.array([bit_sums(bits[row], self.counts[row].astype(np.float64))[:size] for row in rows])

    def __add__(self, other: PersonalisedCounts) -> PersonalisedCounts:
        """Return the counts of the union of two sets of users without a user in common."""
        if not isinstance(other, PersonalisedCounts):
            return NotImplemented
        if not (self.mechanism is other.mechanism or _checksum(self) == _checksum(other)):
            raise InputError(
                f"counts can be added for the same mechanism only, got {self.mechanism!r} and {other.mechanism!r}"
            )
        joined = (np.concatenate([getattr(self, k), getattr(other, k)]) for k in ("levels", "reports", "counts"))
        return PersonalisedCounts(self.mechanism, *_counted(self.mechanism, *joined))

    def require_reports(self) -> None:
        """Raise InputError if there are none."""
        if not self.counts.size:
            raise InputError("there must be at least one report, got none: there is nothing to estimate from")


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
    _ = mechanism.categories  # raises where values are numbers
    laws = [_support_law(level) for level in mechanism.categorical]
    return np.array([own for own, _ in laws]), np.array([other for _, other in laws])


def _support_law(level: CategoricalMechanism | TabulatedMechanism) -> tuple[float, float]:
    match level.statistic:
        case Supports(own_support=own, other_support=other):
            return own, other
        case Outputs(randomised_response=(own, other)):
            return own, other
        case _:
            raise InputError(
                f"levels must be pure protocols or randomised response, got {level!r}: use personalised_mle or "
                "personalised_distribution"
            )


def doubles(texts: Sequence[str]) -> np.ndarray:
    """Return the numbers (N,) that are written as these texts, or raise InputError for other text.

    Example
    -------
    >>> doubles(["0.5", "-2"])
    array([ 0.5, -2. ])
    """
    try:
        return np.array([float(text) for text in texts])
    except ValueError:
        raise InputError("reports must be numbers, got text") from None


def _checked_reports(mechanism: PersonalisedMechanism, reports: np.ndarray) -> np.ndarray:
    if mechanism.tables:
        given = numbers("reports", reports)
        return np.stack([table.locate(given) for table in mechanism.tables], axis=1)
    first = mechanism.categorical[0]
    if isinstance(statistic := first.statistic, Outputs):  # what it never makes, another level's table may
        return report_numbers(reports, statistic.law.shape[1])
    return first.checked_reports(reports)


def _require_of_some_level(mechanism: PersonalisedMechanism, levels: np.ndarray, reports: np.ndarray) -> None:
    """Raise InputError for a report that no level gives, or not its own where levels are reported in the clear."""
    if mechanism.tables:
        made = reports >= 0
    elif all_outputs := [made for level in mechanism.levels if isinstance(made := level.statistic, Outputs)]:
        made = np.stack([outputs.possible[reports] for outputs in all_outputs], axis=1)
    else:  # pure protocols of all levels make the same reports
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


def _counted(
    mechanism: PersonalisedMechanism, levels: np.ndarray, reports: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the distinct pairs and their counts; a pair is a row of whole numbers."""
    if not levels.size:
        return levels, reports, counts
    columns = reports.reshape(len(reports), -1)
    least = -1 if columns.dtype != np.uint8 else 0
    sizes = [mechanism.level_report.n_reports, *(int(column.max()) - least + 1 for column in columns.T)]
    rows = np.concatenate([levels[:, None], columns.astype(np.int64) - least], axis=1)
    distinct, total = count_rows(rows, sizes, counts)
    found = (distinct[:, 1:].astype(np.int64) + least).astype(reports.dtype)
    return distinct[:, 0].astype(np.int64), found.reshape(-1, *reports.shape[1:]), total


def _checksum(counts: PersonalisedCounts) -> str:
    return checksum(bundle_to_document(counts.mechanism))
