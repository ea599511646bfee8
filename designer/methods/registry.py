"""Methods by name, for the command line and for comparisons; those with parameters can be passed as objects too."""

from __future__ import annotations

from ...mechanisms.errors import InputError
from ...mechanisms.families.registry import FAMILIES
from .base import Method
from .closed_form import ClosedForm
from .lattice import Lattice

OPTIMAL = "optimal"
"""The objective's own optimum."""

METHODS = (OPTIMAL, "aaa", *FAMILIES)
"""What `design` can build by name: the optimum, AAA's lattice, and every closed-form family."""


def as_method(method: str | Method) -> Method | None:
    """Return a method by its name, None for the optimum; InputError for one that there is not."""
    if isinstance(method, Method):
        return method
    check_methods([method])
    if method == OPTIMAL:
        return None
    return Lattice() if method == "aaa" else ClosedForm(method)


def check_methods(names: list[str]) -> None:
    """Raise InputError unless all names are in `METHODS`."""
    if unknown := [name for name in names if name not in METHODS]:
        raise InputError(f"method must be one of {', '.join(METHODS)}, got {unknown[0]!r}")
