"""Fieller's interval of a ratio, or of whatever number has an error that depends on it."""

from __future__ import annotations

import math
from collections.abc import Callable


def fieller(ratio: float, spread: Callable[[float], float], score: float) -> tuple[float, float]:
    """Return all t with (ratio - t)^2 <= score^2 spread(t), for a spread that is a quadratic in t: Fieller's interval.

    Where it has no end, or is the outside of an interval, ends are infinite.

    Source: Fieller (1954).

    Example
    -------
    >>> low, high = fieller(0.5, lambda t: 0.01 * (1 + t * t), 2.0)
    >>> round(low, 3), round(high, 3)
    (0.292, 0.75)
    """
    at_zero, at_one, at_minus = spread(0.0), spread(1.0), spread(-1.0)
    square, slope = (at_one + at_minus) / 2 - at_zero, (at_one - at_minus) / 2
    a = 1 - score**2 * square
    b = -2 * ratio - score**2 * slope
    c = ratio**2 - score**2 * at_zero
    root = b * b - 4 * a * c
    if a <= 0 or root < 0:
        return -math.inf, math.inf
    return (-b - math.sqrt(root)) / (2 * a), (-b + math.sqrt(root)) / (2 * a)
