"""What the workbench answers, as pure functions of a prior and what is chosen.

Solvers are imported where they are called: the page is sent before, and the reader's browser loads it meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from ..priors.categorical import CategoricalPrior
from ..report.odds import BELIEFS, most_believed
from . import questions
from .questions import QUESTIONS
from .state import State

if TYPE_CHECKING:
    from ..designs.result import Design
    from ..priors.prior import Prior

NEAR = 1e-3
"""Relative tolerance of a design that is seen while a slider moves, in about half the time."""

GoOn = Callable[..., None] | None
"""Called at every step; raises what ends the computation."""


@dataclass(frozen=True, eq=False)
class Answer:
    """The best mechanism for a prior and a budget, and what it means for n people.

    Attributes
    ----------
    design : Design
    n : int
    of : str
        The question.
    error : float
        As the question has it: in units of the values, or a share.
    poisoner : float, optional
        The most that one person who lies moves the mean, in units of the values; of the mean alone.

    Example
    -------
    >>> state = State(n=10_000)
    >>> made = answer(state.prior(), state)
    >>> 0.4 < made.error < 1.5, made.poisoner < 0.05
    (True, True)
    """

    design: Design
    n: int
    of: str
    error: float
    poisoner: float | None

    @property
    def beliefs(self) -> dict[str, float]:
        """What somebody believes at most after one report, by what they believed before; probabilities."""
        return {str(before): float(most_believed(before, self.design.epsilon)) for before in BELIEFS}


@dataclass(frozen=True)
class Rival:
    """One mechanism and its error for n people; None, with the reason, where it has no such error."""

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
        Certified: no mechanism on these knots has a smaller error; of the mean no unbiased one.
    """

    rows: tuple[Rival, ...]
    bound: float


def answer(
    prior: Prior | CategoricalPrior, state: State, go_on: GoOn = None, *, tolerance: float | None = None
) -> Answer:
    """Return the best mechanism for what is chosen, within a tolerance or its objective's own; one design."""
    from ...estimators.poisoning.influence import influence
    from ..designs.design import design

    of, n = state.of, state.n
    on_knots = prior if isinstance(prior, CategoricalPrior) else QUESTIONS[of].on_knots(prior)
    objective = questions.objective(of, n)
    made = design(on_knots, state.epsilon, objective=objective, tolerance=tolerance, progress=go_on)
    if of != "mean":
        return Answer(made, n, of, questions.error(of, made.value, n, prior.weights.size), None)
    error = questions.error(of, made.expected_variance, n)
    return Answer(made, n, of, error, float(influence(made.mechanism).times_n[0]) / n)


def rivals(prior: Prior | CategoricalPrior, state: State, go_on: GoOn = None) -> Rivals:
    """Return every known mechanism at the chosen budget beside the certified bound."""
    from ..comparison.categorical import compare_categorical
    from ..comparison.compare import compare

    of, n = state.of, state.n
    if isinstance(prior, CategoricalPrior):
        size = prior.weights.size
        oracles = compare_categorical(prior.weights, state.epsilon)
        named = [Rival(row.method, questions.error(of, row.error, n, size)) for row in oracles]
        least = next(row.lower_bound for row in oracles if row.lower_bound is not None)
        return Rivals(tuple(sorted(named, key=lambda row: row.error or 0.0)), questions.error(of, least, n, size))
    on_knots, objective = QUESTIONS[of].on_knots(prior), questions.objective(of, n)
    found = compare(on_knots, [state.epsilon], objective=objective, progress=go_on)
    known = [(row.expected_variance, row.expected_bound) if of == "mean" else (row.value, row.bound) for row in found]
    bound = next(bound for _, bound in known if bound is not None)
    errors = [None if value is None else questions.error(of, value, n) for value, _ in known]
    rows = [Rival(row.method, error, row.error) for row, error in zip(found, errors, strict=True)]
    rows.sort(key=lambda row: math.inf if row.error is None else row.error)
    return Rivals(tuple(rows), questions.error(of, bound, n))


def epsilon_for(prior: Prior | CategoricalPrior, state: State, error: float, go_on: GoOn = None) -> float:
    """Return the least budget with which the error of the question stays within `error`; ten to twenty designs.

    Raises
    ------
    InputError
        No budget reaches it; the message says what can be had.
    """
    from ..planning.frequencies import plan_frequencies
    from ..planning.mean import plan_epsilon
    from ..planning.questions import plan_question

    if isinstance(prior, CategoricalPrior):
        return plan_frequencies(prior, state.n, error=error, method="optimal", progress=go_on).epsilon
    if state.of == "mean":
        return plan_epsilon(prior, state.n, error, progress=go_on).epsilon
    on_knots, objective = QUESTIONS[state.of].on_knots(prior), partial(questions.objective, state.of)
    return plan_question(on_knots, state.of, objective, users=state.n, error=error, progress=go_on).epsilon


def facts(made: Answer, others: Rivals) -> dict[str, Any]:
    """Return every number that the page shows of a mechanism, by its name."""
    return {
        "epsilon": made.design.epsilon,
        "n": made.n,
        "of": made.of,
        "error": made.error,
        "least_error": others.bound,
        "beliefs": made.beliefs,
        "one_poisoner": made.poisoner,
        "rivals": {row.method: row.error for row in others.rows},
    }
