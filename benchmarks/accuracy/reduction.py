"""EM-MR's comparison: mean absolute error of the mean (domain [0, 1], times 1000) of the sample mean of PM, of PM-EM
and PM-MR with 1024 cells, of SW-EMS, and of SR's sample mean; EM, EMS and MR stop at a change of the log-likelihood
below 0.001."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, count, estimate_mean, likelihood_of, mixture_reduction
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import duchi, piecewise, square_wave
from optldp.solvers import fit_mixture
from redone.experiment.drawn_values import all_sets

from .full_tables import Row, chosen, ratios
from .repetitions import Errors, repeat

TITLE = "Means by EM and mixture reduction"
CELLS, STOP = 1024, 1e-3
EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0)
METHODS = ("SR", "PM", "PM-EM", "PM-MR", "SW-EMS")
SETS = (("S-MN", 2_000), ("S-MN", 300_000), ("SF total pay", 40_000), ("IRS mean income", 300_000))


def rows(data: Path, repetitions: int, workers: int) -> list[Row]:
    """Return a row for each data set, number of users and budget."""
    cases = [(data, name, users, epsilon) for name, users in SETS for epsilon in EPSILONS]
    found = repeat(_errors, cases, repetitions, workers)
    return [
        {"data": name, "users": f"{users:,}", "epsilon": f"{epsilon:g}"} | {m: summary.show(m) for m in METHODS}
        for (_, name, users, epsilon), summary in zip(cases, found, strict=True)
    ]


def page(found: list[Row]) -> str:
    """Return errors as multiples of that of PM-MR, set by set at the least and the largest budget."""
    others = [method for method in METHODS if method != "PM-MR"]
    lines = []
    for name, users in SETS:
        some = chosen(found, data=name, users=f"{users:,}")
        spread = ([min(ratios(some, m, "PM-MR")), max(ratios(some, m, "PM-MR"))] for m in others)
        lines.append((name, f"{users:,}", *(f"{least:.2f} to {most:.2f}" for least, most in spread)))
    said = "As multiples of the error of PM-MR, the range over budgets of 0.1 to 3:"
    return "\n\n".join([said, table(("data", "users", *others), lines)])


def _errors(data: Path, name: str, users: int, epsilon: float, rng: np.random.Generator) -> Errors:
    grid = InputGrid.equal_cells(0.0, 1.0, CELLS)
    values = all_sets(data)[name](users, rng)
    truth = values.mean()
    found = {}
    for label, family in (("SR", duchi), ("PM", piecewise), ("SW", square_wave)):
        mechanism = family(grid.edges if label != "SR" else [0.0, 1.0], epsilon)
        reports = mechanism.sample(values, rng)
        if label != "SW":
            found[label] = estimate_mean(count(mechanism, reports), raw=True).value
        if label == "PM":
            likelihood = likelihood_of(ReportCounts.from_reports(mechanism, reports), grid)
            found["PM-EM"] = grid.points @ fit_mixture(likelihood, method="em", loglik_change=STOP).weights
            found["PM-MR"] = grid.points @ mixture_reduction(likelihood).fit.weights
        if label == "SW":
            likelihood = likelihood_of(ReportCounts.from_reports(mechanism, reports), grid)
            found["SW-EMS"] = grid.points @ ems(likelihood).weights
    return {method: 1000 * abs(float(value) - truth) for method, value in found.items()}
