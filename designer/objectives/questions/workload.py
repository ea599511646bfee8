"""Linear queries of the distribution, such as all prefix sums or ranges, answered with the least sum of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from ....mechanisms.errors import InputError
from ....mechanisms.promise import OfPairs, Pure
from ....mechanisms.spaces.places import Places
from ....mechanisms.statistics import Outputs, Supports, unread
from ....mechanisms.table.provenance import Provenance
from ....solvers.frequency.cone_bound import certified_cone_bound
from ....solvers.frequency.workload import certified_workload_bound, sampling_error, solve_workload, workload_cost
from ...priors.categorical import CategoricalPrior
from ...priors.prior import Prior
from ..base import Objective, Problem, Solution, Told
from ..cones import cone_of
from ..losses.named import known_or_read
from ..promised import promise_facts, promise_notes
from ..registry import Asker
from .answering import answered_of_pairs, answering_table
from .queries import NAMES, queries_of

MAX_COLUMNS = 4000
"""Outputs of a table at most."""


@dataclass(frozen=True, eq=False)
class WorkloadEvidence:
    """What a design for a workload shows beside its value.

    Attributes
    ----------
    queries : int
    sampling : float
        What the population's answers vary by from sample to sample, summed over queries, times n: it comes on top if
        answers are to be about the population, with any mechanism.
    """

    queries: int
    sampling: float


@dataclass(frozen=True, eq=False)
class Workload(Objective):
    """Sum over linear queries of the variance of their answers around these users' own, times the number of users.

    It uses the best linear estimator that is unbiased for every distribution, for values drawn from the prior. Reports
    of numbers are placed at the mean of the value given the report. Do not average them: estimate the distribution.

    Parameters
    ----------
    queries : str or (q, n) array_like
        "prefix", "ranges" (all n(n + 1)/2, weight 1), "moments" (mean and mean square on the domain as [-1, 1]), of
        places, two columns' values, "marginals" (shares of each column's values) and "moments" (with the product), or
        weights of the frequencies in the order of the prior. Rows may depend on each other, and be fewer than values.

    Raises
    ------
    InputError
        In a design: unknown queries, or queries that do not fit the prior.
    SolverError
        In a design: no table is found.

    Source: solvers/frequency/workload.py.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.objectives import Workload
    >>> prior = Prior.even(list(range(8)))
    >>> made = design(prior, 1.0, objective=Workload("prefix"))
    >>> round(made.value), made.bound <= made.value, made.gap < 1e-2
    (23, True, True)
    """

    queries: str | ArrayLike = "prefix"

    nobody = "no mechanism on these values"
    takes = (Prior, CategoricalPrior)
    of_two_columns = True
    tolerance = 1e-2  # sums of many errors; priors are not known better
    promises = (Pure, OfPairs)

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Workload:
        return cls(known_or_read(str(options.get("queries", "prefix")), NAMES, "a workload"))

    @property
    def key(self) -> str:
        return "workload"

    @property
    def name(self) -> str:
        """What the queries are called."""
        return self.queries if isinstance(self.queries, str) else "own"

    @property
    def label(self) -> str:
        return f"least error of {'queries of your own' if self.name == 'own' else self.name}"

    def quantity(self, units: str) -> str:
        return "squared error of all answers, times n"

    def check(self, problem: Problem) -> None:
        self._queries(problem)

    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        weights, tolerance = problem.solved.weights, problem.tolerance
        if isinstance(problem.privacy, OfPairs):
            matrix, found = answered_of_pairs(problem, self._queries(problem), progress)
            made = answering_table(problem, matrix, self._origin(tolerance))
            return Solution(made, found.multipliers, found.status, solver=found.solver)
        with threadpool_limits(1, user_api="blas"):  # as in `Variance`
            found = solve_workload(
                weights,
                problem.inner_ratio,
                self._queries(problem),
                tolerance=tolerance,
                max_columns=MAX_COLUMNS,
                progress=progress,
            )
        made = answering_table(problem, found.solution, self._origin(tolerance))
        return Solution(made, found.multipliers, found.status, solver=found.solver)

    def value(self, mechanism: Any, problem: Problem) -> float:
        match mechanism.statistic:
            case Outputs(law):
                return workload_cost(problem.solved.weights, law, self._queries(problem))
            case Supports():
                raise InputError("a workload needs a mechanism whose reports can be listed, got one with too many")
            case statistic:
                raise unread(statistic)

    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        weights, queries, certificate = problem.solved.weights, self._queries(problem), multipliers["certificate"]
        with threadpool_limits(1, user_api="blas"):
            if isinstance(problem.privacy, OfPairs):
                return certified_cone_bound(cone_of(problem), weights, queries, certificate)
            return certified_workload_bound(weights, problem.ratio, queries, certificate)

    def evidence(self, problem: Problem, mechanism: Any, solution: Solution) -> WorkloadEvidence:
        queries = self._queries(problem)
        return WorkloadEvidence(len(queries), sampling_error(problem.solved.weights, queries))

    def title(self, made: Any) -> str:
        return f"table for {made.evidence.queries:,} queries ({self.name})"

    def parameters(self) -> dict[str, Any]:
        return {"workload": self.name}

    def facts(self, made: Any) -> dict[str, Any]:
        found = made.evidence
        return {
            **promise_facts(made),
            "queries": found.queries,
            "workload_error": made.value,
            "lower_bound": made.bound,
            "sampling_error": found.sampling,
        }

    def notes(self, made: Any) -> list[str]:
        return promise_notes(made)

    def _origin(self, tolerance: float) -> Provenance:
        return Provenance("optimal", {"unbiased": False, "workload": self.name, "tolerance": tolerance})

    def _queries(self, problem: Problem) -> np.ndarray:
        if isinstance(problem.prior, CategoricalPrior):
            if isinstance(named := problem.prior.categories, Places):
                return queries_of(self.queries, named.points)
            return queries_of(self.queries, np.arange(problem.prior.weights.size), labels=True)
        return queries_of(self.queries, problem.unit.knots)
