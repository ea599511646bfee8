"""What the noise of one report costs at each budget, for one prior; and how values of one user hang together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...estimators.frequencies.decoder import frequency_decoder
from ..designs.design import design
from ..priors.categorical import CategoricalPrior
from ..priors.prior import Prior

SMALLEST = 0.05
"""The variance times the square of the budget hardly changes below: smaller budgets are read off there."""


@dataclass(frozen=True, eq=False)
class Noise:
    """The expected variance of the best unbiased report of a value, budget by budget.

    Parameters
    ----------
    prior : Prior
    progress : callable, optional
        Told the budget that is designed for.

    Example
    -------
    >>> noise = Noise(Prior.even([-1.0, 0.0, 1.0]))
    >>> noise.at(1.0) < noise.at(0.5), round(noise.at(0.01) / noise.at(0.02), 6)
    (True, 4.0)
    """

    prior: Prior
    progress: Callable[[float], None] | None = None
    _made: dict[float, Any] = field(default_factory=dict, init=False, repr=False)

    @property
    def variance(self) -> float:
        """The variance of values."""
        return float(self.prior.weights @ (self.prior.knots - self.prior.mean) ** 2)

    def at(self, epsilon: float) -> float:
        """Return the expected variance of a report at a budget, in squared units of the values."""
        used = max(epsilon, SMALLEST)
        return self.design(used).expected_variance * (used / epsilon) ** 2

    def design(self, epsilon: float) -> Any:
        """Return the design at a budget, made once."""
        if epsilon not in self._made:
            if self.progress is not None:
                self.progress(epsilon)
            self._made[epsilon] = design(self.prior, epsilon)
        return self._made[epsilon]


@dataclass(frozen=True, eq=False)
class FrequencyNoise:
    """The same of frequencies, on average over the categories.

    Parameters
    ----------
    prior : CategoricalPrior
    made : callable
        Returns the mechanism of a budget.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> noise = FrequencyNoise(CategoricalPrior("ab", [1, 1]), lambda epsilon: categorical_grr("ab", epsilon))
    >>> round(noise.at(1.0), 3), noise.variance
    (0.921, 0.25)
    """

    prior: CategoricalPrior
    made: Callable[[float], Any]

    @property
    def variance(self) -> float:
        """The variance of whether a user has a category."""
        return float((self.prior.weights * (1 - self.prior.weights)).mean())

    def at(self, epsilon: float) -> float:
        """Return the variance of a frequency by one report at a budget, about those of the users."""
        return float(frequency_decoder(self.made(epsilon)).variances(self.prior.weights).mean())


def correlations(periods: int, changes: int) -> np.ndarray:
    """Return the correlation (T,) of a user's values so many periods apart, 0 to T - 1.

    Values change exactly k times, at times drawn evenly among all, each time to an independent value of the prior: two
    are the same where no change lies between, and else independent.

    Example
    -------
    >>> correlations(4, 1).round(3).tolist(), correlations(4, 0).tolist()
    ([1.0, 0.667, 0.333, 0.0], [1.0, 1.0, 1.0, 1.0])
    """
    steps = periods - 1
    whole = math.comb(steps, changes)
    return np.array([math.comb(steps - apart, changes) / whole for apart in range(periods)])


def within_users(periods: int, changes: int) -> float:
    """Return the share of the values' variance that lies within users, over time; the rest is between them.

    Example
    -------
    >>> within_users(52, 0), round(within_users(52, 1), 3)
    (0.0, 0.34)
    """
    near = correlations(periods, changes)
    many = np.r_[periods, 2 * np.arange(periods - 1, 0, -1)]
    return float(1 - (many @ near) / periods**2)
