"""Estimates whose intervals are what distributions that explain the reports say, whatever the estimate is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE, Interval, check_confidence
from ..means.mean import MeanEstimate
from .explained import Explained

Ends = Callable[[float], tuple[float, float]]
"""From a confidence to how small and how large a number can be."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of all distributions that explain the reports, at any confidence.

    Example
    -------
    >>> import numpy as np
    >>> nothing_said = Explained(np.array([0.0, 2.0]), np.empty((0, 2)), np.empty(0), between=False)
    >>> Question(nothing_said, "share", (1.0, 2.0))(0.95)
    (0.0, 1.0)
    """

    explained: Explained
    of: Literal["ends", "share", "share_above", "quantile", "variance"]
    about: tuple[Any, ...] = ()

    def __call__(self, confidence: float) -> tuple[float, float]:
        """Return how small and how large the number can be."""
        return getattr(self.explained, self.of)(*self.about, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class BoundedNumber(NumberEstimate):
    """A number, and how small and how large it is by any distribution that explains the reports.

    The interval holds the value, too, should that not explain them.

    Parameters
    ----------
    ends : callable
        From a confidence to the least and the largest.

    Example
    -------
    >>> BoundedNumber(0.5, 0.01, 100, "smooth", ends=lambda confidence: (0.4, 0.7)).interval().high
    0.7
    """

    ends: Ends = lambda _: (-float("inf"), float("inf"))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the least and the largest, and the value if it is outside; InputError for a bad confidence."""
        return _held(self.value, self.ends, confidence)


@dataclass(frozen=True, eq=False, repr=False)
class BoundedMean(MeanEstimate):
    """The same for the mean of a distribution, in the units of the inputs.

    Example
    -------
    >>> BoundedMean(0.5, 0.01, 100, "smooth", "population", ends=lambda confidence: (0.4, 0.7)).interval().low
    0.4
    """

    ends: Ends = lambda _: (-float("inf"), float("inf"))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the least and the largest, and the value if it is outside; InputError for a bad confidence."""
        return _held(self.value, self.ends, confidence)


def _held(value: float, ends: Ends, confidence: float) -> Interval:
    check_confidence(confidence)
    low, high = ends(confidence)
    return Interval(min(low, value), max(high, value), confidence)
