"""What the pictures of one budget in a report on bounds mean, computed as in `sentences.py`."""

from __future__ import annotations

import math

import numpy as np

from ..comparison.bounds_result import BoundsResult
from .numbers import SAME, listed, percent, short, short_down, with_units

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
    start, end = first.expected_variance or math.nan, last.expected_variance or math.nan
    cheap = [point for point in points if (point.expected_variance or math.inf) <= (1 + CHEAP) * start]
    said = []
    fall = 1 - cheap[-1].worst_case_variance / first.worst_case_variance if cheap else 0.0
    if fall > SAME and cheap[-1] is not last:
        cost = (cheap[-1].expected_variance or math.nan) / start - 1
        said.append(
            f"A weight of {cheap[-1].weight:g} for the worst case, instead of {first.weight:g}, lowers it by "
            f"{percent(fall, 1)} and costs {percent(cost, 1)} of the expected variance."
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
            (point.expected_variance or math.inf) < (1 - SAME) * (row.expected_variance or 0)
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
        f"The least favourable prior has {percent(worst.least_favourable[ends].sum(), 0)} of its mass in the outer "
        f"tenths of the domain; the prior of these data has {percent(prior.weights[ends].sum(), 0)}."
    ]
    best = result.at(result.detail.epsilon).row("optimal")
    text = (
        f"For data that follow it, even a mechanism designed with that knowledge has an expected variance of at least "
        f"{short_down(worst.lower_bound)}."
    )
    if best.expected_variance is not None:
        worth = 1 - best.expected_variance / worst.lower_bound
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
