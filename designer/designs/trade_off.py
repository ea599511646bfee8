"""The front between the expected variance under a prior and the worst case: designs at several weights."""

from __future__ import annotations

from collections.abc import Iterable

from ..objectives.base import DEFAULT_TOLERANCE
from ..objectives.worst_case import TradeOff
from ..priors.prior import Prior
from .design import design
from .result import Design

DEFAULT_WEIGHTS = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Weights of the worst case along a trade-off curve."""


def trade_off_curve(
    prior: Prior,
    epsilon: float,
    *,
    weights: Iterable[float] = DEFAULT_WEIGHTS,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
) -> list[Design]:
    """Return the designs of `TradeOff` at each weight: points of the Pareto front, worst case falling.

    Parameters
    ----------
    prior : Prior
    epsilon : float
    weights : iterable of float
        Of the worst case, in (0, 1]; they are sorted.
    tolerance, exact
        As in `design`.

    Returns
    -------
    points : list of Design
        In the order of the weights; `plots.trade_off` draws them.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer import trade_off_curve
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> points = trade_off_curve(prior, 2.0, weights=[0.01, 0.1, 1.0])
    >>> [(round(p.expected_variance, 3), round(p.evidence.worst_knot_variance, 3)) for p in points]
    [(0.637, 1.022), (0.639, 0.989), (0.857, 0.857)]
    """
    objectives = [TradeOff(weight) for weight in sorted(weights)]
    return [design(prior, epsilon, objective=each, tolerance=tolerance, exact=exact) for each in objectives]
