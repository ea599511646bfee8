"""The privacy of several shuffled rounds together, from the privacy of each at any delta."""

from __future__ import annotations

import math
from collections.abc import Callable

ROOM = 1e-12
"""For the few operations that make a sum or a root."""


def composed(epsilon_at: Callable[[float], float], rounds: int, delta: float) -> float:
    """Return an epsilon of all rounds together, at delta for all of them.

    The smaller one of two: rounds add up at a delta of delta / T each; or, by advanced composition, at delta / (2 T)
    each, T e (e^e - 1) / (e^e + 1) + e sqrt(2 T log(2 / delta)).

    Parameters
    ----------
    epsilon_at : callable
        The epsilon of one round at a delta.
    rounds : int
        T.
    delta : float

    Source: Kairouz, Oh and Viswanath (2015), "The composition theorem for differential privacy", theorem 3.4.

    Example
    -------
    >>> round(composed(lambda delta: 0.04, 50, 1e-6), 4), round(composed(lambda delta: 0.04, 2, 1e-6), 4)
    (1.5636, 0.08)
    """
    added = rounds * epsilon_at(delta / rounds)
    if rounds == 1:
        return added
    each = epsilon_at(delta / (2 * rounds))
    advanced = rounds * each * math.tanh(each / 2) + each * math.sqrt(2 * rounds * math.log(2 / delta))
    return min(added, advanced) * (1 + ROOM)
