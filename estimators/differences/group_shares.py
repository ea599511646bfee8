"""The share above a value of each group of users, each with its honest interval and the shortest possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..affine_pairs.intervals import AffinePairs
from ..assumptions.base import NOTHING
from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE
from ..methods import Target
from .numbers_of_groups import NumbersOfGroups
from .shares import counted, share_above
from .tally import GroupedTallies


@dataclass(frozen=True, eq=False, repr=False)
class GroupShares(NumbersOfGroups):
    """The shares above a value in G groups, a row each.

    Attributes
    ----------
    by : str
        The column of the groups, which is in the clear.
    groups : tuple of str
        G of them.
    above : float
        In units of the values.
    of : tuple of NumberEstimate
        Each group's share, with an interval from its own pair of linear estimates.
    pairs : tuple of AffinePairs
        Each group's reports, reduced to what its share needs.
    simultaneous : bool
        Whether intervals hold for all groups at once, by `each_of`, or each by itself.
    method, target : str

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_shares, tally_groups
    >>> from optldp.mechanisms import grr
    >>> region, report = np.repeat(["east", "west"], 500), np.repeat([0.0, 1.0, 0.0, 1.0], [300, 200, 100, 400])
    >>> sent = tally_groups(grr([0.0, 1.0], 3.0), {"region": region, "report": report}, by="region")
    >>> found = estimate_group_shares(sent, above=0.0)
    >>> found.groups, bool((found.low < [0.39, 0.83]).all()), bool((found.high > [0.39, 0.83]).all())
    (('east', 'west'), True, True)
    """

    by: str
    groups: tuple[str, ...]
    above: float
    of: tuple[NumberEstimate, ...]
    pairs: tuple[AffinePairs, ...]
    simultaneous: bool
    method: str
    target: Target = "population"

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The group of each row."""
        return {"group": list(self.groups)}

    def shortest_possible(self, confidence: float = CONFIDENCE) -> np.ndarray:
        """Return (G,) what no honest interval is shorter than, on average where groups are as estimated."""
        each = self.each_confidence(confidence)
        return np.array([one.shortest("share_above", (self.above,), each) for one in self.pairs], dtype=np.float64)

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        """Return what every estimate has, and what stands beside an interval."""
        return super().to_dict(confidence) | {
            "shortest_possible": self.shortest_possible(confidence).tolist(), "assumed": NOTHING,
            "assumption_p_value": None, "interval": self.pairs[0].method,
        }  # fmt: skip


def estimate_group_shares(tallies: GroupedTallies, *, above: float, simultaneous: bool = False) -> GroupShares:
    """Estimate the share of values above a limit in each group separately.

    Parameters
    ----------
    tallies : GroupedTallies
        With a column of groups, of users of equal weights who reported once, at least 20 in each.
    above : float
        In units of the values: not below the table's first knot, and below its last one.
    simultaneous : bool
        Make intervals that hold for all groups at once: longer, see `each_of`.

    Returns
    -------
    found : GroupShares
        A row for each group: its share, its interval and the shortest possible.

    Raises
    ------
    InputError
        Tallies without groups, a limit outside the table's range, a group of few users, or another kind of mechanism.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.differences import estimate_group_shares, tally_groups
    >>> from optldp.mechanisms import duchi
    >>> table, rng = duchi([0.0, 1.0], 2.0), np.random.default_rng(1)
    >>> values = np.repeat([0.0, 1.0, 0.0, 1.0], [1400, 600, 600, 1400])
    >>> sent = {"shop": np.repeat(["a", "b"], 2000), "report": table.sample(values, rng)}
    >>> found = estimate_group_shares(tally_groups(table, sent, by="shop"), above=0.0)
    >>> found.value.round(1), bool((found.high - found.low > found.shortest_possible()).all())
    (array([0.3, 0.7]), True)
    """
    if tallies.by is None:
        raise InputError("groups need a column that names them, got tallies without: tally_groups(..., by=...)")
    found = [
        share_above(counted(tally), above, name) for tally, name in zip(tallies.tallies, tallies.names, strict=True)
    ]
    shares, pairs = tuple(one for one, _ in found), tuple(one for _, one in found)
    return GroupShares(tallies.by, tallies.names, above, shares, pairs, simultaneous, shares[0].method)
