"""Every method beside the certified optimum, one row per method and budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...estimators import influence
from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers import Progress
from ..designs.design import DEFAULT_TOLERANCE, METHODS, against_optimum
from ..priors.prior import DEFAULT_FLOOR, Prior


@dataclass(frozen=True)
class ComparisonRow:
    """One method at one budget; variances in squared units, rounding between knots included.

    `ratio_to_optimal` is the expected variance over that of the "optimal" design, both under the prior as given. That
    design is optimal for the floored prior, so without a floor of 0 a ratio can fall below one: by about the floor
    times the ratio of its variance under a uniform prior to that under this one, which large budgets make large.

    `one_report_times_n` is the most that one report of n moves the mean, times n, see `influence`; None for a table
    from which no unbiased mean can be had.
    """

    method: str
    epsilon: float
    expected_variance: float
    worst_case_variance: float
    ratio_to_optimal: float
    one_report_times_n: float | None = None


def compare(
    prior: Prior,
    epsilons: Iterable[float],
    *,
    methods: Iterable[str] = METHODS,
    floor: float = DEFAULT_FLOOR,
    tolerance: float = DEFAULT_TOLERANCE,
    progress: Callable[[str, float, Progress | None], None] | None = None,
) -> list[ComparisonRow]:
    """Build every method at every budget; the optimum is solved once per budget.

    Parameters
    ----------
    prior : Prior
    epsilons : iterable of float
    methods : iterable of str
        Out of `METHODS`.
    floor, tolerance : float
        As in `design`.
    progress : callable, optional
        Called with the method, the budget and, while the optimum is being solved, the solver's progress.

    Raises
    ------
    InputError
        No budget, no method, or one that is not usable.

    Example
    -------
    >>> from optldp.designer import Prior
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> [(row.method, row.ratio_to_optimal >= 1) for row in compare(prior, [1.0], methods=["duchi", "piecewise"])]
    [('duchi', True), ('piecewise', True)]
    """
    budgets, chosen = [check_epsilon(epsilon) for epsilon in epsilons], list(methods)
    if not budgets or not chosen:
        raise InputError("compare needs at least one epsilon and one method, got none")
    if unknown := [method for method in chosen if method not in METHODS]:
        raise InputError(f"methods must be out of {', '.join(METHODS)}, got {unknown[0]!r}")
    rows = []
    for epsilon in budgets:

        def report(step: Progress, epsilon: float = epsilon) -> None:
            if progress is not None:
                progress("optimal", epsilon, step)

        best, optimum = against_optimum(
            prior, epsilon, method="optimal", floor=floor, tolerance=tolerance, progress=report
        )
        for method in chosen:
            if progress is not None:
                progress(method, epsilon, None)
            row = best
            if method != "optimal":
                row, _ = against_optimum(
                    prior, epsilon, method=method, floor=floor, tolerance=tolerance, optimum=optimum
                )
            ratio = row.expected_variance / best.expected_variance
            reach = _one_report_times_n(row.mechanism)
            rows.append(ComparisonRow(method, epsilon, row.expected_variance, row.worst_case_variance, ratio, reach))
    return rows


def _one_report_times_n(mechanism: TabulatedMechanism) -> float | None:
    try:
        return float(influence(mechanism).times_n[0])
    except InputError:
        return None
