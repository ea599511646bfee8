"""The frequency oracle that errs least near a prior over categories, with its certificate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import total_error
from ...mechanisms.categorical.table import CategoricalTable
from ...mechanisms.errors import InputError
from ...mechanisms.promise import OfPairs, Pure
from ...mechanisms.statistics import Outputs, Supports, unread
from ...mechanisms.table.provenance import Provenance
from ...solvers import Status
from ...solvers.frequency.cone_bound import certified_cone_bound
from ...solvers.frequency.frequency_program import FrequencyProgram, certified_frequency_bound
from ...solvers.frequency.optimal_sets import solve_frequency
from ...solvers.frequency.workload import workload_cost
from ..priors.categorical import CategoricalPrior
from .base import Objective, Problem, Solution, Told
from .cones import cone_of
from .promised import promise_notes
from .questions.answering import answered_of_pairs, answering_table

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

    Under a promise of pairs the frequencies are a workload whose queries are the identity: the sum of variances is the
    cost of privacy that `Workload` has, and the sampling of users. At most 48 categories have such a promise.

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
    promises = (Pure, OfPairs)
    of_two_columns = True

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
        origin = Provenance("optimal", {"objective": "frequencies", "tolerance": tolerance})
        if isinstance(problem.privacy, OfPairs):
            matrix, answered = answered_of_pairs(problem, np.eye(weights.size), progress)
            found = answered.multipliers, Status.OPTIMAL  # of these columns; `status` has the gap of what is returned
            return Solution(answering_table(problem, matrix, origin), *found, solver=answered.solver)
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            found = solve_frequency(
                weights, problem.inner_ratio, tolerance=tolerance, max_columns=self.max_columns, progress=progress
            )
        return Solution(
            answering_table(problem, found.solution, origin), found.multipliers, found.status, solver=found.solver
        )

    def value(self, mechanism: CategoricalMechanism, problem: Problem) -> float:
        weights = problem.solved.weights
        match mechanism.statistic:
            case Supports(own_support=own, other_support=other):
                return total_error(weights.size, own, other) + _sampling(weights)
            case Outputs(law) if isinstance(problem.privacy, OfPairs):
                return workload_cost(weights, law, np.eye(weights.size)) + _sampling(weights)
            case Outputs(law):
                return FrequencyProgram(weights, problem.ratio).error(law)
            case statistic:
                raise unread(statistic)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        weights = problem.solved.weights
        with threadpool_limits(1, user_api="blas"):
            if isinstance(problem.privacy, OfPairs):
                cost = certified_cone_bound(cone_of(problem), weights, np.eye(weights.size), **multipliers)
                return cost + _sampling(weights)
            return certified_frequency_bound(weights, problem.ratio, **multipliers)

    def evidence(self, problem: Problem, mechanism: CategoricalTable, solution: Solution) -> FrequenciesEvidence:
        return FrequenciesEvidence(_sampling(problem.solved.weights))

    def notes(self, made: Any) -> list[str]:
        return promise_notes(made)


def _sampling(weights: np.ndarray) -> float:
    """Return 1 - |prior|^2: what users' frequencies vary by from sample to sample, times their number."""
    return 1 - float(weights @ weights)
