"""Partitioned users: "Privacy for Free", figures 6 (c) and (d).

Each user is dealt one of d attributes and reports it to every service; the reports are counted by `count` and estimated
from attribute by attribute. Beside that, each service draws one attribute by itself, as clients of the library do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from optldp.estimators import (
    InputGrid,
    ReportCounts,
    count,
    estimate_attribute_means,
    estimate_combined_mean,
    likelihood_of,
)
from optldp.estimators.attributes import AttributeCounts
from optldp.estimators.distributions.metrics import jensen_shannon_distance
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import AttributeSampling, TabulatedMechanism, make_exact

from ..experiment.drawn_values import People, adult_people, wave_people
from ..experiment.repeated import Errors, Scores, repeat, show_panels
from ..experiment.script import Check, Run
from .distributions import CELLS, THREE, mechanism
from .means import FAMILIES, FOUR, KNOTS, METHODS

EPSILON = 0.1
SIZES = (10, 60)
"""The ends of the paper's range."""

USERS = 300_000
"""A quarter of the users of the paper's data set, Taobao, which was not at hand."""

SHARD = 100_000
"""Users counted at a time: counts of shards add up."""

ERRORS = 60
"""Squared errors, of all attributes and repetitions, that a mean squared error is the average of."""

FITTED = 10
"""Attributes whose distributions are fitted: all of them have the same law, or there are no more."""


@dataclass(frozen=True)
class Partition:
    """Counts of users each of whom reports one attribute to every service, and the truth.

    Parameters
    ----------
    counts : AttributeCounts
    means : (d,) ndarray of float
        Of all users' values, reported or not.
    shares : (d, CELLS) ndarray of float
        Of all users' values in equal cells of [0, 1].
    """

    counts: AttributeCounts
    means: np.ndarray
    shares: np.ndarray


def means(run: Run) -> list[Check]:
    """Figure 6 (c): SR, Laplace, PM and SW at 0.1 each."""
    tables = {family: make_exact(FAMILIES[family](KNOTS, EPSILON)).mechanism for family in FOUR}
    panels, checks = {}, []
    for number, (name, people, d) in enumerate(_cases(run)):
        found = repeat(run, (63, number), _repetitions(run, d), partial(_squares, run, people, d, tables))
        panels.setdefault(name, []).append((float(d), found))
        checks += _claims(f"{name}, d = {d}", found)
    unit, shown = "squared error of a mean x 10^6", (*FOUR, *METHODS, "drawn anew")
    title = f"Partitioned users, {_users(run):,} of them"
    show_panels(run, "figure-6-dimensions", title, panels, shown, "d", unit, scale=1e6)
    return [*checks, _fewer_users(panels["Beta+Sin"], "UWA")]


def distributions(run: Run) -> list[Check]:
    """Figure 6 (d): SR, PM and SW at 0.1 each."""
    tables = {family: make_exact(mechanism(family, EPSILON)).mechanism for family in THREE}
    panels, checks = {}, []
    for number, (name, people, d) in enumerate(_cases(run)):
        found = repeat(run, (64, number), run.repetitions(3, 2), partial(_distances, run, people, d, tables))
        panels.setdefault(name, []).append((float(d), found))
        gain = min(found.gain("ULE", family) for family in THREE)
        checks.append(Check(f"{name}, d = {d}: ULE has the smallest distance", gain > 0, f"by {100 * gain:.0f}%"))
    unit, shown = "Jensen-Shannon distance", (*THREE, "ULE", "drawn anew")
    title = f"Partitioned users, {_users(run):,} of them"
    show_panels(run, "figure-6-dimension-distributions", title, panels, shown, "d", unit)
    return [*checks, _fewer_users(panels["Beta+Sin"], "ULE")]


def partition(
    run: Run,
    people: People,
    d: int,
    tables: dict[str, TabulatedMechanism],
    rng: np.random.Generator,
    *,
    anew: bool = False,
) -> Partition:
    """Draw the users, let them report, and count, shard by shard.

    Parameters
    ----------
    people : callable
        From a number of users and a generator to the values (n, d) of all their attributes.
    tables : mapping of str to TabulatedMechanism
        One for each service, the same for all attributes.
    anew : bool
        Whether each service draws an attribute of its own; else a user reports the same one to all.
    """
    names = [f"a{i}" for i in range(d)]
    bundles = {name: AttributeSampling.of(dict.fromkeys(names, table), 1, EPSILON) for name, table in tables.items()}
    total, sums, cells = None, np.zeros(d), np.zeros((d, CELLS))
    for start in range(0, _users(run), SHARD):
        values = people(min(SHARD, _users(run) - start), d, rng)
        dealt = rng.integers(d, size=len(values))
        sources = [
            (name, bundle, bundle.sample(values, rng) if anew else _dealt(bundle, values, dealt, rng))
            for name, bundle in bundles.items()
        ]
        counts = count(sources)
        total = counts if total is None else total + counts
        sums += values.sum(axis=0)
        cells += [np.histogram(column, CELLS, (0.0, 1.0))[0] for column in values.T]
    assert total is not None
    return Partition(total, sums / _users(run), cells / _users(run))


def _dealt(bundle: AttributeSampling, values: np.ndarray, dealt: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Reports (n, d) of one service, NaN where the attribute was not dealt."""
    reports = np.full(values.shape, np.nan)
    for i, table in enumerate(bundle.mechanisms):
        reports[dealt == i, i] = table.sample(values[dealt == i, i], rng)
    return reports


def _cases(run: Run) -> list[tuple[str, People, int]]:
    cases: list[tuple[str, People, int]] = [("Beta+Sin", wave_people, d) for d in SIZES]
    return cases if run.data is None else [*cases, ("Adult", adult_people(run.data), 10)]


def _users(run: Run) -> int:
    return USERS if not run.quick else 60_000


def _repetitions(run: Run, d: int) -> int:
    return run.repetitions(max(ERRORS // d, 2), 2)


def _squares(
    run: Run, people: People, d: int, tables: dict[str, TabulatedMechanism], rng: np.random.Generator
) -> Errors:
    """Squared errors of means, averaged over the attributes, and those of UA in its own standard errors."""
    made = partition(run, people, d, tables, rng)
    found = {name: estimate_attribute_means(made.counts, method=method).value for name, method in METHODS.items()}
    for j, name in enumerate(tables):
        alone = [estimate_combined_mean(counts.only([j]), method="ua").value for counts in made.counts.values()]
        found[name] = np.array(alone)
    errors = {name: float(np.mean((value - made.means) ** 2)) for name, value in found.items()}
    spread = estimate_attribute_means(made.counts, method="ua").std_error
    again = partition(run, people, d, tables, rng, anew=True)
    errors["drawn anew"] = float(np.mean((estimate_attribute_means(again.counts).value - again.means) ** 2))
    return errors | {"in standard errors": float(np.mean(((found["UA"] - made.means) / spread) ** 2))}


def _claims(case: str, found: Scores) -> list[Check]:
    best = min(found.mean(family) for family in FOUR)
    gains = [1 - found.mean(method) / best for method in ("UA", "UWA")]
    seen = f"by {100 * gains[0]:.0f}% and {100 * gains[1]:.0f}%"
    square = found.mean("in standard errors")
    return [
        Check(f"{case}: UA and UWA beat every single service (here: by half or more)", min(gains) > 0.5, seen),
        Check(
            f"{case}: errors are those that the intervals state", 0.5 < square < 1.5, f"squares of {square:.2f} SE^2"
        ),
    ]


def _distances(
    run: Run, people: People, d: int, tables: dict[str, TabulatedMechanism], rng: np.random.Generator
) -> Errors:
    """Distances from the truth, averaged over the attributes."""
    made, again = partition(run, people, d, tables, rng), partition(run, people, d, tables, rng, anew=True)
    grid, rows = InputGrid.equal_cells(0.0, 1.0, CELLS), []
    for i in range(min(d, FITTED)):
        counts, spread = made.counts[f"a{i}"], again.counts[f"a{i}"]
        row = {name: _distance(counts.only([j]), grid, made.shares[i]) for j, name in enumerate(tables)}
        row |= {"ULE": _distance(counts, grid, made.shares[i]), "drawn anew": _distance(spread, grid, again.shares[i])}
        rows.append(row)
    return {name: float(np.mean([row[name] for row in rows])) for name in rows[0]}


def _distance(counts: ReportCounts, grid: InputGrid, truth: np.ndarray) -> float:
    return jensen_shannon_distance(ems(likelihood_of(counts, grid)).weights, truth)


def _fewer_users(points: Sequence[tuple[float | str, Scores]], method: str) -> Check:
    (low, few), (high, many) = points[0], points[-1]
    ratio = many.mean(method) / few.mean(method)
    return Check(f"{method}'s error grows from d = {low:g} to {high:g}", ratio > 1, f"{ratio:.2f} times")
