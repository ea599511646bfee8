"""EM-MR, section IV.C, which the paper describes and does not run: degrees under edge privacy, and Gaussian noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from optldp.estimators import (
    InputGrid,
    ReportCounts,
    count,
    estimate_distribution,
    estimate_mean,
    likelihood_of,
    mixture_reduction,
)
from optldp.estimators.distributions.metrics import wasserstein_1
from optldp.mechanisms import Approximate, Metric, TabulatedMechanism, gaussian, geometric, laplace
from optldp.solvers import fit_mixture

from ..experiment.drawn_values import Draw, two_normals
from ..experiment.repeated import Errors, Scores, repeat
from ..experiment.script import Check, Run

STOP = 1e-3
"""The papers' rule: stop EM when a step changes the log-likelihood by less."""
USERS = 10_000
MOST_CONTACTS = 100
TAIL = 1.5
"""Degrees k have probabilities in proportion to (k + 1)^-(1 + TAIL)."""
DELTA = 1e-6
METHODS = ("average", "EM", "MR", "smooth, ours")


def degrees(n: int, rng: np.random.Generator) -> np.ndarray:
    """Degrees from 0 to `MOST_CONTACTS` with a power law's tail."""
    law = np.arange(1.0, MOST_CONTACTS + 2) ** -(1 + TAIL)
    return rng.choice(MOST_CONTACTS + 1, n, p=law / law.sum()).astype(float)


def noise(run: Run) -> list[Check]:
    """Means and distributions of degrees with epsilon per edge, and of S-MN with an epsilon and a delta."""
    counts, unit = np.arange(MOST_CONTACTS + 1.0), np.linspace(0.0, 1.0, 65)
    rows, degree_leads = [], []
    for i, epsilon in enumerate((0.5, 1.0, 2.0) if not run.quick else (1.0,)):
        cases: dict[str, tuple[Draw, TabulatedMechanism]] = {
            "degrees, geometric": (degrees, geometric(counts, Metric(epsilon))),
            "S-MN, Gaussian": (two_normals, gaussian(unit, Approximate(epsilon, DELTA))),
            "S-MN, Laplace": (two_normals, laplace(unit, epsilon)),
        }
        for j, (name, (draw, table)) in enumerate(cases.items()):
            found = _scores(run, draw, table, (13, i, j))
            shown = [found.show(f"mean {m}", 1e3) for m in METHODS] + [found.show(f"W1 {m}", 1e3) for m in METHODS[1:]]
            leads = found.lead("mean EM", "mean average"), found.lead("W1 MR", "W1 EM")
            rows.append((name, f"{epsilon:g}", *shown, *(f"{lead:+.1f}" for lead in leads)))
            if name.startswith("degrees"):
                degree_leads.append(leads[0])
    header = ("data, noise", "epsilon", *(f"mean {m}" for m in METHODS), *(f"W1 {m}" for m in METHODS[1:]))
    header += ("lead of EM's mean over the average", "of MR's W1 over EM's")
    run.table("noise", f"Section IV.C: errors x 1000, {USERS:,} users", header, rows)
    least = min(degree_leads)
    return [
        Check(
            "degrees under edge privacy: EM gives the mean as the sample mean does, and the distribution too",
            least > -5,
            f"EM's error of the mean is at most {max(0.0, -least):.1f} standard errors above the average's",
        )
    ]


def _scores(run: Run, draw: Draw, table: TabulatedMechanism, case: Sequence[int]) -> Scores:
    grid = InputGrid.knots(table.knots)

    def job(rng: np.random.Generator) -> Errors:
        values = draw(USERS, rng)
        nearest = np.abs(values[:, None] - grid.points).argmin(axis=1)
        truth = np.bincount(nearest, minlength=grid.size) / USERS
        reports = table.sample(values, rng)
        counts = ReportCounts.from_reports(table, reports)
        likelihood = likelihood_of(counts, grid)
        fits = {
            "EM": fit_mixture(likelihood, method="em", loglik_change=STOP).weights,
            "MR": mixture_reduction(likelihood).fit.weights,
            "smooth, ours": estimate_distribution(counts, grid=grid).value,
        }
        found = {"mean average": abs(estimate_mean(count(table, reports), raw=True).value - values.mean())}
        for method, weights in fits.items():
            found[f"mean {method}"] = abs(float(grid.points @ weights) - values.mean())
            found[f"W1 {method}"] = wasserstein_1(grid.points, weights, truth)
        return found

    return repeat(run, case, run.repetitions(20, 6), job)
