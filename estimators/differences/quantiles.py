"""Quantiles of groups: of each group by itself, or the first group's less the second's, with honest intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..affine_pairs.intervals import AffinePairs
from ..affine_pairs.split import LEAST_USERS
from ..counting.counts import ReportCounts
from ..distributions.estimation import estimate_distribution
from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, check_confidence, each_of
from ..methods import Target
from .numbers_of_groups import NumbersOfGroups
from .shares import counted
from .tally import GroupedTallies, Tally


@dataclass(frozen=True, eq=False, repr=False)
class GroupQuantiles(NumbersOfGroups):
    """The quantiles of G groups at S shares, a row for each group and share.

    Attributes
    ----------
    by : str
        The column of the groups, which is in the clear.
    groups : tuple of str
        G of them.
    shares : tuple of float
        S of them, in (0, 1).
    of : tuple of Estimate
        G S numbers, in units of the values, group by group.
    simultaneous : bool
        Whether intervals hold for all rows at once, by `each_of`, or each by itself.
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_quantiles, tally_groups
    >>> from optldp.mechanisms import grr
    >>> region, report = np.repeat(["east", "west"], 500), np.repeat([0.0, 1.0, 0.0, 1.0], [450, 50, 50, 450])
    >>> sent = tally_groups(grr([0.0, 1.0], 3.0), {"region": region, "report": report}, by="region")
    >>> found = estimate_group_quantiles(sent, shares=[0.5])
    >>> found.labels["group"], found.value.tolist()
    (['east', 'west'], [0.0, 1.0])
    """

    by: str
    groups: tuple[str, ...]
    shares: tuple[float, ...]
    of: tuple[Estimate, ...]
    simultaneous: bool
    method: str
    target: Target = "population"

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The group and the share of each row."""
        return {
            "group": [group for group in self.groups for _ in self.shares],
            "quantile": [share for _ in self.groups for share in self.shares],
        }


@dataclass(frozen=True, eq=False, repr=False)
class DifferencesOfQuantiles(Estimate):
    """The first group's quantiles less the second's, a row for each of S shares.

    An interval runs from the first's lower end less the second's upper end to the first's upper end less the second's
    lower end. Each of the two has half the error probability, so the interval holds even if some people are in both.

    Attributes
    ----------
    shares : tuple of float
    first, second : tuple of Estimate
        S numbers each.
    n : int
        Users of both.
    simultaneous : bool
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.differences import estimate_quantile_differences
    >>> from optldp.mechanisms import grr
    >>> table = grr([0.0, 1.0], 3.0)
    >>> seen = ReportCounts.from_reports(table, np.repeat([0.0, 1.0], [900, 100]))
    >>> found = estimate_quantile_differences(seen, seen, shares=[0.25, 0.5])
    >>> found.value.tolist(), found.labels
    ([0.0, 0.0], {'quantile': [0.25, 0.5]})
    """

    shares: tuple[float, ...]
    first: tuple[Estimate, ...]
    second: tuple[Estimate, ...]
    n: int
    simultaneous: bool
    method: str
    target: Target = "population"

    @property
    def value(self) -> np.ndarray:
        """The first less the second."""
        return np.array([one.value - other.value for one, other in zip(self.first, self.second, strict=True)])

    @property
    def std_error(self) -> np.ndarray:
        """Of each value, of groups that share nobody."""
        pairs = zip(self.first, self.second, strict=True)
        return np.array([np.hypot(one.std_error, other.std_error) for one, other in pairs])

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The share of each row."""
        return {"quantile": list(self.shares)}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the intervals; InputError for a confidence outside (0, 1)."""
        check_confidence(confidence)
        each = each_of(confidence, len(self.shares)) if self.simultaneous else confidence
        half = (1 + each) / 2
        ends = [(one.interval(half), other.interval(half)) for one, other in zip(self.first, self.second, strict=True)]
        low, high = ([a.low - b.high for a, b in ends], [a.high - b.low for a, b in ends])
        return Interval(np.array(low), np.array(high), confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and both groups' quantiles."""
        both = {"first": self.first, "second": self.second}
        return super().to_dict(confidence) | {name: [one.value for one in held] for name, held in both.items()}


def estimate_group_quantiles(
    tallies: GroupedTallies, *, shares: Sequence[float], simultaneous: bool = False
) -> GroupQuantiles:
    """Estimate quantiles of each group separately.

    Parameters
    ----------
    tallies : GroupedTallies
        With a column of groups, of users of equal weights who reported once, at least 20 in each.
    shares : sequence of float
        Of the values below each quantile, in (0, 1).
    simultaneous : bool
        Make intervals that hold for all rows at once: longer, see `each_of`.

    Returns
    -------
    found : GroupQuantiles

    Raises
    ------
    InputError
        Tallies without groups, an invalid share, a group of few users, or another kind of mechanism.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_quantiles, tally_groups
    >>> from optldp.mechanisms import duchi
    >>> table, rng = duchi([0.0, 1.0], 2.0), np.random.default_rng(1)
    >>> values = np.repeat([0.0, 1.0, 0.0, 1.0], [1800, 200, 200, 1800])
    >>> sent = {"shop": np.repeat(["a", "b"], 2000), "report": table.sample(values, rng)}
    >>> estimate_group_quantiles(tally_groups(table, sent, by="shop"), shares=[0.25, 0.5]).value.tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    if tallies.by is None:
        raise InputError("groups need a column that names them, got tallies without: tally_groups(..., by=...)")
    found = [_quantiles(tally, shares, name) for tally, name in zip(tallies.tallies, tallies.names, strict=True)]
    of = tuple(one for each in found for one in each)
    return GroupQuantiles(tallies.by, tallies.names, tuple(shares), of, simultaneous, of[0].method)


def estimate_quantile_differences(
    first: ReportCounts | Tally, second: ReportCounts | Tally, *, shares: Sequence[float], simultaneous: bool = False
) -> DifferencesOfQuantiles:
    """Estimate how much larger quantiles are in one group than in another.

    Parameters
    ----------
    first, second : ReportCounts or Tally
        Of users who reported once, at least 20 each.
    shares : sequence of float
        Of the values below each quantile, in (0, 1).
    simultaneous : bool
        Make intervals that hold for all shares at once.

    Returns
    -------
    differences : DifferencesOfQuantiles

    Raises
    ------
    InputError
        An invalid share, few reports, or users with weights.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts
    >>> from optldp.estimators.differences import estimate_quantile_differences
    >>> from optldp.mechanisms import grr
    >>> table = grr([0.0, 1.0], 3.0)
    >>> now, then = (ReportCounts.from_reports(table, np.repeat([0.0, 1.0], seen)) for seen in ([90, 910], [910, 90]))
    >>> found = estimate_quantile_differences(now, then, shares=[0.5])
    >>> found.value, bool(found.low[0] > 0)
    (array([1.]), True)
    """
    one, other = _quantiles(first, shares, "the first"), _quantiles(second, shares, "the second")
    return DifferencesOfQuantiles(
        tuple(shares), one, other, int(one[0].n) + int(other[0].n), simultaneous, one[0].method
    )


def _quantiles(counts: ReportCounts | Tally, shares: Sequence[float], name: str) -> tuple[Estimate, ...]:
    """Return a group's quantiles; InputError where no honest interval is known."""
    held = counted(counts)
    fit = estimate_distribution(held)
    if not isinstance(fit.explained, AffinePairs) or held.n_users < LEAST_USERS:
        raise InputError(
            f"quantiles of groups are of users who reported once each, {LEAST_USERS} at least in each group, got "
            f"{held.n_users} of {name}: take more, or means"
        )
    return tuple(fit.quantile(share) for share in shares)
