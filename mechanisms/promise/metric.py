"""Privacy by distance: on a line, round a circle, or by any distances that a matrix gives."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from .members import matrix, number
from .pairs import OfPairs, square


@dataclass(frozen=True)
class Metric(OfPairs):
    """Epsilon per unit of distance: |log(Pr(y | x) / Pr(y | x'))| <= epsilon d(x, x') for all reports y and knots.

    For a count of a user's contacts this is edge privacy: one contact more or less changes the count by one.  It holds
    between knots, and its tables take no other values: the law of a value rounded at random between two knots would
    change faster than the promise allows.

    Parameters
    ----------
    epsilon : float
        Budget per unit of distance.
    distance : (n, n) array_like, optional
        Of each two knots, in their order: of points, of a graph; positive beside the diagonal, inf for none. Distances
        that break the triangle inequality are replaced by shortest paths, which promise more. Default: |x - x'|.
    period : float, optional
        After which values are the same again, such as 24 of hours: the distance is the shorter way round.

    Raises
    ------
    InputError
        A budget, distances or a period that are not usable, or both of these.

    Source: Chatzikokolakis, Andres, Bordenabe and Palamidessi (2013), "Broadening the scope of differential privacy
    using metrics".

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms import Metric
    >>> str(Metric(0.5)), Metric(0.5, period=24).limits(np.array([0.0, 6.0, 23.0]))[0].tolist()
    ('epsilon 0.5 per unit', [0.0, 3.0, 0.5])
    """

    distance: tuple[tuple[float, ...], ...] | Any | None = None  # whatever is a matrix when it is made
    period: float | None = None

    kind: ClassVar[str] = "metric"
    members: ClassVar[Mapping[str, Callable[[object], Any]]] = {"distance": matrix, "period": number}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.distance is not None and self.period is not None:
            raise InputError("a distance must be a matrix or round a circle, got both: leave the period out")
        if self.distance is not None:
            object.__setattr__(self, "distance", square(self.distance, "distances"))
        if self.period is not None:
            object.__setattr__(self, "period", _checked_period(self.period))

    def __str__(self) -> str:
        of = "" if self.period is None else f", round a circle of {self.period:g}"
        return f"epsilon {self.epsilon:g} per unit{of if self.distance is None else ' of distance'}"

    @property
    def caution(self) -> str:
        nothing = "; of some pairs nothing is promised" * self.leaves_out
        words = f"not epsilon-LDP: values that are d units apart have d times as much{nothing}"
        return f"epsilon {self.epsilon:g} per unit, {words}"

    @property
    def size(self) -> int | None:
        return None if self.distance is None else len(self.distance)

    def misfit(self, knots: np.ndarray) -> str:
        low, high = (Fraction(float(knot)) for knot in knots[[0, -1]])
        if self.period is not None and high - low >= Fraction(self.period):
            return f"values round a circle must span less than {self.period:g}, got {knots[0]:g} to {knots[-1]:g}"
        return super().misfit(knots)

    def said(self, knots: np.ndarray) -> np.ndarray:
        if self.distance is not None:
            return self.epsilon * np.array(self.distance)
        way = np.abs(np.subtract.outer(knots, knots))
        return self.epsilon * (way if self.period is None else np.minimum(way, np.abs(self.period - way)) * (way > 0))

    def exactly(self, said: np.ndarray, knots: np.ndarray, i: int, k: int) -> Fraction:
        if self.distance is not None:
            return Fraction(self.epsilon) * Fraction(self.distance[i][k])
        way = abs(Fraction(float(knots[i])) - Fraction(float(knots[k])))
        return Fraction(self.epsilon) * (way if self.period is None else min(way, Fraction(self.period) - way))

    def pairs(self, said: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Neighbours, but for a matrix: their distances add up to that of any two, and so do log-ratios at most."""
        if self.distance is not None:
            return super().pairs(said)
        right = np.arange(1, len(said))
        left = right - 1
        if self.period is not None and len(said) > 2:
            left, right = np.r_[left, len(said) - 1], np.r_[right, 0]
        return np.r_[left, right], np.r_[right, left]

    def limits(self, knots: np.ndarray) -> np.ndarray:
        return self.said(knots) if self.distance is None else super().limits(knots)


def _checked_period(period: object) -> float:
    try:
        value = math.nan if isinstance(period, str | bytes | bool) else float(period)  # pyright: ignore[reportArgumentType]
    except (TypeError, ValueError, OverflowError):
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"period must be a positive number, got {period!r:.60}")
    return value
