"""How long honest intervals of an answer will be, and what budget or how many people shorter ones take.

The error of a share, the distribution function or the median is half the length of its 95% interval: of the median 1.96
standard errors. Each plan is a design of its own, as the best table depends on how many report.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from ...mechanisms.errors import InputError
from ...solvers.biased.error_program import MOST_USERS
from ...solvers.lengths.length_program import RADIUS
from ..designs.design import design
from ..designs.result import Design
from ..objectives.base import Objective
from ..objectives.questions.quantile import Quantile
from ..priors.prior import Prior
from .search import cheapest, checked_target

PRECISION = 2e-2
"""Relative width to which a budget or a number of people is found: each trial is a design."""

FASTEST = 4.0
"""By what the number of people grows at most in a step."""


@dataclass(frozen=True, eq=False)
class QuestionPlan:
    """A mechanism for a question, and how short the intervals of the answer will be.

    Attributes
    ----------
    design : Design
    users : int
    of : str
        The question.
    """

    design: Design
    users: int
    of: str

    @property
    def epsilon(self) -> float:
        """The budget of each user."""
        return self.design.epsilon

    @property
    def predicted_error(self) -> float:
        """Half the length of the interval: a share, of the median in units of the values."""
        return self._half(self.design.value)

    @property
    def least_error(self) -> float:
        """Half the least length that is proved for any table."""
        return self._half(self.design.bound)

    def _half(self, value: float) -> float:
        return RADIUS * math.sqrt(value) if isinstance(self.design.objective, Quantile) else value / 2


def plan_question(
    prior: Prior,
    of: str,
    objective: Callable[[int], Objective],
    *,
    users: int | None = None,
    epsilon: float | None = None,
    error: float | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> QuestionPlan:
    """Return the plan of a question, of which two numbers are given and the third is found.

    Parameters
    ----------
    prior : Prior
    of : str
        What the question is called.
    objective : callable
        From a number of people to the objective.
    users : int, optional
    epsilon : float, optional
    error : float, optional
        Half the length of the interval.
    progress : callable, optional
        Called with each budget or number of people tried, and its error.

    Raises
    ------
    InputError
        Not two of the three, or what is out of reach.

    Example
    -------
    >>> from optldp.designer.objectives import Share
    >>> prior = Prior.even(list(range(11)))
    >>> plan = plan_question(prior, "share", lambda n: Share(n, 4.5), epsilon=1.0, error=0.02)
    >>> 11_000 < plan.users < 11_600, 0.0195 < plan.predicted_error <= 0.02
    (True, True)
    """
    if [users, epsilon, error].count(None) != 1:
        raise InputError("a plan needs two of --n, --error and --epsilon: it finds the third")

    def at(people: int, budget: float) -> QuestionPlan:
        return QuestionPlan(design(prior, budget, objective=objective(people)), people, of)

    if users is not None and epsilon is not None:
        return at(users, epsilon)
    target = checked_target("--error", error)
    if users is not None:
        return cheapest(
            lambda budget: at(users, budget), lambda plan: plan.predicted_error, target, PRECISION, progress
        )
    assert epsilon is not None
    few, many, plans = 0, 1000, {}

    def missed(people: int) -> float:
        if people > MOST_USERS:
            raise InputError(f"--error must be within reach of {MOST_USERS:g} users, got {error!r}")
        plans[people] = at(people, epsilon)
        if progress is not None:
            progress(people, plans[people].predicted_error)
        return plans[people].predicted_error / target

    while (over := missed(many)) > 1:
        few, many = many, max(many + 1, math.ceil(many * min(over**2, FASTEST)))
    while many - few > max(1, PRECISION * many):
        middle = max(few + 1, min(many - 1, round(math.sqrt(max(few, 1) * many))))
        few, many = (few, middle) if missed(middle) <= 1 else (middle, many)
    return plans[many]
