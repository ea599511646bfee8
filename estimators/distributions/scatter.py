"""Numbers that scatter about what is not known: they have no intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE, Interval, check_confidence

BIASED = "ems"
"""The method whose bias nobody knows, and is larger than its scatter: its results have no intervals."""


@dataclass(frozen=True, eq=False, repr=False)
class ScatterEstimate(NumberEstimate):
    """A number with a bias that is not known: its standard error is of its scatter, and its interval NaN.

    Example
    -------
    >>> ScatterEstimate(0.5, 0.01, 2500, "ems")
    ScatterEstimate(value=0.5, std_error=0.01, low=nan, high=nan, confidence=0.95, n=2500, method='ems')
    """

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return NaN for both ends; InputError for a confidence outside (0, 1)."""
        return no_interval(self.value, confidence)


def no_interval(value: Any, confidence: float) -> Interval:
    """Return an interval of NaN for a number or for each of an array."""
    check_confidence(confidence)
    none = np.full(np.shape(value), np.nan)[()]
    return Interval(none, none, confidence)
