"""One estimate for each group of users, and intervals that hold for all groups at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, each_of, normal_interval
from ..methods import Target
from .report_numbers import MeanNumbers, report_numbers
from .small_samples import student_interval
from .tally import GroupedTallies
from .weighted import WeightedFrequencies, WeightedMean, estimate_weighted
from .without_privacy import RATIO


@dataclass(frozen=True, eq=False, repr=False)
class RowsOfGroups(Estimate):
    """An estimate of each group, of a number or of several, as rows."""

    by: str
    groups: tuple[str, ...]
    of: tuple[Any, ...]
    simultaneous: bool
    method: str
    target: Target = "population"

    @property
    def value(self) -> np.ndarray:
        """Of each row."""
        return self.rows("value")

    @property
    def std_error(self) -> np.ndarray:
        """Of each row; NaN for the mean of a single user."""
        return self.rows("std_error")

    @property
    def n(self) -> np.ndarray:
        """Users of each row's group; of a difference, those of both."""
        return self.rows("n")

    def rows(self, name: str) -> np.ndarray:
        """Return an attribute of the groups' estimates, by row."""
        each = np.size(self.of[0].value)
        return np.concatenate([np.broadcast_to(getattr(one, name), each) for one in self.of])


@dataclass(frozen=True, eq=False, repr=False)
class GroupEstimates(RowsOfGroups):
    """Estimates of G groups, of a mean each or of K frequencies each: G or G K rows, groups one after another.

    Attributes
    ----------
    by : str
        The column of the groups, which is in the clear.
    groups : tuple of str
        G of them.
    of : tuple of WeightedMean or of WeightedFrequencies
        The estimate for each group.
    simultaneous : bool
        Whether intervals hold for all rows at once, by `each_of`, or each by itself.
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_groups
    >>> from optldp.estimators.differences.tally import tally_groups
    >>> from optldp.mechanisms.families.grr import grr
    >>> region, report = np.repeat(["east", "west"], 500), np.repeat([0.0, 1.0, 0.0, 1.0], [300, 200, 100, 400])
    >>> found = estimate_groups(tally_groups(grr([0.0, 1.0], 3.0), {"region": region, "report": report}, by="region"))
    >>> found.groups, found.value.round(3), found.n
    (('east', 'west'), array([0.39 , 0.831]), array([500, 500]))
    """

    of: tuple[WeightedMean | WeightedFrequencies, ...]

    @property
    def effective_n(self) -> np.ndarray:
        """How many users of equal weights would tell as much as each row's group."""
        return self.rows("effective_n")

    @property
    def few(self) -> np.ndarray:
        """Whether each row's group is too small for its interval to be relied on."""
        return self.rows("few")

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The group, and of frequencies the category, of each row."""
        first = self.of[0]
        each = len(first.categories) if isinstance(first, WeightedFrequencies) else 1
        named: dict[str, Sequence[Any]] = {"group": [group for group in self.groups for _ in range(each)]}
        if isinstance(first, WeightedFrequencies):
            named["category"] = list(first.categories.labels) * len(self.groups)
        return named

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return Student's intervals of means, normal ones of frequencies; InputError for no confidence."""
        values = self.value
        each = each_of(confidence, values.size) if self.simultaneous else confidence
        if not isinstance(self.of[0], WeightedFrequencies):
            return student_interval(values, self.std_error, self.effective_n, confidence, each)
        found = normal_interval(values, self.std_error, each, 0.0, 1.0)
        return Interval(found.low, found.high, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has and by row `effective_n`, `ratio_to_no_privacy` and `too_few`."""
        each = self.value.size // len(self.of)
        ratios = [one.to_dict()[RATIO] for one in self.of for _ in range(each)]
        more = {"effective_n": self.effective_n.tolist(), RATIO: ratios, "too_few": self.few.tolist()}
        return super().to_dict(confidence) | more


def estimate_groups(
    tallies: GroupedTallies, *, simultaneous: bool = False, target: Target = "population"
) -> GroupEstimates:
    """Estimate the mean, or the frequencies of categories, of each group separately.

    Groups have no users in common, so their estimates are independent.

    Parameters
    ----------
    tallies : GroupedTallies
        With a column of groups.
    simultaneous : bool
        Make intervals that hold for all groups, and all categories of them, at once: longer, see `each_of`.
    target : {"population", "users"}
        Whose numbers they are: those of each group's population, or of its very users.

    Returns
    -------
    found : GroupEstimates
        `groups` are the names; `value` and `std_error` are the estimates for each, in this order.

    Raises
    ------
    InputError
        Tallies without groups, another target, or a mechanism whose reports have no unbiased numbers.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_groups, tally_groups
    >>> from optldp.mechanisms import duchi
    >>> table, rng = duchi([0.0, 1.0], 2.0), np.random.default_rng(1)
    >>> sent = {"shop": np.repeat(["a", "b"], 2000), "report": table.sample(np.repeat([0.3, 0.6], 2000), rng)}
    >>> found = estimate_groups(tally_groups(table, sent, by="shop"))
    >>> found.groups, found.value.round(2), found.std_error.round(2)
    (('a', 'b'), array([0.3 , 0.61]), array([0.01, 0.01]))
    """
    if tallies.by is None:
        raise InputError("groups need a column that names them, got tallies without: tally_groups(..., by=...)")
    numbers = report_numbers(tallies.tallies[0].mechanism)
    scatter = numbers.scatter(tallies.tallies) if isinstance(numbers, MeanNumbers) else None
    shared: dict[str, Any] = {"numbers": numbers, "scatter": scatter, "target": target}
    found = tuple(estimate_weighted(tally, **shared) for tally in tallies.tallies)
    return GroupEstimates(tallies.by, tallies.names, found, simultaneous, found[0].method, target)
