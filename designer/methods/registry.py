"""Methods by name, for the command line and for comparisons; those with parameters can be passed as objects too."""

from __future__ import annotations

from collections.abc import Iterable

from ...mechanisms.errors import InputError
from ...mechanisms.families.registry import FAMILIES
from ...mechanisms.option_grammar import name_asked
from .base import Method
from .closed_form import ClosedForm
from .lattice import Lattice
from .options import read_method, told_method
from .pieces import Pieces

OPTIMAL = "optimal"
"""The objective's own optimum."""

METHODS = (OPTIMAL, "aaa", *FAMILIES)
"""What comparisons look at if nothing is named: the optimum, AAA's lattice, and every closed-form family."""

NAMES = (*METHODS, "shaped")
"""What can be built by name: these, and the floor of a few pieces, whose search takes longer than all of them."""


def as_method(method: str | Method) -> Method | None:
    """Return a method by its name, told more or not, None for the optimum; InputError for one that there is not.

    Example
    -------
    >>> as_method("ptt:eta=1.5"), as_method("optimal")
    (ClosedForm(name='ptt', worst_case=False, eta=1.5), None)
    """
    if isinstance(method, Method):
        return method
    check_methods([method])
    if isinstance(made := told_method(method), Method):
        return made
    if method == OPTIMAL:
        return None
    usual = {"aaa": Lattice, "shaped": Pieces}
    return usual[method]() if method in usual else ClosedForm(method)


def name_of(method: str | Method) -> str:
    """Return what the rows of a method are called."""
    return method if isinstance(method, str) else method.key


def check_methods(names: Iterable[str]) -> None:
    """Raise InputError unless all names are in `NAMES`, and told only what those of `options.TOLD` take."""
    for name in names:
        if name_asked(name) not in NAMES:
            raise InputError(f"method must be one of {', '.join(NAMES)}, got {name!r}")
        read_method(name)


def place_of(name: str) -> int:
    """Return where a method stands in tables; what is no method, such as the best by an objective, stands first."""
    return NAMES.index(name_asked(name)) if name_asked(name) in NAMES else -1
