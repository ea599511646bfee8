"""Weights of services, the same for all users who reported to the same ones, and the prior they are taken under."""

from collections.abc import Callable

import numpy as np

from ..counting.counts import ReportCounts
from ..input_grid import InputGrid

PriorEstimator = Callable[[ReportCounts, InputGrid], np.ndarray]
"""From the reports of some users to (K,) weights of the grid, to weigh the reports of others by."""

PRIOR_STEPS = 100
"""EM steps of the rough prior: variances of decoded reports are smooth in the input, so that detail, which takes
thousands of steps, would not move the weights."""

UNIFORM_SHARE = 0.01
"""Mixed into the rough prior, so that no input is thought impossible on the word of a few noisy reports."""


def population_weights(variances: np.ndarray, prior: np.ndarray) -> np.ndarray:
    """Return the (J,) weights proportional to 1 / E_p[var_j], which sum to one.

    Among constant weights these give the weighted mean of a user's decoded reports the least expected variance.
    They do not look at the reports they weigh, so the weighted mean is unbiased whatever they are.

    Parameters
    ----------
    variances : (J, K) ndarray of float
        Variance of each service's decoded report at each component of the grid.
    prior : (K,) ndarray of float
        Weights of the components, summing to one.

    Example
    -------
    >>> population_weights(np.array([[1.0, 1.0], [2.0, 4.0]]), np.array([0.5, 0.5]))
    array([0.75, 0.25])
    """
    precision = 1 / (variances @ prior)
    return precision / precision.sum()


def rough_prior(counts: ReportCounts, grid: InputGrid) -> np.ndarray:
    r"""Estimate the distribution of the inputs, roughly and fast, by EM on every service's reports by themselves.

    It takes the reports of one user for those of different users, which makes the likelihood a product over
    services: with n reports in all, c_jo of them output o of service j,

        w <- w * (1/n) sum_j P_j (c_j / (P_j^T w)),

    100 times from equal weights; then a uniform share of 0.01 is mixed in.  Good enough to weigh by, not to
    report.

    Parameters
    ----------
    counts : ReportCounts
        At least one report.
    grid : InputGrid
        K components.

    Returns
    -------
    weights : (K,) ndarray of float
        Positive, summing to one.

    Example
    -------
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> table = duchi([-1.0, 1.0], 1.0)
    >>> counts = ReportCounts.from_reports(table, table.sample(np.ones(1000), np.random.default_rng(1)))
    >>> rough_prior(counts, InputGrid.knots([-1.0, 1.0])).round(3)
    array([0.012, 0.988])
    """
    # One table of all services' outputs side by side: a step is two products with it.
    rows = np.concatenate([grid.rows(mechanism) for mechanism in counts.mechanisms], axis=1)
    seen = np.concatenate([counts.reports_of(j) for j in range(len(counts.services))])
    rows, share = rows[:, seen > 0], seen[seen > 0] / seen.sum()
    weights = np.full(grid.size, 1 / grid.size)
    for _ in range(PRIOR_STEPS):
        weights = weights * (rows @ (share / (weights @ rows)))
    return (1 - UNIFORM_SHARE) * weights / weights.sum() + UNIFORM_SHARE / grid.size
