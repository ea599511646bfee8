"""Numbers of groups that each have an interval of their own, and intervals that hold for all rows at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, check_confidence, each_of


class NumbersOfGroups(Estimate):
    """Rows of numbers, each estimated by itself; subclasses name them by `labels`.

    Attributes
    ----------
    of : sequence of Estimate
        A number for each row.
    simultaneous : bool
        Whether intervals hold for all rows at once, by `each_of`, or each by itself.
    """

    of: Any
    simultaneous: bool

    @property
    def value(self) -> np.ndarray:
        """Of each row."""
        return np.array([one.value for one in self.of])

    @property
    def std_error(self) -> np.ndarray:
        """Of each row's value."""
        return np.array([one.std_error for one in self.of])

    @property
    def n(self) -> np.ndarray:
        """Users of each row's group."""
        return np.array([one.n for one in self.of])

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the intervals; InputError for a confidence outside (0, 1)."""
        found = [one.interval(self.each_confidence(confidence)) for one in self.of]
        return Interval(np.array([one.low for one in found]), np.array([one.high for one in found]), confidence)

    def each_confidence(self, confidence: float) -> float:
        """Return the confidence of each row by itself; InputError for one outside (0, 1)."""
        check_confidence(confidence)
        return each_of(confidence, len(self.of)) if self.simultaneous else confidence
