"""Numbers whose intervals are not normal: those known by draws of what they may be, and those that have none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE, Interval, check_confidence

BIASED = "ems"
"""The method whose bias nobody knows, and is larger than its scatter: its results have no intervals."""


@dataclass(frozen=True, eq=False, repr=False)
class DrawnEstimate(NumberEstimate):
    """An estimated number, and draws of what it may be: its interval holds the middle of them.

    Parameters
    ----------
    draws : (S,) ndarray of float

    Example
    -------
    >>> found = DrawnEstimate(0.5, 0.29, 100, "smooth", draws=np.linspace(0.0, 1.0, 101))
    >>> round(found.interval(0.9).low, 3), round(found.interval(0.9).high, 3)
    (0.05, 0.95)
    """

    draws: np.ndarray = field(default_factory=lambda: np.empty(0))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return what holds this share of the draws, and the value; InputError for a confidence outside (0, 1)."""
        found = middle_of(self.draws, self.value, confidence)
        return Interval(float(found.low), float(found.high), confidence)


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


def middle_of(draws: np.ndarray, value: Any, confidence: float) -> Interval:
    """Return what holds this share of (S, ...) draws, as many beyond either end, and the values if they are outside."""
    check_confidence(confidence)
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2], axis=0)
    return Interval(np.minimum(low, value), np.maximum(high, value), confidence)


def no_interval(value: Any, confidence: float) -> Interval:
    """Return an interval of NaN for a number or for each of an array."""
    check_confidence(confidence)
    none = np.full(np.shape(value), np.nan)[()]
    return Interval(none, none, confidence)
