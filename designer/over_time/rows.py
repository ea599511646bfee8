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
from ...solvers.over_time.on_time import OnTime, best_on_time
from ...solvers.over_time.rows import candidate_rows
from ..priors.prior import Prior
from .noise import Noise, correlations

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
    stays : bool
        Whether values are taken to stay.
    """

    rows: np.ndarray
    shares: np.ndarray
    variances: np.ndarray
    prior: Prior
    costs: tuple[float | None, float | None, float | None]
    stays: bool = False


def plan_rows(noise: Noise, epsilon: float, asked: Repeated) -> PlannedRows:
    """Return the rows that are best for what is asked, reported through one table that is best for their values.

    The design of rows is made twice: with the noise of a report of a value, and, of the rows that are left, with the
    noise of the table that is designed for the values of these. Where answers are wanted before the end, rows are
    single periods and changes since the period before. A value that stays is told by one report.

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
    at_end = asked.of == "average" or asked.delay == asked.periods - 1
    if not asked.most_changes:
        return _plan_staying(noise, epsilon, asked.periods, at_end)
    if not at_end:
        return _plan_on_time(noise, epsilon, asked)
    periods = asked.periods
    half = _half_range(noise)
    near = correlations(periods, asked.most_changes)
    spread = noise.variance / half**2 * near[np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))]
    steps, whole = np.diff(np.eye(periods), axis=0), np.full((periods, periods), 1 / periods**2)
    workloads = {"each": np.eye(periods) / periods, "average": whole, "change": steps.T @ steps / (periods - 1)}
    rows, weights = np.full((1, periods), 1 / periods), np.ones(1)
    asked_for = workloads[asked.of] + LEVEL * np.eye(periods)
    if asked.of != "average":
        every = candidate_rows(periods)
        guess = np.full(len(every), noise.at(epsilon) / half**2)
        first = best_rows(every, guess, spread, asked_for, asked.most_changes)
        rows, weights = first.rows, first.shares / first.variances
    # The same each time, so that plan and design agree.
    rng = np.random.default_rng(33)
    histories = histories_of(noise.prior, periods, asked.most_changes, HISTORIES, rng)
    # As all rows gain alike, the noise of a row counts as its share over its variance.
    prior, noises = _reported(noise, epsilon, rows @ histories.T, weights / weights.sum())
    if asked.of == "average":
        cost = half**2 * float(noises[0])
        return PlannedRows(rows, np.ones(1), noises + rows @ spread @ rows.T.sum(axis=1), prior, (None, cost, None))
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
        planned.stays,
    )


def _half_range(noise: Noise) -> float:
    low, high = noise.prior.domain
    return 0.5 * (high - low)


def _scaled_knots(prior: Prior) -> np.ndarray:
    low, high = prior.domain
    return (prior.knots - 0.5 * (low + high)) / (0.5 * (high - low))


def _plan_staying(noise: Noise, epsilon: float, periods: int, at_end: bool) -> PlannedRows:
    """The first period, or where there is time the average: the same if values stay, and less wrong if they do not."""
    row = np.full(periods, 1 / periods) if at_end else np.eye(periods)[0]
    cost = noise.at(epsilon)
    varies = np.array([(cost + noise.variance) / _half_range(noise) ** 2])
    return PlannedRows(row[None], np.ones(1), varies, noise.prior, (cost, cost, 0.0), stays=True)


def _plan_on_time(noise: Noise, epsilon: float, asked: Repeated) -> PlannedRows:
    """Rows of single periods and of changes, of which each period is answered when it ends.

    A change reaches twice as far as a value: half of it is reported.
    """
    periods, half = asked.periods, _half_range(noise)
    near = noise.variance / half**2 * correlations(periods, asked.most_changes)
    spread = near[np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))]
    own = np.array([near[0], (near[0] - near[1]) / 2])  # variances of a value, and of half a change
    # All pairs of values, now and before: another one with a chance, and else the same.
    moves = 1 - near[1] / near[0]
    knots, masses = _scaled_knots(noise.prior), noise.prior.weights
    pairs = np.outer(masses, masses)
    values = np.stack([np.repeat(knots, knots.size), np.subtract.outer(knots, knots).ravel() / 2])
    chances = np.stack([pairs.ravel(), (moves * pairs + (1 - moves) * np.diag(masses)).ravel()])

    def planned(weights: np.ndarray) -> tuple[Prior, np.ndarray, OnTime]:
        prior, noises = _reported(noise, epsilon, values, weights / weights.sum(), chances)
        varies = noises + own
        return prior, varies, best_on_time(periods, varies[0], 4 * varies[1], asked.of)

    _, varies, made = planned(np.ones(2))
    prior, varies, made = planned(np.array([made.levels.sum(), made.steps.sum()]) / varies)
    steps = np.diff(np.eye(periods), axis=0, prepend=0.0) / 2
    shares = np.concatenate([made.levels, made.steps])
    used = np.flatnonzero(shares)
    rows, every = np.concatenate([np.eye(periods), steps])[used], np.repeat(varies, periods)[used]
    each = average = None
    if made.levels.any() and made.each < np.inf:
        told = np.linalg.inv((rows * (shares[used] / every)[:, None]).T @ rows)
        average = half**2 * float((told - spread).mean())
        each = half**2 * (made.each - float(near[0]))
    change = half**2 * (made.change - 2 * float(near[0] - near[1]))
    return PlannedRows(rows, shares[used], every, prior, (each, average, change))


def histories_of(prior: Prior, periods: int, changes: int, many: int, rng: np.random.Generator) -> np.ndarray:
    """Return so many histories (N, T) of values scaled to [-1, 1], as `correlations` takes them to be.

    Example
    -------
    >>> import numpy as np
    >>> found = histories_of(Prior.even([0.0, 1.0]), 5, 2, 100, np.random.default_rng(1))
    >>> found.shape, (np.diff(found, axis=1) != 0).sum(axis=1).max() <= 2
    ((100, 5), np.True_)
    """
    knots = _scaled_knots(prior)
    drawn = rng.choice(knots, (many, changes + 1), p=prior.weights)
    at = np.zeros((many, periods), dtype=int)
    places = rng.permuted(np.tile(np.arange(1, periods), (many, 1)), axis=1)[:, :changes]
    np.put_along_axis(at, places, 1, axis=1)
    return np.take_along_axis(drawn, at.cumsum(axis=1), axis=1)


def _reported(
    noise: Noise, epsilon: float, values: np.ndarray, shares: np.ndarray, chances: np.ndarray | None = None
) -> tuple[Prior, np.ndarray]:
    """The prior of what rows report, and the noise (m,) of a report of each through the table for it.

    Their values (m, N), scaled to [-1, 1], have chances (m, N), or else are as likely as another.
    """
    knots = noise.prior.knots
    low, high = noise.prior.domain
    half = _half_range(noise)
    many = np.full(values.shape, 1 / values.shape[1]) if chances is None else chances
    inside = np.clip(0.5 * (low + high) + half * values, low, high)
    left = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, knots.size - 2)
    upper = (inside - knots[left]) / (knots[left + 1] - knots[left])
    laws = np.zeros((len(values), knots.size))
    each = np.broadcast_to(np.arange(len(values))[:, None], left.shape)
    np.add.at(laws, (each, left), many * (1 - upper))
    np.add.at(laws, (each, left + 1), many * upper)
    prior = Prior.on_knots(knots, shares @ laws, source=noise.prior.source, units=noise.prior.units)
    table = Noise(prior, noise.progress).design(epsilon).mechanism
    seconds = table.knot_variances + knots**2
    return prior, (laws @ seconds - (many * inside**2).sum(axis=1)) / half**2
