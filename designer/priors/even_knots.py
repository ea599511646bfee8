"""Values that all lie at equal steps, such as whole numbers: knots on the steps round none of them."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .prior import Prior

DECIMAL_STEPS = (1.0, 2.0, 2.5, 5.0)
"""Steps looked for, times powers of ten, and what they divide: people write and round numbers so."""

SAME = 1e-9
"""Relative slack on a whole number of steps in a range, and on a value's place on its step: far more than what doubles
leave of numbers such as 0.1, far less than what any value between two steps could hide in."""


def even_counts(width: float, most: int) -> list[int]:
    """Return into how many decimal steps a range can be divided, at most so many, none of them a divisor of another.

    Example
    -------
    >>> even_counts(100.0, 400), even_counts(72.0, 400), even_counts(0.3, 50), even_counts(np.pi, 400)
    ([400], [360, 288], [30, 12], [])
    """
    leading = float(f"{width:.16e}".partition("e")[0])
    found: list[int] = []
    for places in range(len(str(most)), -1, -1):
        for step in DECIMAL_STEPS:
            exact = leading * 10**places / step
            count = round(exact)
            whole = 1 <= count <= most and abs(exact - count) <= SAME * count
            if whole and not any(finer % count == 0 for finer in found):
                found.append(count)
    return found


def fewest_even_knots(prior_at: Callable[[int], Prior], domain: tuple[float, float], most: int) -> int | None:
    """Return on how few equally spaced knots all values lie, None if on none of decimal steps, or on more than `most`.

    Parameters
    ----------
    prior_at : callable
        Gives the values' prior on a number of knots.
    domain : (float, float)
    most : int
        At least 2.

    Example
    -------
    >>> ages = Prior.from_data([20, 23, 29, 80], domain=(20, 80), source="public")
    >>> fewest_even_knots(ages.on, ages.domain, 401), fewest_even_knots(ages.on, ages.domain, 20)
    (21, None)
    """
    low, high = domain
    for count in even_counts(high - low, most - 1):
        prior = prior_at(count + 1)
        if prior.rounding_variance <= SAME * ((high - low) / count) ** 2:
            return count // math.gcd(count, *np.flatnonzero(prior.weights > SAME).tolist()) + 1
    return None
