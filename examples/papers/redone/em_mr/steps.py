"""What EM and mixture reduction make of frequencies on the way and on average: figures 6 and 8 of EM-MR."""

from __future__ import annotations

from functools import partial

import numpy as np
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.distributions.metrics import mae
from optldp.estimators.methods import FrequencyMethod

from ..experiment.repeated import Errors, Scores, repeat
from ..experiment.script import Check, Run
from .categories import FREQUENT, ORACLES, Population, populations

STOPS = (10.0, 1.0, 0.1, 0.01, 0.001)
"""Changes of the log-likelihood below which EM stops; the last is the papers' rule."""
BUDGETS = (0.75, 3.0)
BIAS_BUDGETS = (0.5, 1.0, 2.0)
METHODS: dict[str, FrequencyMethod] = {"unbiased": "unbiased", "EM": "em", "MR": "mr", "shrunk": "shrunk"}
FITTED: tuple[FrequencyMethod, ...] = ("em", "mr")
NEARLY_ALL = 0.7
"""Share of the cases that must agree: four repetitions leave some to luck."""

SETTLED = 1.02
"""Errors within 2% of the least on the way count as settled."""


def convergence(run: Run) -> list[Check]:
    """Figure 6: the error of OLH's frequencies against the steps of EM, by stopping sooner and later."""
    rows: list[tuple[str, ...]] = []
    over = []
    for number, (name, population) in enumerate(populations(run).items()):
        for i, epsilon in enumerate(BUDGETS):
            found = repeat(run, (66, number, i), 4, partial(_stopped, population, epsilon))
            for method in FITTED:
                cells = [
                    f"{found.mean(f'{method} {s:g} steps'):.0f}: {found.show(f'{method} {s:g}', 1e3)}" for s in STOPS
                ]
                rows.append((name, f"{epsilon:g}", method.upper(), *cells))
            over.append(found.mean(f"em {STOPS[-1]:g}") / min(found.mean(f"em {s:g}") for s in STOPS))
    header = ("data", "epsilon", "method", *(f"stop at {s:g}" for s in STOPS))
    run.table("figure-6", "OLH, steps of EM: MAE x 1000", header, rows)
    claim = "EM's error is not least where it stops by the papers' rule: earlier steps are as good or better"
    return [Check(claim, max(over) > SETTLED, f"{min(over):.2f} to {max(over):.2f} times the least on the way")]


def _stopped(population: Population, epsilon: float, rng: np.random.Generator) -> Errors:
    mechanism = ORACLES["OLH"](range(population.shares.size), epsilon)
    codes, truth = population.draw(rng)
    counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
    found: Errors = {}
    for method in FITTED:
        for stop in STOPS:
            estimate = estimate_frequencies(counts, method=method, loglik_change=stop)
            assert estimate.fit is not None  # EM and MR have one
            found[f"{method} {stop:g} steps"] = estimate.fit.iterations
            found[f"{method} {stop:g}"] = mae(estimate.value, truth)
    return found


def _at(found: Scores, place: str) -> str:
    return f"{found.mean(f'{place} steps'):.0f}: {found.show(place, 1e3)}"


def average_estimates(run: Run) -> list[Check]:
    """Figure 8: the bias of frequent and of other categories, each summed; their sum is zero for EM and MR."""
    rows: list[tuple[str, ...]] = []
    biased, shifts = [], []
    for number, (name, population) in enumerate(populations(run).items()):
        for position, oracle in enumerate(ORACLES):
            for i, epsilon in enumerate(BIAS_BUDGETS):
                found = _bias(run, population, oracle, epsilon, (88, number, position, i))
                shown = [found.show(f"frequent {m}", 1e3) for m in METHODS]
                largest = [found.show(f"first {m}", 1e3) for m in METHODS]
                less = found.values["frequent MR"] - found.values["frequent EM"]
                paired = Scores.of({"d": less})
                biased.append(found.mean("frequent EM"))
                shifts.append(paired.mean("d"))
                rows.append((name, oracle, f"{epsilon:g}", *shown, paired.show("d", 1e3), *largest))
    header = ("data", "oracle", "epsilon", *(f"frequent tenth: {m}" for m in METHODS), "MR less EM, paired")
    header += tuple(f"most frequent: {m}" for m in METHODS)
    run.table("figure-8", "Bias x 1000, summed over the categories", header, rows)
    low, up = sum(bias < 0 for bias in biased), sum(shift > 0 for shift in shifts)
    least, of = NEARLY_ALL * len(biased), f"of {len(biased)} cases"
    return [
        Check("EM's frequencies of frequent categories are too low", low >= least, f"in {low} {of}"),
        Check("MR's are larger, on the same reports", up >= least, f"in {up} {of}"),
    ]


def _bias(run: Run, population: Population, oracle: str, epsilon: float, case: tuple[int, ...]) -> Scores:
    mechanism = ORACLES[oracle](range(population.shares.size), epsilon)
    frequent = np.argsort(-population.shares, kind="stable")[: max(1, round(FREQUENT * population.shares.size))]

    def job(rng: np.random.Generator) -> Errors:
        codes, truth = population.draw(rng)
        counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
        found: Errors = {}
        for name, method in METHODS.items():
            off = estimate_frequencies(counts, method=method).value - truth
            found[f"frequent {name}"] = float(off[frequent].sum())
            found[f"first {name}"] = float(off[frequent[0]])
        return found

    return repeat(run, case, run.repetitions(12, 4), job)
