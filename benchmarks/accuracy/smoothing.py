"""Distributions of four real columns from 100,000 reports at epsilon 0.5, 256 cells (74 for ages): Jensen-Shannon
distance (with the root) and Wasserstein-1 distance times 1000, domains scaled to [0, 1]. All methods see the same
reports. EM and EMS stop at a change of the log-likelihood below 0.001, MR as its paper has it; "maximum" is the exact
maximum likelihood."""

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, likelihood_of, mixture_reduction
from optldp.estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import piecewise, square_wave
from optldp.solvers import fit_mixture
from redone.experiment.drawn_values import all_sets

from .repetitions import Errors, repeat

TITLE = "Smoothing: four real columns"
FAMILIES = {"SW": square_wave, "PM": piecewise}
COLUMNS = ("SF benefits", "SF total pay", "Adult age", "IRS mean income")
METHODS = ("EMS", "EM", "MR", "maximum")
USERS, EPSILON, STOP = 100_000, 0.5, 1e-3


def run(data: Path, repetitions: int, workers: int) -> str:
    cases = [(data, column, family) for family in FAMILIES for column in COLUMNS]
    found = repeat(_errors, cases, repetitions, workers)
    parts = []
    for measure in ("JS", "W1"):
        rows = []
        for (_, column, family), summary in zip(cases, found, strict=True):
            rows.append((family, column, *(summary.show(f"{measure} {method}") for method in METHODS)))
        name = "Jensen-Shannon distance" if measure == "JS" else "1000 x Wasserstein-1"
        header = ("mechanism", "column", *METHODS)
        parts += [f"{name}:", table(header, rows)]
    return "\n\n".join(parts)


def _errors(data: Path, column: str, family: str, rng: np.random.Generator) -> Errors:
    cells = 74 if column == "Adult age" else 256
    grid = InputGrid.equal_cells(0.0, 1.0, cells)
    values = all_sets(data)[column](USERS, rng)
    truth = np.histogram(values, grid.edges)[0] / USERS
    mechanism = FAMILIES[family](grid.edges, EPSILON)
    counts = ReportCounts.from_reports(mechanism, mechanism.sample(values, rng))
    likelihood = likelihood_of(counts, grid)
    fits = {
        "EMS": ems(likelihood).weights,
        "EM": fit_mixture(likelihood, method="em", loglik_change=STOP).weights,
        "MR": mixture_reduction(likelihood).fit.weights,
        "maximum": fit_mixture(likelihood).weights,
    }
    found = {f"JS {name}": jensen_shannon_distance(weights, truth) for name, weights in fits.items()}
    return found | {f"W1 {name}": 1000 * wasserstein_1(grid.points, w, truth) for name, w in fits.items()}
