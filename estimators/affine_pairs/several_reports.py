"""Users who reported more than once: which outcomes each had, and how much their sums scatter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..counting.group import ReportGroup

AT_ONCE = 2**22
"""Numbers of users that are looked at at once: 32 megabytes."""


@dataclass(frozen=True, eq=False)
class SeveralReports:
    """Sets of outcomes that the same users had.

    Attributes
    ----------
    outcomes : (C, J) ndarray of int
        Numbers of the outcomes; -1 where there are fewer than J.
    counts : (C,) ndarray of int
        Users with each set.

    Example
    -------
    >>> groups = (ReportGroup((0, 1), np.array([[0, 1], [1, 1]]), np.array([3, 2])),)
    >>> found = SeveralReports.of(groups, [2, 2], pooled=False)
    >>> found.outcomes.tolist(), found.often(4).tolist()
    ([[0, 3], [1, 3]], [3, 2, 0, 5])
    """

    outcomes: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, groups: Sequence[ReportGroup], sizes: Sequence[int], *, pooled: bool) -> SeveralReports:
        """Return those of groups of users, of services with so many outputs each.

        Of pooled rounds there is one size, and a report of any round is one of the same outcomes.
        """
        starts, widest = np.r_[0, np.cumsum(sizes)], max(len(group.services) for group in groups)
        rows = []
        for group in groups:
            found = np.full((group.counts.size, widest), -1)
            found[:, : len(group.services)] = group.outputs + (0 if pooled else starts[list(group.services)])
            rows.append(found)
        counts = np.concatenate([group.counts for group in groups])
        return cls(np.concatenate(rows), counts)

    def kept(self, outcomes: np.ndarray) -> SeveralReports:
        """Return the same with those outcomes alone that are marked (m,), and numbered anew; users had no others."""
        number = np.append(np.cumsum(outcomes) - 1, -1)
        return replace(self, outcomes=number[self.outcomes])

    def often(self, size: int) -> np.ndarray:
        """Return how often there was each of so many outcomes."""
        found = np.zeros(size + 1, dtype=self.counts.dtype)
        for column in self.outcomes.T:
            np.add.at(found, column, self.counts)
        return found[:size]

    def powers(self, weights: np.ndarray, mean: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the averages over users of the second and the third power of what the sums of what their outcomes add,
        of (F, m), are off their mean, (F,) each."""
        n, rows = self.counts.sum(), max(1, AT_ONCE // max(1, self.counts.size))
        both = []
        for start in range(0, len(weights), rows):
            some = np.pad(weights[start : start + rows], ((0, 0), (0, 1)))
            off = np.sum([some[:, column] for column in self.outcomes.T], axis=0) - mean[start : start + rows, None]
            both.append(np.stack([off**2 @ self.counts, off**3 @ self.counts]) / n)
        second, third = np.hstack(both)
        return second, third


def together(groups: Sequence[ReportGroup], laws: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return how likely each combination of outputs is (K, m), of services with these laws, and how often each was.

    Combinations of each group's services follow each other, with its share of the users. Reports are independent given
    the value, which the laws are of.

    Example
    -------
    >>> groups = (ReportGroup((0, 1), np.array([[0, 1], [1, 1]]), np.array([3, 2])),)
    >>> coin = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> law, often = together(groups, [coin, coin])
    >>> law[0].tolist(), often.tolist()
    ([0.5625, 0.1875, 0.1875, 0.0625], [0, 3, 0, 2])
    """
    users, rows, seen = sum(group.n_users for group in groups), [], []
    for group in groups:
        law, place = np.ones((len(laws[0]), 1)), np.zeros(group.counts.size, dtype=np.int64)
        for service, column in zip(group.services, group.outputs.T, strict=True):
            own = laws[service]
            law, place = (law[:, :, None] * own[:, None, :]).reshape(len(own), -1), place * own.shape[1] + column
        rows.append(law * (group.n_users / users))
        found = np.zeros(law.shape[1], dtype=np.int64)
        found[place] = group.counts
        seen.append(found)
    return np.hstack(rows), np.concatenate(seen)
