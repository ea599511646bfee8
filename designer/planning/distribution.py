r"""From the error wanted of an estimated distribution to the budget it takes, and back, before anyone is asked.

The error of a maximum likelihood estimate near the ends of the simplex has no useful closed form, so it is simulated:
n users whose values follow the prior report through the mechanism, and the estimate's distance from the prior is
averaged over repetitions.  Reports are drawn as counts, so the cost does not depend on n.  Every budget sees the same
draws of users, which keeps the comparison between budgets smoother than the numbers themselves.

A target counts as met once the average lies below it by `SURE` of its Monte Carlo standard errors.  Nothing is
certified here: another mechanism or estimator may do better.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

import numpy as np

from ...estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from ...estimators.methods import OF_ONE_SERVICE, DistributionMethod, unknown
from ...mechanisms.budget import MAX_EPSILON, check_epsilon
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ...mechanisms.errors import InputError, wired
from ..designs.design import design
from ..designs.result import Design
from ..methods.base import Method
from ..methods.registry import as_method, name_of
from ..objectives.base import Objective
from ..priors.prior import Prior
from .bootstrap import Case, Simulated, bootstrap_rows
from .search import OutOfReachError, cheapest, checked_target

Distance = Literal["wasserstein", "jensen-shannon"]
"""In units of the values, or the root of the divergence in nats."""

DEFAULT_REPETITIONS = 40
"""The Monte Carlo error of an average distance is then a twentieth to a tenth of it."""

SURE = 2.0
"""Monte Carlo standard errors between the average and a target that counts as met: about 98% for one budget; the least
of the several that are tried is a little less sure."""

PRECISION = 1e-2
"""Relative width to which the least budget is found; the simulation knows it no better."""


@dataclass(frozen=True, eq=False, repr=False)
class DistributionPlan(Shown):
    """A mechanism, and how far the distribution estimated from n reports will be from the true one.

    Attributes
    ----------
    design : Design
        The mechanism to use.
    users : int
    estimator : {"smooth", "em", "ems", "mr"}
        A `method` of `estimate_distribution`.
    distance : {"wasserstein", "jensen-shannon"}
    predicted_error : Simulated
        Average distance and its Monte Carlo standard error; right if the prior is.

    Example
    -------
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> plan = plan_distribution_error(prior, 10_000, 1.0, rng=np.random.default_rng(1), repetitions=5)
    >>> plan.n, plan.estimator, plan.predicted_error.value < plan.surely
    (10000, 'em', True)
    """

    design: Design
    users: int
    estimator: DistributionMethod
    distance: Distance
    predicted_error: Simulated

    def _line(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "n": self.n,
            "predicted_error": self.predicted_error.value,
            "std_error": self.predicted_error.error,
            "distance": self.distance,
            "method": self.design.method,
            "estimator": self.estimator,
        }

    def _told(self) -> Told:
        return Told(self._line(), picture=self.predicted_error.dots("predicted error"))

    @property
    def n(self) -> int:
        """How many users report."""
        return self.users

    @property
    def epsilon(self) -> float:
        """The budget of each user."""
        return self.design.epsilon

    @property
    def surely(self) -> float:
        """The average plus `SURE` of its standard errors: what a target is compared with."""
        return self.predicted_error.value + SURE * self.predicted_error.error


def plan_distribution_error(
    prior: Prior,
    users: int,
    epsilon: float,
    *,
    rng: np.random.Generator,
    method: str | Method = "optimal",
    estimator: DistributionMethod = "em",
    distance: Distance = "wasserstein",
    repetitions: int = DEFAULT_REPETITIONS,
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
) -> DistributionPlan:
    """Predict the error of the estimated distribution at a budget; this takes a design and as many fits as repetitions.

    Parameters
    ----------
    prior : Prior
        The assumed prior of the users' values; estimates are compared with it as the truth, on its knots.
    users : int
        Who will report, once each.
    epsilon : float
        Budget of each.
    rng : numpy.random.Generator
        Generator, on which the answer depends.
    method : str or Method
        One of `METHODS`.
    estimator : {"smooth", "em", "ems", "mr"}
        Smoothing ("ems") flattens distributions on few knots, however many users there are.
    distance : {"wasserstein", "jensen-shannon"}
    repetitions : int
        At least 2.
    objective, uniform_share, tolerance
        As in `design`: what the mechanism is designed for.

    Returns
    -------
    plan : DistributionPlan
        `predicted_error`, a value with its standard error, and `surely`, two standard errors above it.

    Raises
    ------
    InputError
        A number or name that is not usable.
    SolverError
        No solution was found.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer.planning import plan_distribution_error
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> plans = [plan_distribution_error(prior, n, 1.0, rng=np.random.default_rng(1)) for n in (1_000, 100_000)]
    >>> [round(plan.predicted_error.value, 2) for plan in plans]
    [0.07, 0.01]
    """
    task = _Task.checked(prior, users, rng, method, estimator, distance, repetitions)
    made = design(
        prior, check_epsilon(epsilon), objective=objective, method=method, uniform_share=uniform_share,
        tolerance=tolerance,
    )  # fmt: skip
    return task.plan(made)


def plan_distribution_epsilon(
    prior: Prior,
    users: int,
    target_error: float,
    *,
    rng: np.random.Generator,
    method: str | Method = "optimal",
    estimator: DistributionMethod = "em",
    distance: Distance = "wasserstein",
    repetitions: int = DEFAULT_REPETITIONS,
    objective: Objective | None = None,
    uniform_share: float | None = None,
    tolerance: float | None = None,
    progress: Callable[[float, float], None] | None = None,
) -> DistributionPlan:
    """Find the least budget with which the distribution's expected error surely stays within a target.

    Five to fifteen times the cost of `plan_distribution_error`.

    Parameters
    ----------
    target_error : float
        Largest expected distance wanted, in units of the values, or in root nats.
    progress : callable, optional
        Called with every budget tried and its error, two standard errors included.
    prior, users, rng, method, estimator, distance, repetitions, objective, uniform_share, tolerance
        As in `plan_distribution_error`.

    Returns
    -------
    plan : DistributionPlan
        `epsilon`, its `predicted_error`, and `surely`, the error plus two standard errors.

    Raises
    ------
    InputError
        A number or name that is not usable, or a target that no budget meets; the message gives the attainable error.
    SolverError
        No solution was found.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer.planning import plan_distribution_epsilon
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public")
    >>> plan = plan_distribution_epsilon(prior, 10_000, 0.05, rng=np.random.default_rng(1))
    >>> round(plan.epsilon, 1), round(plan.surely, 2)
    (0.6, 0.05)
    """
    task = _Task.checked(prior, users, rng, method, estimator, distance, repetitions)
    target = task.check_target(target_error)

    def at(epsilon: float) -> DistributionPlan:
        return task.plan(
            design(prior, epsilon, objective=objective, method=method, uniform_share=uniform_share, tolerance=tolerance)
        )

    try:
        return cheapest(at, lambda plan: plan.surely, target, PRECISION, progress)
    except OutOfReachError as best:
        raise InputError(
            f"target_error must be at least {best.error:.3g}, what {name_of(method)} and {estimator} reach with "
            f"{users} users and the largest epsilon, {MAX_EPSILON:g}, got {target_error!r}: ask more users"
        ) from None


@dataclass(frozen=True, eq=False)
class _Task:
    """What stays the same while budgets are tried."""

    prior: Prior
    users: int
    seed: int
    estimator: DistributionMethod
    distance: Distance
    repetitions: int

    @classmethod
    def checked(
        cls,
        prior: Prior,
        users: int,
        rng: np.random.Generator,
        method: str | Method,
        estimator: DistributionMethod,
        distance: Distance,
        repetitions: int,
    ) -> _Task:
        named = (
            ("estimator", estimator, OF_ONE_SERVICE),
            ("distance", distance, get_args(Distance)),
        )
        for what, given, known in named:
            if given not in known:
                raise InputError(unknown(what, known, given))
        as_method(method)
        for what, number, least in (("users", users, 1), ("repetitions", repetitions, 2)):
            if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < least:
                raise InputError(f"{what} must be a whole number of at least {least}, got {number!r}")
        if not isinstance(rng, np.random.Generator):
            raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: pass numpy.random.default_rng()")
        return cls(prior, int(users), int(rng.integers(2**63)), estimator, distance, int(repetitions))

    def plan(self, made: Design) -> DistributionPlan:
        """Simulate a design; the draws of users are those of every other design."""
        case = Case(made.method, made.mechanism, self.prior, self.users)
        (row,) = bootstrap_rows(case, [self.estimator], self.repetitions, (self.seed, 0))
        found = wired("distance", {"wasserstein": row.wasserstein, "jensen-shannon": row.jensen_shannon}, self.distance)
        assert found is not None  # estimators of the distribution have both
        return DistributionPlan(made, self.users, self.estimator, self.distance, found)

    def check_target(self, target: float) -> float:
        """Return the target if users who told their values would on average stay within it."""
        wanted = checked_target("target_error", target)
        weights, drawn = self.prior.weights, []
        distances = {
            "wasserstein": partial(wasserstein_1, self.prior.knots),
            "jensen-shannon": jensen_shannon_distance,
        }
        distance = wired("distance", distances, self.distance)
        for repetition in range(self.repetitions):
            values = np.random.default_rng([self.seed, repetition]).multinomial(self.users, weights)
            drawn.append(distance(values, weights))
        if (least := float(np.mean(drawn))) >= wanted:
            raise InputError(
                f"target_error must exceed {least:.3g}, about what {self.users} users err by without any privacy, "
                f"got {target!r}: ask more users"
            )
        return wanted
