"""Remembered draws: of how many values, and how the way is made."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...mechanisms.combinators.attribute_sampling import attribute_budget
from ...mechanisms.over_time import Memoised

if TYPE_CHECKING:
    from .repeated import Repeated


def memoised_values(asked: Repeated, different: int) -> int:
    """Return of how many values of a user, of so many different ones, reports are drawn at most.

    Example
    -------
    >>> from .repeated import Repeated
    >>> memoised_values(Repeated(52, 4), 17), memoised_values(Repeated(52), 17)
    (5, 17)
    """
    return min(asked.most_changes + 1, different)


def design_memoised(made: Callable[[float], Any], epsilon: float, periods: int, values: int) -> Memoised:
    """Return the way that divides a budget among the draws of so many values.

    Example
    -------
    >>> from ...mechanisms.categorical import categorical_grr
    >>> design_memoised(lambda share: categorical_grr(["no", "yes"], share), 2.0, 12, 2).mechanism.epsilon
    1.0
    """
    return Memoised(made(attribute_budget(epsilon, values)), periods, values, epsilon)
