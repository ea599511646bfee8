"""The rotating panel: how many reports a user sends, what the panel costs, and how it is made."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.combinators.attribute_sampling import attribute_budget
from ...mechanisms.errors import InputError
from ...mechanisms.over_time.panel import Panel, panel_of
from ...mechanisms.over_time.turns import LARGEST_TOTAL
from .noise import correlations, within_users

if TYPE_CHECKING:
    from collections.abc import Callable

    from .noise import FrequencyNoise, Noise
    from .repeated import Repeated

BUDGET_A_REPORT = 2.0
"""More reports than so much budget for each are not looked at: r near E / 3.5 is best, by section 3 of the page."""


def panel_variance(noise: Noise | FrequencyNoise, epsilon: float, asked: Repeated, reports: int) -> float:
    """Return the variance times n of what is asked for, about the mean of these very n users.

    Each user sends r reports, in r of T periods that are drawn evenly, and groups have fixed sizes: each period's mean
    has variance (T / r) (V(E / r) + s^2 (1 - r / T)), s^2 that of values. Of a span of W periods the panel rotates, and
    W stands in place of T: averages then have ceil(T / W) reports of a user in place of each.

    Source: over-time finding, section 2; sampling without replacement.

    Example
    -------
    >>> from ..priors.prior import Prior
    >>> from .noise import Noise
    >>> from .repeated import Repeated
    >>> import numpy as np
    >>> round(panel_variance(Noise(Prior.even(np.linspace(-1, 1, 17))), 1.0, Repeated(12), 1), 2)
    51.04
    """
    periods, changes, spread = asked.periods, asked.most_changes, noise.variance
    near = spread * correlations(periods, changes)
    if asked.protects.startswith("span"):
        return _rotating_variance(noise, epsilon, asked, reports, near)
    one = noise.at(epsilon / reports)
    groups = periods / reports
    if asked.of == "each":
        return groups * (one + spread * (1 - reports / periods))
    if asked.of == "average":
        left = (periods - reports) / (periods - 1)
        return (one + spread * within_users(periods, changes) * left) / reports
    both, next_ = (reports - 1) / (periods - 1), float(near[1])
    return 2 * groups * (one + spread - both * next_) - 2 * (spread - next_)


def _rotating_variance(
    noise: Noise | FrequencyNoise, epsilon: float, asked: Repeated, reports: int, near: np.ndarray
) -> float:
    """The same of a panel that rotates: two periods have the same users where their turns fall on the same place."""
    periods, span = asked.periods, asked.span
    one, spread, groups = noise.at(epsilon / reports), noise.variance, span / reports
    if asked.of == "each":
        return groups * (one + spread * (1 - reports / span))
    both = (reports - 1) / (span - 1) if span > 1 else 1.0
    if asked.of == "change":
        next_ = float(near[1])
        return 2 * groups * (one + spread - both * next_) - 2 * (spread - next_)
    apart = np.abs(np.subtract.outer(np.arange(periods), np.arange(periods)))
    together = np.where(apart % span == 0, 1.0, both)
    values = float((near[apart] * (groups * together - 1)).sum()) / periods**2
    return groups * one / periods + values


def panel_reports(noise: Noise | FrequencyNoise, epsilon: float, asked: Repeated) -> int:
    """Return how many reports of a user give the least variance.

    Example
    -------
    >>> from ..priors.prior import Prior
    >>> from .noise import Noise
    >>> from .repeated import Repeated
    >>> panel_reports(Noise(Prior.even([-1.0, 0.0, 1.0])), 1.0, Repeated(12))
    1
    """
    cycle = asked.span if asked.protects.startswith("span") else asked.periods
    most = min(cycle, max(1, math.ceil(epsilon / BUDGET_A_REPORT)))
    return min(range(1, most + 1), key=lambda reports: panel_variance(noise, epsilon, asked, reports))


def panel_shares(workload: ArrayLike) -> np.ndarray:
    """Return the shares (T,) of users who report in each period that are best for a linear workload.

    q_t is in proportion to the square root of (W'W)_tt; the noise of the answers then has variance
    V (sum_t sqrt((W'W)_tt))^2 / n, the least of all single linear reports of a history.

    Parameters
    ----------
    workload : (Q, T) array_like of float
        A query of the periods' means in each row.

    Returns
    -------
    shares : (T,) ndarray of float
        Of sum one.

    Raises
    ------
    InputError
        A workload that is no such matrix, or asks nothing.

    Source: Theorem 1 of docs/theory/asking-again.md, by Kiefer and Wolfowitz (1960).

    Example
    -------
    >>> from optldp.designer.over_time import panel_shares
    >>> panel_shares([[1.0, 0.0], [0.0, 3.0]]).tolist()
    [0.25, 0.75]
    """
    asked = np.asarray(workload, dtype=float)
    if asked.ndim != 2 or not np.isfinite(asked).all() or not asked.any():
        raise InputError(f"the workload must be a finite matrix of queries x periods, got shape {asked.shape}")
    lengths = np.sqrt((asked**2).sum(axis=0))
    return lengths / lengths.sum()


def design_panel(
    made: Callable[[float], Any],
    epsilon: float,
    periods: int,
    reports: int = 1,
    shares: ArrayLike | None = None,
    span: int | None = None,
    *,
    by_devices: bool = False,
) -> Panel:
    """Return a panel of the mechanism that is made for the budget of one report.

    Parameters
    ----------
    made : callable
        Function from a budget to its mechanism, a table of numbers or one for categories.
    epsilon : float
        Of a life, or of a span.
    periods, reports : int
        T, and r of them in which a user reports.
    shares : (T,) array_like of float, optional
        Of users in each period, with one report each; rounded to whole numbers. Default: evenly.
    span : int, optional
        Number of periods in a row that are protected together; r reports fall in each such span. Default: a whole life.
    by_devices : bool
        Whether each device draws its own turns, instead of a hash of its name.

    Returns
    -------
    panel : Panel

    Example
    -------
    >>> from optldp.designer.over_time import design_panel
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> design_panel(lambda epsilon: categorical_grr(["yes", "no"], epsilon), 3.0, 52, 3).mechanism.epsilon
    1.0
    """
    mechanism = made(attribute_budget(epsilon, reports))
    if shares is None:
        return panel_of(mechanism, periods, reports, epsilon, span=span, by_devices=by_devices)
    whole = np.rint(np.asarray(shares, dtype=float) * (LARGEST_TOTAL // 2)).astype(int)
    return panel_of(mechanism, periods, reports, epsilon, whole.tolist(), span, by_devices=by_devices)
