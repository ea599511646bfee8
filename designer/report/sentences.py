"""What the curves of a report on bounds mean: sentences computed from the numbers, none of them written beforehand.

What is said hangs on conditions, so it is Python that a test can call; jinja lays out the page around it.
"""

from __future__ import annotations

import math
from itertools import groupby

import numpy as np

from ...mechanisms import FAMILIES
from ...solvers.certificate import relative_gap
from ..comparison.bounds_result import BoundsResult, BudgetBounds
from ..comparison.row import Row
from .number_format import SAME, listed, percent, percent_above, percent_up, short, short_down, short_up, with_units

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
            f"the mean of n reports by a √n-th of that about the mean of their users. {_proof(best)}"
        )
    if here.closed_forms:
        said.append(_nearest(here))
    if changes := _best_by_budget(result):
        said.append(changes)
    return tuple(said)


def _proof(best: Row) -> str:
    """Say what was proved, and of which mechanisms."""
    if best.expected_bound is None or best.expected_variance is None:
        return ""
    gap = relative_gap(best.expected_variance, best.expected_bound)
    text = (
        f"No unbiased mechanism on these knots can have less than {short_down(best.expected_bound)}, and the optimum "
        f"is within {percent_up(gap, 5)} of that."
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


def _than(row: Row) -> str:
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
        f"At epsilon {here.epsilon:g} no unbiased mechanism keeps its variance below {short_down(worst.bound)} "
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


CHEAP = 0.01
"""A trade-off that costs at most this share of the expected variance is worth naming."""

END_SHARE = 0.1
"""Share of the domain at each of its ends that counts as an end."""


def about_values(result: BoundsResult) -> tuple[str, ...]:
    """Which values are reported well and which badly, and for how many people the optimum is the better choice."""
    detail, units, prior = result.detail, result.prior.units, result.prior
    best = detail.mechanisms["optimal"]
    variances = best.knot_variances
    low, high = int(variances.argmin()), int(variances.argmax())
    said = [
        f"The optimum's variance is least, {short(variances[low])}, at the value "
        f"{with_units(prior.knots[low], units)} and largest, {short(variances[high])}, at "
        f"{with_units(prior.knots[high], units)}."
    ]
    here = result.at(detail.epsilon)
    if here.closed_forms and (rival := here.closed_forms[0].method) in detail.mechanisms:
        better = variances < (1 - SAME) * detail.mechanisms[rival].knot_variances
        said.append(
            f"It is below that of {rival} at {percent(float(np.mean(better)), 0)} of the knots, which hold "
            f"{percent(prior.weights[better].sum(), 0)} of the values."
        )
    return tuple(said)


def about_trade_off(result: BoundsResult) -> tuple[str, ...]:
    """What the cheap part of the trade-off buys, and what all of it costs."""
    points = result.detail.trade_off
    first, last = points[0], points[-1]
    start, end = first.expected_variance, last.expected_variance
    cheap = [point for point in points if point.expected_variance <= (1 + CHEAP) * start]
    said = []
    fall = 1 - cheap[-1].worst_case_variance / first.worst_case_variance if cheap else 0.0
    if fall > SAME and cheap[-1] is not last:
        cost = cheap[-1].expected_variance / start - 1
        said.append(
            f"A weight of {cheap[-1].objective.worst:g} for the worst case, instead of {first.objective.worst:g}, "
            f"lowers it by {percent(fall, 1)} and costs {percent(cost, 1)} of the expected variance."
        )
    fall, cost = 1 - last.worst_case_variance / first.worst_case_variance, end / start - 1
    said.append(
        f"The whole way to the minimax lowers the worst case by {percent(fall, 1)} and costs {percent(cost, 1)}."
    )
    return tuple(text for text in (" ".join(said), _beaten(result)) if text)


def _beaten(result: BoundsResult) -> str:
    """Say which closed forms are beaten in both senses by one point of the curve."""
    here, points = result.at(result.detail.epsilon), result.detail.trade_off
    beaten = [
        row.method
        for row in here.closed_forms
        if any(
            point.expected_variance < (1 - SAME) * (row.expected_variance or 0)
            and point.worst_case_variance < (1 - SAME) * (row.worst_case_variance or 0)
            for point in points
        )
    ]
    if len(beaten) == len(here.closed_forms):
        return "Every closed form is beaten in both at once by a design on the curve." if beaten else ""
    return f"Beaten in both at once by a design on the curve: {listed(beaten) if beaten else 'no closed form'}."


def about_least_favourable(result: BoundsResult) -> tuple[str, ...]:
    """Where the least favourable prior has its mass, and what knowing this prior is worth."""
    worst, prior = result.detail.minimax, result.prior
    assert worst is not None
    low, high = prior.domain
    margin = END_SHARE * (high - low)
    ends = (prior.knots <= low + margin) | (prior.knots >= high - margin)
    said = [
        f"The least favourable prior has {percent(worst.evidence.least_favourable[ends].sum(), 0)} of its mass in the "
        f"outer tenths of the domain; the prior of these data has {percent(prior.weights[ends].sum(), 0)}."
    ]
    best = result.at(result.detail.epsilon).row("optimal")
    text = (
        f"For data that follow it, even a mechanism designed with that knowledge has an expected variance of at least "
        f"{short_down(worst.bound)}."
    )
    if best.expected_variance is not None:
        worth = 1 - best.expected_variance / worst.bound
        text += f" Here the optimum needs {short(best.expected_variance)}: knowing the prior is worth "
        text += f"{percent(worth, 1)} of that." if worth > SAME else "nothing."
    said.append(text)
    return tuple(said)


def about_mechanism(result: BoundsResult) -> tuple[str, ...]:
    """How many reports there are, how far they reach, and how strongly a value favours its own."""
    table, prior = result.detail.mechanisms["optimal"], result.prior
    used = table.probabilities.any(axis=0)
    reports = table.low[used]
    rows = table.probabilities[:, used]
    favoured = rows > math.sqrt(math.exp(table.epsilon)) * rows.min(axis=0)
    share = float(prior.weights @ (rows * favoured).sum(axis=1))
    wide = float(np.ptp(reports)) / (prior.domain[1] - prior.domain[0])
    return (
        f"{used.sum()} different reports, from {with_units(reports.min(), prior.units)} to "
        f"{with_units(reports.max(), prior.units)}: {short(wide)} times the width of the domain, since reports average "
        "to the value even at the domain's ends.",
        f"Each value makes some reports {short(math.exp(table.epsilon))} times as likely as others do, e to the "
        f"power epsilon and the most that is allowed; with probability {percent(share, 0)} the report is one of them.",
    )
