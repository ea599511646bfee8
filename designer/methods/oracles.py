"""Frequency oracles by name, and as methods: adding one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...mechanisms.categorical.categories import Categories
from ...mechanisms.categorical.local_hashing import local_hashing
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from ...mechanisms.categorical.table import CategoricalTable, categorical_grr
from ...mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from ...mechanisms.errors import InputError
from ..objectives.base import Objective, Problem, Solution
from ..objectives.frequencies import Frequencies
from .base import Built, Method
from .registry import OPTIMAL

ORACLES: dict[str, Callable[[Categories, float], CategoricalMechanism]] = {
    "auto": frequency_oracle,
    "grr": categorical_grr,
    "olh": local_hashing,
    "oue": optimised_unary,
    "rappor": basic_rappor,
}
"""Categories and a budget in, a mechanism out; "auto" is GRR or OLH, whichever errs less."""


@dataclass(frozen=True)
class Oracle(Method):
    """A frequency oracle by its name in `ORACLES`; judged by `Frequencies` with the estimator that goes with it.

    Parameters
    ----------
    name : str
    """

    name: str

    for_categories = True

    @property
    def key(self) -> str:
        return self.name

    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        if not isinstance(objective, Frequencies):
            raise InputError(f"method {self.name} is judged by Frequencies() alone, got {objective.label}")
        return Built(ORACLES[self.name](problem.prior.categories, problem.epsilon))


def as_oracle(method: str | Method) -> Method | None:
    """Return a method for categories by its name, None for the optimum; InputError for one that there is not.

    Example
    -------
    >>> as_oracle("oue"), as_oracle("optimal")
    (Oracle(name='oue'), None)
    """
    if isinstance(method, Method):
        return method
    if method not in (OPTIMAL, *ORACLES):
        raise InputError(f"method must be one of {', '.join((OPTIMAL, *ORACLES))} for categories, got {method!r}")
    return None if method == OPTIMAL else Oracle(method)


def oracle_of_levels(categories: Categories, epsilons: Sequence[float]) -> str:
    """Return the name of one oracle for several budgets: GRR if it errs less at the smallest of them, else OUE.

    GRR gains most from a larger budget; OUE's reports, unlike OLH's, are of the same kind at every budget.

    Example
    -------
    >>> oracle_of_levels(Categories(range(4)), [0.5, 1.0]), oracle_of_levels(Categories(range(40)), [0.5, 1.0])
    ('grr', 'oue')
    """
    return "grr" if isinstance(frequency_oracle(categories, min(epsilons)), CategoricalTable) else "oue"
