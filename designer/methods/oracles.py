"""Frequency oracles by name: adding one is a line here."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...mechanisms.categorical.categories import Categories
from ...mechanisms.categorical.local_hashing import local_hashing
from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.categorical.oracle_choice import frequency_oracle
from ...mechanisms.categorical.table import CategoricalTable, categorical_grr
from ...mechanisms.categorical.unary_encoding import basic_rappor, optimised_unary

ORACLES: dict[str, Callable[[Categories, float], CategoricalMechanism]] = {
    "auto": frequency_oracle,
    "grr": categorical_grr,
    "olh": local_hashing,
    "oue": optimised_unary,
    "rappor": basic_rappor,
}
"""Categories and a budget in, a mechanism out; "auto" is GRR or OLH, whichever errs less."""


def oracle_of_levels(categories: Categories, epsilons: Sequence[float]) -> str:
    """Return the name of one oracle for several budgets: GRR if it errs less at the smallest of them, else OUE.

    GRR gains most from a larger budget; OUE's reports, unlike OLH's, are of the same kind at every budget.

    Example
    -------
    >>> oracle_of_levels(Categories(range(4)), [0.5, 1.0]), oracle_of_levels(Categories(range(40)), [0.5, 1.0])
    ('grr', 'oue')
    """
    return "grr" if isinstance(frequency_oracle(categories, min(epsilons)), CategoricalTable) else "oue"
