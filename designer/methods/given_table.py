"""A table that somebody else made, as a method: nothing is built, its reports are relabelled at most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...mechanisms.compact_tables.floor_and_windows import table_of
from ...mechanisms.errors import InputError
from ...mechanisms.exactness.verification import require_proved
from ...mechanisms.promise import Pure
from ...mechanisms.table.table import TabulatedMechanism
from ..objectives.base import Objective, Problem, Solution
from .base import Built, Method
from .closed_form import without_bias


@dataclass(frozen=True, eq=False)
class Given(Method):
    """A proved table beside the optimum, under a name; it may keep less than the whole budget.

    By objectives of variance its reports are relabelled where that takes their bias away, as those of closed forms are.

    Parameters
    ----------
    table : TabulatedMechanism
        On the prior's knots or, by an objective for any knots, on some of them.
    name : str

    Raises
    ------
    InputError
        No table, or a promise that is not pure privacy.
    TableError
        A table that is not proved.

    Example
    -------
    >>> from optldp.designer import Prior, design
    >>> from optldp.mechanisms import duchi, make_exact
    >>> mine = Given(make_exact(duchi([-1, 0, 1], 1.0)).mechanism, "mine")
    >>> made = design(Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public"), 1.0, method=mine)
    >>> made.method, round(made.value, 3), round(made.bound, 3)
    ('mine', 4.183, 3.933)
    """

    table: TabulatedMechanism
    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", table_of(self.table, self.name))
        if not isinstance(self.table.promise, Pure):
            raise InputError(f"{self.name} must promise pure privacy to be compared, got {self.table.promise}")
        require_proved(self.table)

    @property
    def key(self) -> str:
        return self.name

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        if self.table.epsilon > problem.epsilon:
            raise InputError(
                f"the budget must be at least its epsilon {self.table.epsilon:.10g}, got {problem.epsilon:.10g}"
            )
        if not objective.of_variance:
            return Built(self.table)
        try:
            return Built(without_bias(self.table))
        except InputError:
            most = float(np.abs(self.table.knot_bias).max())
            raise InputError(
                f"its reports must be unbiased, or be so once scaled and shifted, got a bias of {most:.4g}: compare by "
                "the error of a mean, which counts the bias"
            ) from None
