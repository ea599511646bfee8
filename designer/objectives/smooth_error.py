"""The error of a smooth estimate of a distribution from so many users, which a design for distributions buys."""

from __future__ import annotations

import numpy as np

from ...mechanisms.errors import InputError
from ...solvers.information.fisher import cumulative_importance
from ..priors.prior import Prior

FLATTEST = 0.25
"""The least bend of a log density: that of a normal one whose standard deviation is this share of the domain."""

LEAST_WEIGHT = 1e-12
"""The least weight of a knot, so that its logarithm is finite."""


def smooth_trace(probabilities: np.ndarray, prior: Prior, users: float) -> float:
    r"""Return the squared error of the distribution function by a smooth estimate, times the number of users.

    A smooth estimate takes the log density for a random function theta that bends as the prior's own does: with D its
    second divided differences, at n knots,

        theta ~ exp(-(l / 2) |D theta|^2),    l = (n - 2) / |D ln p|^2.

    To first order the weights are p + A theta, A = diag(p) - p p^T, and N reports of a table with the Fisher
    information J of the weights leave the expected squared error

        N tr(C A (N A J A + l D^T D)^+ A),

    C as in `Information`.  With many users it is the trace; with few the penalty decides.  Estimates of free
    frequencies err by the trace, less what they gain by not being negative.  `smooth` averages over orders and
    smoothness, and errs less than this on smoother values: docs/theory/information.md compares two tables by
    both errors.

    Parameters
    ----------
    probabilities : (n, m) ndarray
        Of a table on the prior's knots.
    prior : Prior
        At least three knots; what values are drawn from.
    users : float
        N, positive.

    Returns
    -------
    error : float
        In the units of the knots, as `Information("cumulative")` has its trace.

    Raises
    ------
    InputError
        Fewer than three knots, or users that are no positive number.

    Source: Van Trees (1968), "Detection, estimation, and modulation theory", part I, for the bound that this is; Gu
    (2013), "Smoothing spline ANOVA models", for log densities with penalised differences.

    Example
    -------
    >>> from optldp.designer.objectives.information import table_trace
    >>> from optldp.mechanisms import square_wave
    >>> prior = Prior.on_knots(np.linspace(0, 1, 9), np.exp(-np.linspace(-2, 2, 9) ** 2), source="public")
    >>> table = square_wave(prior.knots, 1.0).probabilities
    >>> round(smooth_trace(table, prior, 1e9) / table_trace(table, prior, "cumulative"), 2)
    1.0
    >>> bool(smooth_trace(table, prior, 1e4) < 0.7 * table_trace(table, prior, "cumulative"))
    True
    """
    if not (np.isfinite(users) and users > 0):
        raise InputError(f"users must be a positive number, got {users!r}")
    if prior.knots.size < 3:
        raise InputError(f"a smooth estimate needs at least 3 knots, got {prior.knots.size}")
    low, high = prior.domain
    x, p = (prior.knots - low) / (high - low), np.maximum(prior.weights, LEAST_WEIGHT)
    p = p / p.sum()
    bends = _second_differences(x)
    bent = max(float(np.sum((bends @ np.log(p)) ** 2)), float(np.sum((bends @ (0.5 * (x / FLATTEST) ** 2)) ** 2)))
    used = p @ probabilities > 0
    table = probabilities[:, used]
    tangent = np.diag(p) - np.outer(p, p)
    information = tangent @ ((table / (p @ table)) @ table.T) @ tangent
    # Constants change no weight; the last term fixes them.
    precision = users * information + (x.size - 2) / bent * bends.T @ bends + 1.0
    error = np.trace(cumulative_importance(x) @ tangent @ np.linalg.solve(precision, tangent))
    return float(users * error * (high - low))


def _second_differences(x: np.ndarray) -> np.ndarray:
    """(n - 2, n) second derivatives by divided differences, each weighed by the root of the stretch it stands for."""
    gaps = np.diff(x)
    slopes = np.diff(np.eye(x.size), axis=0) / gaps[:, None]
    stretch = 0.5 * (gaps[1:] + gaps[:-1])
    return np.diff(slopes, axis=0) / np.sqrt(stretch)[:, None]
