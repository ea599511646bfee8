"""The least budget that meets a target, by a search for a root that remembers every budget it tried."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TypeVar

from scipy.optimize import brentq

from ...mechanisms.budget import MAX_EPSILON, MIN_EPSILON
from ...mechanisms.errors import InputError

Plan = TypeVar("Plan")

LOWEST, HIGHEST = math.log(MIN_EPSILON), math.log(MAX_EPSILON)

STRIDE = math.log(4.0)
"""Between the logarithms of the first budgets tried; the error goes with about the inverse of a small budget."""

LEAST_ERROR = sys.float_info.min
"""Stands for a bound of zero, which has no logarithm."""

HIT = 1e-12
"""Stands for the logarithm of an exact hit, so that the search goes on to where the target is missed."""


class OutOfReachError(Exception):
    """Not even the largest budget makes so little error; `error` is what it makes."""

    def __init__(self, error: float) -> None:
        super().__init__(error)
        self.error = error


def crossing(error: Callable[[float], float], target: float, start: float, precision: float) -> tuple[float, float]:
    """Return two budgets tried: the least that meets the target, after the largest below it that misses it.

    The latter is 0 where all meet it; OutOfReachError if the largest of all misses it.
    """
    tried: dict[float, float] = {}

    def excess(log_epsilon: float) -> float:
        epsilon = MAX_EPSILON if log_epsilon >= HIGHEST else max(math.exp(log_epsilon), MIN_EPSILON)
        if epsilon not in tried:
            made = error(epsilon)
            # In logarithms the curve is nearly straight, which spares the search many trials.
            distance = math.log(max(made, LEAST_ERROR)) - math.log(target)
            tried[epsilon] = max(distance, HIT) if made > target else min(distance, -HIT)
            if epsilon == MAX_EPSILON and made > target:
                raise OutOfReachError(made)
        return tried[epsilon]

    low = high = math.log(start)
    while excess(high) > 0:
        low, high = high, min(high + STRIDE, HIGHEST)
    while low == high > LOWEST:
        low = max(high - STRIDE, LOWEST)
        if excess(low) < 0:
            high = low
    if low < high:
        brentq(excess, low, high, xtol=precision)
    meeting = min(epsilon for epsilon, found in tried.items() if found < 0)
    return max((epsilon for epsilon, found in tried.items() if found > 0 and epsilon < meeting), default=0.0), meeting


def cheapest(
    plan_at: Callable[[float], Plan],
    error_of: Callable[[Plan], float],
    target: float,
    precision: float,
    progress: Callable[[float, float], None] | None,
) -> Plan:
    """Return the plan of the least budget that meets the target; each that is tried is told with its error."""
    plans: dict[float, Plan] = {}

    def error(epsilon: float) -> float:
        plans[epsilon] = plan_at(epsilon)
        made = error_of(plans[epsilon])
        if progress is not None:
            progress(epsilon, made)
        return made

    _, enough = crossing(error, target, 1.0, precision)
    return plans[enough]


def checked_target(name: str, target: object) -> float:
    """Return an error that is wanted as a float; InputError unless it is a number, positive and finite."""
    if isinstance(target, bool) or not isinstance(target, int | float) or not 0 < target < math.inf:
        raise InputError(f"{name} must be positive and finite, got {target!r}")
    return float(target)
