"""EM-MR's second comparison: Laplace, SW and PM, 256 cells, 20,000 users, under EM and under mixture reduction (both
stop at a change of the log-likelihood below 0.001): Wasserstein-1, error of the variance, of the nine deciles and of
all dyadic ranges, domain [0, 1], all times 1000."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, likelihood_of, mixture_reduction
from optldp.estimators.distributions.metrics import quantile_error, range_query_error, variance_error, wasserstein_1
from optldp.mechanisms import laplace, piecewise, square_wave
from optldp.solvers import fit_mixture
from redone.experiment.drawn_values import all_sets

from .full_tables import Row, chosen, ratios, values
from .repetitions import Errors, repeat

TITLE = "Distributions by EM and mixture reduction"
FAMILIES = {"Laplace": laplace, "SW": square_wave, "PM": piecewise}
USERS, CELLS, STOP = 20_000, 256, 1e-3
MEASURES = ("W1", "variance", "quantile", "range")


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each data set, budget and mechanism."""
    cases = [
        (data, name, family, epsilon)
        for name in ("S-MN", "SF total pay")
        for epsilon in (0.5, 1.0, 2.0)
        for family in FAMILIES
    ]
    found = repeat(_errors, cases, repetitions, workers)
    shown = [(measure, method) for measure in MEASURES for method in ("EM", "MR")]
    return [
        {"data": name, "epsilon": f"{epsilon:g}", "mechanism": family}
        | {f"{measure}, {method}": one.show(f"{measure} {method}") for measure, method in shown}
        for (_, name, family, epsilon), one in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return what mixture reduction errs, as a multiple of EM, by mechanism and budget."""
    lines = []
    for family in FAMILIES:
        for epsilon in values(found, "epsilon"):
            some = chosen(found, mechanism=family, epsilon=epsilon)
            pairs = ([*ratios(some, f"{one}, MR", f"{one}, EM")] for one in MEASURES)
            lines.append((family, epsilon, *(" / ".join(f"{ratio:.2f}" for ratio in pair) for pair in pairs)))
    said = "Errors of mixture reduction as multiples of those of EM, S-MN / SF total pay:"
    return "\n\n".join([said, table(("mechanism", "epsilon", *MEASURES), lines)])


def _errors(data: Path, name: str, family: str, epsilon: float, rng: np.random.Generator) -> Errors:
    grid = InputGrid.equal_cells(0.0, 1.0, CELLS)
    values = all_sets(data)[name](USERS, rng)
    truth = np.histogram(values, grid.edges)[0] / USERS
    mechanism = FAMILIES[family](grid.edges, epsilon)
    likelihood = likelihood_of(ReportCounts.from_reports(mechanism, mechanism.sample(values, rng)), grid)
    fits = {
        "EM": fit_mixture(likelihood, method="em", loglik_change=STOP).weights,
        "MR": mixture_reduction(likelihood).fit.weights,
    }
    found = {}
    for method, weights in fits.items():
        found[f"W1 {method}"] = 1000 * wasserstein_1(grid.points, weights, truth)
        found[f"variance {method}"] = 1000 * variance_error(grid.points, weights, truth)
        found[f"quantile {method}"] = 1000 * quantile_error(grid.points, weights, truth)
        found[f"range {method}"] = 1000 * range_query_error(weights, truth)
    return found
