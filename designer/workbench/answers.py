"""What the workbench answers, as pure functions of a prior and what is chosen.

Solvers are imported where they are called: the page is sent before, and the reader's browser loads it meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..report.odds import BELIEFS, most_believed
from .state import State

if TYPE_CHECKING:
    from ..designs.result import Design
    from ..priors.prior import Prior

GoOn = Callable[..., None] | None
"""Called at every step; raises what ends the computation."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The best mechanism for a prior and a budget, and what it means for n people.

    Attributes
    ----------
    design : Design
    n : int
    poisoner : float
        The most that one person who lies moves the mean, in units of the values.

    Example
    -------
    >>> state = State(n=10_000)
    >>> made = answer(state.prior(), state)
    >>> 0.4 < made.error < 1.5, made.poisoner < 0.05
    (True, True)
    """

    design: Design
    n: int
    poisoner: float

    @property
    def error(self) -> float:
        """Standard error of the mean of the people who report, in units of the values."""
        return math.sqrt(self.design.expected_variance / self.n)

    @property
    def beliefs(self) -> dict[str, float]:
        """What somebody believes at most after one report, by what they believed before; probabilities."""
        return {str(before): float(most_believed(before, self.design.epsilon)) for before in BELIEFS}


@dataclass(frozen=True)
class Rival:
    """One mechanism and its standard error for n people; None, with the reason, where it has no such error."""

    method: str
    error: float | None
    why: str = ""


@dataclass(frozen=True)
class Rivals:
    """Every mechanism that is known, and what none can be below.

    Attributes
    ----------
    rows : tuple of Rival
        The best first.
    bound : float
        Certified: no unbiased mechanism on these knots has a smaller standard error.
    """

    rows: tuple[Rival, ...]
    bound: float


def answer(prior: Prior, state: State, go_on: GoOn = None) -> Answer:
    """Return the best mechanism for what is chosen; one design."""
    from ...estimators.poisoning.influence import influence
    from ..designs.design import design

    made = design(prior, state.epsilon, progress=go_on)
    return Answer(made, state.n, float(influence(made.mechanism).times_n[0]) / state.n)


def rivals(prior: Prior, state: State, go_on: GoOn = None) -> Rivals:
    """Return every known mechanism at the chosen budget beside the certified bound."""
    from ..comparison.compare import compare

    found = compare(prior, [state.epsilon], progress=go_on)
    bound = next(row.expected_bound for row in found if row.expected_bound is not None)

    def error(variance: float | None) -> float | None:
        return None if variance is None else math.sqrt(variance / state.n)

    rows = [Rival(row.method, error(row.expected_variance), row.error) for row in found]
    rows.sort(key=lambda row: math.inf if row.error is None else row.error)
    return Rivals(tuple(rows), math.sqrt(bound / state.n))


def epsilon_for(prior: Prior, state: State, error: float, go_on: GoOn = None) -> float:
    """Return the least budget with which the standard error stays within `error`; ten to twenty designs.

    Raises
    ------
    InputError
        No budget reaches it; the message says what can be had.
    """
    from ..planning.mean import plan_epsilon

    return plan_epsilon(prior, state.n, error, progress=go_on).epsilon


def facts(made: Answer, others: Rivals) -> dict[str, Any]:
    """Return every number that the page shows of a mechanism, by its name."""
    return {
        "epsilon": made.design.epsilon,
        "n": made.n,
        "error": made.error,
        "least_error": others.bound,
        "beliefs": made.beliefs,
        "one_poisoner": made.poisoner,
        "rivals": {row.method: row.error for row in others.rows},
    }
