"""Priors, budgets and what else the tests of sweeps share."""

# What stands in for a design in a test is found where it is used, in another module than its own.
# pyright: reportPrivateImportUsage=false

import functools

import numpy as np
import pytest
from optldp.designer import Prior, sweep
from optldp.designer.comparison import judging
from optldp.designer.comparison.sweep_table import SweepTable

KNOTS = np.linspace(0, 50, 7)
PRIORS = {
    "skewed": Prior.on_knots(KNOTS, [1, 4, 9, 4, 1, 0, 0], source="public"),
    "flat": Prior.on_knots(KNOTS, np.ones(7), source="public"),
    "coarse": Prior.on_knots(KNOTS[::2], np.ones(4), source="public"),
}
EPSILONS = [2.0, 0.5]
FEW = ["optimal", "duchi", "laplace"]

FAR_AWAY = Prior.on_knots(np.linspace(1e12, 1e12 + 1, 5), np.ones(5), source="public")
"""So far from zero that at a small budget some families cannot be unbiased."""


@functools.cache
def whole_table() -> SweepTable:
    """Return every case with every method, computed one after the other."""
    return sweep(PRIORS, EPSILONS)


def watched_optima(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """Return a list that will hold the optima solved in this process, as they come: number of knots and budget."""
    real, seen = judging.solve_methods, []

    def watched(prior, epsilon, methods, **options):
        seen.append((prior.knots.size, epsilon))
        return real(prior, epsilon, methods, **options)

    monkeypatch.setattr(judging, "solve_methods", watched)
    return seen
