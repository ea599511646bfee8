"""One budget of a report on bounds: every method against the certified optimum, and the least worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from threadpoolctl import threadpool_limits

from ...mechanisms.errors import OptldpError
from ..designs.design import design
from ..designs.trade_off import DEFAULT_WEIGHTS
from ..objectives.base import Objective
from ..objectives.worst_case import TradeOff, WorstCase
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BudgetBounds, BudgetDetail
from .judging import judged_rows, solve_case, solve_methods
from .row import Row

PRIOR_NAME = "prior"
"""What the one prior of a report is called in its rows."""


def solve_budget(
    prior: Prior,
    epsilon: float,
    methods: Sequence[str],
    *,
    uniform_share: float,
    tolerance: float,
    objectives: Sequence[Objective] = (),
) -> BudgetBounds:
    """Judge every method at one budget, on one thread; what cannot be built is a row that says why.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Budget, already checked.
    methods : sequence of str
        Out of `METHODS`, "optimal" among them, already checked.
    uniform_share, tolerance : float
        As in `design`.
    objectives : sequence of Objective
        What else to judge by, already checked.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_budget(prior, 1.0, ["optimal", "duchi"], uniform_share=1e-3, tolerance=1e-6)
    >>> [(row.method, row.status) for row in (*found.rows, found.minimax)]
    [('optimal', 'optimal'), ('duchi', 'gap-open'), ('minimax', 'optimal')]
    """
    options = {"uniform_share": uniform_share, "tolerance": tolerance}
    found = solve_case(PRIOR_NAME, prior, epsilon, methods, objectives=objectives, **options)
    rows, judged = tuple(found[: len(methods)]), tuple(found[len(methods) :])
    with threadpool_limits(1):
        return BudgetBounds(epsilon, rows, _minimax(prior, epsilon, rows, tolerance), judged)


def solve_detail(
    prior: Prior, epsilon: float, methods: Sequence[str], *, uniform_share: float, tolerance: float
) -> BudgetDetail:
    """Build the mechanisms of one budget and the trade-off between expected and worst case; as `solve_budget`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_detail(prior, 1.0, ["optimal", "duchi"], uniform_share=1e-3, tolerance=1e-6)
    >>> list(found.mechanisms), len(found.trade_off), found.minimax.objective.worst
    (['optimal', 'duchi'], 7, 1.0)
    """
    curve, failures, mechanisms = [], {}, {}
    with threadpool_limits(1):
        try:
            case = solve_methods(prior, epsilon, methods, uniform_share=uniform_share, tolerance=tolerance)
            mechanisms = {method: made.mechanism for method, made in case.designs.items()}
            failures = {method: str(error) for method, error in case.failures.items()}
        except OptldpError as error:
            failures = dict.fromkeys(methods, str(error))
        for weight in DEFAULT_WEIGHTS:
            try:
                curve.append(design(prior, epsilon, objective=TradeOff(weight), tolerance=tolerance, exact=False))
            except OptldpError as error:
                failures[f"trade-off at weight {weight:g}"] = str(error)
    return BudgetDetail(epsilon, mechanisms, tuple(curve), failures)


def _minimax(prior: Prior, epsilon: float, rows: Sequence[Row], tolerance: float) -> Row:
    """Solve the least worst case at the prior's knots, and judge it under the prior too."""
    asked = WorstCase()
    try:
        (row,) = judged_rows(PRIOR_NAME, prior, epsilon, ["optimal"], objective=asked, tolerance=tolerance)
    except OptldpError as error:
        return Row.failed(PRIOR_NAME, epsilon, MINIMAX, MINIMAX, str(error))
    best = rows[0].expected_variance
    ratio = None if best is None or row.expected_variance is None else row.expected_variance / best
    return replace(row, method=MINIMAX, ratio_to_optimal=ratio)
