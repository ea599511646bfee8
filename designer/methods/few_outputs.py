"""A method of `compare`: the best table found with at most so many outputs, which shows what short reports cost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...mechanisms.errors import InputError
from ..objectives.at_most import AtMost
from ..objectives.base import Objective, Problem, Solution
from .base import Built, Method


@dataclass(frozen=True)
class FewOutputs(Method):
    """The best table of at most so many outputs, compared with the optimum of any number, for objectives that take
    `AtMost`.

    Parameters
    ----------
    limit : AtMost

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior, compare
    >>> from optldp.designer.objectives import AtMost
    >>> rows = compare(Prior.even(np.linspace(-1, 1, 5)), [1.0], methods=["optimal"], outputs=[AtMost(2), AtMost(3)])
    >>> [(row.method, round(row.ratio_to_optimal, 2)) for row in rows]
    [('optimal', 1.0), ('at-most-2', 1.05), ('at-most-3', 1.03)]
    """

    limit: AtMost

    @property
    def key(self) -> str:
        return f"at-most-{self.limit.outputs}"

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        if not objective.takes_most:
            raise InputError(f"few outputs are placed for variances, got {objective.label}: leave --outputs out")
        return Built(objective.solve(replace(problem, most=self.limit.outputs)).mechanism)
