"""Frequency oracles by name, and as methods: adding one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...mechanisms.categorical.local_hashing import hashing_of_levels, local_hashing
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from ...mechanisms.categorical.projective_geometry import geometry_of_levels, projective_geometry
from ...mechanisms.categorical.subset_selection import subset_selection, subsets_of_levels
from ...mechanisms.categorical.table import categorical_grr
from ...mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary
from ...mechanisms.errors import InputError
from ...mechanisms.spaces.categories import Categories
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
    "subset": subset_selection,
    "projective-geometry": projective_geometry,
}
"""Categories and a budget in, a mechanism out; "auto" errs least of those that are worth their length."""

OF_LEVELS: dict[str, Callable[[Categories, Sequence[float]], tuple[CategoricalMechanism, ...]]] = {
    "olh": hashing_of_levels,
    "subset": subsets_of_levels,
    "projective-geometry": geometry_of_levels,
}
"""Those whose reports would not be of one kind if each budget had its own best: one choice for all budgets."""


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


def levels_of_oracle(name: str, categories: Categories, epsilons: Sequence[float]) -> tuple[CategoricalMechanism, ...]:
    """Return the oracle of this name at each budget, with reports of one kind.

    "auto" is what it is at the smallest budget, from where GRR gains most with larger ones; reports of OLH,
    subset selection and projective geometry tell least of their level.

    Example
    -------
    >>> [levels_of_oracle("auto", Categories(range(k)), [0.5, 1.0])[0].provenance.method for k in (3, 40, 4000)]
    ['grr', 'subset', 'olh']
    """
    if name == "auto":
        name = frequency_oracle(categories, min(epsilons)).provenance.method
    if name in OF_LEVELS:
        return OF_LEVELS[name](categories, epsilons)
    return tuple(ORACLES[name](categories, epsilon) for epsilon in epsilons)
