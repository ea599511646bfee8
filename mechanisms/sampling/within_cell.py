"""The laws of a report inside its output, by name: what a table file may say under "within".

A table gives each output a probability per row; where an output is a cell, the report's place inside it still
has to be drawn. `Uniform` draws it evenly (mechanisms of constant density between breakpoints),
`LinearDensity` and `ExponentialDensity` from the exact conditional density (tent shapes, Laplace), and
`GeometricTails` on a lattice. A law of your own is one more class and one more line here.
"""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from ..errors import TableError
from .exponential import ExponentialDensity
from .geometric import GeometricTails
from .law import RowFreeLaw, Uniform, WithinCell
from .linear import LinearDensity

__all__ = [
    "LAWS",
    "ExponentialDensity",
    "GeometricTails",
    "LinearDensity",
    "RowFreeLaw",
    "Uniform",
    "WithinCell",
    "law_from_parameters",
]

LAWS: dict[str, type[WithinCell]] = {
    law.kind: law for law in (Uniform, LinearDensity, ExponentialDensity, GeometricTails)
}
"""Every law by its name in a table file."""


def law_from_parameters(kind: str, parameters: Mapping[str, Any]) -> WithinCell:
    """Return the law of that name, or raise TableError for an unknown name or the wrong parameters.

    Example
    -------
    >>> law_from_parameters("geometric-tails", {"step": 1, "ratio": 0.5})
    GeometricTails(step=1.0, ratio=0.5)
    """
    if kind not in LAWS:
        raise TableError(f"the law within outputs must be one of {', '.join(LAWS)}, got {kind!r}")
    law = LAWS[kind]
    names = [field.name for field in fields(law)]  # pyright: ignore[reportArgumentType] -- every law is a dataclass
    if sorted(parameters) != sorted(names):
        raise TableError(f"the {kind} law must have the parameters {names}, got {sorted(parameters)}")
    return law(**parameters)
