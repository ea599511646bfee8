"""Additive noise by its name, with the promise that it keeps: a new one is a file of its own and a line here."""

from collections.abc import Callable
from typing import Any, NamedTuple

from numpy.typing import ArrayLike

from ..promise import Approximate, Metric, Promise
from ..table.table import TabulatedMechanism
from .gaussian import gaussian
from .geometric import geometric


class Additive(NamedTuple):
    """A kind of noise: the promise that it keeps, and its table for knots and such a promise."""

    promise: type[Promise]
    build: Callable[[ArrayLike, Any], TabulatedMechanism]


ADDITIVE: dict[str, Additive] = {
    "gaussian": Additive(Approximate, gaussian),
    "geometric": Additive(Metric, geometric),
}
"""The keys are the method names of the provenance and of the command line."""
