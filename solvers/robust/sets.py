"""Sets of priors: what is known of a prior, as a polytope to move in and as a largest expectation to judge by.

The largest expectation h(V) = max over q in U of sum q_i V_i of a table's variances is what the table guarantees.  It
is computed here by sorting, apart from the program that found the table, and rounded up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from .polytope import PriorPolytope

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""Relative rounding of a sum of n products, per product."""

FIXED = 1e-14
"""A weight that may change by less is held: all of them together change an expectation by less than rounding does."""

SUM_SLACK = 1e-12
"""How far bounds may miss a sum of one: what dividing weights by their sum leaves behind."""


class PriorSet(ABC):
    """A closed convex set of priors on n knots with more than one member.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import BoxSet
    >>> priors = BoxSet(np.array([0.1, 0.2, 0.1]), np.array([0.5, 0.8, 0.5]))
    >>> value, worst = priors.largest(np.array([1.0, 0.0, 2.0]))
    >>> round(value, 3), worst.round(3)
    (1.3, array([0.3, 0.2, 0.5]))
    """

    @property
    @abstractmethod
    def some_prior(self) -> Array:
        """A member, (n,)."""

    @abstractmethod
    def polytope(self) -> PriorPolytope:
        """Return the set by inequalities."""

    @abstractmethod
    def largest(self, values: Array) -> tuple[float, Array]:
        """Return max over the members q of sum q_i values_i, rounded up, and a member that attains it.

        Parameters
        ----------
        values : (n,) ndarray
            Non-negative.
        """


def rounded_up(value: float, n: int) -> float:
    """Return the value raised by the rounding of a sum of n products."""
    return value + abs(value) * ROUNDING * n


@dataclass(frozen=True, eq=False)
class BoxSet(PriorSet):
    """Priors between a lower and an upper bound at every knot.

    Parameters
    ----------
    low, high : (n,) ndarray
        0 <= low <= high; low sums to less than one and high to more, where they differ.

    Raises
    ------
    InputError
        Bounds that cross or admit no prior.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import BoxSet
    >>> BoxSet(np.full(3, 0.2), np.full(3, 0.5)).largest(np.array([1.0, 2.0, 3.0]))[1]
    array([0.2, 0.3, 0.5])
    """

    low: Array
    high: Array

    def __post_init__(self) -> None:
        if not (np.all(self.low >= 0) and np.all(self.low <= self.high)):
            raise InputError("bounds on a prior's weights must satisfy 0 <= low <= high at every knot")
        if not self.low.sum() - SUM_SLACK <= 1 <= self.high.sum() + SUM_SLACK:
            raise InputError(
                f"bounds on a prior's weights must admit a sum of 1, got sums from {self.low.sum():.9g} to "
                f"{self.high.sum():.9g}: widen them"
            )

    @property
    def some_prior(self) -> Array:
        width = self.high - self.low
        share = (1 - self.low.sum()) / width.sum() if width.sum() > 0 else 0.0
        found = self.low + np.clip(share, 0, 1) * width
        return found / found.sum()

    def polytope(self) -> PriorPolytope:
        width, prior = self.high - self.low, self.some_prior
        free = width > FIXED
        unit = np.eye(len(prior))[:, free]
        return PriorPolytope(
            np.where(free, 0.0, prior),
            unit,
            np.concatenate([-np.eye(unit.shape[1]), np.eye(unit.shape[1])]),
            np.concatenate([-self.low[free], self.high[free]]),
            prior[free],
        )

    def largest(self, values: Array) -> tuple[float, Array]:
        width = self.high - self.low
        order = np.argsort(-values)
        before = np.cumsum(width[order]) - width[order]
        raised = np.zeros_like(width)
        raised[order] = np.clip(1 - self.low.sum() - before, 0, width[order])
        prior = self.low + raised
        return rounded_up(float(prior @ values), len(values)), prior


@dataclass(frozen=True, eq=False)
class MovedSet(PriorSet):
    """Priors that differ from the given one by at most a share of the mass: (1/2) sum |q_i - p_i| <= radius.

    Parameters
    ----------
    prior : (n,) ndarray
    radius : float
        Positive.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import MovedSet
    >>> MovedSet(np.array([0.5, 0.3, 0.2]), 0.4).largest(np.array([1.0, 0.0, 4.0]))[1]
    array([0.4, 0. , 0.6])
    """

    prior: Array
    radius: float

    @property
    def some_prior(self) -> Array:
        return self.prior

    def polytope(self) -> PriorPolytope:
        n = len(self.prior)
        return lifted_polytope(self.prior, np.eye(n), np.full(n, 0.5), self.radius)

    def largest(self, values: Array) -> tuple[float, Array]:
        order = np.argsort(values)
        top = order[-1]
        given = self.prior[order]
        before = np.cumsum(given) - given
        taken = np.zeros_like(given)
        taken[order] = np.clip(self.radius - before, 0, given)
        prior = self.prior - taken
        prior[top] += taken.sum()
        bound = float(self.prior @ values) + float(taken @ (values[top] - values))
        return rounded_up(bound, len(values)), prior


@dataclass(frozen=True, eq=False)
class MixedSet(PriorSet):
    """Mixtures of the given prior and any other, (1 - w) p + rho with rho >= 0 and sum rho = w: its guarantee is
    (1 - w) sum p_i V_i + w max V_i.

    Parameters
    ----------
    prior : (n,) ndarray
    share : float
        w, in (0, 1]; 1 makes it all priors.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import MixedSet
    >>> MixedSet(np.array([0.5, 0.25, 0.25]), 0.5).largest(np.array([1.0, 2.0, 3.0]))[1]
    array([0.25 , 0.125, 0.625])
    """

    prior: Array
    share: float

    @property
    def base(self) -> Array:
        """The part (1 - w) p that all members have in common, (n,)."""
        return (1 - self.share) * self.prior

    @property
    def some_prior(self) -> Array:
        return self.base + self.share / len(self.prior)

    def polytope(self) -> PriorPolytope:
        n = len(self.prior)
        return PriorPolytope(self.base, np.eye(n), -np.eye(n), np.zeros(n), np.full(n, self.share / n))

    def largest(self, values: Array) -> tuple[float, Array]:
        prior, top = self.base, int(np.argmax(values))
        prior[top] += self.share
        bound = float(self.base @ values) + self.share * float(values[top])
        return rounded_up(bound, len(values)), prior


def lifted_polytope(prior: Array, moves: Array, prices: Array, budget: float) -> PriorPolytope:
    """Return {q >= 0 : sum_e prices_e |moves_e (q - prior)| <= budget, sum q = 1}, with coordinates (q, |moves|).

    Parameters
    ----------
    prior : (n,) ndarray
    moves : (l, n) ndarray
    prices : (l,) ndarray
        Positive.
    budget : float
        Positive.
    """
    n, size = len(prior), len(prices)
    unit, none = np.eye(n), np.zeros((n, size))
    rows = np.block(
        [
            [-unit, none],
            [moves, -np.eye(size)],
            [-moves, -np.eye(size)],
            [np.zeros((1, n)), prices[None, :]],
        ]
    )
    right = np.concatenate([np.zeros(n), moves @ prior, -(moves @ prior), [budget]])
    # A step from the prior towards the even one that spends half of the budget at most.
    towards = 1 / n - prior
    cost = float(prices @ np.abs(moves @ towards))
    step = min(1.0, 0.5 * budget / cost) if cost > 0 else 0.0
    # A quarter more is spread over all moves, so that each inequality has room and the budget is not used up.
    size_of_moves = np.abs(moves @ (step * towards)) + 0.25 * budget / prices.sum()
    return PriorPolytope(
        np.zeros(n), np.hstack([unit, none]), rows, right, np.concatenate([prior + step * towards, size_of_moves])
    )
