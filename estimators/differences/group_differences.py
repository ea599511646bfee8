"""How much each group of one time or place is above the same group of another, that has no users in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, check_confidence, each_of
from ..methods import Target
from .difference import Difference, estimate_difference
from .groups import RowsOfGroups
from .matched import MatchedTallies
from .quantiles import DifferencesOfQuantiles, estimate_quantile_differences
from .shares import DifferenceOfShares, estimate_share_difference
from .small_samples import student_interval
from .tally import GroupedTallies, Tally
from .weighted import WeightedMean

LEAST_USERS = 2
"""Of a group on each side: one says nothing of how users vary."""


@dataclass(frozen=True, eq=False, repr=False)
class GroupDifferences(RowsOfGroups):
    """The first less the second in each of G groups: of a mean or share each, or of K frequencies or quantiles each.

    Attributes
    ----------
    by : str
        The column of the groups, which stands in clear.
    groups : tuple of str
        G of them, the same in both.
    of : tuple of Difference, DifferenceOfShares or DifferencesOfQuantiles
        That of each group.
    simultaneous : bool
        Whether intervals hold for all rows at once, by `each_of`, or each by itself.
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_differences, tally_groups
    >>> from optldp.mechanisms import grr
    >>> table, shop = grr([0.0, 1.0], 3.0), np.repeat(["a", "b"], 500)
    >>> sent = [
    ...     tally_groups(table, {"shop": shop, "report": np.repeat([0.0, 1.0, 0.0, 1.0], seen)}, by="shop")
    ...     for seen in ([200, 300, 250, 250], [300, 200, 250, 250])
    ... ]
    >>> found = estimate_group_differences(*sent)
    >>> found.groups, found.value.round(3) + 0.0, found.n
    (('a', 'b'), array([0.221, 0.   ]), array([1000, 1000]))
    """

    of: tuple[Difference | DifferenceOfShares | DifferencesOfQuantiles, ...]

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The group, and the category or quantile, of each row."""
        each = np.size(self.of[0].value)
        named = {"group": [group for group in self.groups for _ in range(each)]}
        return named | {name: list(held) * len(self.of) for name, held in self.of[0].labels.items()}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the intervals; InputError for a confidence outside (0, 1).

        Those of means are Welch's, as groups may be small; others are as without groups.

        Source: Welch (1947), "The generalization of Student's problem when several different population variances are
        involved".
        """
        check_confidence(confidence)
        each = each_of(confidence, self.value.size) if self.simultaneous else confidence
        found = [_welch(one, each) or one.interval(each) for one in self.of]
        low, high = (np.concatenate([np.atleast_1d(getattr(one, end)) for one in found]) for end in ("low", "high"))
        return Interval(low, high, confidence)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and by row `first` and `second` as values."""
        told = [one.to_dict(confidence) for one in self.of]
        sides = {
            side: np.concatenate([np.atleast_1d(one[side]) for one in told]).tolist() for side in ("first", "second")
        }
        return super().to_dict(confidence) | sides


def estimate_group_differences(
    first: GroupedTallies, second: GroupedTallies, *, above: float | None = None,
    shares: Sequence[float] | None = None, simultaneous: bool = False, target: Target = "population",
) -> GroupDifferences:  # fmt: skip
    """Estimate how much a mean, frequencies, a share or quantiles are larger in each group of the first.

    No user is in both, nor in two groups, so that all estimates are independent.

    Parameters
    ----------
    first, second : GroupedTallies
        With a column of groups, the same groups in both.
    above : float, optional
        Of the share of values above it; else of means or frequencies.
    shares : sequence of float, optional
        Of the quantiles, in (0, 1).
    simultaneous : bool
        Make intervals that hold for all rows at once: longer, see `each_of`.
    target : {"population", "users"}
        Of means and frequencies.

    Returns
    -------
    found : GroupDifferences

    Raises
    ------
    InputError
        Tallies without groups, a group that is not in both or has too few users in one, or what `estimate_difference`,
        `estimate_share_difference` or `estimate_quantile_differences` refuses.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_differences, tally_groups
    >>> from optldp.mechanisms import grr
    >>> sent = {"shop": np.repeat(["a", "b"], 500), "report": np.tile([0.0, 1.0], 500)}
    >>> found = tally_groups(grr([0.0, 1.0], 3.0), sent, by="shop")
    >>> estimate_group_differences(found, found, shares=[0.25]).labels
    {'group': ['a', 'b'], 'quantile': [0.25, 0.25]}
    """
    if first.by is None or second.by is None:
        raise InputError("groups need a column that names them, got tallies without: tally_groups(..., by=...)")
    if alone := sorted({*first.names} ^ {*second.names}):
        side = "first" if alone[0] in first.names else "second"
        raise InputError(f"groups must be in both, got {alone[0]!r} of {first.by!r} in the {side} alone: leave it out")
    pairs = list(zip(first.names, first.tallies, second.tallies, strict=True))
    for name, one, other in pairs:
        if (few := min(one.n_users, other.n_users)) < LEAST_USERS:
            raise InputError(f"a group needs at least {LEAST_USERS} reports on each side, got {few} of {name!r}")

    def of_pair(one: Tally, other: Tally) -> Difference | DifferenceOfShares | DifferencesOfQuantiles:
        if shares is not None:
            return estimate_quantile_differences(one, other, shares=shares)
        if above is not None:
            return estimate_share_difference(one, other, above=above)
        return estimate_difference(MatchedTallies(one, other, None, 0, False, first.skipped), target=target)

    found = tuple(of_pair(one, other) for _, one, other in pairs)
    return GroupDifferences(first.by, first.names, found, simultaneous, found[0].method, found[0].target)


def _welch(one: Estimate, confidence: float) -> Interval | None:
    """Return Welch's interval of a difference of means; None for a difference of anything else."""
    if not isinstance(one, Difference) or not isinstance(one.first, WeightedMean):
        return None
    sides = (one.first, one.second)
    assert isinstance(one.second, WeightedMean)  # as the first
    squares = np.array([float(side.std_error) ** 2 for side in sides])
    fewer = np.array([max(float(side.effective_n) - 1, np.finfo(float).tiny) for side in sides])
    if not squares.any():
        return None
    freedom = squares.sum() ** 2 / (squares**2 / fewer).sum()
    return student_interval(one.value, one.std_error, freedom + 1, confidence)
