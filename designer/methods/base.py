"""What a method must say of itself: another way to a mechanism than solving for the objective's optimum."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from ...mechanisms.categorical.mechanism import CategoricalMechanism
from ...mechanisms.table.table import TabulatedMechanism
from ..objectives.base import Objective, Problem, Solution


@dataclass(frozen=True, eq=False)
class Built:
    """A table on the prior's knots, or on some of them, or an oracle; and what only its method knows of it."""

    mechanism: TabulatedMechanism | CategoricalMechanism
    evidence: Any = None


class Method(ABC):
    """A way to a mechanism: a closed form, a lattice, a floor of few pieces.

    A method is a small frozen dataclass of its parameters. What it builds is judged by the objective beside the
    certified optimum, which is handed to it, as a start or a measure.
    """

    for_categories = False
    """Whether it is for categories; else for numbers."""

    @property
    @abstractmethod
    def key(self) -> str:
        """A short name of letters and hyphens."""

    @abstractmethod
    def build(self, problem: Problem, objective: Objective, solution: Solution) -> Built:
        """Return the mechanism of the whole budget; InputError where the method makes no sense for the problem."""
