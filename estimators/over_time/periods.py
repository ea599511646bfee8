"""Means of periods, in which different users reported, and what follows from them with its covariance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError
from ..estimate import Estimate
from ..intervals import CONFIDENCE, Interval, normal_interval
from ..methods import Target


@dataclass(frozen=True, eq=False, repr=False)
class PeriodMeans(Estimate):
    """Estimates that belong to periods: means, or changes since the period before.

    Parameters
    ----------
    periods : (K,) ndarray of int
        In rising order.
    value : (K,) ndarray of float
    covariance : (K, K) ndarray of float
        Of the values about the truth.
    n : (K,) ndarray of int
        Reports of each period; for a change, of both periods.
    method : str
    target : {"population", "users"}

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.over_time import PeriodMeans
    >>> found = PeriodMeans(np.array([1, 2]), np.array([0.1, 0.3]), 0.01 * np.eye(2), np.array([50, 50]))
    >>> found.changes()
    PeriodMeans(numbers=1, largest='2: 0.2', method='unbiased')
    >>> found.average().std_error.round(4)
    array([0.0707])
    """

    periods: np.ndarray
    value: np.ndarray
    covariance: np.ndarray
    n: np.ndarray
    method: str = "unbiased"
    target: Target = "population"

    @property
    def std_error(self) -> np.ndarray:
        """(K,) standard errors."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def labels(self) -> Mapping[str, Sequence[Any]]:
        """The periods."""
        return {"period": self.periods.tolist()}

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the interval of each by itself."""
        return normal_interval(self.value, self.std_error, confidence, -math.inf, math.inf)

    def affine(self, scale: float, shift: float) -> PeriodMeans:
        """Return the same times a scale, and shifted.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators.over_time import PeriodMeans
        >>> PeriodMeans(np.array([1]), np.array([2.0]), np.eye(1), np.array([9])).affine(10, 1).value.tolist()
        [21.0]
        """
        return replace(self, value=scale * self.value + shift, covariance=scale**2 * self.covariance)

    def average(self) -> PeriodMeans:
        """Return the average over the periods, each counted alike, under the last period."""
        weights = np.full((1, self.periods.size), 1 / self.periods.size)
        return self._combined(weights, self.periods[-1:], np.array([self.n.sum()]))

    def changes(self) -> PeriodMeans:
        """Return the changes of each period since the one before in the series; InputError for a single period."""
        if self.periods.size < 2:
            raise InputError(f"a change is between two periods, got reports of {self.periods.size}: add another file")
        steps = np.diff(np.eye(self.periods.size), axis=0)
        return self._combined(steps, self.periods[1:], self.n[1:] + self.n[:-1])

    def smoothed(self, step: float) -> PeriodMeans:
        """Return the level of each period, if levels move from each to the next by a random step.

        The best linear estimate of a local level: with precisions 1 / s_t^2 of the periods' own means, and steps of
        standard deviation `step` times the root of the periods between, levels have precision

            P = diag(1 / s_t^2) + D' D / step^2,

        and value P^-1 (y / s^2). Its covariance P^-1 holds what is left of the noise and, on average over such steps,
        the square of the smoothing's bias, which so is within the interval. Levels that move in another way, by one
        leap for instance, are told too late and with too short an interval.

        Parameters
        ----------
        step : float
            Positive, in the units of the values.

        Raises
        ------
        InputError
            Another step.

        Source: Durbin and Koopman (2012), section 2.4, in one linear system.

        Example
        -------
        >>> import numpy as np
        >>> from optldp.estimators.over_time import PeriodMeans
        >>> means = PeriodMeans(np.arange(1, 53), np.zeros(52), 0.047**2 * np.eye(52), np.full(52, 2000))
        >>> means.smoothed(0.005).std_error[[25, -1]].round(3)
        array([0.011, 0.015])
        """
        if not (0 < step < math.inf):
            raise InputError(f"the step of a level between periods must be positive and finite, got {step!r}")
        own = np.linalg.inv(self.covariance)
        apart = np.diff(self.periods)
        steps = np.diff(np.eye(self.periods.size), axis=0) / (step * np.sqrt(apart))[:, None]
        covariance = np.linalg.inv(own + steps.T @ steps)
        return replace(self, value=covariance @ own @ self.value, covariance=covariance, method="local-level")

    def _combined(self, weights: np.ndarray, periods: np.ndarray, n: np.ndarray) -> PeriodMeans:
        """Return weights (Q, K) times the values."""
        covariance = weights @ self.covariance @ weights.T
        return replace(self, periods=periods, value=weights @ self.value, covariance=covariance, n=n)


def estimate_periods(
    estimates: Mapping[int, Estimate], *, smooth: float | None = None, covariance: np.ndarray | None = None
) -> PeriodMeans:
    """Return the series of estimates of single periods with different users.

    Parameters
    ----------
    estimates : mapping of int to Estimate
        Of one number each, by its period: ``estimate_mean(count(way.mechanism, reports))``.
    smooth : float, optional
        Standard deviation of the step of a level between two periods: `PeriodMeans.smoothed`. Default: none.
    covariance : (K, K) ndarray of float, optional
        Of the estimates, where users have reports in several periods. Default: their squared standard errors.

    Returns
    -------
    series : PeriodMeans

    Raises
    ------
    InputError
        No estimates, or a step that is not positive.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators import count, estimate_mean
    >>> from optldp.estimators.over_time import estimate_periods
    >>> from optldp.mechanisms import duchi, make_exact
    >>> table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    >>> rng = np.random.default_rng(1)
    >>> each = {t: estimate_mean(count(table, table.sample(np.full(500, 0.1 * t), rng))) for t in (1, 2, 3)}
    >>> estimate_periods(each, smooth=0.1).value.round(2)
    array([0.16, 0.14, 0.26])
    """
    if not estimates:
        raise InputError("there must be an estimate of at least one period, got none")
    periods = np.array(sorted(estimates))
    each = [estimates[period] for period in periods.tolist()]
    spread = np.diag([float(one.std_error) ** 2 for one in each]) if covariance is None else covariance
    found = PeriodMeans(
        periods, np.array([float(one.value) for one in each]), spread, np.array([one.n for one in each]),
        target=each[0].target,
    )  # fmt: skip
    return found if smooth is None else found.smoothed(smooth)


def joined(series: Sequence[PeriodMeans]) -> PeriodMeans:
    """Join series of different users, as from successive ways or tables.

    A period in several of them gets their average of least variance.

    Parameters
    ----------
    series : sequence of PeriodMeans

    Returns
    -------
    series : PeriodMeans

    Raises
    ------
    InputError
        No series, or targets that differ.

    Source: generalised least squares (Aitken, 1936).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.over_time import PeriodMeans, joined
    >>> first = PeriodMeans(np.array([1, 2]), np.array([1.0, 2.0]), np.eye(2), np.array([50, 50]))
    >>> second = PeriodMeans(np.array([2, 3]), np.array([4.0, 5.0]), np.eye(2), np.array([50, 50]))
    >>> both = joined([first, second])
    >>> both.value.round(9).tolist(), both.covariance.diagonal().round(9).tolist(), both.n.tolist()
    ([1.0, 3.0, 5.0], [1.0, 0.5, 1.0], [50, 100, 50])
    """
    if not series or len({one.target for one in series}) > 1:
        raise InputError(f"there must be series about the same people, got {len(series)} of several targets or none")
    periods, place = np.unique(np.concatenate([one.periods for one in series]), return_inverse=True)
    cells = np.eye(periods.size)[place]
    own = np.zeros((place.size, place.size))
    at = 0
    for one in series:
        many = one.periods.size
        own[at : at + many, at : at + many] = np.linalg.inv(one.covariance)
        at += many
    covariance = np.linalg.inv(cells.T @ own @ cells)
    value = covariance @ (cells.T @ (own @ np.concatenate([one.value for one in series])))
    n = np.bincount(place, weights=np.concatenate([one.n for one in series])).astype(int)
    return replace(series[0], periods=periods, value=value, covariance=covariance, n=n)
