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
    """A table on the prior's knots, or on some of them, or an oracle; and the evidence of its method.

    Parameters
    ----------
    mechanism : TabulatedMechanism or CategoricalMechanism
    evidence : optional
        Further results of the method, which the design carries as its own `evidence`.

    Example
    -------
    >>> from optldp.designer.methods import Built
    >>> from optldp.mechanisms import duchi
    >>> Built(duchi([-1.0, 1.0], 1.0)).mechanism.provenance.method
    'duchi'
    """

    mechanism: TabulatedMechanism | CategoricalMechanism
    evidence: Any = None


class Method(ABC):
    """A way to a mechanism: a closed form, a lattice, a floor of few pieces.

    A method is a small frozen dataclass of its parameters. The objective judges its result against the certified
    optimum, which the method receives as a start or a measure.

    Example
    -------
    >>> from dataclasses import dataclass
    >>> from optldp.designer import Prior, design
    >>> from optldp.designer.methods import Built, Method
    >>> from optldp.mechanisms import laplace
    >>> @dataclass(frozen=True)
    ... class Half(Method):
    ...     key = "half-laplace"
    ...     def build(self, problem, objective, solution):
    ...         return Built(laplace(problem.prior.knots, problem.epsilon / 2))
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> made = design(prior, 1.0, method=Half())
    >>> round(made.value, 2), round(made.bound, 2)
    (32.0, 3.93)
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
