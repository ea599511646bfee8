"""How often each number was reported: what a mean may use beside outputs, where these are intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.sampling.domain import numbers
from .user_numbers import total_users


@dataclass(frozen=True, eq=False)
class ReportedNumbers:
    """The distinct reports of one table and how often each was made; ``a + b`` is those of different users together.

    A likelihood that is the same all over an output has no use for them; an average of reports has, and winsorising
    cuts inside tails. They take 16 bytes a distinct report, where counts of outputs take as many as there are outputs.

    Parameters
    ----------
    values : (R,) ndarray of float
        Increasing.
    counts : (R,) ndarray of int64

    Example
    -------
    >>> some = ReportedNumbers.of([0.5, -1.25, 0.5]) + ReportedNumbers.of([2.0])
    >>> some.values.tolist(), some.counts.tolist()
    ([-1.25, 0.5, 2.0], [1, 2, 1])
    """

    values: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, reports: ArrayLike) -> ReportedNumbers:
        """Count (N,) reports; the order in which they came is lost."""
        return cls(*np.unique(numbers("reports", reports), return_counts=True))

    @property
    def total(self) -> int:
        """Number of reports."""
        return total_users([int(self.counts.sum())])

    def __add__(self, other: ReportedNumbers) -> ReportedNumbers:
        """Return the counts of both together."""
        values, place = np.unique(np.concatenate([self.values, other.values]), return_inverse=True)
        counts = np.zeros(values.size, dtype=np.int64)
        np.add.at(counts, place, np.concatenate([self.counts, other.counts]))
        return ReportedNumbers(values, counts)
