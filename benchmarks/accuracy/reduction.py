"""EM-MR's comparison: mean absolute error of the mean (domain [0, 1], times 1000) of the sample mean of PM, of PM-EM
and PM-MR with 1024 cells, of SW-EMS, and of SR's sample mean; EM, EMS and MR stop at a change of the log-likelihood
below 0.001."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, count, estimate_mean, likelihood_of, mixture_reduction
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import duchi, piecewise, square_wave
from optldp.solvers.likelihood.fit import fit_mixture
from redone.experiment.drawn_values import all_sets

from .repetitions import Errors, repeat

TITLE = "Means by EM and mixture reduction"
CELLS, STOP = 1024, 1e-3
EPSILONS = (0.1, 0.5, 1.0, 2.0, 3.0)
METHODS = ("SR", "PM", "PM-EM", "PM-MR", "SW-EMS")
SETS = (("S-MN", 2_000), ("S-MN", 300_000), ("SF total pay", 40_000), ("IRS mean income", 300_000))


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, name, users, epsilon) for name, users in SETS for epsilon in EPSILONS]
    found = repeat(_errors, cases, repetitions, workers)
    rows = [
        (name, f"{users:,}", f"{epsilon:g}", *(summary.show(method) for method in METHODS))
        for (_, name, users, epsilon), summary in zip(cases, found, strict=True)
    ]
    return table(("data", "users", "epsilon", *METHODS), rows)


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
