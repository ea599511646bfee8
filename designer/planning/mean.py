r"""From the error wanted to the budget it takes, and back, before anyone is asked.

n users report once each through an unbiased mechanism, and their reports are averaged.  About the mean of these very
users the average errs by

    sqrt(V(epsilon) / n),                           V the expected variance under the prior,

and about the mean of the population that they were drawn from by sqrt((V(epsilon) + Var(x)) / n), which is what
`estimate_mean` estimates.  Other objectives make V another variance of a report: the largest one, or the expected one
under the worst prior of a set.  By `Error` reports may be biased, and the error is R itself, which is taken as that of
V = n R^2.  The best V never rises with epsilon, since a mechanism keeps within every larger budget too; so the least
budget is found by a search for a root, and a budget whose certified lower bound exceeds what the target allows rules
out itself and every smaller one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ...estimators.intervals import CONFIDENCE
from ...mechanisms.budget import MAX_EPSILON, check_epsilon
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Dots, Told
from ...mechanisms.errors import InputError, unwired, wired
from ...mechanisms.units import units_label
from ..designs.design import design
from ..designs.judging import problem_for
from ..designs.result import Design
from ..methods.base import Method
from ..objectives.base import Objective
from ..objectives.error import Error
from ..objectives.guarantee import Guarantee
from ..objectives.variance import Variance
from ..objectives.worst_case import WorstCase
from ..priors.prior import Prior
from .people import ANY, FOLLOW, MeanWithin, design_mean_within, mean_within
from .search import OutOfReachError, checked_target, crossing

MeanOf = Literal["users", "population"]
"""Whose mean is meant: that of the users who report, or that of those they were drawn from."""

PRECISION = 1e-3
"""Relative width to which the least budget is found; the error then is within about a thousandth of the target."""

ROUND_UP = 1 + 1e-5
"""So that an error quoted with six digits is one that can be met."""


@dataclass(frozen=True, eq=False, repr=False)
class BudgetPlan(Shown):
    """A mechanism, the error to expect of n reports, and the least error of unbiased mechanisms (of all, by `Error`).

    Attributes
    ----------
    design : Design
        The mechanism to use, with its own certificate.
    users : int
    of : {"users", "population"}
        Whose mean is estimated.
    predicted_error : float
        Standard error of the average of all reports, in units of the values; right if the prior is. By `WorstCase` the
        largest, whatever the values are; by `Guarantee` and `Error` the largest under the priors of the set.
    least_error : float
        Certified: the least, of the same kind, that any unbiased mechanism on the prior's knots makes at this epsilon;
        by `Error` any at all.
    least_epsilon : float or None
        Certified: with no more than this budget the average of no unbiased mechanism's reports, on the prior's knots,
        reaches the target; 0 where nothing is ruled out, None where no target was given.

    Example
    -------
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> plan_error(prior, 10_000, 1.0)
    BudgetPlan(epsilon=1, n=10000, predicted_error=0.0990109, least_error=0.0990109, of='users', method='optimal')
    """

    design: Design
    users: int
    of: MeanOf
    predicted_error: float
    least_error: float
    least_epsilon: float | None

    def _line(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "n": self.n,
            "predicted_error": self.predicted_error,
            "least_error": self.least_error,
            "least_epsilon": self.least_epsilon,
            "of": self.of,
            "method": self.design.method,
        }

    def _told(self) -> Told:
        names, errors = ["predicted", "least of any mechanism"], np.array([self.predicted_error, self.least_error])
        what = units_label("standard error of the mean", getattr(self.design.prior, "units", ""))
        return Told(self._line(), picture=Dots(names, errors, what))

    @property
    def n(self) -> int:
        """How many users report."""
        return self.users

    @property
    def epsilon(self) -> float:
        """The budget of each user."""
        return self.design.epsilon

    def within(self, confidence: float = CONFIDENCE) -> MeanWithin:
        """Return how far the mean may be off; of a population under the prior alone, as values vary as it says."""
        if self.of == "users" and not isinstance(self.design.objective, WorstCase):
            return design_mean_within(self.design, self.users, confidence=confidence)
        under = FOLLOW if self.of == "population" else ANY
        known = self.users * self.predicted_error**2
        anyway = None if self.of == "population" else known
        return mean_within(self.users, known, anyway, bias=self.design.max_abs_bias, confidence=confidence, under=under)


def plan_error(
    prior: Prior,
    users: int,
    epsilon: float,
    *,
    method: str | Method = "optimal",
    of: MeanOf = "users",
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
) -> BudgetPlan:
    """Predict the standard error of the mean at a budget; this costs two designs.

    Parameters
    ----------
    prior : Prior
        The assumed prior of the users' values.
    users : int
        Who will report, once each.
    epsilon : float
        Budget of each.
    method : str or Method
        One of `METHODS`.
    of : {"users", "population"}
        Whose mean.
    objective : Objective, optional
        The variance of a report that counts, and the objective of the design: `Variance` (default), `WorstCase` or
        `Guarantee`; or `Error` for as many users, which covers their own mean alone. The scatter of the values
        themselves, for the population, always follows the prior.
    uniform_share, tolerance : float, optional
        As in `design`. Certificates hold for the prior as given, without any uniform share; those of `Error`, whose set
        of priors surrounds the mixed prior, include it.

    Returns
    -------
    plan : BudgetPlan
        `predicted_error`, in units of the values, and `least_error`, below which no mechanism gets.

    Raises
    ------
    InputError
        A number or name that is not usable.
    SolverError
        No solution was found.

    Example
    -------
    >>> from optldp import Prior, plan_error
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> plan = plan_error(prior, 10_000, 1.0)
    >>> round(plan.predicted_error, 4), round(plan.least_error, 4)
    (0.0198, 0.0198)
    """
    average, asked = _Average.checked(prior, users, of), _asked(objective, users, of)
    made = design(
        prior, check_epsilon(epsilon), objective=asked, method=method, uniform_share=uniform_share, tolerance=tolerance
    )
    return _plan(made, average, tolerance, None)


def plan_epsilon(
    prior: Prior,
    users: int,
    target_error: float,
    *,
    method: str | Method = "optimal",
    of: MeanOf = "users",
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> BudgetPlan:
    """Find the least budget with which the standard error of the mean stays within a target.

    The returned budget meets the target, and one smaller by at most a part in a thousand does not (unless it is the
    least budget of all). Smaller ones fail too if the method's variance falls with the budget, as it did for all
    `METHODS` in every case checked. The least budget of any mechanism is certified separately. Ten to twenty designs.

    Parameters
    ----------
    prior : Prior
        The assumed prior of the users' values.
    users : int
        Who will report, once each.
    target_error : float
        Largest standard error of the mean wanted, in units of the values.
    method, of, objective, uniform_share, tolerance
        As in `plan_error`.
    progress : callable, optional
        Called with every budget tried and the error it makes: first the certified least budget, then the method's.

    Returns
    -------
    plan : BudgetPlan
        `epsilon`, the `predicted_error` that it makes, and `least_epsilon`, below which no mechanism meets the target.

    Raises
    ------
    InputError
        A number or name that is not usable, or a target that no budget meets; the message gives the attainable error.
    SolverError
        No solution was found.

    Example
    -------
    >>> from optldp import Prior, plan_epsilon
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> plan = plan_epsilon(prior, 10_000, 0.05)
    >>> round(plan.epsilon, 2), round(plan.predicted_error, 3)
    (0.4, 0.05)
    """
    average, asked = _Average.checked(prior, users, of), _asked(objective, users, of)
    target = average.check_target(target_error)
    designs: dict[float, Design] = {}

    def told(epsilon: float, variance: float) -> float:
        error = average.error(variance)
        if progress is not None:
            progress(epsilon, error)
        return error

    def least_error(epsilon: float) -> float:
        return told(epsilon, _least_variance(prior, epsilon, asked, uniform_share, tolerance))

    def error(epsilon: float) -> float:
        designs[epsilon] = design(
            prior, epsilon, objective=asked, method=method, uniform_share=uniform_share, tolerance=tolerance
        )
        return told(epsilon, _variance(designs[epsilon]))

    which = f"any {'' if isinstance(asked, Error) else 'unbiased '}mechanism on these knots"
    try:
        ruled_out, possible = crossing(least_error, target, 1.0, PRECISION)
        which = method
        _, enough = crossing(error, target, possible, PRECISION)
    except OutOfReachError as best:
        raise InputError(
            f"target_error must be at least {ROUND_UP * best.error:.6g}, the best of {which} with {average.users} "
            f"users and the largest epsilon, {MAX_EPSILON:g}, got {target_error!r}: ask more users"
        ) from None
    return _plan(designs[enough], average, tolerance, ruled_out)


@dataclass(frozen=True)
class _Average:
    """The average of one report of each user, as an estimate of a mean about which a value varies by `sampling`."""

    users: int
    of: MeanOf
    sampling: float

    @classmethod
    def checked(cls, prior: Prior, users: int, of: MeanOf) -> _Average:
        if isinstance(users, bool) or not isinstance(users, int | np.integer) or users < 1:
            raise InputError(f"users must be a whole number of at least 1, got {users!r}")
        if of not in get_args(MeanOf):
            raise InputError(f"of must be one of {', '.join(get_args(MeanOf))}, got {of!r}")
        spread = max(prior.second_moment - prior.mean**2, 0.0)
        return cls(int(users), of, wired("of", {"population": spread, "users": 0.0}, of))

    def error(self, variance: float) -> float:
        """Return the standard error for a mechanism of this expected variance."""
        return math.sqrt((variance + self.sampling) / self.users)

    def check_target(self, target: float) -> float:
        """Return the target if perfect reports would stay within it."""
        wanted = checked_target("target_error", target)
        if self.error(0.0) >= wanted:
            raise InputError(
                f"target_error must exceed {ROUND_UP * self.error(0.0):.6g}, about what {self.users} users err by "
                f"without any privacy, got {target!r}: ask more users"
            )
        return wanted


def _plan(made: Design, average: _Average, tolerance: float | None, least_epsilon: float | None) -> BudgetPlan:
    if isinstance(made.objective, Error):
        least = made.objective.n * made.bound**2
    else:  # the design's own bound is for the prior with the uniform share; what is promised is for the prior as given
        least = _least_variance(made.prior, made.epsilon, made.objective, None, tolerance)
    errors = average.error(_variance(made)), average.error(least)
    return BudgetPlan(made, average.users, average.of, *errors, least_epsilon)


def _asked(objective: Objective | None, users: int, of: MeanOf) -> Objective:
    """Return the objective, or the usual one; InputError for what is no variance of a report nor these users' error."""
    if objective is None:
        return Variance()
    if isinstance(objective, Error):
        if objective.n != users:
            raise InputError(f"a plan for {users} users needs the error of their mean, got {objective.label}")
        if of == "population":
            raise InputError(
                "the least error is that of the users' own mean, got of 'population': plan for 'users', and add what "
                "their values vary by"
            )
        return objective
    if isinstance(objective, Variance | WorstCase | Guarantee):
        return objective
    label = getattr(objective, "label", repr(objective))
    raise InputError(
        "a plan for a mean needs an objective that is one variance of a report: Variance(), WorstCase() or a "
        f"Guarantee, or an Error, got {label!r}"
    )


def _variance(made: Design) -> float:
    """Return what the objective says of one report's variance under the prior as given, between knots too."""
    if isinstance(made.objective, Error):
        return made.objective.n * made.value**2
    if isinstance(made.objective, Variance):
        return made.expected_variance
    if isinstance(made.objective, WorstCase):
        return made.worst_case_variance
    if isinstance(made.objective, Guarantee):
        return made.value
    raise unwired("objective", made.objective)


def _least_variance(
    prior: Prior, epsilon: float, objective: Objective, uniform_share: float | None, tolerance: float | None
) -> float:
    """Return a certified bound on that variance of every unbiased mechanism on the prior's knots."""
    share = uniform_share if isinstance(objective, Error) else 0.0
    problem = problem_for(prior, epsilon, objective, uniform_share=share, tolerance=tolerance)
    bound = objective.bound(problem, objective.solve(problem).multipliers)
    return objective.n * bound**2 if isinstance(objective, Error) else bound
