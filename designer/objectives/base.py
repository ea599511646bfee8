"""What a problem is, what an objective must say of itself, and what comes out of solving it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from ...mechanisms.budget import inner_epsilon
from ...mechanisms.promise import Promise, Pure
from ...mechanisms.table.table import TabulatedMechanism
from ...mechanisms.table.unit_interval import UnitInterval
from ...solvers import Status
from ...solvers.certificate import check_tolerance, relative_gap
from ..priors.prior import Prior
from .registry import Asker

DEFAULT_TOLERANCE = 1e-6
"""Relative gap asked of the certificate: far below any difference that data could show."""

Told = Callable[[Any], None] | None
"""Called with a solver's progress after each of its steps."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A prior, a budget and how exactly to solve: what an objective is asked about.

    Parameters
    ----------
    prior : Prior or CategoricalPrior
        As given.
    epsilon : float
        Checked.
    uniform_share : float
        Mixed into the prior before solving, in [0, 1].
    tolerance : float
        Relative gap to reach, in (0, 1).
    outputs : (m,) ndarray, optional
        The only reports there may be: in the prior's units, increasing; for categories 0, ..., m - 1; of places (m, 2).
        None for any.
    most : int, optional
        How many reports there may be at most, wherever they are. None for any number.
    as_floor : bool
        Whether a floor form is wanted; a solver that finds one need not make the table.
    promise : Promise, optional
        Of this epsilon; None for a pure one.
    general : bool
        Whether solvers for some problems alone are to be left out, which one of all problems checks.

    Raises
    ------
    InputError
        A share or a tolerance out of range.
    """

    prior: Any
    epsilon: float
    uniform_share: float = 0.0
    tolerance: float = DEFAULT_TOLERANCE
    outputs: np.ndarray | None = None
    as_floor: bool = False
    promise: Promise | None = None
    most: int | None = None
    general: bool = False

    def __post_init__(self) -> None:
        check_tolerance(self.tolerance)
        _ = self.solved

    @cached_property
    def solved(self) -> Any:
        """The prior that is solved for: the given one with the uniform share."""
        return self.prior.mixed(self.uniform_share)

    @property
    def values(self) -> np.ndarray:
        """What a promise of pairs is told of the values: knots, or the numbers 0, ..., K - 1 of categories."""
        return self.prior.knots if isinstance(self.prior, Prior) else np.arange(self.prior.weights.size)

    @cached_property
    def unit(self) -> UnitInterval:
        """The domain mapped to [-1, 1], where programs are solved; variances there times its squared half-width."""
        return UnitInterval.of(self.prior.knots)

    @property
    def privacy(self) -> Promise:
        """What is to be promised."""
        return Pure(self.epsilon) if self.promise is None else self.promise

    @property
    def ratio(self) -> float:
        """E = e^epsilon, which bounds are for."""
        return math.exp(self.epsilon)

    @property
    def inner_ratio(self) -> float:
        """A hair below E: what tables are built with, so that rounding errs towards privacy."""
        return math.exp(inner_epsilon(self.epsilon))

    def table(self, outputs: np.ndarray, probabilities: np.ndarray, provenance: Any) -> TabulatedMechanism:
        """Return the mechanism of outputs and probabilities on the mapped knots, in the prior's units."""
        return TabulatedMechanism.from_points(
            self.prior.knots,
            self.unit.values(outputs),
            probabilities,
            self.epsilon,
            provenance=provenance,
            units=self.prior.units,
        )


@dataclass(frozen=True, eq=False)
class Solution:
    """What solving a problem gives.

    Attributes
    ----------
    mechanism : TabulatedMechanism
        The best that was found.
    multipliers : mapping of str to array or certificate of the solver's room
        From which `Objective.bound` proves its bound, and nothing else.
    status : Status
        The solver's own, on the table before it was made exact.
    others : tuple of TabulatedMechanism
        Candidates that may be better once tables are exact.
    aside : mapping
        What the evidence needs beside.
    solver : str
        Who found it.
    """

    mechanism: Any
    multipliers: Mapping[str, Any]
    status: Status
    others: tuple[TabulatedMechanism, ...] = ()
    aside: Mapping[str, Any] = field(default_factory=dict)
    solver: str = ""


class Objective(ABC):
    """A goal for mechanisms: a number for every table, and the best number that any mechanism can reach.

    An objective is a small frozen dataclass. It alone knows its solver: `solve` finds a mechanism and multipliers,
    `value` judges any table on the prior's knots, and `bound` turns any multipliers into a number that no mechanism
    beats. Designs, comparisons, bounds and the command line ask nothing else.

    Example
    -------
    >>> from optldp.designer import Prior, WorstCase, design
    >>> made = design(Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public"), 1.0, objective=WorstCase())
    >>> made.objective.label, round(made.value, 3), round(made.bound, 3)
    ('least worst-case variance', 3.933, 3.933)
    """

    more_is_better = False
    """Whether large numbers are good ones."""

    uses_prior = True
    """Whether the mechanism depends on the prior's weights; if not, its table carries no prior."""

    any_knots = False
    """Whether tables on some of the prior's knots alone, such as a coarse lattice, can be judged too."""

    nobody = "no unbiased mechanism on these knots"
    """Whom the bound holds for."""

    of_variance = False
    """Whether its number is made of variances, which say nothing of a biased table's error."""

    takes: tuple[type, ...] = (Prior,)
    """What is known of the values that it makes sense for: `Prior` for numbers, `CategoricalPrior`."""

    of_distance = False
    """Whether values may be on a circle or in the plane, between which there is a distance and which have no mean."""

    of_two_columns = False
    """Whether values may be in the plane as two columns' values, though no distance matters."""

    promises: tuple[type[Promise], ...] = (Pure,)
    """The kinds of privacy that it has a program for."""

    takes_outputs = False
    """Whether the reports that there may be can be given, and must be."""

    takes_most = False
    """Whether it can be asked for a few outputs, wherever these are."""

    has_general = False
    """Whether a general solver can solve it too, without those for some problems alone."""

    fits_methods = False
    """Whether closed forms fit themselves to it, so that comparisons build them anew for it."""

    asks = ""
    """The answer that the lengths of its intervals judge tables by, in words; empty where errors or losses do."""

    uniform_share = 0.0
    """Mixed into the prior if nothing else is asked: for programs that are indifferent to knots of no mass."""

    tolerance = DEFAULT_TOLERANCE
    """Relative gap that the certificate must reach if nothing else is asked."""

    @property
    def command_tolerance(self) -> float:
        """Relative gap that `optldp design` asks for if nothing else is asked: one that is reached while one waits."""
        return self.tolerance

    @classmethod
    def of_options(cls, options: Mapping[str, Any], asker: Asker) -> Self:
        """Return the objective of what it was told by the names of its options, and of what a command knows beside."""
        return cls(**options)

    @property
    @abstractmethod
    def key(self) -> str:
        """A short name of letters and hyphens, for files and ids."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What is asked, for people to read."""

    @abstractmethod
    def quantity(self, units: str) -> str:
        """Return what the number is, with its units."""

    def more(self, evidence: Any = None) -> str:
        """Return what else is known of the best design, or proved by its evidence, as a sentence; empty for none."""
        return ""

    def fitted(self, prior: Any) -> Any:
        """Return the prior on the knots that a design needs; InputError where it has none such."""
        return prior

    def check(self, problem: Problem) -> None:  # noqa: B027 -- most make sense everywhere
        """Raise InputError where the objective makes no sense for the problem."""

    @abstractmethod
    def solve(self, problem: Problem, progress: Told = None) -> Solution:
        """Return the best mechanism that can be found; SolverError where there is none."""

    @abstractmethod
    def value(self, mechanism: Any, problem: Problem) -> float:
        """Return the value of a mechanism under the prior solved for; infinite where it has none."""

    @abstractmethod
    def bound(self, problem: Problem, multipliers: Mapping[str, Any]) -> float:
        """Return what no mechanism of the whole budget can better, proved by any multipliers."""

    def interval_length(self, value: float) -> float:
        """Return the length of the 95% interval of what it `asks` that a value of it means."""
        return value

    def evidence(self, problem: Problem, mechanism: Any, solution: Solution) -> Any:
        """Return what only this objective knows of a mechanism; None for nothing."""
        return None

    def title(self, made: Any) -> str:
        """Return what a design by it is, for the first line of what is printed."""
        return f"{self.key} mechanism"

    def parameters(self) -> dict[str, Any]:
        """Return what it was told, as facts of a design."""
        return {}

    def facts(self, made: Any) -> dict[str, Any]:
        """Return what only a design by it states, by names that say what each number is."""
        return {self.key.replace("-", "_"): made.value, "lower_bound": made.bound}

    def notes(self, made: Any) -> list[str]:
        """Return what is to be said beside the facts."""
        return []

    def of_users(self, made: Any, users: int) -> tuple[dict[str, Any], list[str]]:
        """Return facts and notes on what so many users' reports will tell, beside how far off their mean may be."""
        return {}, []

    def closeness(self, made: Any) -> tuple[Status, float]:
        """Return whether a design is as good as it was to be, and how far from that it is at most."""
        return made.status, made.gap

    def status(self, problem: Problem, value: float, bound: float, solution: Solution) -> Status:
        """Return whether the best table is proved best to the tolerance: by the solver, and once it is exact."""
        if solution.status != Status.OPTIMAL:
            return solution.status
        return Status.of(relative_gap(value, bound), problem.tolerance)
