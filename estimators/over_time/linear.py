"""Means of periods from one linear report of each user, by least squares, with the covariance that reports show."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...mechanisms.errors import InputError
from ..methods import Target
from .periods import PeriodMeans

TOLD = 1e-6
"""A mean is told by rows if least squares gives it back up to this share; else it is off by much more."""


class Groups(NamedTuple):
    """Reports by their rows.

    Attributes
    ----------
    rows : (G, T) ndarray of float
        Those that have reports.
    many : (G,) ndarray of int
    means, spreads : (G,) ndarray of float
        Average and sample variance of each one's reports; where there is one report, what is assumed for it times how
        much larger the others' spread is than what is assumed for these.
    weights : (G,) ndarray of float
        One over the assumed variances of a report.
    """

    rows: np.ndarray
    many: np.ndarray
    means: np.ndarray
    spreads: np.ndarray
    weights: np.ndarray


def grouped(rows: np.ndarray, variances: np.ndarray, which: np.ndarray, reports: np.ndarray) -> Groups:
    """Return reports (N,), scaled as rows (m, T) are, by the row `which` (N,) that each is of.

    Example
    -------
    >>> found = grouped(np.eye(2), np.ones(2), np.array([0, 0, 1]), np.array([1.0, 3.0, 5.0]))
    >>> found.means.tolist(), found.spreads.tolist()
    ([2.0, 5.0], [2.0, 2.0])
    """
    many = np.bincount(which, minlength=len(rows))
    sums = np.bincount(which, weights=reports, minlength=len(rows))
    there = np.flatnonzero(many)
    means = sums[there] / many[there]
    apart = (reports - (sums / np.maximum(many, 1))[which]) ** 2
    squares = np.bincount(which, weights=apart, minlength=len(rows))[there]
    free = many[there] - 1
    if not free.any():
        raise InputError("some row must have two reports at least, got one of each: add files")
    ratio = squares.sum() / (free @ variances[there])
    spreads = np.where(free > 0, squares / np.maximum(free, 1), ratio * variances[there])
    return Groups(rows[there], many[there], means, spreads, 1 / variances[there])


def estimate_rows(found: Groups, of: str, *, stays: bool = False, target: Target = "population") -> PeriodMeans:
    """Return the means of periods, or what is asked of them, in the scale of the reports.

    With A the rows, n reports of each and weights w, least squares is M^+ sum n w a y, of M = sum n w a a'. Its
    covariance is M^+ (sum n w^2 s^2 a a') M^+, with the sample variances s^2 of each row's reports: it holds whatever
    variances were assumed. It is that about the population's means. About those of these very users it is less, by the
    covariance of a user's values over the users, which single reports do not tell; so intervals for both are the same.

    Parameters
    ----------
    found : Groups
    of : {"each", "average", "change"}
        Periods and changes that rows do not tell are left out; an average is over all, where these rows tell it, and
        else over the periods that they tell.
    stays : bool
        Whether all periods have the same mean.
    target : {"population", "users"}

    Raises
    ------
    InputError
        Rows that tell nothing of what is asked.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.over_time.linear import estimate_rows, grouped
    >>> rng = np.random.default_rng(1)
    >>> which = np.arange(400) % 2
    >>> found = grouped(np.array([[0.5, 0.5], [0.5, -0.5]]), np.ones(2), which, np.where(which, 0.1, 0.3))
    >>> estimate_rows(found, "each").value.round(3).tolist()
    [0.4, 0.2]
    """
    periods = found.rows.shape[1]
    basis = np.ones((periods, 1)) if stays else np.eye(periods)  # means are sums of its columns
    rows, scale = found.rows @ basis, found.many * found.weights
    inverse = np.linalg.pinv((rows * scale[:, None]).T @ rows, rcond=TOLD**2, hermitian=True)
    decoder = basis @ inverse @ (rows * scale[:, None]).T

    def told(asked: np.ndarray) -> np.ndarray:
        """Which of some combinations of the periods' means least squares gives back."""
        return np.flatnonzero(np.abs(asked @ (decoder @ rows - basis)).max(axis=1) < TOLD * np.abs(asked).max())

    def answered(asked: np.ndarray, which: np.ndarray) -> PeriodMeans:
        combined = asked @ decoder
        touched = (found.rows != 0).astype(int) @ (asked != 0).T > 0
        n = np.where(stays, found.many.sum(), found.many @ touched)
        spread = (combined * (found.spreads / found.many)) @ combined.T
        return PeriodMeans(which, combined @ found.means, spread, n, "least-squares", target)

    if of == "change":
        steps = np.diff(np.eye(periods), axis=0)
        if (those := told(steps)).size:
            return answered(steps[those], those + 2)
    elif of == "average" and told(whole := np.full((1, periods), 1 / periods)).size:
        return answered(whole, np.array([periods]))
    elif (those := told(np.eye(periods))).size:
        mine = answered(np.eye(periods)[those], those + 1)
        return mine if of == "each" else mine.average()
    raise InputError(
        f"these reports must tell the mean of a period, got rows that tell of none --of {of}: add the files of the "
        "other periods, or ask what the way was made for"
    )
