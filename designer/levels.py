"""Budgets that users choose from, of which their reports shall tell little: what `design` takes in place of one budget.

Levels are a promise, not a mechanism: `design` makes tables that keep it (`designs.levels`), the command line reads it
from `--levels` and `--leakage`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..mechanisms.budget import check_epsilon
from ..mechanisms.combinators.personalised import MOST_LEVELS
from ..mechanisms.errors import InputError


@dataclass(frozen=True)
class Levels:
    """Pure epsilon-LDP for the values, at the level that each user chose, and a bound on how far a report reveals the
    level.

    Parameters
    ----------
    budgets : sequence of float
        2 to 256, strictly increasing.
    shares : sequence of float, optional
        How many users are expected at each level, positive; only their proportions matter. Default: as many at each.
    leakage : float
        Largest log-ratio of two levels' probabilities of any report of the same value, non-negative. Zero: all levels
        have the table of the strictest. Infinite: the levels' tables are independent.
    level_epsilon : float, optional
        Budget of the report of the level itself, which adds to the leakage. None: levels are reported in the clear.

    Raises
    ------
    InputError
        Budgets, shares or bounds that are not usable.

    Example
    -------
    >>> from optldp.designer import Levels
    >>> levels = Levels([0.5, 1, 2], shares=[1, 1, 2], leakage=1.0, level_epsilon=0.5)
    >>> levels.shares, str(levels)
    ((0.25, 0.25, 0.5), 'levels 0.5, 1, 2 that a report tells apart by at most 1')
    """

    budgets: tuple[float, ...]
    shares: tuple[float, ...]
    leakage: float
    level_epsilon: float | None

    def __init__(
        self,
        budgets: Sequence[float],
        *,
        shares: Sequence[float] | None = None,
        leakage: float = math.inf,
        level_epsilon: float | None = None,
    ) -> None:
        chosen = tuple(map(check_epsilon, budgets))
        if not 2 <= len(chosen) <= MOST_LEVELS or any(low >= high for low, high in pairwise(chosen)):
            raise InputError(
                f"levels must be 2 to {MOST_LEVELS} different budgets in increasing order, got {budgets!r}"
            )
        if not leakage >= 0:
            raise InputError(f"leakage must be at least 0, got {leakage!r}")
        if level_epsilon is not None:
            try:
                level_epsilon = check_epsilon(level_epsilon)
            except InputError as error:
                raise InputError(f"level_{error}") from None
        object.__setattr__(self, "budgets", chosen)
        object.__setattr__(self, "shares", _proportions(shares, len(chosen)))
        object.__setattr__(self, "leakage", float(leakage))
        object.__setattr__(self, "level_epsilon", level_epsilon)

    def __str__(self) -> str:
        tied = f" that a report tells apart by at most {self.leakage:g}" if math.isfinite(self.leakage) else ""
        return f"levels {', '.join(f'{budget:g}' for budget in self.budgets)}{tied}"

    @property
    def epsilon(self) -> float:
        """The largest budget: what is promised to everybody."""
        return self.budgets[-1]


def _proportions(shares: Sequence[float] | None, many: int) -> tuple[float, ...]:
    given = np.ones(many) if shares is None else np.asarray(shares, dtype=np.float64)
    if given.shape != (many,) or not (np.isfinite(given) & (given > 0)).all():
        raise InputError(f"shares must be {many} positive numbers, one for each level, got {shares!r}")
    return tuple((given / given.sum()).tolist())
