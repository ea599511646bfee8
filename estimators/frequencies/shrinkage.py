r"""Empirical Bayes: many frequencies are estimated at once, and tell how they are distributed.

Unbiased estimates u_k = theta_k + noise are drawn towards what the others show: to zero where most are nothing, to each
other where all are alike, and hardly at all where a few are large.  How far is nobody's choice: the mixture

    theta ~ sum_g pi_g Uniform[a_g, b_g]

under which the estimates are likeliest, over a fixed list of ranges: a point at zero and [0, s] for s between a tenth
of a standard error and twice the largest estimate, so that the density falls from zero; and a point at 1 / K and [1/K -
s, 1/K + s], so that all may be alike.  Its weights are a convex program.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.fit import fit_mixture
from ...solvers.likelihood.simplex import nearest_weights

FINEST = 0.1
"""The shortest range, in standard errors: shorter ones are points."""

STEP = 2**0.5
"""Ratio of a range to the next: Stephens' choice; finer ones change nothing."""

LEAST_LIKELIHOOD = 1e-290
"""Estimates 36 standard errors below zero have no likelihood that a double shows."""

LEAST_SPREAD = 0.1
"""Standard deviation of a frequency given its estimate, in the estimate's standard errors, that is kept for the sum."""


def shrunk(estimates: np.ndarray, std_errors: np.ndarray) -> np.ndarray:
    r"""Return the frequencies' posterior means under the likeliest mixture, moved until their sum is one.

    Each moves in proportion to its posterior variance, which is what knowing the sum would do were they normal; none
    below zero.  The estimates themselves are moved so at first, in proportion to their variances: else what their sum
    is off by passes for frequency of those that are nothing, and is taken from those that are large.

    Parameters
    ----------
    estimates : (K,) ndarray of float
        Unbiased.
    std_errors : (K,) ndarray of float
        Positive.

    Returns
    -------
    (K,) ndarray of float
        Non-negative, with sum one.

    Source
    ------
    Stephens (2017), "False discovery rates: a new deal", for mixtures of uniform densities with one mode; Efron and
    Morris (1973), "Stein's estimation rule and its competitors", for drawing towards the mean; here the data choose
    between the two modes.

    Example
    -------
    >>> noise = np.random.default_rng(1).normal(0.0, 0.02, 50)
    >>> sparse, alike = np.eye(50)[0], np.full(50, 0.02)
    >>> [round(float(np.abs(shrunk(t + noise, np.full(50, 0.02)) - t).max()), 3) < 0.02 for t in (sparse, alike)]
    [True, True]
    """
    if estimates.size == 1:
        return np.ones(1)
    variances = std_errors**2
    given = estimates + variances * ((1.0 - estimates.sum()) / variances.sum())
    low, high = _ranges(given, std_errors)
    likelihood, mean, second = _posteriors(given, std_errors, low, high)
    scale = likelihood.max(axis=0)
    weights = fit_mixture(
        DenseLikelihood([likelihood / scale], np.ones(estimates.size)), method="interior-point"
    ).weights
    share = weights[:, None] * likelihood
    share /= share.sum(axis=0)
    found = (share * mean).sum(axis=0)
    spread = np.maximum((share * second).sum(axis=0) - found**2, (LEAST_SPREAD * std_errors) ** 2)
    return nearest_weights(found, 1.0 / spread)


def _ranges(estimates: np.ndarray, std_errors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ends (G,) of the ranges that a frequency may be drawn from."""
    least = FINEST * float(std_errors.min())
    most = min(1.0, 2.0 * max(float(np.abs(estimates).max()), float(std_errors.max())))
    lengths = least * STEP ** np.arange(max(1, int(np.ceil(np.log(max(most / least, 1.0)) / np.log(STEP))) + 1))
    even = 1.0 / estimates.size
    around = np.append(lengths[lengths < even], even)
    low = np.concatenate([[0.0], np.zeros(lengths.size), [even], even - around])
    high = np.concatenate([[0.0], lengths, [even], even + around])
    return low, high


def _posteriors(
    estimates: np.ndarray, std_errors: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Density (G, K) of each estimate under each range, and first and second moment of the frequency given both."""
    start = (low[:, None] - estimates) / std_errors
    stop = (high[:, None] - estimates) / std_errors
    mirrored = start > 0  # there the tail is the small number, and one less it has lost its digits
    mass = np.where(mirrored, ndtr(-start) - ndtr(-stop), ndtr(stop) - ndtr(start))
    at_start, at_stop = _normal_density(start), _normal_density(stop)
    point = high == low
    width = np.where(point, 1.0, high - low)[:, None]
    density = np.where(point[:, None], at_start / std_errors, mass / width)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shift = (at_start - at_stop) / mass
        more = (start * at_start - stop * at_stop) / mass
        mean = estimates + std_errors * shift
        variance = std_errors**2 * (1.0 + more - shift**2)
    # Where a range is far from the estimate in standard errors, or a point, the quotients are not known.
    unknown = point[:, None] | ~((mass > LEAST_LIKELIHOOD) & (variance >= 0))
    mean = np.where(unknown, 0.0, np.clip(mean, low[:, None], high[:, None])) + np.where(
        unknown, np.clip(estimates, low[:, None], high[:, None]), 0.0
    )
    variance = np.where(unknown, 0.0, variance)
    return np.maximum(density, LEAST_LIKELIHOOD), mean, variance + mean**2


def _normal_density(z: np.ndarray) -> np.ndarray:
    return np.exp(-0.5 * z * z) / np.sqrt(2.0 * np.pi)
