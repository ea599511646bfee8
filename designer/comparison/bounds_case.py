"""One budget of a report on bounds: every method against the certified optimum, and the least worst case."""

from __future__ import annotations

from collections.abc import Sequence

from threadpoolctl import threadpool_limits

from ...mechanisms.errors import OptldpError
from ...mechanisms.table.table import TabulatedMechanism
from ..designs.design import design
from ..designs.knots import continuum_certificate
from ..designs.trade_off import DEFAULT_WEIGHTS
from ..objectives.base import Objective
from ..objectives.worst_case import TradeOff, WorstCase
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BoundRow, BudgetBounds, BudgetDetail
from .case import row_facts, solve_methods
from .objective_rows import objective_rows

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
    [('optimal', 'optimal'), ('duchi', 'optimal'), ('minimax', 'optimal')]
    """
    with threadpool_limits(1):
        rows, tables = _rows(prior, epsilon, methods, uniform_share, tolerance)
        judged = [
            row
            for objective in objectives
            for row in objective_rows(
                objective, prior, epsilon, tables, uniform_share=uniform_share, tolerance=tolerance
            )
        ]
        return BudgetBounds(epsilon, tuple(rows), _minimax(prior, epsilon, rows, tolerance), tuple(judged))


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


def _rows(
    prior: Prior, epsilon: float, methods: Sequence[str], uniform_share: float, tolerance: float
) -> tuple[list[BoundRow], dict[str, TabulatedMechanism]]:
    """Solve the optimum once and judge every method against it; rows, and the mechanisms that could be built."""
    try:
        case = solve_methods(prior, epsilon, methods, uniform_share=uniform_share, tolerance=tolerance)
    except OptldpError as error:
        return [BoundRow.failed(PRIOR_NAME, epsilon, method, f"no optimum: {error}") for method in methods], {}
    rows = []
    for method in methods:
        if method in case.failures:
            rows.append(BoundRow.failed(PRIOR_NAME, epsilon, method, str(case.failures[method])))
            continue
        made = case.designs[method]
        bound = continuum_certificate(made).lower_bound if made is case.best else None
        facts = row_facts(PRIOR_NAME, made, case.best)
        rows.append(BoundRow(**facts, max_log_ratio=made.max_log_ratio, continuum_bound=bound))
    return rows, {method: made.mechanism for method, made in case.designs.items()}


def _minimax(prior: Prior, epsilon: float, rows: Sequence[BoundRow], tolerance: float) -> BoundRow:
    """Solve the least worst case at the prior's knots, and judge it under the prior too."""
    try:
        made = design(prior, epsilon, objective=WorstCase(), tolerance=tolerance, exact=False)
    except OptldpError as error:
        return BoundRow.failed(PRIOR_NAME, epsilon, MINIMAX, str(error))
    best = rows[0].expected_variance
    return BoundRow(
        prior=PRIOR_NAME,
        epsilon=epsilon,
        method=MINIMAX,
        expected_variance=made.expected_variance,
        worst_case_variance=made.worst_case_variance,
        program_variance=made.value,
        lower_bound=made.bound,
        relative_gap=made.gap,
        ratio_to_optimal=None if best is None else made.expected_variance / best,
        status=str(made.status),
        error="",
        seconds=made.seconds,
        max_log_ratio=made.max_log_ratio,
        continuum_bound=None,
    )
