"""From the error of frequencies that is wanted to the budget it takes, and back, before anyone is asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...estimators.frequencies.frequencies import FrequencyEstimate
from ...mechanisms import InputError
from ...mechanisms.budget import MAX_EPSILON, check_epsilon
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.display.display import Shown
from ...mechanisms.display.summary import Told
from ..priors.categorical import CategoricalPrior
from .bootstrap import Simulated, check_choices
from .categories import FREQUENCY_ESTIMATORS, KNOWN_ORACLES, as_categorical_prior, category_rows, oracle
from .search import OutOfReachError, cheapest, checked_target

PRECISION = 1e-3
"""Relative width to which the least budget is found."""


@dataclass(frozen=True, eq=False, repr=False)
class FrequencyPlan(Shown):
    """A mechanism for categories, and the error to expect of the frequencies from n reports of it.

    Attributes
    ----------
    mechanism : CategoricalMechanism
    method : str
        Its name.
    users : int
    estimator : str
    predicted_error : Simulated
        Root of the mean squared error of a frequency, averaged over the categories; right if the prior is.

    Example
    -------
    >>> from optldp import CategoricalPrior, plan_frequencies
    >>> plan_frequencies(CategoricalPrior(["a", "b", "c"], [3, 2, 1]), 10_000, epsilon=1.0)
    FrequencyPlan(epsilon=1, n=10000, predicted_error=0.0128727, std_error=0, method='grr', estimator='unbiased')
    """

    mechanism: CategoricalMechanism
    method: str
    users: int
    estimator: str
    predicted_error: Simulated

    def _line(self) -> dict[str, Any]:
        return {
            "epsilon": self.epsilon,
            "n": self.n,
            "predicted_error": self.predicted_error.value,
            "std_error": self.predicted_error.error,
            "method": self.mechanism.provenance.method,
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
        return self.mechanism.epsilon


def plan_frequencies(
    prior: CategoricalPrior | FrequencyEstimate,
    users: int,
    *,
    epsilon: float | None = None,
    error: float | None = None,
    method: str = "auto",
    estimator: str = "unbiased",
    rng: np.random.Generator | None = None,
    repetitions: int = 50,
    progress: Callable[[float, float], None] | None = None,
) -> FrequencyPlan:
    """Predict the error of frequencies that a budget buys, or find the least budget for an error.

    Parameters
    ----------
    prior : CategoricalPrior or FrequencyEstimate
        The assumed prior of the users' categories; estimates are compared with it as the truth.
    users : int
        Who will report, once each; at least 2.
    epsilon : float, optional
        Budget of each.
    error : float, optional
        The largest root mean squared error wanted, in place of a budget.
    method : str
        Out of `KNOWN_ORACLES`.
    estimator : str
        Out of `FREQUENCY_ESTIMATORS`: "unbiased" is exact, all others are simulated.
    rng : numpy.random.Generator, optional
        Generator of the simulation. Default: a fixed seed.
    repetitions : int
        At least 2.
    progress : callable, optional
        Called with every budget tried and its error.

    Returns
    -------
    plan : FrequencyPlan
        The `mechanism` of the budget that was given or found, and its `predicted_error`.

    Raises
    ------
    InputError
        A number or a name that is not usable, both or neither of epsilon and error, an error that no budget reaches.

    Example
    -------
    >>> from optldp import CategoricalPrior, plan_frequencies
    >>> prior = CategoricalPrior("abcd", [4, 3, 2, 1])
    >>> plan = plan_frequencies(prior, 10_000, error=0.01)
    >>> round(plan.epsilon, 2), round(plan.predicted_error.value, 4)
    (1.39, 0.01)
    """
    if (epsilon is None) == (error is None):
        raise InputError("a plan needs either epsilon or error, and not both")
    truth = as_categorical_prior(prior)
    named = {"mechanisms": ([method], KNOWN_ORACLES), "estimators": ([estimator], tuple(FREQUENCY_ESTIMATORS))}
    check_choices(users, repetitions, named)
    seed = int((np.random.default_rng(0) if rng is None else rng).integers(2**63))

    def at(budget: float) -> FrequencyPlan:
        (row,) = category_rows(truth, users, budget, [method], [estimator], repetitions, seed)
        root = math.sqrt(row.mse.value)
        found = Simulated(root, row.mse.error / (2 * root) if root else 0.0)
        return FrequencyPlan(oracle(truth, budget, method), method, users, estimator, found)

    if error is None:
        assert epsilon is not None
        return at(check_epsilon(epsilon))
    target = _checked_error(error, truth, users)
    try:
        return cheapest(at, lambda plan: plan.predicted_error.value, target, PRECISION, progress)
    except OutOfReachError as best:
        raise InputError(
            f"error must be at least {best.error:.3g}, what these users reach with the largest epsilon, "
            f"{MAX_EPSILON:g}, got {target!r}: ask more users"
        ) from None


def _checked_error(error: float, truth: CategoricalPrior, users: int) -> float:
    """Return the target if the shares among users who told their categories would on average err by less."""
    target = checked_target("error", error)
    least = math.sqrt(float(np.mean(truth.weights * (1.0 - truth.weights))) / users)
    if target <= least:
        raise InputError(
            f"error must exceed {least:.3g}, what {users} users err by without any privacy, got {error!r}: ask more "
            "users"
        )
    return target
