"""From the error wanted and the budget to the users it takes: how many must be asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ...mechanisms.errors import InputError
from ...solvers.biased.error_program import MOST_USERS
from ..methods.base import Method
from ..objectives.base import Objective
from ..objectives.error import Error
from ..priors.prior import Prior
from .mean import BudgetPlan, MeanOf, plan_error
from .search import checked_target

PRECISION = 1e-3
"""Relative width to which the number of users is found where a table depends on it."""

FASTEST = 4.0
"""By what the number of users grows at most in a step: towards many users the error goes with one over their root."""


def plan_users(
    prior: Prior,
    epsilon: float,
    target_error: float,
    *,
    method: str | Method = "optimal",
    of: MeanOf = "users",
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> BudgetPlan:
    """Find the least number of users with whom the error of the mean stays within a target, at a given budget.

    A table that does not depend on the number needs exactly V / target^2 users. Tables of `Error` depend on it, because
    more users mean less noise and thus less bias. Ten to twenty designs then find a sufficient number; one smaller by
    at most a part in a thousand is not.

    Parameters
    ----------
    prior : Prior
        The assumed prior of the users' values.
    epsilon : float
        Budget of each.
    target_error : float
        Largest error of the mean wanted, in units of the values.
    method, of, objective, uniform_share, tolerance
        As in `plan_error`; the number of users in an `Error` is ignored.
    progress : callable, optional
        Called with every number of users tried and the error they make.

    Returns
    -------
    plan : BudgetPlan
        `users`, and their `predicted_error`.

    Raises
    ------
    InputError
        A number or name that is not usable, or a target that takes more than 10^15 users.
    SolverError
        No solution was found.

    Example
    -------
    >>> from optldp.designer import Error, Prior
    >>> from optldp.designer.planning import plan_users
    >>> prior = Prior.on_knots([0, 1, 2, 8], [50, 20, 10, 1], source="public")
    >>> usual, biased = (plan_users(prior, 1.0, 0.2, objective=each) for each in (None, Error(1)))
    >>> usual.users, round(biased.users, -1), round(biased.predicted_error, 2)
    (1527, 180, 0.2)
    """
    target = checked_target("target_error", target_error)
    plans: dict[int, BudgetPlan] = {}

    def error(users: int) -> float:
        if users > MOST_USERS:
            raise InputError(f"target_error must be within reach of {MOST_USERS:g} users, got {target_error!r}")
        asked = replace(objective, n=users) if isinstance(objective, Error) else objective
        plans[users] = plan_error(
            prior, users, epsilon, method=method, of=of, objective=asked, uniform_share=uniform_share,
            tolerance=tolerance,
        )  # fmt: skip
        made = plans[users].predicted_error
        if progress is not None:
            progress(users, made)
        return made

    if not isinstance(objective, Error):
        enough = max(math.ceil((error(1) / target) ** 2), 1)
        while error(enough) > target:  # rounding
            enough += 1
        return plans[enough]
    few, many = 0, 1
    while (made := error(many)) > target:
        few, many = many, max(many + 1, math.ceil(many * min((made / target) ** 2, FASTEST)))
    while many - few > max(1, PRECISION * many):
        middle = max(few + 1, min(many - 1, round(math.sqrt(max(few, 1) * many))))
        few, many = (few, middle) if error(middle) <= target else (middle, many)
    return plans[many]
