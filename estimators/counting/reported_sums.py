"""Sums of the reports themselves: what an average of raw reports of several services needs beside outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError


@dataclass(frozen=True, eq=False)
class ReportedSums:
    """Sums of numbers, and of their products, over the users behind each of R rows of outputs.

    A weighted average of J numbers of a user, with weights that are the same for all users of a row, has the sum
    ``weights @ first`` over these users and the sum of squares ``weights @ second @ weights``: so its mean and its
    variance are known without a list of users.  They take J + J^2 numbers a row, however many users it has.

    Parameters
    ----------
    first : (R, J) ndarray of float
        Sums of each service's reports, as places: the domain's middle is 0 and its ends are -1 and 1.
    second : (R, J, J) ndarray of float
        Sums of the products of any two of them.

    Raises
    ------
    InputError
        Other shapes, or numbers that are not finite.

    Example
    -------
    >>> users = np.array([[1.0, 2.0], [3.0, 4.0]])  # of one row
    >>> sums = ReportedSums(users.sum(axis=0)[None], (users.T @ users)[None])
    >>> weights = np.array([0.5, 0.5])  # their averages are 1.5 and 3.5
    >>> sums.first @ weights, weights @ sums.second @ weights
    (array([5.]), array([14.5]))
    """

    first: np.ndarray
    second: np.ndarray

    def __post_init__(self) -> None:
        if self.first.ndim != 2 or self.second.shape != (*self.first.shape, self.first.shape[1]):
            raise InputError(
                "sums of reports must be (R, J), and those of products (R, J, J), got shapes "
                f"{self.first.shape} and {self.second.shape}"
            )
        if not (np.isfinite(self.first).all() and np.isfinite(self.second).all()):
            raise InputError("sums of reports must be finite, got some that are not")

    @classmethod
    def together(cls, many: Sequence[ReportedSums]) -> ReportedSums:
        """Return the rows of several sums, of the same services, one after the other."""
        return cls(np.concatenate([one.first for one in many]), np.concatenate([one.second for one in many]))

    def merged(self, order: np.ndarray, starts: np.ndarray) -> ReportedSums:
        """Return the sums over runs of rows in this order, each run from its start (R',) to the next one's."""
        return ReportedSums(np.add.reduceat(self.first[order], starts), np.add.reduceat(self.second[order], starts))

    def chosen(self, rows: np.ndarray, services: Sequence[int]) -> ReportedSums:
        """Return the sums of these rows and services, by position."""
        columns = list(services)
        return ReportedSums(self.first[rows][:, columns], self.second[rows][:, columns][:, :, columns])

    def placed(self, columns: Sequence[int | None], n_services: int) -> ReportedSums:
        """Return the sums with each service at its new column or, for None, nowhere; 0 for services not reported to."""
        kept = [j for j, column in enumerate(columns) if column is not None]
        places = [column for column in columns if column is not None]
        first = np.zeros((len(self.first), n_services))
        first[:, places] = self.first[:, kept]
        second = np.zeros((len(self.first), n_services, n_services))
        second[np.ix_(range(len(first)), places, places)] = self.second[:, kept][:, :, kept]
        return ReportedSums(first, second)
