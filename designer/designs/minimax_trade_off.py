"""The trade-off between the expected variance under a prior and the worst case.

An optimum for a prior may treat rare values badly, a minimax design does not use what is known of the data; what lies
between is the Pareto front of the two, found by weighting them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ...solvers import Progress
from ..priors.prior import Prior
from .design import DEFAULT_TOLERANCE
from .minimax import MinimaxDesign, weighted_design

DEFAULT_WEIGHTS = (0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 1.0)
"""Weights of the worst case along a trade-off curve."""


def design_trade_off(
    prior: Prior,
    epsilon: float,
    weight: float,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
    progress: Callable[[Progress], None] | None = None,
) -> MinimaxDesign:
    """Build the unbiased mechanism of least (1 - weight) expected + weight worst-case variance at the knots.

    Parameters
    ----------
    prior : Prior
    epsilon : float
    weight : float
        Of the worst case, in (0, 1]; for 0 see `design`.
    tolerance, exact, progress
        As in `design_minimax`.

    Raises
    ------
    InputError
        An epsilon, a weight or a tolerance that is not usable.

    Example
    -------
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> some, all_of_it = (design_trade_off(prior, 2.0, weight) for weight in (0.1, 1.0))
    >>> some.expected_variance < all_of_it.expected_variance, some.worst_knot_variance > all_of_it.worst_knot_variance
    (True, True)
    """
    made = weighted_design(prior, epsilon, weight, tolerance, exact, progress)
    return replace(made, mechanism=replace(made.mechanism, prior=prior.knot_prior))


def trade_off_curve(
    prior: Prior,
    epsilon: float,
    *,
    weights: Iterable[float] = DEFAULT_WEIGHTS,
    tolerance: float = DEFAULT_TOLERANCE,
    exact: bool = True,
) -> list[MinimaxDesign]:
    """Return the designs of `design_trade_off` at each weight: points of the Pareto front, worst case falling.

    Parameters
    ----------
    prior : Prior
    epsilon : float
    weights : iterable of float
        Of the worst case, in (0, 1]; they are sorted.
    tolerance, exact
        As in `design_minimax`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> front = trade_off_curve(prior, 2.0, weights=[0.01, 0.1, 1.0])
    >>> worst = [point.worst_knot_variance for point in front]
    >>> worst == sorted(worst, reverse=True)
    True
    """
    return [design_trade_off(prior, epsilon, weight, tolerance=tolerance, exact=exact) for weight in sorted(weights)]
