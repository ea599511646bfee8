"""The distribution function: intervals of the shares of values below many cuts, and of the mean beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from ....mechanisms.errors import InputError
from ....mechanisms.table.table import TabulatedMechanism
from ....solvers import Status
from ....solvers.lengths.length_program import LengthProgram
from ....solvers.lengths.shortest_table import solve_lengths
from ..base import Problem, Solution, Told
from ..registry import Asker
from .other_tables import ratio_for_distributions
from .question import Question, QuestionEvidence

CUTS = 41
"""Cuts between knots at most, unless more are asked for."""


@dataclass(frozen=True)
class Cdf(Question):
    """Mean length, or the largest, of the intervals of the distribution function at cuts of the range, as shares.

    Parameters
    ----------
    n : int
        People.
    mean : float
        Weight of the length of the mean's interval, as a share of the range, from 0 to below 1; cuts have the rest.
    largest : bool
        Whether the largest length counts, not the mean; then `mean` is 0.
    by : {"even", "prior"}
        Cuts at equal distances, or at equal shares of the prior.
    cuts : int
        How many, at most one between each knot and the next.

    Raises
    ------
    InputError
        A number out of range, or a mean beside the largest length.
    SolverError
        In a design: numbers were lost.

    Source: solvers/lengths.

    Example
    -------
    >>> from optldp import Prior, design
    >>> from optldp.designer.objectives import Cdf
    >>> made = design(Prior.even(list(range(11))), 1.0, objective=Cdf(20_000))
    >>> round(made.value, 3), made.bound < made.evidence.one_peak_bound < made.value, made.status.value
    (0.062, True, 'local')
    """

    n: int
    mean: float = 0.0
    largest: bool = False
    by: Literal["even", "prior"] = "even"
    cuts: int = CUTS

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", self.checked(self.n))
        if not 0 <= self.mean < 1:
            raise InputError(
                f"the mean's weight must be from 0 to below 1, got {self.mean!r}: 1 is --objective expected"
            )
        if self.largest and self.mean:
            raise InputError("the largest length has no mean beside it, got both: leave one out")
        if self.by not in ("even", "prior"):
            raise InputError(f"cuts are by even or prior, got {self.by!r}")
        if not self.cuts >= 1:
            raise InputError(f"there must be at least one cut, got {self.cuts!r}")

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Cdf:
        return cls(cls.checked(asker.users), **options)

    @property
    def key(self) -> str:
        return "cdf"

    @property
    def asks(self) -> str:
        beside = f", {1 - self.mean:g} of it, and {self.mean:g} of the mean" if self.mean else ""
        return f"the distribution function{beside}"

    @property
    def label(self) -> str:
        kind = "largest" if self.largest else "shortest"
        beside = f", and of the mean by {self.mean:g}" if self.mean else ""
        return f"{kind} intervals of the distribution function{beside}".replace("largest", "least largest")

    def program(self, problem: Problem, ratio: float) -> LengthProgram:
        knots, prior = problem.prior.knots, problem.solved.weights
        first = self._first(prior)
        numbers = (np.arange(knots.size) < first[:, None]).astype(np.float64)
        weights = np.full(first.size, 1.0 if self.largest else (1 - self.mean) / first.size)
        if self.mean:
            numbers = np.vstack([numbers, (knots - knots[0]) / (knots[-1] - knots[0])])
            weights = np.append(weights, self.mean)
        return LengthProgram(prior, ratio, numbers, weights, self.n, self.largest)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            program = self.program(problem, problem.inner_ratio)
            found = solve_lengths(program, tolerance=problem.tolerance, progress=progress)
        return Solution(
            self.made(problem, found.solution), found.multipliers, Status.LOCAL, solver="shortest-intervals"
        )

    def parameters(self) -> dict[str, Any]:
        return {"mean_weight": self.mean, "largest": self.largest, "by": self.by, "cuts": self.cuts}

    def evidence(self, problem: Problem, mechanism: TabulatedMechanism, solution: Solution) -> QuestionEvidence:
        known = super().evidence(problem, mechanism, solution)
        if not self.mean:
            return known
        alone = replace(self, mean=0.0).value(mechanism, problem)
        ratio = ratio_for_distributions(mechanism, problem.solved.weights, self.n)
        return replace(known, shares_length=alone, shares_length_own=ratio * alone)

    def _first(self, prior: np.ndarray) -> np.ndarray:
        """Return the first knots above the cuts."""
        count = min(self.cuts, prior.size - 1)
        if self.by == "even":
            return np.unique(np.rint(np.linspace(1, prior.size - 1, count)).astype(int))
        found = np.searchsorted(np.cumsum(prior), np.linspace(0, 1, count + 2)[1:-1]) + 1
        return np.unique(np.clip(found, 1, prior.size - 1))
