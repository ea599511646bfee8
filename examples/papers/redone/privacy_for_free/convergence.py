"""Theorem 5.1 of "Privacy for Free": EM, step by step, against the certified maximum of the likelihood."""

from __future__ import annotations

import numpy as np
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of
from optldp.estimators.distributions.metrics import jensen_shannon_distance
from optldp.solvers import MixtureFit, MixtureLikelihood, fit_mixture

from ..experiment.drawn_values import beta
from ..experiment.script import Check, Run
from .distributions import CELLS, THREE, mechanism, users

EPSILON = 0.6
STEPS = (10, 100, 1_000, 10_000, 100_000)
STOPPED = 1e-3
"""The papers' rule: stop when a step changes the log-likelihood by less."""
NEVER = 1e-15
"""A certificate that EM does not reach in so many steps."""
ARRIVED = 0.01
"""Nats below the maximum, and distances, that count as none."""


def convergence(run: Run) -> list[Check]:
    """Theorem 5.1, Beta(2,5): EM's log-likelihood and distribution, from even weights and from random ones."""
    rng, grid = np.random.default_rng([run.seed, 51]), InputGrid.equal_cells(0.0, 1.0, CELLS)
    values, tables = beta(users(run), rng), [mechanism(family, EPSILON) for family in THREE]
    outputs = np.stack([table.output_index(table.sample(values, rng)) for table in tables], axis=1)
    services = [Service(family, table) for family, table in zip(THREE, tables, strict=True)]
    counts, start = ReportCounts.from_outputs(services, outputs), rng.dirichlet(np.ones(CELLS))
    parts = {"SR, PM and SW": counts, "SR alone": counts.only([0])}
    found = {name: _steps(likelihood_of(part, grid), start, run) for name, part in parts.items()}
    rows = [(name, *row) for name, steps in found.items() for row in steps]
    header = ("services", "EM's steps", "log-likelihood below the maximum", "distance from the maximum's distribution")
    title = f"Beta(2,5), epsilon {EPSILON:g}, {users(run):,} users, {CELLS} cells"
    run.table("theorem-5-1", title, (*header, "distance from EM begun at random weights"), rows)
    (*_, last, rule), (*_, alone, _) = found.values()
    never = all(np.diff([row[1] for row in steps[:-1]]).max() <= ARRIVED for steps in found.values())
    return [
        Check("theorem 5.1: the likelihood never falls, and tends to its maximum", never, f"{last[1]:.3g} nats below"),
        Check(
            "by the papers' rule EM stops before it",
            rule[1] > ARRIVED and rule[2] > ARRIVED,
            f"{rule[1]:.2g} nats below after {rule[0]} steps, a distance of {rule[2]:.2f} from the maximum",
        ),
        Check(
            "SR alone has many maxima: where EM ends depends on where it began",
            alone[1] < ARRIVED < alone[3],
            f"two of them are {alone[3]:.2f} apart",
        ),
    ]


def _steps(likelihood: MixtureLikelihood, start: np.ndarray, run: Run) -> list[tuple[str, float, float, float]]:
    """After some numbers of steps, and where the papers' rule stops."""
    best = fit_mixture(likelihood, method="interior-point")
    rows = []
    for steps in STEPS if not run.quick else STEPS[:4]:
        fits = [
            fit_mixture(likelihood, method="em", start=first, certificate=NEVER, max_iterations=steps)
            for first in (None, start)
        ]
        rows.append((f"{steps:,}", *_seen(fits, best)))
    fits = [fit_mixture(likelihood, method="em", start=first, loglik_change=STOPPED) for first in (None, start)]
    return [*rows, (f"{fits[0].iterations:,}, by a change below 0.001", *_seen(fits, best))]


def _seen(fits: list[MixtureFit], best: MixtureFit) -> tuple[float, float, float]:
    even, other = fits
    far, apart = (jensen_shannon_distance(even.weights, fit.weights) for fit in (best, other))
    return max(0.0, best.loglik - even.loglik), far, apart
