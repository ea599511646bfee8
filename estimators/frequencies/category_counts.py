"""Counts of distinct reports of one categorical mechanism: all that an estimator may use of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.display.summary import Profile, Told
from ..each_report import WholeReports
from .support_counts import support_counts, supports_of


@dataclass(frozen=True, eq=False, repr=False)
class CategoryCounts(WholeReports[CategoricalMechanism]):
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

    def _told(self) -> Told:
        places = np.arange(len(self.counts))
        return Told(self._line(), picture=Profile(places, self.counts, "report, in order", "users"))

    def support_counts(self) -> np.ndarray:
        """Return how many users (K,) made a report that supports each category; for pure protocols."""
        return support_counts(self.supports, self.counts, len(self.mechanism.categories))

    @cached_property
    def supports(self) -> np.ndarray:
        """The categories that each report supports as bits (R, ceil(K / 8)) uint8; for pure protocols."""
        return supports_of(self.mechanism).support(self.reports)
