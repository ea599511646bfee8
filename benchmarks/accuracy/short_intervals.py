"""Which 95% intervals of shares by pairs of linear estimates hold the truth, and how many times the shortest possible
length they are: 20,000 reports on 65 knots of [0, 1], through the square wave and the optimal table of an even prior.

"spread" is one wide peak and a thin floor; of "99%" all but one of 100 users have the least value. Values stand at
knots. Assumed is nothing, or the shape of the spread column's prior of a year before, which holds. The length is
relative to the proved bound at the truth (`solvers.modulus`); plus or minus 1.96 standard errors of a normal estimate
are 1.18 of it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.estimators.affine_pairs.intervals import AffinePairs
from optldp.estimators.affine_pairs.outcomes import Outcomes
from optldp.estimators.assumptions import Shape
from optldp.estimators.assumptions.base import Assumed
from optldp.mechanisms import square_wave

from .repetitions import Errors, repeat

TITLE = "How short honest intervals of shares are"
USERS, KNOTS = 20_000, np.linspace(0.0, 1.0, 65)
PLACES = {"above 0": 0.0, "above 0.3": 0.3}


def run(data: Path, repetitions: int, workers: int) -> str:
    """Return how often intervals hold, to which side they miss, and how long they are; no data are read."""
    cases = [
        (name, epsilon, column, assumed)
        for name in ("square wave", "optimal")
        for epsilon in (1.0, 4.0)
        for column, assumed in (("spread", "nothing"), ("99%", "nothing"), ("spread", "shape=1.1"))
        if epsilon == 1.0 or assumed == "nothing"
    ]
    found = repeat(_errors, cases, repetitions, workers)
    rows = []
    for case, one in zip(cases, found, strict=True):
        for what in PLACES:
            shown = [one.show(f"{fact} {what}", 100.0) for fact in ("held", "too high", "too low")]
            about = (case[0], f"{case[1]:g}", *case[2:], what)
            rows.append((*about, *shown, f"{one.mean(f'long {what}') / _bound(*case, what):.3g}"))
    heads = ("table", "epsilon", "column", "assumed", "share", "held", "missed above", "missed below", "length / bound")
    return f"Percent of {repetitions} collections:\n\n{table(heads, rows)}"


@cache
def _law(name: str, epsilon: float) -> Outcomes:
    made = square_wave(KNOTS, epsilon) if name == "square wave" else design(Prior.even(KNOTS), epsilon).mechanism
    law = made.statistic.law
    return Outcomes(KNOTS, law, np.zeros(law.shape[1], dtype=np.int64), True)


def _weights(column: str, centre: float) -> np.ndarray:
    if column == "99%":
        return np.r_[0.99, np.full(KNOTS.size - 1, 0.01 / (KNOTS.size - 1))]
    weights = np.exp(-0.5 * ((KNOTS - centre) / 0.12) ** 2) + 0.02
    return weights / weights.sum()


@cache
def _held(column: str, assumed: str) -> Assumed:
    prior = Prior.on_knots(KNOTS, _weights(column, 0.3), source="public")
    return Assumed.of([] if assumed == "nothing" else [Shape(prior, 1.1)], KNOTS)


def _seen(name: str, epsilon: float, column: str, assumed: str, counts: np.ndarray) -> AffinePairs:
    return AffinePairs(_law(name, epsilon).seen_by(counts), _held(column, assumed), _weights(column, 0.32))


@cache
def _bound(name: str, epsilon: float, column: str, assumed: str, what: str) -> float:
    expected = np.round(USERS * _weights(column, 0.32) @ _law(name, epsilon).law).astype(np.int64)
    found = _seen(name, epsilon, column, assumed, expected).shortest("share_above", (PLACES[what],), 0.95)
    assert found is not None
    return found


def _errors(name: str, epsilon: float, column: str, assumed: str, rng: np.random.Generator) -> Errors:
    weights = _weights(column, 0.32)
    sent = weights @ _law(name, epsilon).law
    seen, found = _seen(name, epsilon, column, assumed, rng.multinomial(USERS, sent / sent.sum())), {}
    for what, place in PLACES.items():
        low, high = seen.share_above(place, 0.95)
        truth = float((place < KNOTS) @ weights)
        found |= {f"held {what}": float(low <= truth <= high), f"long {what}": high - low}
        found |= {f"too high {what}": float(low > truth), f"too low {what}": float(high < truth)}
    return found
