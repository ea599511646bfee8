"""Between which two numbers a falling bound crosses delta."""

from __future__ import annotations

import math
from collections.abc import Callable

PRECISION = 1e-7
"""Of the two numbers, relative: seven digits of an epsilon."""

STRIDE = 4.0
"""Down from the highest number in search of one that is too low."""

LEAST = 1e-300
"""Stands for a bound of zero, which has no logarithm."""


def bracket(bound: Callable[[float], float], highest: float, delta: float) -> tuple[float, float]:
    """Return a number at which a bound is above delta, or 0, and one a little higher at which it is not.

    Parameters
    ----------
    bound : callable
        Falling, but for its rounding; at most delta at the highest number, which is not asked for, above delta at 0.
    highest, delta : float
        Positive.

    Source: Dowell and Jarratt (1971), "A modified regula falsi method", as the Illinois rule is called there, on the
    logarithm of the bound and that of the number.

    Example
    -------
    >>> low, high = bracket(lambda x: math.exp(-x * x), 9.0, 1e-6)
    >>> round(low, 4), high / low - 1 < 1e-7
    (3.7169, True)
    """

    def above(x: float) -> float:
        return math.log(max(bound(x), LEAST) / delta)

    low = high = highest
    at_low = at_high = -1.0
    while at_low <= 0:
        high, at_high, low = low, at_low, low / STRIDE
        if low <= LEAST:
            return 0.0, high
        at_low = above(low)
    if at_high == -1.0:
        at_high = above(high) if high < highest else -at_low
    turn = 0
    while high > low * (1 + PRECISION):
        share = at_low / (at_low - at_high)
        turn += 1
        share = 0.5 if turn % 3 == 0 or not 0 < share < 1 else share
        middle = low * (high / low) ** share
        middle = min(max(middle, low * (1 + PRECISION / 2)), high / (1 + PRECISION / 2))
        found = above(middle)
        if found > 0:
            low, at_low, at_high = middle, found, at_high / 2 if turn % 3 else at_high
        else:
            high, at_high, at_low = middle, found, at_low / 2 if turn % 3 else at_low
    return low, high
