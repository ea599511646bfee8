"""Every closed-form family by its name: adding one is a file of its own and a line here."""

from collections.abc import Callable

from numpy.typing import ArrayLike

from ..table.table import TabulatedMechanism
from .duchi import duchi
from .grr import grr
from .hybrid import hybrid
from .laplace import laplace
from .piecewise import piecewise, pm_sub
from .ptt import ptt
from .ptt2 import ptt2
from .square_wave import square_wave
from .three_outputs import three_outputs

Family = Callable[[ArrayLike, float], TabulatedMechanism]
"""Knots and a budget in, a table out."""

FAMILIES: dict[str, Family] = {
    "laplace": laplace,
    "duchi": duchi,
    "piecewise": piecewise,
    "hybrid": hybrid,
    "three-outputs": three_outputs,
    "pm-sub": pm_sub,
    "ptt": ptt,
    "ptt2": ptt2,
    "square-wave": square_wave,
    "grr": grr,
}
"""The keys are the method names of the provenance and of the command line."""
