"""Estimates whose intervals are what distributions that explain the reports say, whatever the estimate is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..estimate import Estimate, NumberEstimate
from ..intervals import CONFIDENCE, Interval, check_confidence
from ..means.mean import MeanEstimate
from .bounds import Bounds

Ends = Callable[[float], tuple[float, float]]
"""From a confidence to how small and how large a number can be: a `Question`, or else without further facts."""

REFUTED = 0.01
"""Level at which reports refute an assumption: the interval without it is then said as well."""


@dataclass(frozen=True, eq=False)
class Question:
    """What is asked of all distributions that explain the reports, at any confidence.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([0.0, 2.0], 1.0)
    >>> of_one = estimate_distribution(ReportCounts.from_reports(table, table.high[:1]), method="em").explained
    >>> Question(of_one, "share", (1.0, 2.0))(0.95)  # one report says nothing for sure
    (0.0, 1.0)
    """

    explained: Bounds
    of: Literal["ends", "share", "share_above", "quantile", "variance"]
    about: tuple[Any, ...] = ()

    def __call__(self, confidence: float) -> tuple[float, float]:
        """Return how small and how large the number can be."""
        return getattr(self.explained, self.of)(*self.about, confidence)

    def facts(self, confidence: float) -> dict[str, Any]:
        """Return what stands beside an interval: by what it is, what it assumes, and how short an honest one can be.

        Where reports refute what is assumed, the interval without it, too.

        The shortest possible length is at the estimated distribution, on average; None where none is known.
        """
        found: dict[str, Any] = {"shortest_possible": self.explained.shortest(self.of, self.about, confidence)}
        found |= facts_beside(self.explained)
        p_value = found["assumption_p_value"]
        if p_value is not None and p_value < REFUTED and (free := self.explained.unassumed()) is not None:
            found["without_assumption"] = list(Question(free, self.of, self.about)(confidence))
        return found


def facts_beside(explained: Bounds) -> dict[str, Any]:
    """Return what is the same for all intervals of a distribution: what they assume, its test, and by what they are.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import ReportCounts, estimate_distribution
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([0.0, 2.0], 1.0)
    >>> facts_beside(estimate_distribution(ReportCounts.from_reports(table, table.high[:1]), method="em").explained)
    {'assumed': 'nothing', 'assumption_p_value': None, 'interval': 'affine-pair'}
    """
    p_value = explained.assumption_p_value()
    return {"assumed": explained.assumed, "assumption_p_value": p_value, "interval": explained.method}


@dataclass(frozen=True, eq=False, repr=False)
class _Bounded(Estimate):
    """An estimate of one number whose interval is what its ends say."""

    ends: Ends = lambda _: (-float("inf"), float("inf"))

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the least and the largest, and the value if it is outside; InputError for a bad confidence."""
        check_confidence(confidence)
        low, high = self.ends(confidence)
        return Interval(min(low, self.value), max(high, self.value), confidence)

    @property
    def shortest_possible(self) -> float | None:
        """What no honest interval is shorter than, on average at the estimated distribution; None if unknown."""
        return self._facts(CONFIDENCE).get("shortest_possible")

    def to_dict(self, confidence: float = CONFIDENCE) -> dict[str, Any]:
        return super().to_dict(confidence) | self._facts(confidence)

    def _facts(self, confidence: float) -> dict[str, Any]:
        return self.ends.facts(confidence) if isinstance(self.ends, Question) else {}


@dataclass(frozen=True, eq=False, repr=False)
class BoundedNumber(_Bounded, NumberEstimate):
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


@dataclass(frozen=True, eq=False, repr=False)
class BoundedMean(_Bounded, MeanEstimate):
    """The same for the mean of a distribution, in the units of the inputs.

    Example
    -------
    >>> BoundedMean(0.5, 0.01, 100, "smooth", "population", ends=lambda confidence: (0.4, 0.7)).interval().low
    0.4
    """
