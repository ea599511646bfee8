"""Which 95% intervals of shares hold the truth where 99 of 100 users have the least value and the others any, evenly:
20,000 reports on 65 knots of [0, 1] at budgets 1 and 4, through the square wave and the optimal table of an even prior.

"above 0" is the share of users with any value at all (`probability_above`): its interval holds if its low end is no
higher than the share above 0, and its high end no lower than that from the first knot on. The others are shares from a
place to the end of the domain (`probability`). Nearly all weights of such a distribution are zero, where the cutoff of
these intervals, z squared, is too small (`Explained`): what they hold less often than 95% is that. "smooth" holds more
often than "em", of which the same is proved, since an interval holds its estimate too."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.estimators import ReportCounts, estimate_distribution
from optldp.estimators.methods import DistributionMethod
from optldp.mechanisms import TabulatedMechanism, square_wave

from ..repetitions import Errors, repeat

TITLE = "Shares where nearly everybody has one value"
USERS, KNOTS, FEW = 20_000, 65, 0.01
BUDGETS, METHODS, TABLES = (1.0, 4.0), ("em", "smooth"), ("square wave", "optimal")
ABOVE = "above 0"
PLACES = {"first knot": 1 / (KNOTS - 1), "1/16": 1 / 16, "1/4": 1 / 4}


def run(data: Path, repetitions: int, workers: int) -> str:
    """Return how often intervals hold, how long they are, and what is estimated; no data are read."""
    cases = [(name, epsilon, method) for name in TABLES for epsilon in BUDGETS for method in METHODS]
    found = repeat(_errors, cases, repetitions, workers)
    named, held, long = (ABOVE, *PLACES), [], []
    for case, one in zip(cases, found, strict=True):
        about = (case[0], f"{case[1]:g}", case[2])
        held.append((*about, *(one.show(f"held {what}", 100.0) for what in named)))
        lengths = (f"{100 * one.mean(f'long {what}'):.3g}" for what in named)
        long.append((*about, *lengths, one.show("value", 100.0)))
    heads = ("table", "epsilon", "method", *named)
    return "\n\n".join(
        [
            f"Percent of {repetitions} collections whose interval holds:",
            table(heads, held),
            "Mean lengths of the intervals, in percent of all users, and the mean estimate of the share above 0, which "
            f"is {100 * FEW:g}%:",
            table((*heads, "estimate"), long),
        ]
    )


@cache
def _mechanism(name: str, epsilon: float) -> TabulatedMechanism:
    knots = np.linspace(0.0, 1.0, KNOTS)
    return square_wave(knots, epsilon) if name == "square wave" else design(Prior.even(knots), epsilon).mechanism


def _errors(name: str, epsilon: float, method: DistributionMethod, rng: np.random.Generator) -> Errors:
    mechanism = _mechanism(name, epsilon)
    values = np.where(rng.random(USERS) < FEW, rng.random(USERS), 0.0)
    estimate = estimate_distribution(ReportCounts.from_reports(mechanism, mechanism.sample(values, rng)), method=method)
    above = estimate.probability_above(0.0)
    ends = above.interval()
    held = ends.low <= FEW and FEW * (1.0 - PLACES["first knot"]) <= ends.high
    found = {f"held {ABOVE}": float(held), f"long {ABOVE}": ends.high - ends.low, "value": above.value}
    for what, place in PLACES.items():
        ends = estimate.probability(place, 1.0).interval()
        found |= {f"held {what}": float(ends.low <= FEW * (1.0 - place) <= ends.high)}
        found |= {f"long {what}": ends.high - ends.low}
    return found
