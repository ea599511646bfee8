"""One budget of a report on bounds: every method against the certified optimum, and the least worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from threadpoolctl import threadpool_limits

from ...mechanisms import TabulatedMechanism
from ...mechanisms.errors import OptldpError
from ..designs.continuum import continuum_certificate
from ..designs.design import Design, against_optimum
from ..designs.minimax import design_minimax
from ..designs.minimax_trade_off import DEFAULT_WEIGHTS, design_trade_off
from ..priors.prior import Prior
from .bounds_result import MINIMAX, BoundRow, BudgetBounds, BudgetDetail
from .case import judged_row
from .criteria import BoundsCriterion, criterion_rows

PRIOR_NAME = "prior"
"""What the one prior of a report is called in its rows."""


def solve_budget(
    prior: Prior,
    epsilon: float,
    methods: Sequence[str],
    *,
    floor: float,
    tolerance: float,
    criteria: Sequence[BoundsCriterion] = (),
) -> BudgetBounds:
    """Judge every method at one budget, on one thread; what cannot be built is a row that says why.

    Parameters
    ----------
    prior : Prior
    epsilon : float
        Budget, already checked.
    methods : sequence of str
        Out of `METHODS`, "optimal" among them, already checked.
    floor, tolerance : float
        As in `design`.
    criteria : sequence of BoundsCriterion
        What else to judge by, already checked.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_budget(prior, 1.0, ["optimal", "duchi"], floor=1e-3, tolerance=1e-6)
    >>> [(row.method, row.status) for row in (*found.rows, found.minimax)]
    [('optimal', 'optimal'), ('duchi', 'optimal'), ('minimax', 'optimal')]
    """
    with threadpool_limits(1):
        tables: dict[str, TabulatedMechanism] = {}
        rows = _rows(prior, epsilon, methods, floor, tolerance, tables)
        judged = [
            row
            for criterion in criteria
            for row in criterion_rows(criterion, prior, epsilon, tables, floor=floor, tolerance=tolerance)
        ]
        return BudgetBounds(epsilon, tuple(rows), _minimax(prior, epsilon, rows, tolerance), tuple(judged))


def solve_detail(
    prior: Prior, epsilon: float, methods: Sequence[str], *, floor: float, tolerance: float
) -> BudgetDetail:
    """Build the mechanisms of one budget and the trade-off between expected and worst case; as `solve_budget`.

    Example
    -------
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = solve_detail(prior, 1.0, ["optimal", "duchi"], floor=1e-3, tolerance=1e-6)
    >>> list(found.mechanisms), len(found.trade_off), found.minimax.weight
    (['optimal', 'duchi'], 7, 1.0)
    """
    mechanisms, curve, failures = {}, [], {}
    optimum = None
    with threadpool_limits(1):
        for method in methods:
            try:
                made, optimum = against_optimum(
                    prior, epsilon, method=method, floor=floor, tolerance=tolerance, optimum=optimum
                )
                mechanisms[method] = made.mechanism
            except OptldpError as error:
                failures[method] = str(error)
        for weight in DEFAULT_WEIGHTS:
            try:
                curve.append(design_trade_off(prior, epsilon, weight, tolerance=tolerance, exact=False))
            except OptldpError as error:
                failures[f"trade-off at weight {weight:g}"] = str(error)
    return BudgetDetail(epsilon, mechanisms, tuple(curve), failures)


def _rows(
    prior: Prior,
    epsilon: float,
    methods: Sequence[str],
    floor: float,
    tolerance: float,
    tables: dict[str, TabulatedMechanism],
) -> list[BoundRow]:
    """Solve the optimum once and judge every method against it; their mechanisms go into `tables`."""
    try:
        best, optimum = against_optimum(prior, epsilon, method="optimal", floor=floor, tolerance=tolerance)
    except OptldpError as error:
        return [BoundRow.failed(PRIOR_NAME, epsilon, method, f"no optimum: {error}") for method in methods]
    rows = []
    for method in methods:
        try:
            if method == "optimal":
                bound = continuum_certificate(prior.floored(floor), optimum).lower_bound
                rows.append(_row(epsilon, best, best, bound))
                tables[method] = best.mechanism
                continue
            made, _ = against_optimum(prior, epsilon, method=method, floor=floor, tolerance=tolerance, optimum=optimum)
            rows.append(_row(epsilon, made, best, None))
            tables[method] = made.mechanism
        except OptldpError as error:
            rows.append(BoundRow.failed(PRIOR_NAME, epsilon, method, str(error)))
    return rows


def _row(epsilon: float, made: Design, best: Design, continuum_bound: float | None) -> BoundRow:
    row = judged_row(PRIOR_NAME, epsilon, made, best)
    return BoundRow(**asdict(row), max_log_ratio=made.max_log_ratio, continuum_bound=continuum_bound)


def _minimax(prior: Prior, epsilon: float, rows: Sequence[BoundRow], tolerance: float) -> BoundRow:
    """Solve the least worst case at the prior's knots, and judge it under the prior too."""
    try:
        made = design_minimax(prior.knots, epsilon, tolerance=tolerance, exact=False)
    except OptldpError as error:
        return BoundRow.failed(PRIOR_NAME, epsilon, MINIMAX, str(error))
    expected = made.mechanism.expected_variance(prior.knot_prior)
    best = rows[0].expected_variance
    return BoundRow(
        prior=PRIOR_NAME,
        epsilon=epsilon,
        method=MINIMAX,
        expected_variance=expected,
        worst_case_variance=made.worst_case_variance,
        program_variance=made.worst_knot_variance,
        lower_bound=made.lower_bound,
        relative_gap=made.relative_gap,
        ratio_to_optimal=None if best is None else expected / best,
        status=str(made.status),
        error="",
        seconds=made.seconds,
        max_log_ratio=made.max_log_ratio,
        continuum_bound=None,
    )
