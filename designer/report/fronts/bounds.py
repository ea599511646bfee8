"""The first page of a report on bounds: one design that is recommended, and what it costs to choose otherwise."""

from __future__ import annotations

import math

from ....mechanisms.promise import Pure
from ...comparison.bounds_result import BoundsResult, BudgetBounds
from ...comparison.row import Row
from ...planning.people import mean_within
from ..number_format import SAME, from_to, percent, percent_up
from ..odds import BELIEFS, Grid, at_most
from .front import (
    NOT_PROTECTED,
    OF_THESE,
    ON_THE_DEVICE,
    SURE,
    Front,
    checked_users,
    on_page,
    people,
    promise_words,
    within,
)

HEADLINES = 5
"""Budgets to choose from at most: what fits on a telephone."""


def bounds_front(result: BoundsResult, column: str, users: int | None) -> Front:
    """Return the first page of a report on bounds.

    Parameters
    ----------
    result : BoundsResult
    column : str
        What the values are; may be empty.
    users : int or None
        How many people will report; None for `SOME_USERS`.

    Raises
    ------
    InputError
        A number of people that is none.
    """
    here, prior = result.at(result.detail.epsilon), result.prior
    low, high = prior.domain
    n, best = checked_users(users), here.row("optimal")
    promise, odds, believed = promise_words(Pure(here.epsilon), high - low, prior.units)
    kind = f"One number of each person{f': {column}' if column else ''}"
    said = within(best.expected_variance, n, prior.units) if best.expected_variance is not None else "unknown"
    return Front(
        protects=(
            f"{kind}, {from_to(low, high, prior.units)}. {ON_THE_DEVICE}",
            NOT_PROTECTED,
        ),
        promise=promise,
        odds=odds,
        errors=_errors(best, here, result, n),
        recommends=_recommended(best, here, result, n),
        choices=_choices(result, best, n),
        users=n,
        line=(f"epsilon {here.epsilon:g}", believed, said),
    )


def _errors(best: Row, here: BudgetBounds, result: BoundsResult, n: int) -> tuple[str, ...]:
    units = result.prior.units
    if best.expected_variance is None:
        return ("No error can be told: the design could not be found.",)
    return on_page(mean_within(n, best.expected_variance, best.worst_case_variance), units), OF_THESE


def _recommended(best: Row, here: BudgetBounds, result: BoundsResult, n: int) -> tuple[str, ...]:
    """Recommend the optimum for the prior at the detailed budget, with what other mechanisms cost there."""
    if best.expected_variance is None:
        return (f"None: at epsilon {here.epsilon:g} the design could not be found: {best.error}.",)
    said = [f"Epsilon {here.epsilon:g} with the design that is optimal for the prior."]
    if best.relative_gap is not None:
        said[0] += (
            f" No unbiased mechanism can have more than {percent_up(best.relative_gap, 4)} less variance there: proved "
            "below."
        )
    if here.closed_forms:
        rival = here.closed_forms[0]
        said.append(_price(f"The best mechanism that needs no prior, {rival.method},", rival, best, n))
    worst = here.minimax
    largest = best.worst_case_variance
    if worst.worst_case_variance is not None and worst.expected_variance is not None and largest is not None:
        text = (
            "If the prior cannot be relied on: the minimax design is within "
            f"{within(worst.worst_case_variance, n, result.prior.units)} whatever the values are, where the "
            f"recommended one is within {within(largest, n, result.prior.units)}."
        )
        said.append(f"{text} {_price('Where the prior is right, it', worst, best, n)}")
    return tuple(said)


def _price(what: str, row: Row, best: Row, n: int) -> str:
    """Say how many more people a mechanism takes for the same error."""
    ratio = (row.expected_variance or math.nan) / (best.expected_variance or math.nan)
    if ratio < 1 + SAME:
        return f"{what} takes no more people for the same error, to a tenth of a percent."
    return f"{what} takes {percent(ratio - 1, 1)} more people for the same error: {people(n * ratio)} instead of {n:,}."


def _choices(result: BoundsResult, best: Row, n: int) -> Grid | None:
    """Return the budgets that there are to choose from, and the price of each."""
    budgets = headline_budgets(result)
    if best.expected_variance is None:
        return None
    rows = []
    for budget in budgets:
        optimum = budget.row("optimal").expected_variance
        beliefs = (at_most(before, budget.epsilon) for before in (BELIEFS[0], BELIEFS[-1]))
        error = "unknown" if optimum is None else within(optimum, n, result.prior.units)
        many = "unknown" if optimum is None else people(n * optimum / best.expected_variance)
        rows.append((f"{budget.epsilon:g}", *beliefs, error, many))
    shown = next((i for i, budget in enumerate(budgets) if budget.epsilon == result.detail.epsilon), None)
    header = (
        "ε",
        f"{at_most(BELIEFS[0], 0.0)} becomes at most",
        f"{at_most(BELIEFS[-1], 0.0)} becomes at most",
        f"mean of {n:,} within ({SURE})",
        f"people for the error at ε = {result.detail.epsilon:g}",
    )
    return Grid(header, tuple(rows), shown)


def headline_budgets(result: BoundsResult) -> list[BudgetBounds]:
    """Return a few budgets: the ends, the one shown in detail, and what lies between by ratio."""
    budgets = result.budgets
    if len(budgets) <= HEADLINES:
        return list(budgets)
    first, last = math.log(budgets[0].epsilon), math.log(budgets[-1].epsilon)
    wanted = [first + (last - first) * i / (HEADLINES - 1) for i in range(HEADLINES)]
    near = [min(budgets, key=lambda b: abs(math.log(b.epsilon) - place)).epsilon for place in wanted]
    inner = min(range(1, HEADLINES - 1), key=lambda i: abs(math.log(near[i] / result.detail.epsilon)))
    near[inner] = result.detail.epsilon if result.detail.epsilon not in near else near[inner]
    return [budget for budget in budgets if budget.epsilon in near]
