"""Counts of services or rounds as one table of outcomes: what a linear estimate adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ...mechanisms.sampling.domain import rounding_weights
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid
from .several_reports import SeveralReports, together

FAINT = 1e-3
"""Standard errors by which a direction of weights may move the reports of any two distributions and still be left out:
an estimate that does without it is a little longer and as honest."""

MOST_TOGETHER = 2**14
"""Combinations of outputs up to which each is an outcome: tables of 128 outputs of two services."""

TOGETHER = 1 / 64
"""Share of the domain between two points up to which reports of several services by one user are looked at as if
values between them were mixtures: what that is off by falls with the square of it."""


class Moments(NamedTuple):
    """What users' numbers are, for several estimates: sums of what each outcome adds.

    Parameters
    ----------
    mean, variance, skew : (F,) ndarray of float
        Of the numbers: their average, and those of the second and third power of what they are off by.
    off : (F, m) ndarray of float
        By how much an outcome makes a number more than it is on average.
    """

    mean: np.ndarray
    variance: np.ndarray
    skew: np.ndarray
    off: np.ndarray


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which outcomes users had, and how likely each is at each knot.

    Of users of several services each combination of outputs is an outcome, where there are few enough. Else, and of
    several rounds, whose values may change, users have several outcomes each: what estimates add up is linear in them,
    so that nothing is asked of how they hang together, and how much the sums scatter is seen user by user.

    Attributes
    ----------
    points : (K,) ndarray of float
        The knots; of combinations of outputs more points between them, since each service rounds a value for itself.
    law : (K, m) ndarray of float
        How many of each outcome a user is expected to have: rows sum to one, where users report once, and each output
        counts with its service's share of the users.
    counts : (m,) ndarray of int
    between : bool
        Whether values may lie between knots, which are then reported as one or the other.
    finer : bool
        Whether points are more than the knots.
    several : SeveralReports, optional
        Which outcomes the same users had, where some reported more than once.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> found = Outcomes.of(ReportCounts.from_reports(table, table.high[[0, 1, 1]]))
    >>> found.counts, found.n
    (array([1, 2]), 3)
    """

    points: np.ndarray
    law: np.ndarray
    counts: np.ndarray
    between: bool
    finer: bool = False
    several: SeveralReports | None = None

    @classmethod
    def of(cls, counts: ReportCounts, *, at_knots: bool = False) -> Outcomes:
        """Return those of services, or of the pooled reports of rounds, which must have one table.

        Parameters
        ----------
        counts : ReportCounts
        at_knots : bool
            That points shall be the knots, as what is assumed of the weights there asks for.
        """
        tables: list[TabulatedMechanism] = list(counts.mechanisms[:1] if counts.rounds else counts.mechanisms)
        points = np.unique(np.concatenate([table.knots for table in tables]))
        between = all(table.promise.holds_between_knots for table in tables)
        reports = [counts.reports_of(j) for j in range(len(counts.services))]
        seen, several = [np.sum(reports, axis=0)] if counts.rounds else reports, None
        if any(len(group.services) > 1 for group in counts.groups):
            sizes = [one.size for one in seen]
            many = sum(np.prod([sizes[j] for j in g.services], dtype=float) for g in counts.groups if not counts.rounds)
            if not (counts.rounds or at_knots) and many <= MOST_TOGETHER:
                more = _finer(points) if between else points
                rows = [InputGrid.knots(more).rows(table) for table in tables]
                return cls(more, *together(counts.groups, rows), between, finer=more.size > points.size)._kept()
            several = SeveralReports.of(counts.groups, sizes, pooled=counts.rounds)
        grid = InputGrid.knots(points)
        laws = [grid.rows(table) * (own.sum() / counts.n_users) for table, own in zip(tables, seen, strict=True)]
        return cls(points, np.hstack(laws), np.concatenate(seen), between, several=several)._kept()

    def _kept(self) -> Outcomes:
        """The same without outcomes that nobody can have."""
        can = (self.law != 0).sum(axis=0) > 0
        several = None if self.several is None else self.several.kept(can)
        return replace(self, law=self.law[:, can], counts=self.counts[can], several=several)

    @property
    def users(self) -> np.ndarray:
        """Number of users with each outcome, or with each set of outcomes where they have several."""
        return self.counts if self.several is None else self.several.counts

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.users.sum())

    @property
    def shares(self) -> np.ndarray:
        """(m,) how many of each outcome users had on average."""
        return self.counts / self.n

    def seen_by(self, users: np.ndarray) -> Outcomes:
        """Return the same of some of the users, in the order of `users`."""
        if self.several is None:
            return replace(self, counts=users)
        some = replace(self.several, counts=users)
        return replace(self, counts=some.often(self.counts.size), several=some)

    def moments(self, weights: np.ndarray) -> Moments:
        """Return what users' numbers are that outcomes add so much to, (F, m)."""
        shares = self.shares
        mean = weights @ shares
        off = weights - mean[:, None]
        if self.several is not None:
            return Moments(mean, *self.several.powers(weights, mean), off)
        return Moments(mean, off**2 @ shares, off**3 @ shares, off)

    def widest(self, weights: np.ndarray) -> np.ndarray:
        """Return by how much the numbers of a user may differ (F,), if outcomes add so much to them, (F, m)."""
        return np.ptp(weights, axis=1) * (1 if self.several is None else self.several.outcomes.shape[1])

    def seen_at(self, places: np.ndarray) -> tuple[Outcomes, np.ndarray]:
        """Return the same at more points, between those that there are, and the rounding to these, (K, P)."""
        points = np.union1d(self.points, places)
        index, right = rounding_weights(self.points, points)
        rounding, column = np.zeros((self.points.size, points.size)), np.arange(points.size)
        rounding[index, column] = 1.0 - right
        rounding[index + 1, column] += right
        return replace(self, points=points, law=rounding.T @ self.law), rounding

    def in_errors(self, weights: np.ndarray, users: int) -> tuple[np.ndarray, np.ndarray]:
        r"""Return M (r, K) and T (r, m) at weights g of the knots, q their law of outcomes.

        \|M (p - g)\|^2 = users \sum (q_p - q)^2 / q up to what is faint, and the estimate h . M p adds T^T h for each
        outcome, up to a constant. Reports of one user count as those of several: what estimates are chosen by.
        """
        roots = np.sqrt(users / (weights @ self.law))
        table = self.law.T * roots[:, None]
        apart = table - table.mean(axis=1)[:, None]  # what is the same for all knots tells none
        values, vectors = np.linalg.eigh(apart.T @ apart)
        scales = np.sqrt(np.maximum(values, 0.0))
        told = scales * np.ptp(vectors, axis=0) > FAINT
        matrix = scales[told, None] * vectors[:, told].T
        left = (apart @ vectors[:, told] / scales[told]).T
        return matrix, left * roots


def _finer(points: np.ndarray) -> np.ndarray:
    """Add points until all are `TOGETHER` of the domain apart: of a value between two of them each service rounds
    its own, so that users of several services report neither as at the one or the other nor as a mixture of both."""
    parts = np.maximum(1, np.ceil(np.diff(points) / (TOGETHER * (points[-1] - points[0])))).astype(int)
    ends = zip(points[:-1], points[1:], parts, strict=True)
    return np.unique(np.concatenate([points, *(np.linspace(low, high, many + 1)[1:-1] for low, high, many in ends)]))
