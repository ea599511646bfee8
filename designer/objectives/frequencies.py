"""The frequency oracle that errs least near a prior over categories, with its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import total_error
from ...mechanisms.categorical.table import CategoricalTable
from ...mechanisms.errors import InputError
from ...mechanisms.statistics import Outputs, Supports, unread
from ...mechanisms.table.provenance import Provenance
from ...solvers.frequency.frequency_program import FrequencyProgram, certified_frequency_bound
from ...solvers.frequency.optimal_sets import solve_frequency
from ..priors.categorical import CategoricalPrior
from .base import Objective, Problem, Solution, Told

MAX_COLUMNS = 4000
"""Outputs of a table at most; up to about 128 categories they suffice for the default tolerance, for 512 for 3e-3."""


@dataclass(frozen=True, eq=False)
class FrequenciesEvidence:
    """What a design for frequencies shows beside its error.

    Attributes
    ----------
    sampling : float
        1 - |prior|^2, the share of the error that there is without any privacy. About the frequencies among the users
        themselves the error is less by it, for every mechanism.
    """

    sampling: float


@dataclass(frozen=True)
class Frequencies(Objective):
    """Expected squared error of the frequencies, summed over categories, times the number of reports, at the prior.

    It uses the best linear estimator that is unbiased for every distribution, for values drawn from the prior. A
    `PureProtocol`, whose reports are too many to list, uses the usual one from support counts. No uniform share is
    mixed in: the error sums over all categories alike, so a category of no mass is estimated as precisely as any other.

    Parameters
    ----------
    max_columns : int
        Outputs of the table at most, at least 5 K + 1. With 20 or more for each category, only as many are used as
        necessary.

    Source: solvers/frequency/frequency_program.py.

    Example
    -------
    >>> from optldp.designer import CategoricalPrior, design
    >>> made = design(CategoricalPrior(["a", "b", "c", "d"], [0.7, 0.1, 0.1, 0.1]), 1.0)
    >>> made.mechanism, made.gap < 1e-3
    (CategoricalTable('optimal', epsilon=1, categories=4), True)
    """

    max_columns: int = MAX_COLUMNS

    nobody = "no mechanism for these categories"
    takes = (CategoricalPrior,)
    tolerance = 1e-3  # priors are not known better, and tables stay small

    @property
    def key(self) -> str:
        return "frequencies"

    @property
    def label(self) -> str:
        return "least error of frequencies"

    @property
    def most_categories(self) -> int:
        """Categories that the optimum is found for at most: a fifth of the outputs."""
        return (self.max_columns - 1) // 5

    def quantity(self, units: str) -> str:
        return "squared error of all frequencies, times n"

    def check(self, problem: Problem) -> None:
        size = problem.solved.weights.size
        if size > self.most_categories:
            raise InputError(
                f"the optimum is found for at most {self.most_categories} categories, got {size}: use "
                "method auto (an oracle that needs no prior), or merge rare categories"
            )

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        weights, tolerance = problem.solved.weights, problem.tolerance
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            found = solve_frequency(
                weights, problem.inner_ratio, tolerance=tolerance, max_columns=self.max_columns, progress=progress
            )
        origin = Provenance("optimal", {"objective": "frequencies", "tolerance": tolerance})
        table = CategoricalTable.from_probabilities(
            problem.prior.categories, found.solution, problem.epsilon, provenance=origin
        )
        return Solution(table, found.multipliers, found.status, solver=found.solver)

    def value(self, mechanism: CategoricalMechanism, problem: Problem) -> float:
        weights = problem.solved.weights
        match mechanism.statistic:
            case Supports(own_support=own, other_support=other):
                return total_error(weights.size, own, other) + 1 - float(weights @ weights)
            case Outputs(law):
                return FrequencyProgram(weights, problem.ratio).error(law)
            case statistic:
                raise unread(statistic)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        with threadpool_limits(1, user_api="blas"):
            return certified_frequency_bound(problem.solved.weights, problem.ratio, **multipliers)

    def evidence(self, problem: Problem, mechanism: CategoricalTable, solution: Solution) -> FrequenciesEvidence:
        weights = problem.solved.weights
        return FrequenciesEvidence(1 - float(weights @ weights))
