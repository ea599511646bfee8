"""How long honest intervals of an answer will be, and what budget or how many people shorter ones take.

The error of a share, the distribution function or the median is half the length of its 95% interval: of the median 1.96
standard errors. Each plan is a design of its own, as the best table depends on how many report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ...mechanisms.errors import InputError
from ...solvers.biased.error_program import MOST_USERS
from ..comparison.row import Row
from ..designs.design import design
from ..designs.result import Design
from ..objectives.base import Objective
from ..objectives.questions.quantile import Quantile
from ..priors.prior import Prior
from .people import shown
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

    @property
    def sentence(self) -> str:
        """What so many people's reports will tell, and what no mechanism can better."""
        asked, units = self.design.objective, self.design.prior.units
        within, least = (_said(half, asked, units) for half in (self.predicted_error, self.least_error))
        return f"with {self.users:,} people: {asked.asks} within {within} (95%), no mechanism within less than {least}"

    def _half(self, value: float) -> float:
        return self.design.objective.interval_length(value) / 2


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


def lengths_of(row: Row, objective: Objective) -> dict[str, Any]:
    """Return how long the interval of the answer is by a row of a comparison, and at least by any mechanism.

    Nothing for an objective that asks for no answer; None for a row without a value.

    Example
    -------
    >>> from optldp.designer import compare
    >>> from optldp.designer.objectives import Share
    >>> asked = Share(20_000, 4.5)
    >>> rows = compare(Prior.even(list(range(11))), [1.0], methods=["optimal", "piecewise"], objective=asked)
    >>> [round(lengths_of(row, asked)["interval_length"], 2) for row in rows]
    [0.03, 0.08]
    """
    if not objective.asks:
        return {}
    told = {"interval_length": row.value, "interval_length_at_least": row.bound}
    return {name: None if value is None else objective.interval_length(value) for name, value in told.items()}


def lengths_said(rows: Sequence[Row], objective: Objective, units: str = "") -> list[str]:
    """Return by which row the interval of the answer is shortest at each budget, as sentences; see `lengths_of`.

    Example
    -------
    >>> from optldp.designer.objectives import Share
    >>> rows = [Row(epsilon=1.0, method=name, value=size, bound=0.03) for name, size in (("own", 0.03), ("ptt", 0.12))]
    >>> for part in lengths_said(rows, Share(20_000, 4.5))[0].split("; "):
    ...     print(part)
    epsilon 1, own: the share above 4.5 within 0.015 (95%), no mechanism within less than 0.015
    next is ptt, 4 times as long
    """
    said = list[str]()
    for epsilon in dict.fromkeys(row.epsilon for row in rows):
        own = [(lengths_of(row, objective), row.method) for row in rows if row.epsilon == epsilon and row.value]
        found = sorted((told["interval_length"], told["interval_length_at_least"], name) for told, name in own)
        if not found:
            continue
        (shortest, least, name), *others = found
        within, bound = (_said(length / 2, objective, units) for length in (shortest, least))
        line = f"epsilon {epsilon:g}, {name}: {objective.asks} within {within} (95%), "
        line += f"no mechanism within less than {bound}"
        if others:
            line += f"; next is {others[0][2]}, {others[0][0] / shortest:.3g} times as long"
        said.append(line)
    return said


def _said(length: float, objective: Objective, units: str) -> str:
    return shown(length, units if isinstance(objective, Quantile) else "")
