"""What the curves of a report on bounds mean: sentences computed from the numbers, none of them written beforehand."""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np

from ...mechanisms import FAMILIES
from ..comparison.bounds_result import BoundRow, BoundsResult, BudgetBounds
from .numbers import SAME, listed, percent_above, percent_up, short, short_down, short_up, with_units

NEAR_ENOUGH = 2.0
"""Ratio of two budgets up to which what lies between is interpolated: to about four percent of the budget."""


def about_variance(result: BoundsResult) -> tuple[str, ...]:
    """What can be reached at the detailed budget, and which closed form comes nearest where."""
    here, units = result.at(result.detail.epsilon), result.prior.units
    said = []
    best = here.row("optimal")
    if best.expected_variance is not None:
        spread = math.sqrt(best.expected_variance)
        said.append(
            f"At epsilon {here.epsilon:g} the optimum's report has an expected variance of "
            f"{short(best.expected_variance)}: it errs by {with_units(spread, units)} (one standard deviation), and "
            f"the mean of 10,000 reports about that of "
            f"their users by {with_units(spread / 100, units)}. {_proof(best)}"
        )
    if here.closed_forms:
        said.append(_nearest(here))
    if changes := _best_by_budget(result):
        said.append(changes)
    return tuple(said)


def _proof(best: BoundRow) -> str:
    """Say what was proved, and of which mechanisms."""
    if best.relative_gap is None:
        return ""
    text = (
        f"No unbiased mechanism on these knots can have less than {short_down(best.lower_bound)} under the prior that "
        f"was solved for, and the optimum is within {percent_up(best.relative_gap, 5)} of that."
    )
    if best.continuum_gap is not None:
        text += (
            " A mechanism on the whole interval, on these knots or not, could gain at most "
            f"{percent_up(max(best.continuum_gap, 0.0), 2)}."
        )
    return text


def _nearest(here: BudgetBounds) -> str:
    first, last = here.closed_forms[0], here.closed_forms[-1]
    text = f"At epsilon {here.epsilon:g} the best known closed form, {first.method}, is {_than(first)}"
    if last is not first:
        text += f"; the worst, {last.method}, is {_than(last)}"
    lattice = next((row for row in here.rivals if row.method == "aaa"), None)
    if lattice is not None:
        text += f". AAA's lattice, which is designed for the prior too, is {_than(lattice)}"
    return text + "."


def _than(row: BoundRow) -> str:
    return f"{percent_above(row.ratio_to_optimal or math.nan)} the optimum"


def _best_by_budget(result: BoundsResult) -> str:
    """Say which closed form is best at which budgets."""
    best = [(budget.epsilon, budget.closed_forms[0].method) for budget in result.budgets if budget.closed_forms]
    runs = [(name, [epsilon for epsilon, _ in run]) for name, run in groupby(best, key=lambda pair: pair[1])]
    if len(best) < 2:
        return ""
    if len(runs) == 1:
        return f"{runs[0][0]} is the best closed form at all {len(best)} budgets."
    parts = [
        f"{name} at {run[0]:g}" if len(run) == 1 else f"{name} from {run[0]:g} to {run[-1]:g}" for name, run in runs
    ]
    return f"The best closed form changes with the budget: {listed(parts)}."


def about_ratio(result: BoundsResult) -> tuple[str, ...]:
    """How much the optimum gains on the best closed form, where least and where most, and what that is in people."""
    gains = [
        (budget.closed_forms[0].ratio_to_optimal or math.nan, budget.epsilon, budget.closed_forms[0].method)
        for budget in result.budgets
        if budget.closed_forms
    ]
    if not gains:
        asked = any(method in FAMILIES for method in result.methods)
        return (
            "No closed form could be built; the certificates say why." if asked else "No closed form was asked for.",
        )
    (least, near, nearest), (most, far, farthest) = min(gains), max(gains)
    text = f"The best closed form at epsilon {near:g}, {nearest}, is {percent_above(least)} the optimum"
    if far != near:
        text += f"; at epsilon {far:g} the best one, {farthest}, is {percent_above(most)} it"
    if most > 1 + SAME:
        text += (
            ". A variance that many times larger takes as many times more people for the same error about their own "
            f"mean: with {farthest} at epsilon {far:g}, {10_000 * most:,.0f} instead of 10,000"
        )
    said = [text + "."]
    if (lead := _saved_budget(result)) is not None:
        epsilon, method, budget = lead
        said.append(
            f"Or the gain is spent on privacy: the variance of {method} at epsilon {epsilon:g} is the optimum's at "
            f"about {budget:.3g}."
        )
    return tuple(said)


def _saved_budget(result: BoundsResult) -> tuple[float, str, float] | None:
    """Return the detailed budget, its best closed form, and the budget at which the optimum has that one's variance.

    Interpolated between budgets, on logarithmic scales on which variances are nearly straight; None where budgets are
    too far apart for that.
    """
    here = result.at(result.detail.epsilon)
    known = [
        (budget.epsilon, value)
        for budget in result.budgets
        if (value := budget.row("optimal").expected_variance) is not None and value > 0
    ]
    if not here.closed_forms or len(known) < 2 or (here.closed_forms[0].ratio_to_optimal or 1.0) < 1 + SAME:
        return None
    target = here.closed_forms[0].expected_variance or math.nan
    epsilons, values = np.log(np.array(known)).T
    if not values[-1] <= math.log(target) <= values[0] or (np.diff(values) >= 0).any():
        return None
    budget = math.exp(float(np.interp(-math.log(target), -values, epsilons)))
    after = int(np.searchsorted(epsilons, math.log(budget)))
    if after and math.exp(epsilons[after] - epsilons[after - 1]) > NEAR_ENOUGH:
        return None
    return here.epsilon, here.closed_forms[0].method, budget


def about_worst_case(result: BoundsResult) -> tuple[str, ...]:
    """What can be reached without knowing the data, and how the others do there."""
    here = result.at(result.detail.epsilon)
    worst, best = here.minimax, here.row("optimal")
    if worst.worst_case_variance is None:
        return (f"The least worst case at epsilon {here.epsilon:g} could not be found: {worst.error}.",)
    text = (
        f"At epsilon {here.epsilon:g} no unbiased mechanism keeps its variance below {short_down(worst.lower_bound)} "
        f"at all values; the minimax design stays below {short_up(worst.worst_case_variance)}, rounding between knots "
        "included."
    )
    if best.worst_case_variance is not None:
        text += f" The optimum for this prior reaches {short(best.worst_case_variance)}"
        text += f", {percent_above(best.worst_case_variance / worst.worst_case_variance)} that"
    if best.expected_variance is not None and worst.expected_variance is not None:
        text += (
            f"; in return its expected variance is {percent_above(best.expected_variance / worst.expected_variance)} "
            "the minimax design's"
        )
    said = [text + "."]
    rivals = sorted(here.closed_forms, key=lambda row: row.worst_case_variance or math.inf)
    if rivals:
        value = rivals[0].worst_case_variance or math.nan
        said.append(
            f"The closed form of least worst case is {rivals[0].method}: "
            f"{percent_above(value / worst.worst_case_variance)} the minimax."
        )
    return tuple(said)
