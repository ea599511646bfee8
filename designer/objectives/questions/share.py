"""The share of people above a threshold: randomised response on the cut, which no private table improves on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....mechanisms.errors import InputError
from ....solvers import Status
from ....solvers.lengths.length_program import LengthProgram
from ...priors.prior import Prior
from ..base import Problem, Solution, Told
from ..registry import Asker
from .question import Question

ABOVE = 1e-9
"""Of the range: how far above the threshold the knot is that decides for all values above it."""


@dataclass(frozen=True)
class Share(Question):
    """Length of the interval of the share of values above a threshold.

    Whether x > threshold is decided before anything is rounded: the table has a knot at the threshold and one a
    billionth of the range above it.

    Parameters
    ----------
    n : int
        People.
    above : float
        The threshold, in units of the values; not below the first knot, and below the last one.

    Raises
    ------
    InputError
        An invalid number; in a design: a threshold outside the range.

    Source: randomised response is optimal for two values: Kairouz, Oh and Viswanath (2016), "Extremal mechanisms for
    local differential privacy", theorem 5.

    Example
    -------
    >>> from optldp import Prior, design
    >>> from optldp.designer.objectives import Share
    >>> made = design(Prior.even(list(range(41))), 1.0, objective=Share(20_000, 19.5))
    >>> round(made.value, 3), made.status.value, made.mechanism.low.size
    (0.03, 'optimal', 2)
    """

    n: int
    above: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.checked(self.n))
        if not np.isfinite(self.above):
            raise InputError(f"a share's threshold must be a number, got {self.above!r}")

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Share:
        if "above" not in options:
            raise InputError("a share needs its threshold: write share:above=20")
        return cls(cls.checked(asker.users), options["above"])

    @property
    def key(self) -> str:
        return "share"

    @property
    def asks(self) -> str:
        return f"the share above {self.above:g}"

    @property
    def label(self) -> str:
        return f"shortest interval of the share above {self.above:g}"

    def fitted(self, prior: Prior) -> Prior:
        low, high = prior.domain
        self._check(low, high)
        step = ABOVE * (high - low)
        near = (prior.knots > self.above) & (prior.knots <= self.above + step)
        more = [self.above] if near.any() else [self.above, self.above + step]
        return prior.on(np.union1d(prior.knots, more)) if low < high - step else prior

    def program(self, problem: Problem, ratio: float) -> LengthProgram:
        knots = problem.prior.knots
        self._check(knots[0], knots[-1])
        return LengthProgram(problem.solved.weights, ratio, (knots > self.above)[None], np.ones(1), self.n)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        yes, ratio = problem.prior.knots > self.above, problem.inner_ratio
        columns = np.where(np.column_stack([~yes, yes]), ratio, 1.0) / (1 + ratio)
        return Solution(self.made(problem, columns), {}, Status.OPTIMAL, solver="closed-form")

    def parameters(self) -> dict[str, Any]:
        return {"above": self.above}

    def _check(self, low: float, high: float) -> None:
        if not low <= self.above < high:
            raise InputError(f"a share's threshold must lie from {low:g} to below {high:g}, got {self.above:g}")
