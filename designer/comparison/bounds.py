"""The best that any epsilon-LDP mechanism can do at each budget, and how far every known mechanism is from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from typing import Any

import joblib

from ...estimators.reading.columns.files import FilePath
from ...mechanisms.budget import check_epsilon
from ...mechanisms.errors import InputError
from ..methods.registry import METHODS, check_methods
from ..objectives.base import DEFAULT_TOLERANCE, Objective
from ..objectives.variance import Variance
from ..objectives.worst_case import WorstCase
from ..priors.prior import DEFAULT_UNIFORM_SHARE, Prior
from .bounds_case import solve_budget, solve_detail
from .bounds_file import BoundsFile
from .bounds_result import BoundsResult, BudgetBounds, in_order
from .judging import check_objectives
from .sweep import as_they_come

REPORT_KNOTS = 65
"""Knots if none are named: up to epsilon 4 the optimum is within half a percent of what the continuum allows."""

ALWAYS = (Variance(), WorstCase())
"""What every report judges by."""

USUAL_EPSILON = 1.0
"""The budget drawn in detail is the one nearest to this, by ratio."""


def bounds(
    prior: Prior,
    epsilons: Iterable[float],
    *,
    methods: Iterable[str] = METHODS,
    objectives: Iterable[Objective] = (),
    at: float | None = None,
    uniform_share: float = DEFAULT_UNIFORM_SHARE,
    tolerance: float = DEFAULT_TOLERANCE,
    results: FilePath | None = None,
    n_jobs: int | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> BoundsResult:
    """Find the least expected and the least worst-case variance at every budget, and judge every method against them.

    One budget is one piece of work, which runs where joblib's configuration puts it, as in `sweep`; the result does not
    depend on the place.

    Parameters
    ----------
    prior : Prior
    epsilons : iterable of float
        Budgets; one that is named twice counts once.
    methods : iterable of str
        Out of `METHODS`; the optimum is always among them.
    objectives : iterable of Objective
        Further objectives, as in `compare`: a `Guarantee`, an `Information`, a `TradeOff`, at most one of a kind.
        `Variance` and `WorstCase` are always there.
    at : float, optional
        The budget to show in detail, one of `epsilons`. Default: the one nearest to 1, by ratio.
    uniform_share, tolerance : float
        As in `design`.
    results : path, optional
        A file to which budgets are added as they come. After an interruption the same call computes only what it lacks.
    n_jobs : int, optional
        Workers, as joblib counts them: -1 for every core; default that of ``joblib.parallel_config``, or 1.
    progress : callable, optional
        Called with the number of pieces done, the number in all, and what was done, in no particular order.

    Returns
    -------
    found : BoundsResult
        `budgets`, one each in increasing order, with both bounds and the methods; `bounds_html` makes a page of it.

    Raises
    ------
    InputError
        No budget, or an argument that is not usable; a results file of another computation.

    Example
    -------
    >>> from optldp import Prior, bounds
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> found = bounds(prior, [0.5, 1.0, 2.0], methods=["duchi", "hybrid"])
    >>> [budget.closed_forms[0].method for budget in found.budgets]
    ['duchi', 'hybrid', 'hybrid']
    """
    budgets, chosen = sorted({check_epsilon(epsilon) for epsilon in epsilons}), tuple(methods)
    _check(budgets, chosen, at, n_jobs)
    asked = tuple(each for each in objectives if each not in ALWAYS)
    check_objectives(prior, budgets[0], None, asked, uniform_share, tolerance)
    chosen = in_order(chosen)
    file = None
    if results is not None:
        file = BoundsFile(results, prior, uniform_share=uniform_share, tolerance=tolerance, objectives=asked)
    found = {} if file is None else _reusable(file, budgets, chosen)
    total = len(budgets) + 1
    missing = [epsilon for epsilon in budgets if epsilon not in found]
    shown = min(budgets, key=lambda e: abs(math.log(e / USUAL_EPSILON))) if at is None else check_epsilon(at)
    options: Any = {"uniform_share": uniform_share, "tolerance": tolerance}
    cases = [
        joblib.delayed(solve_budget)(prior, e, chosen, **options, objectives=asked, in_detail=e == shown)
        for e in missing
    ]
    detail = None
    solved: Any = as_they_come(cases, n_jobs)
    with closing(solved):
        for budget, own in solved:
            detail = own or detail
            if file is not None:
                file.append(budget)
            found[budget.epsilon] = budget
            if progress is not None:
                progress(len(found), total, f"epsilon {budget.epsilon:g}")
    if detail is None:  # the budget that is shown comes from the file, which has no mechanisms
        detail = solve_detail(prior, shown, chosen, **options)
    if progress is not None:
        progress(total, total, f"epsilon {shown:g} in detail")
    return BoundsResult(prior, tuple(found[e] for e in budgets), detail, chosen, uniform_share, tolerance, asked)


def _reusable(file: BoundsFile, budgets: Sequence[float], methods: tuple[str, ...]) -> dict[float, BudgetBounds]:
    """Return the file's budgets that have all the methods, with no others."""
    kept = {}
    for epsilon in budgets:
        rows = {row.method: row for row in file.budgets[epsilon].rows} if epsilon in file.budgets else {}
        if all(method in rows for method in methods):
            held = file.budgets[epsilon]
            judged = tuple(row for row in held.judged if row.method in (*methods, row.objective))
            kept[epsilon] = BudgetBounds(epsilon, tuple(rows[method] for method in methods), held.minimax, judged)
    return kept


def _check(
    budgets: list[float],
    methods: tuple[str, ...],
    at: float | None,
    n_jobs: int | None,
) -> None:
    if not budgets:
        raise InputError("bounds need at least one epsilon, got none")
    check_methods(methods)
    if at is not None and check_epsilon(at) not in budgets:
        raise InputError(f"the budget shown in detail must be one of the epsilons, got {at!r}: add it to them")
    if n_jobs == 0:
        raise InputError("n_jobs must be a number of workers or -1 for every core, got 0")
