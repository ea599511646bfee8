"""Means of the values of each key: mean squared error over the keys, on the domain [-1, 1], times 1000.

One pair for each user, reports with a place for each key. "SR": PCKV-UE as published. "SR, tuned": the same with the
own place shown with the probability that is best for means. "SR-GRR": PCKV-GRR as published. "PM": the piecewise
mechanism at the best split of the budget, by the published estimate, by EM and by mixture reduction for each key (both
stop at a change of the log-likelihood below 0.001), and by the maximum of the joint likelihood. "design": the optimal
unbiased table for the distribution of all values, with the whole budget, shown as "SR, tuned" is. 16 cells. "mixed" has
five keys with the frequencies 0.45, 0.3, 0.15, 0.07 and 0.03 and values from beta distributions; "SF" the year and the
total pay; "IRS" one of the 8 commonest states and the mean income.

Then the coverage, in percent, of the 95% intervals of the published estimates, for three keys of "mixed", by Fieller's
method and as the estimate plus or minus 1.96 standard errors (delta)."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.estimators import InputGrid, KeyValueCounts, estimate_key_means, fit_key_values
from optldp.estimators.key_values.counts import ShownCounts
from optldp.mechanisms import duchi, piecewise
from optldp.mechanisms.key_value import KeyValueMechanism, best_key_value, key_value_response, key_value_unary

from .full_tables import Row, chosen, geometric, number, ratios, values
from .repetitions import Errors, repeat

TITLE = "Means of key-value data"
CELLS = 16
EPSILONS = (0.25, 0.5, 1.0, 2.0)
SETS = (("mixed", 40_000), ("SF", 40_000), ("IRS", 40_000))
METHODS = (
    "SR",
    "SR, tuned",
    "SR-GRR",
    "PM",
    "PM-EM",
    "PM-MR",
    "PM-joint",
    "design",
    "design-joint",
)
JOINT, COVERED = "PM-joint", "mixed, coverage"
INTERVALS = tuple(f"{method} {kind}" for method in ("SR", "SR-GRR", "PM") for kind in ("Fieller", "delta"))
FREQUENCIES = (0.45, 0.3, 0.15, 0.07, 0.03)
SHAPES = ((2, 5), (5, 2), (1, 1), (2, 8), (6, 3))
COVERED_KEYS = (0, 2, 4)
DRAWS = 20
"""Draws in each repetition of the coverage."""


class Population(NamedTuple):
    """Pairs to draw users from: positions of keys, and values on [0, 1]."""

    codes: np.ndarray
    values: np.ndarray
    n_keys: int

    def draw(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen = rng.integers(0, self.codes.size, n)
        return self.codes[chosen], self.values[chosen]


@cache
def _population(data: Path, name: str) -> Population:
    if name == "mixed":
        rng = np.random.default_rng(1)
        codes = np.repeat(np.arange(5), [int(1_000_000 * f) for f in FREQUENCIES])
        return Population(codes, rng.beta(*np.array(SHAPES, dtype=float)[codes].T), 5)
    if name == "SF":
        keys, values, most = _columns(data, "sf_salaries_2011_2014", "year", "total_pay", 300_000.0)
    else:
        keys, values, most = _columns(data, "irs_zip_income_2013", "state_fips", "mean_income_usd", 300_000.0)
    labels, counts = np.unique(keys, return_counts=True)
    common = np.sort(labels[np.argsort(-counts, kind="stable")[:8]])
    kept = np.isin(keys, common)
    return Population(np.searchsorted(common, keys[kept]), values[kept] / most, common.size)


def _columns(data: Path, name: str, key: str, value: str, most: float) -> tuple[np.ndarray, np.ndarray, float]:
    columns = np.load(data / f"{name}.npz", allow_pickle=False)
    keys, values = columns[key], columns[value].astype(np.float64)
    inside = (values >= 0) & (values <= most)
    return keys[inside].astype(np.int64), values[inside], most


@cache
def _mechanisms(data: Path, name: str, epsilon: float) -> dict[str, KeyValueMechanism]:
    population = _population(data, name)
    keys, knots = range(population.n_keys), np.linspace(0.0, 1.0, CELLS + 1)
    prior = Prior.from_data(population.values, knots=knots, source="public")
    tuned = best_key_value(keys, lambda budget: duchi(knots, budget), epsilon, padding=0)
    designed = design(prior, tuned.value.epsilon).mechanism
    return {
        "SR": key_value_unary(keys, duchi(knots, epsilon), epsilon, padding=0),
        "SR, tuned": tuned,
        "SR-GRR": key_value_response(keys, duchi(knots, epsilon), epsilon, padding=0),
        "PM": best_key_value(keys, lambda budget: piecewise(knots, budget), epsilon, padding=0),
        "design": key_value_unary(keys, designed, epsilon, padding=0, own_shown=tuned.own_shown),
    }


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each data set and budget, and one for each budget and key of the coverage."""
    cases = [(data, name, users, epsilon) for name, users in SETS for epsilon in EPSILONS]
    found = repeat(_errors, cases, repetitions, workers)
    errors = [
        {"data": name, "users": f"{users:,}", "epsilon": f"{epsilon:g}", "frequency": ""}
        | {method: summary.show(method) for method in METHODS}
        for (_, name, users, epsilon), summary in zip(cases, found, strict=True)
    ]
    covered_cases = [(data, SETS[0][1], epsilon) for epsilon in EPSILONS]
    covered = zip(covered_cases, repeat(_coverage, covered_cases, repetitions, workers), strict=True)
    coverage = [
        {"data": COVERED, "epsilon": f"{epsilon:g}", "frequency": f"{FREQUENCIES[key]:g}"}
        | {kind: summary.show(f"{kind} {key}") for kind in INTERVALS}
        for (*_, epsilon), summary in covered
        for key in COVERED_KEYS
    ]
    return errors + coverage


def page(found: list[Row]) -> str:
    """Return errors as multiples of the joint likelihood's, by budget, and the coverage with the least of it."""
    errors, covered = chosen(found, frequency=""), [row for row in found if row["frequency"]]
    others = [method for method in METHODS if method != JOINT]
    lines = []
    for epsilon in values(errors, "epsilon"):
        some = chosen(errors, epsilon=epsilon)
        lines.append((epsilon, *(f"{geometric(ratios(some, method, JOINT)):.2f}" for method in others)))
    kinds = [(kind, [number(row[kind]) for row in covered]) for kind in INTERVALS]
    return "\n\n".join(
        [
            f"Errors as multiples of that of {JOINT}, geometric means over the three data sets:",
            table(("epsilon", *others), lines),
            "Coverage, %: mean, least and most over budgets and keys:",
            table(("intervals", "mean", "least", "most"), [_spread(*one) for one in kinds]),
        ]
    )


def _spread(kind: str, shares: list[float]) -> tuple[str, ...]:
    return kind, f"{np.mean(shares):.1f}", f"{min(shares):.1f}", f"{max(shares):.1f}"


def _errors(data: Path, name: str, users: int, epsilon: float, rng: np.random.Generator) -> Errors:
    population, grid = _population(data, name), InputGrid.equal_cells(0.0, 1.0, CELLS)
    codes, values = population.draw(users, rng)
    truth = np.bincount(codes, values) / np.bincount(codes)
    means = {}
    for label, mechanism in _mechanisms(data, name, epsilon).items():
        reports = mechanism.sample(codes, values, rng)
        counts = KeyValueCounts.from_reports(mechanism, reports)
        means[label] = estimate_key_means(counts).value
        if label in ("PM", "design"):
            means[f"{label}-joint"] = fit_key_values(counts, grid=grid).value
        if label == "PM":
            means["PM-EM"] = fit_key_values(counts, method="em", grid=grid).value
            means["PM-MR"] = fit_key_values(counts, method="mr", grid=grid).value
    return {label: 4000.0 * float(np.mean((found - truth) ** 2)) for label, found in means.items()}


def _coverage(data: Path, users: int, epsilon: float, rng: np.random.Generator) -> Errors:
    population = _population(data, "mixed")
    truth = np.bincount(population.codes, population.values) / np.bincount(population.codes)
    hits: dict[str, list[np.ndarray]] = {}
    for _ in range(DRAWS):
        codes, values = population.draw(users, rng)
        for label in ("SR", "SR-GRR", "PM"):
            mechanism = _mechanisms(data, "mixed", epsilon)[label]
            reports = mechanism.sample(codes, values, rng)
            found = estimate_key_means(ShownCounts.from_reports(mechanism, reports))
            inside = (found.interval().low <= truth) & (truth <= found.interval().high)
            hits.setdefault(f"{label} Fieller", []).append(inside)
            near = np.abs(found.value - truth) <= 1.96 * found.std_error
            hits.setdefault(f"{label} delta", []).append(near)
    rates = {label: 100.0 * np.mean(seen, axis=0) for label, seen in hits.items()}
    return {f"{label} {key}": float(rate[key]) for label, rate in rates.items() for key in COVERED_KEYS}
