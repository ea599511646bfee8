"""The largest budget of each report that a central epsilon affords, where reports are mixed before they arrive."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...mechanisms.budget import MAX_EPSILON, MIN_EPSILON, check_epsilon
from ...mechanisms.channel import Channel
from ...mechanisms.errors import InputError
from ...mechanisms.shuffling import Shuffled, generic_epsilon
from .search import OutOfReachError, checked_target, crossing

PRECISION, ROUGHLY = 1e-4, 2e-2
"""Relative, of the budget, and of the one to start from."""

LEAST = 1e-300
"""Stands for an epsilon of zero, which has no inverse."""


@dataclass(frozen=True)
class LocalBudget:
    """Result of `largest_budget`.

    Attributes
    ----------
    epsilon : float
        The local budget.
    mixed : Shuffled
        The mechanism that was made with it, with its central epsilon.

    Example
    -------
    >>> from optldp.designer.planning import LocalBudget
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> from optldp.mechanisms.shuffling import Shuffled
    >>> LocalBudget(1.0, Shuffled(categorical_grr(["yes", "no"], 1.0), 100, 1e-3)).mixed.local_epsilon
    1.0
    """

    epsilon: float
    mixed: Shuffled


def largest_budget(
    make: Callable[[float], Channel],
    central_epsilon: float,
    n: int,
    delta: float,
    *,
    progress: Callable[[float, float], None] | None = None,
) -> LocalBudget:
    """Find the largest local budget whose mechanism's mixed reports keep a central epsilon.

    The mechanism of the budget returned keeps it, certified. A budget larger by a part in ten thousand does not, unless
    the returned one is the largest of all.

    Parameters
    ----------
    make : callable
        Makes a mechanism with a local budget.
    central_epsilon : float
        That mixed reports must keep at delta.
    n, delta
        As of `Shuffled`.
    progress : callable, optional
        Called with each budget that a mechanism was made of, and its central epsilon.

    Returns
    -------
    LocalBudget

    Raises
    ------
    InputError
        A number that is not usable, or an epsilon below that of the smallest budget.

    Example
    -------
    >>> from optldp.designer.planning import largest_budget
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> found = largest_budget(lambda epsilon: categorical_grr(["a", "b", "c"], epsilon), 0.5, 1000, 1e-6)
    >>> round(found.epsilon, 2), round(found.mixed.central_epsilon, 2)
    (2.37, 0.5)
    """
    target = checked_target("central_epsilon", central_epsilon)
    made: dict[float, Shuffled] = {}

    def central(epsilon: float) -> float:
        made[epsilon] = Shuffled(make(epsilon), n, delta)
        if progress is not None:
            progress(epsilon, made[epsilon].central_epsilon)
        return made[epsilon].central_epsilon

    start = _most(lambda epsilon: generic_epsilon(epsilon, n, delta), target, target, ROUGHLY)
    found = _most(central, target, start, PRECISION)
    return LocalBudget(found, made[found])


def _most(central: Callable[[float], float], target: float, start: float, precision: float) -> float:
    """The largest budget tried whose central epsilon, which grows with it, is below the target."""
    begin = check_epsilon(min(max(start, MIN_EPSILON), MAX_EPSILON))
    try:
        kept, _ = crossing(lambda epsilon: 1 / max(central(epsilon), LEAST), 1 / target, begin, precision)
    except OutOfReachError:
        return MAX_EPSILON
    if not kept:
        raise InputError(
            f"central_epsilon must be above that of the smallest budget, {MIN_EPSILON:g}, got {target!r}: "
            "ask more users, or allow more"
        )
    return kept
