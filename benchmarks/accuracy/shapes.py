"""Distributions of seven synthetic shapes and nine real columns from 20,000 reports of the square wave at budgets 0.5
and 2, 256 cells (EMS: 256, 512 and 1024): Wasserstein-1 distance times 1000, as a share of the domain, and
Jensen-Shannon distance (with the root). All methods see the same reports. The truth is the population that users are
drawn from with replacement. What "smooth" does was settled on the synthetic shapes alone; of the nine columns one
collection of one, bank day, had been seen before. Intervals have a page of their own.

Errors of all sets together are geometric means of the ratios to "smooth"; their standard errors are of the scatter over
sets and budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution, likelihood_of
from optldp.estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from optldp.estimators.distributions.smoothed_em import ems
from optldp.estimators.methods import DistributionMethod
from optldp.mechanisms import square_wave

from .full_tables import Row, chosen, number
from .repetitions import Errors, repeat

TITLE = "Distributions: shapes, budgets, methods"
USERS, CELLS, POPULATION = 20_000, 256, 400_000
BUDGETS = (0.5, 2.0)
METHODS: dict[str, tuple[DistributionMethod, int]] = {
    "smooth": ("smooth", CELLS),
    "EMS 256": ("ems", CELLS),
    "EMS 512": ("ems", 2 * CELLS),
    "EMS 1024": ("ems", 4 * CELLS),
    "em": ("em", CELLS),
}
RIVALS = tuple(METHODS)[1:]
MEASURES = ("W1", "JS")

COLUMNS = {
    "SF benefits": ("sf_salaries_2011_2014", "benefits", 0.0, 60_000.0),
    "SF overtime": ("sf_salaries_2011_2014", "overtime_pay", 0.0, 60_000.0),
    "Adult hours": ("adult", "hours_per_week", 0.0, 100.0),
    "Adult weight": ("adult", "fnlwgt", 0.0, 500_000.0),
    "ACS income": ("acs_pincp_2019_excerpt", "pincp", 0.0, 200_000.0),
    "ACS age": ("acs_pincp_2019_excerpt", "age", 15.0, 96.0),
    "IRS mean income": ("irs_zip_income_2013", "mean_income_usd", 0.0, 300_000.0),
    "bank campaign": ("bank_full", "campaign", 0.0, 30.0),
    "bank day": ("bank_full", "day", 0.0, 32.0),
}
"""Real columns that chose nothing: archive, column, and the range whose values are taken."""


def _mixed(shares: tuple[float, ...], parts: tuple[Callable[[np.random.Generator], np.ndarray], ...]) -> np.ndarray:
    rng = np.random.default_rng(1)
    which = rng.choice(len(shares), POPULATION, p=shares)
    drawn = np.stack([part(rng) for part in parts])
    return drawn[which, np.arange(POPULATION)].clip(0.0, 1.0)


def _beta(a: float, b: float) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.beta(a, b, POPULATION)


def _normal(mean: float, sd: float) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: rng.normal(mean, sd, POPULATION)


def _at(place: float) -> Callable[[np.random.Generator], np.ndarray]:
    return lambda rng: np.full(POPULATION, place)


SHAPES: dict[str, Callable[[], np.ndarray]] = {
    "uniform": lambda: _mixed((1.0,), (_beta(1, 1),)),
    "one mode": lambda: _mixed((1.0,), (_beta(2, 5),)),
    "two modes": lambda: _mixed((0.6, 0.4), (_normal(0.7, 0.07), _normal(0.25, 0.05))),
    "narrow mode": lambda: _mixed((0.5, 0.5), (_beta(2, 5), _normal(0.437, 0.004))),
    "spikes": lambda: _mixed((0.5, 0.15, 0.25, 0.1), (_beta(2, 2), _at(0.2), _at(0.5), _at(0.8))),
    "zeros": lambda: _mixed((0.6, 0.4), (_beta(2, 5), _at(0.0))),
    "heavy tail": lambda: _mixed((1.0,), (lambda rng: np.exp(rng.normal(0, 1, POPULATION)) / 20,)),
}
"""Synthetic populations on [0, 1]."""


@cache
def population(data: Path, name: str) -> tuple[np.ndarray, float, float]:
    """Values of a set within its domain, and the domain."""
    if name in SHAPES:
        return SHAPES[name](), 0.0, 1.0
    archive, stored, low, high = COLUMNS[name]
    with np.load(data / f"{archive}.npz", allow_pickle=False) as arrays:
        values = arrays[stored].astype(np.float64)
    return values[(values >= low) & (values <= high)], low, high


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each set, budget and measure."""
    cases = [(data, name, epsilon) for name in (*SHAPES, *COLUMNS) for epsilon in BUDGETS]
    found = repeat(_errors, cases, repetitions, workers)
    return [
        {"data": name, "epsilon": f"{epsilon:g}", "measure": measure}
        | {method: one.show(f"{measure} {method}") for method in METHODS}
        for measure in MEASURES
        for (_, name, epsilon), one in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return errors as multiples of those of smooth, by set and all together."""
    lines = []
    for name in (*SHAPES, *COLUMNS):
        some = chosen(found, data=name, measure="W1")
        own = (f"{number(row['smooth']):.3g}" for row in some)
        against = (" / ".join(f"{one:.2f}" for one in _ratios(found, (name,), method)) for method in RIVALS)
        lines.append((name, *own, *against))
    together = [
        (group, "", "", *(_with_errors(found, names, method) for method in RIVALS))
        for group, names in (("synthetic", SHAPES), ("real", COLUMNS))
    ]
    said = (
        "1000 x Wasserstein-1 of smooth at both budgets, and Wasserstein-1 / Jensen-Shannon distance of the others as "
        "multiples of those of smooth (geometric means over the budgets):"
    )
    own = (f"smooth at {epsilon:g}" for epsilon in BUDGETS)
    return "\n\n".join([said, table(("data", *own, *RIVALS), lines + together)])


def _logs(found: list[Row], names: Iterable[str], method: str, measure: str) -> np.ndarray:
    some = [row for row in found if row["data"] in names and row["measure"] == measure]
    return np.log([number(row[method]) / number(row["smooth"]) for row in some])


def _ratios(found: list[Row], names: Iterable[str], method: str) -> list[float]:
    return [float(np.exp(_logs(found, names, method, measure).mean())) for measure in MEASURES]


def _with_errors(found: list[Row], names: Iterable[str], method: str) -> str:
    shown = []
    for measure in MEASURES:
        logs = _logs(found, names, method, measure)
        middle = np.exp(logs.mean())
        shown.append(f"{middle:.2f} ± {middle * logs.std(ddof=1) / np.sqrt(logs.size):.1g}")
    return " / ".join(shown)


def _errors(data: Path, name: str, epsilon: float, rng: np.random.Generator) -> Errors:
    values, low, high = population(data, name)
    grids = {cells: InputGrid.equal_cells(low, high, cells) for _, cells in METHODS.values()}
    mechanism = square_wave(grids[CELLS].edges, epsilon)
    counts = ReportCounts.from_reports(mechanism, mechanism.sample(rng.choice(values, USERS), rng))
    found: Errors = {}
    for shown, (method, cells) in METHODS.items():
        grid = grids[cells]
        truth = np.histogram(values, grid.edges)[0] / values.size
        if method == "ems":  # its scatter, which is not asked for, takes longer than it does
            weights = ems(likelihood_of(counts, grid)).weights
        else:
            weights = estimate_distribution(counts, method=method, grid=grid).value
        found[f"W1 {shown}"] = 1000 * wasserstein_1(grid.points, weights, truth) / (high - low)
        found[f"JS {shown}"] = jensen_shannon_distance(weights, truth)
    return found
