"""One linear report of a user's own history: which rows, through which table, and what that costs."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.over_time import HistoryRows
from ...mechanisms.over_time.panel import SALT_BYTES
from ...mechanisms.over_time.turns import LARGEST_TOTAL
from ...solvers.over_time import best_rows
from ...solvers.over_time.rows import candidate_rows
from ..priors.prior import Prior
from .noise import correlations

if TYPE_CHECKING:
    from .noise import Noise
    from .repeated import Repeated

HISTORIES = 4000
"""Simulated, of which the values of rows are taken: the variance of a table is off by a percent or two at most."""

LEVEL = 1e-6
"""A share of every mean in a workload, so that changes do not leave the level unknown."""


@dataclass(frozen=True, eq=False)
class PlannedRows:
    """Rows and what they cost.

    Attributes
    ----------
    rows : (m, T) ndarray of float
        Of a reach of one.
    shares, variances : (m,) ndarray of float
        Of users, of sum one; and of a report between users, in units of half the range.
    prior : Prior
        Of what is reported: values of rows of simulated histories.
    costs : (each, average, change)
        Variances times n about the means of these users; None where the rows do not tell it.
    """

    rows: np.ndarray
    shares: np.ndarray
    variances: np.ndarray
    prior: Prior
    costs: tuple[float | None, float | None, float | None]


def plan_rows(noise: Noise, epsilon: float, asked: Repeated) -> PlannedRows:
    """Return the rows that are best for what is asked, reported through one table that is best for their values.

    The design of rows is made twice: with the noise of a report of a value, and, of the rows that are left, with the
    noise of the table that is designed for the values of these.

    Example
    -------
    >>> import numpy as np
    >>> from ..priors.prior import Prior
    >>> from .noise import Noise
    >>> from .repeated import Repeated
    >>> noise = Noise(Prior.even(np.linspace(-1, 1, 17)))
    >>> found = plan_rows(noise, 4.0, Repeated(52, of="average"))
    >>> found.rows.shape, found.costs[1] < 0.6 * noise.at(4.0)
    ((1, 52), True)
    """
    periods = asked.periods
    low, high = noise.prior.domain
    half = 0.5 * (high - low)
    near = correlations(periods, asked.most_changes)
    spread = noise.variance / half**2 * near[np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))]
    steps, whole = np.diff(np.eye(periods), axis=0), np.full((periods, periods), 1 / periods**2)
    workloads = {"each": np.eye(periods) / periods, "average": whole, "change": steps.T @ steps / (periods - 1)}
    rows = np.full((1, periods), 1 / periods)
    asked_for = workloads[asked.of] + LEVEL * np.eye(periods)
    if asked.of != "average":
        every = candidate_rows(periods)
        guess = np.full(len(every), noise.at(epsilon) / half**2)
        rows = best_rows(every, guess, spread, asked_for, asked.most_changes).rows
    # The same each time, so that plan and design agree.
    rng = np.random.default_rng(33)
    histories = histories_of(noise.prior, periods, asked.most_changes, HISTORIES, rng)
    shares = np.full(len(rows), 1 / len(rows))
    prior, noises = _reported(noise, epsilon, rows @ histories.T, shares)
    if asked.of == "average":
        cost = half**2 * float(noises[0])
        return PlannedRows(rows, shares, noises + rows @ spread @ rows.T.sum(axis=1), prior, (None, cost, None))
    made = best_rows(rows, noises, spread, asked_for, asked.most_changes)
    left = np.linalg.inv(made.information) - spread
    each, average, change = (half**2 * float((workload * left).sum()) for workload in workloads.values())
    return PlannedRows(made.rows, made.shares, made.variances, prior, (each, average, change))


def design_rows(made: Callable[[Prior, float], Any], planned: PlannedRows, epsilon: float) -> HistoryRows:
    """Return the way of planned rows, with the table that is made for a prior and a budget, and a salt of its own."""
    shares = np.maximum(np.rint(planned.shares * (LARGEST_TOTAL // 2)), 1).astype(int)
    return HistoryRows(
        made(planned.prior, epsilon),
        planned.rows,
        shares.tolist(),
        planned.variances,
        epsilon,
        secrets.token_hex(SALT_BYTES),
    )


def histories_of(prior: Prior, periods: int, changes: int, many: int, rng: np.random.Generator) -> np.ndarray:
    """Return so many histories (N, T) of values scaled to [-1, 1], as `correlations` takes them to be.

    Example
    -------
    >>> import numpy as np
    >>> found = histories_of(Prior.even([0.0, 1.0]), 5, 2, 100, np.random.default_rng(1))
    >>> found.shape, (np.diff(found, axis=1) != 0).sum(axis=1).max() <= 2
    ((100, 5), np.True_)
    """
    low, high = prior.domain
    knots = (prior.knots - 0.5 * (low + high)) / (0.5 * (high - low))
    drawn = rng.choice(knots, (many, changes + 1), p=prior.weights)
    at = np.zeros((many, periods), dtype=int)
    places = rng.permuted(np.tile(np.arange(1, periods), (many, 1)), axis=1)[:, :changes]
    np.put_along_axis(at, places, 1, axis=1)
    return np.take_along_axis(drawn, at.cumsum(axis=1), axis=1)


def _reported(noise: Noise, epsilon: float, values: np.ndarray, shares: np.ndarray) -> tuple[Prior, np.ndarray]:
    """The prior of what rows (m, N) report, and the noise (m,) of a report of each through the table for it."""
    from .noise import Noise

    knots = noise.prior.knots
    low, high = noise.prior.domain
    half = 0.5 * (high - low)
    inside = np.clip(0.5 * (low + high) + half * values, low, high)
    left = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, knots.size - 2)
    upper = (inside - knots[left]) / (knots[left + 1] - knots[left])
    laws = np.zeros((len(values), knots.size))
    each = np.broadcast_to(np.arange(len(values))[:, None], left.shape)
    np.add.at(laws, (each, left), 1 - upper)
    np.add.at(laws, (each, left + 1), upper)
    laws /= values.shape[1]
    prior = Prior.on_knots(knots, shares @ laws, source=noise.prior.source, units=noise.prior.units)
    table = Noise(prior, noise.progress).design(epsilon).mechanism
    seconds = table.knot_variances + knots**2
    return prior, (laws @ seconds - (inside**2).mean(axis=1)) / half**2
