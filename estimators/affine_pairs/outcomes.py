"""Counts of services as one table of outcomes: what a linear estimate adds up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.sampling.domain import rounding_weights
from ...mechanisms.table.table import TabulatedMechanism
from ..counting.counts import ReportCounts
from ..input_grid import InputGrid

FAINT = 1e-3
"""Standard errors by which a direction of weights may move the reports of any two distributions and still be left out:
an estimate that does without it is a little longer and as honest."""


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Which outcomes users had, and how likely each is at each knot.

    Attributes
    ----------
    points : (K,) ndarray of float
        The knots.
    law : (K, m) ndarray of float
        Rows sum to one: of several services each output counts with its service's share of the users.
    counts : (m,) ndarray of int
    between : bool
        Whether values may lie between knots, which are then reported as one or the other.

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

    @classmethod
    def of(cls, counts: ReportCounts) -> Outcomes | None:
        """Return those of services whose users reported once each; None for rounds and for users of several services.

        Of values between knots the latter's reports depend on each other, as those of a knot do not.
        """
        if counts.rounds or any(len(group.services) > 1 for group in counts.groups):
            return None
        tables: list[TabulatedMechanism] = [counts.mechanisms[group.services[0]] for group in counts.groups]
        points = np.unique(np.concatenate([table.knots for table in tables]))
        grid, laws, seen = InputGrid.knots(points), [], []
        for group, table in zip(counts.groups, tables, strict=True):
            laws.append(grid.rows(table) * (group.n_users / counts.n_users))
            seen.append(counts.reports_of(group.services[0]))
        law, often = np.hstack(laws), np.concatenate(seen)
        can = law.any(axis=0)
        between = all(table.promise.holds_between_knots for table in tables)
        return cls(points, law[:, can], often[can], between)

    @property
    def n(self) -> int:
        """Number of users."""
        return int(self.counts.sum())

    @property
    def shares(self) -> np.ndarray:
        """(m,) share of users with each outcome."""
        return self.counts / self.n

    def seen_by(self, counts: np.ndarray) -> Outcomes:
        """Return the same of some of the users."""
        return Outcomes(self.points, self.law, counts, self.between)

    def seen_at(self, places: np.ndarray) -> tuple[Outcomes, np.ndarray]:
        """Return the same at more points, between those that there are, and the rounding to these, (K, P)."""
        points = np.union1d(self.points, places)
        index, right = rounding_weights(self.points, points)
        rounding, column = np.zeros((self.points.size, points.size)), np.arange(points.size)
        rounding[index, column] = 1.0 - right
        rounding[index + 1, column] += right
        return Outcomes(points, rounding.T @ self.law, self.counts, self.between), rounding

    def in_errors(self, weights: np.ndarray, users: int) -> tuple[np.ndarray, np.ndarray]:
        r"""Return M (r, K) and T (r, m) at weights g of the knots, q their law of outcomes.

        \|M (p - g)\|^2 = users \sum (q_p - q)^2 / q up to what is faint, and the estimate h . M p adds T^T h for each
        outcome, up to a constant.
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
