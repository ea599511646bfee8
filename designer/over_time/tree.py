"""Signs of changes over blocks that double: how many signs, who reports them, and what that costs."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.over_time import Tree
from ...mechanisms.over_time.panel import SALT_BYTES
from ...mechanisms.over_time.signs import MOST_SIGNS, Signs, best_signs
from ...mechanisms.over_time.turns import LARGEST_TOTAL
from ...solvers.over_time.tree import best_tree, blocks
from .noise import correlations, within_users

if TYPE_CHECKING:
    from .noise import Noise
    from .repeated import Repeated

MOST_PERIODS = 4000
"""What is told of more is not planned: it takes the cube of them."""

AT_END = 400
"""Shares of more periods are those that are best on time, at the end too."""


@dataclass(frozen=True, eq=False)
class PlannedTree:
    """Branches, shares, and what they cost.

    Attributes
    ----------
    branches : list of (int, Signs)
        Steps of blocks, and the law of the signs of each.
    shares : (T + B,) ndarray of float
        Of users who report the value of a period, and then of those of a branch; of sum one.
    variance : float
        Of a report of a value between users, in units of half the range.
    costs : (each, average, change)
        Variances times n about the means of these users.
    reports : int
        Of a user at most.
    """

    branches: list[tuple[int, Signs]]
    shares: np.ndarray
    variance: float
    costs: tuple[float, float, float]
    reports: int


def tells(asked: Repeated) -> bool:
    """Return whether a tree is planned: where values change, but few times, and more is asked than one average.

    Example
    -------
    >>> from .repeated import Repeated
    >>> tells(Repeated(365, 4)), tells(Repeated(365)), tells(Repeated(365, 0))
    (True, False, False)
    """
    return 0 < asked.most_changes <= MOST_SIGNS and asked.of != "average" and asked.periods <= MOST_PERIODS


def plan_tree(noise: Noise, epsilon: float, asked: Repeated) -> PlannedTree:
    """Return the shares that tell best what is asked: blocks have 1, 2, 4 periods and so on.

    A sign tells half a difference, times the agreement b of a drawn sign: its variance is 4 / b^2, in units of half the
    range. Signs are for as many changes as a value makes, so that the device tells all of them.

    Example
    -------
    >>> from ..priors.prior import Prior
    >>> from .noise import Noise
    >>> from .repeated import Repeated
    >>> found = plan_tree(Noise(Prior.even(np.linspace(-1, 1, 17))), 1.0, Repeated(52, 1))
    >>> [step for step, _ in found.branches], round(found.costs[0])
    ([1, 2, 4, 8], 109)
    """
    periods, changes = asked.periods, asked.most_changes
    low, high = noise.prior.domain
    half = 0.5 * (high - low)
    near = noise.variance * correlations(periods, changes)
    variance = (noise.at(epsilon) + noise.variance) / half**2
    steps = [2**power for power in range(periods.bit_length()) if 2**power < periods]
    laws = [best_signs(min(changes, len(blocks(periods, step)[1])), epsilon) for step in steps]
    at_end = asked.delay == periods - 1 and periods <= AT_END
    varies = [4 / signs.agreement**2 for signs in laws]
    made = best_tree(periods, steps, varies, variance, asked.of, at_end=at_end)
    each, average, change = (half**2 * cost for cost in made.costs)
    users = noise.variance, noise.variance * (1 - within_users(periods, changes)), 2 * float(near[0] - near[1])
    used = np.flatnonzero(made.branches)
    branches = [(steps[place], laws[place]) for place in used.tolist()]
    return PlannedTree(
        branches,
        np.concatenate([made.levels, made.branches[used]]),
        float(variance),
        (each - users[0], average - users[1], change - users[2]),
        max([1, *(len(blocks(periods, step)[1]) for step, _ in branches)]),
    )


def design_tree(table: Any, planned: PlannedTree, epsilon: float) -> Tree:
    """Return the way of a plan, with the table of values and a salt of its own."""
    periods = planned.shares.size - len(planned.branches)
    shares = np.rint(planned.shares * (LARGEST_TOTAL // 2)).astype(int)
    return Tree(
        table, periods, shares.tolist(), planned.branches, planned.variance, epsilon, secrets.token_hex(SALT_BYTES)
    )
