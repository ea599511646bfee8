"""How much the share above a value is larger in one group or period than in another that has no users in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, singledispatch
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ..affine_pairs.difference import DifferenceAbove
from ..affine_pairs.intervals import AffinePairs
from ..affine_pairs.split import LEAST_USERS
from ..assumptions.base import NOTHING
from ..counting.counts import ReportCounts, Service
from ..distributions.estimation import estimate_distribution
from ..estimate import Estimate, NumberEstimate
from ..intervals import CONFIDENCE, Interval, check_confidence
from ..methods import Target
from .tally import Tally

REFUSED = "shares and quantiles of groups are of tables of numbers and users of equal weights: take means"


@dataclass(frozen=True, eq=False, repr=False)
class DifferenceOfShares(Estimate):
    """The share above a value in the first group less that in the second.

    Its interval comes from a pair of linear estimates of each group, covers for all distributions, and contains the
    value.

    Attributes
    ----------
    first, second : NumberEstimate
        Each group's share, with its own interval.
    between : DifferenceAbove
    n : int
        Users of both.
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.differences import estimate_share_difference
    >>> from optldp.mechanisms import grr
    >>> table = grr([0.0, 1.0], 3.0)
    >>> now, then = (ReportCounts.from_reports(table, np.repeat([0.0, 1.0], seen)) for seen in ([400, 600], [600, 400]))
    >>> found = estimate_share_difference(now, then, above=0.0)
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.22, 0.17, 0.27)
    """

    first: NumberEstimate
    second: NumberEstimate
    between: DifferenceAbove
    n: int
    method: str
    target: Target = "population"

    @cached_property
    def value(self) -> float:
        """The first less the second."""
        return self.first.value - self.second.value

    @cached_property
    def std_error(self) -> float:
        """Of the value."""
        return float(np.hypot(self.first.std_error, self.second.std_error))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval; InputError for a confidence outside (0, 1)."""
        check_confidence(confidence)
        low, high = self.between.ends(confidence)
        return Interval(min(low, self.value), max(high, self.value), confidence)

    def shortest_possible(self, confidence: float = CONFIDENCE) -> float | None:
        """Return what no honest interval is shorter than, on average where both groups are as estimated, if known."""
        return self.between.shortest(confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, `first` and `second` as values, and what stands beside an interval."""
        return super().to_dict(confidence) | {
            "first": self.first.value, "second": self.second.value, "matched": None,
            "shortest_possible": self.shortest_possible(confidence), "assumed": NOTHING, "assumption_p_value": None,
            "interval": self.between.first.method,
        }  # fmt: skip


def estimate_share_difference(
    first: ReportCounts | Tally, second: ReportCounts | Tally, *, above: float
) -> DifferenceOfShares:
    """Estimate how much the share of values above a limit is larger in one group than in another.

    Parameters
    ----------
    first, second : ReportCounts or Tally
        Of users who are in one of them alone and reported once, at least 20 each.
    above : float
        In units of the values: not below the first knot of either table, and below its last one.

    Returns
    -------
    difference : DifferenceOfShares
        The first share above the limit less the second, with its interval and the shortest possible.

    Raises
    ------
    InputError
        A limit outside the tables' range, few reports, or users who reported several times.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.differences import estimate_share_difference
    >>> from optldp.mechanisms import grr
    >>> table = grr([0.0, 1.0], 3.0)
    >>> now, then = (ReportCounts.from_reports(table, np.repeat([0.0, 1.0], seen)) for seen in ([400, 600], [600, 400]))
    >>> found = estimate_share_difference(now, then, above=0.0)
    >>> found.first.value > found.second.value, found.high - found.low > found.shortest_possible() > 0.08
    (True, True)
    """
    one, of_one = share_above(counted(first), above, "the first")
    other, of_other = share_above(counted(second), above, "the second")
    return DifferenceOfShares(one, other, DifferenceAbove(of_one, of_other, above), one.n + other.n, one.method)


def share_above(counts: ReportCounts, above: float, name: str) -> tuple[NumberEstimate, AffinePairs]:
    """Return the share above a limit in one group, and what its reports say of all numbers; InputError as above."""
    fit = estimate_distribution(counts)
    if not isinstance(fit.explained, AffinePairs) or counts.n_users < LEAST_USERS:
        raise InputError(
            f"the share above a value is of users who reported once each, {LEAST_USERS} at least in each group, got "
            f"{counts.n_users} of {name}: take more, or means"
        )
    knots = fit.explained.points
    if not knots[0] <= above < knots[-1]:
        raise InputError(
            f"the share above a value needs one from {knots[0]:g} to below {knots[-1]:g}, got {above!r}: nobody or "
            "everybody is above others"
        )
    return fit.probability_above(above), fit.explained


def counted(counts: ReportCounts | Tally) -> ReportCounts:
    """Return a group's counts of reports; InputError where its users have weights or report other things."""
    if isinstance(counts, ReportCounts):
        return counts
    if not counts.alike:
        raise InputError(REFUSED)
    return _of_reports(counts.mechanism, counts)


@singledispatch
def _of_reports(mechanism: object, counts: Tally) -> ReportCounts:
    """Return the counts of reports of a mechanism for numbers."""
    raise InputError(REFUSED)


@_of_reports.register
def _(mechanism: TabulatedMechanism, counts: Tally) -> ReportCounts:
    return ReportCounts.from_outputs([Service("reports", mechanism)], counts.reports[:, None], counts.users)
