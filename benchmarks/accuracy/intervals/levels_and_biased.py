"""How often 95% intervals hold the truth for users who chose their levels, for means of biased tables, and for few
users, and how long they are.

Levels are square waves at epsilon 1 and 2, of 60 and 40 of 100 users, 4,000 people on 9 knots of [0, 1], with the level
in the clear or told at epsilon 1; asked are the share above the least value and the mean. "Apart" are people whose
level hangs on their value: of 100 with the least value 50 have the first level, of others 70, which intervals of
protected levels allow for as far as the limits of the shares reach, and those in the clear do not. The bound is that of
known shares. Means are of 20,000 people on 33 knots by the numbers of `bias_aware_mean`, trust 2, at the prior, at the
one with the most bias and at the one with the most noise, of priors that fall or have 99% at the least value. All but
the prior are corners of the set, where a number can move to one side alone and the bound, attained at one distribution
at a time, is about half. Few users report once by randomised response on 9 knots at epsilon 4."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import FactorAmbiguity, Prior, design
from optldp.designer.objectives.error import Error
from optldp.estimators import PersonalisedCounts, ReportCounts, Service, bias_aware_mean, personalised_distribution
from optldp.estimators.affine_pairs.outcomes import Outcomes
from optldp.estimators.affine_pairs.pair import Pairs
from optldp.estimators.bias_aware.decoders import UNIFORM_SHARE, assumed_within
from optldp.estimators.intervals import bias_aware_reach
from optldp.mechanisms import PersonalisedMechanism, TabulatedMechanism, grr, square_wave
from optldp.mechanisms.exactness.make_exact import exact_if_possible
from optldp.solvers.biased import trusted
from optldp.solvers.modulus.estimates import Reference
from optldp.solvers.modulus.polyhedron import Polyhedron
from optldp.solvers.modulus.shortest import shortest_length

from ..repetitions import Errors, Summary, repeat

TITLE = "Intervals at levels, of biased means and of few users"
KNOTS, LEVELS, PEOPLE, TOGETHER = np.linspace(0.0, 1.0, 9), (1.0, 2.0), 4_000, 25
SHAPES, FEW = ("99% low", "rare", "spread", "spread, apart"), (5, 19)
FINER, USERS, TRUST = np.linspace(0.0, 1.0, 33), 20_000, 2.0
WORST = ("the prior", "most bias down", "most bias up", "most noise")
FACTS = ("high", "low", "length", "bound")


def run(_data: Path, repetitions: int, workers: int) -> str:
    """Return three tables, of 25 collections a repetition."""
    often = f"{repetitions * TOGETHER} collections a row."
    heads = ("held", "missed above", "missed below", "length", "length / bound")
    parts = []
    levels = [(shape, clear) for shape in SHAPES for clear in (True, False)]
    rows = [
        (shape, "in the clear" if clear else "protected", what, *_shown(one, what))
        for (shape, clear), one in zip(levels, repeat(at_levels, levels, repetitions, workers), strict=True)
        for what in ("above the least", "mean")
    ]
    parts += ["## Users at levels", often, table(("values", "level", "asked", *heads), rows)]
    means = [(shape, epsilon, made) for shape in ("falls", "99% low") for epsilon in (0.5, 1.0, 4.0) for made in MADE]
    rows = [
        (case[0], f"{case[1]:g}", case[2], what, *_shown(one, what))
        for case, one in zip(means, repeat(biased_means, means, repetitions, workers), strict=True)
        for what in WORST
    ]
    parts += ["## Means of biased tables", often, table(("prior", "epsilon", "table", "truth", *heads), rows)]
    few = [(shape, n) for shape in SHAPES[:3] for n in FEW]
    rows = [
        (shape, str(n), what, *_shown(one, what)[:4])
        for (shape, n), one in zip(few, repeat(of_few, few, repetitions, workers), strict=True)
        for what in ("above the least", "mean")
    ]
    return "\n\n".join([*parts, "## Few users", often, table(("values", "users", "asked", *heads[:4]), rows)])


def at_levels(shape: str, clear: bool, rng: np.random.Generator) -> Errors:
    """Intervals of a share and a mean at two levels."""
    truth = _weights(shape)
    levels = [exact_if_possible(square_wave(KNOTS, epsilon)) for epsilon in LEVELS]
    made, found = PersonalisedMechanism(levels, None if clear else 1.0), _none(("above the least", "mean"))
    for _ in range(TOGETHER):
        knots = rng.choice(KNOTS.size, PEOPLE, p=truth)
        first = np.where(knots == 0, 0.5, 0.7) if shape.endswith("apart") else 0.6
        sent = made.sample(KNOTS[knots], (rng.random(PEOPLE) > first).astype(int), rng)
        fit = personalised_distribution(PersonalisedCounts.from_reports(made, sent))
        of_share, of_mean = fit.probability_above(0.0).to_dict(), fit.mean().to_dict()
        for what, one, true in (("above the least", of_share, 1 - truth[0]), ("mean", of_mean, truth @ KNOTS)):
            _note(found, what, one["low"], one["high"], float(true), one["shortest_possible"])
    return found


MADE = ("error", "square-wave")


@cache
def _prior(shape: str) -> np.ndarray:
    found = np.exp(-FINER / 0.08) if shape == "falls" else np.r_[0.99, np.full(FINER.size - 1, 0.01 / 32)]
    return found / found.sum()


@cache
def _table(shape: str, epsilon: float, made: str) -> TabulatedMechanism:
    if made == "square-wave":
        return square_wave(FINER, epsilon)
    prior = Prior.on_knots(FINER, _prior(shape), source="public")
    return design(prior, epsilon, objective=Error(USERS, FactorAmbiguity(TRUST))).mechanism


def biased_means(shape: str, epsilon: float, made: str, rng: np.random.Generator) -> Errors:
    """Intervals of bias-aware means at the priors within the trust that are hardest for them."""
    prior, law_of = _prior(shape), _table(shape, epsilon, made)
    law = law_of.statistic.law[:, law_of.statistic.law.any(axis=0)]
    counts = _counted(law_of, rng.multinomial(USERS, prior @ law_of.statistic.law))
    numbers = bias_aware_mean(counts, prior, trust=TRUST)
    values = numbers.parts[0].values[law_of.statistic.law.any(axis=0)]
    box, bias = trusted(prior, TRUST, share=UNIFORM_SHARE), law @ values - FINER
    noise, found = law @ values**2 - (law @ values) ** 2, _none(WORST)
    hardest = (prior, *(box.largest(cost)[1] for cost in (bias.max() - bias, bias - bias.min(), noise)))
    held = assumed_within(box, TRUST)
    for what, truth in zip(WORST, hardest, strict=True):
        at = (1 - 1e-4) * truth / truth.sum() + 1e-4 * held.start
        seen = Outcomes(FINER, law, np.zeros(len(law.T), dtype=np.int64), True)
        bound = shortest_length(FINER, Reference(held.polyhedron, seen.in_errors(at, USERS)[0], at), 0.95).length
        sent = rng.multinomial(USERS, truth @ law / (truth @ law).sum(), TOGETHER)
        means = sent @ values / USERS
        errors = np.sqrt((sent @ values**2 / USERS - means**2) / (USERS - 1))
        for mean, error in zip(means, errors, strict=True):
            reach = bias_aware_reach(float(error), numbers.bias_high, 0.95)
            _note(found, what, mean - reach, mean + reach, float(truth @ FINER), bound)
    return found


def _counted(made: TabulatedMechanism, often: np.ndarray) -> ReportCounts:
    return ReportCounts.from_outputs([Service("one", made)], np.repeat(np.arange(often.size), often)[:, None])


def of_few(shape: str, users: int, rng: np.random.Generator) -> Errors:
    """Intervals of a share and a mean that hold for any number of users."""
    truth, law, found = _weights(shape), grr(KNOTS, 4.0).statistic.law, _none(("above the least", "mean"))
    asked = np.stack([(KNOTS > 0).astype(float), KNOTS])
    seen, even = Outcomes(KNOTS, law, np.zeros(KNOTS.size, dtype=np.int64), True), np.full(KNOTS.size, 1 / KNOTS.size)
    for _ in range(TOGETHER):
        some = seen.seen_by(rng.multinomial(users, truth @ law / (truth @ law).sum()))
        low, high = Pairs(some, Polyhedron.simplex(KNOTS.size), even).ends(asked, asked, 0.95)
        for at, what in enumerate(("above the least", "mean")):
            _note(found, what, max(0.0, low[at]), high[at], float(asked[at] @ truth), 1.0)
    return found


def _weights(shape: str) -> np.ndarray:
    if shape == "rare":
        return np.array([0.55, 0.43, 0.01, 0.01, *np.zeros(5)])
    found = np.exp(-(((KNOTS - 0.3) / 0.2) ** 2))
    if shape == "99% low":
        found = np.r_[0.99, np.full(8, 0.01 / 8)]
    return found / found.sum()


def _none(asked: tuple[str, ...]) -> dict[str, float]:
    return {f"{fact} {what}": 0.0 for fact in FACTS for what in asked}


def _note(found: dict[str, float], what: str, low: float, high: float, true: float, bound: float) -> None:
    found[f"high {what}"] += float(low > true + 1e-12) / TOGETHER
    found[f"low {what}"] += float(high < true - 1e-12) / TOGETHER
    found[f"length {what}"] += float(high - low) / TOGETHER
    found[f"bound {what}"] += float(bound) / TOGETHER


def _shown(one: Summary, what: str) -> tuple[str, ...]:
    above, below, length, bound = (one.mean(f"{fact} {what}") for fact in FACTS)
    return *(f"{part:.3f}" for part in (1 - above - below, above, below)), f"{length:.3g}", f"{length / bound:.2f}"
