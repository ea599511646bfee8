"""Pure protocols whose report is a whole number: what hashing and projective geometry have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..report_text import integers_of_text, report_numbers
from .mechanism import PureProtocol

MOST_LISTED = 2**20
"""Reports that are still listed."""

SUPPORTED_AT_ONCE = 2**24
"""Reports times categories whose bits are not yet packed."""


class NumberedReports(PureProtocol):
    """Reports are the numbers from 0 to `n_reports` - 1, (N,) int64."""

    @property
    @abstractmethod
    def n_reports(self) -> int:
        """How many reports there are."""

    @abstractmethod
    def supported(self, reports: np.ndarray) -> np.ndarray:
        """Return whether each report supports each category, (N, K) bool; O(N K)."""

    @abstractmethod
    def supported_at(self, code: int, reports: np.ndarray) -> np.ndarray:
        """Return whether each report supports one category, (N,) bool."""

    def support(self, reports: np.ndarray) -> np.ndarray:
        size = len(self.categories)
        bits = np.empty((len(reports), -(-size // 8)), dtype=np.uint8)
        step = max(1, SUPPORTED_AT_ONCE // size)
        for start in range(0, len(reports), step):
            bits[start : start + step] = np.packbits(self.supported(reports[start : start + step]), axis=1)
        return bits

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the reports (N,) as int64, numbers from 0 to `n_reports` - 1; InputError for others."""
        return report_numbers(reports, self.n_reports)

    def to_text(self, reports: np.ndarray) -> list[str]:
        return list(map(str, reports.tolist()))

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.checked_reports(integers_of_text(texts))

    def all_reports(self) -> np.ndarray:
        if self.n_reports > MOST_LISTED:
            raise InputError(f"at most {MOST_LISTED} reports can be listed, got {self.n_reports}")
        return np.arange(self.n_reports)
