"""What mechanisms of users' own budgets have in common: a mechanism for each level, and a report of the level."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..categorical.mechanism import CategoricalMechanism
from ..categorical.table import categorical_grr
from ..cost import require_affordable, table_cost
from ..documents.bundle import Bundle, Nested
from ..documents.report_text import report_numbers
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..key_value.mechanism import KeyValueMechanism
from ..laws.domain import numbers
from ..laws.law import Words
from ..shown.told import Dots, Told
from ..table.exact_sampling import random_words
from ..table.table import TabulatedMechanism
from .attributes import AttributeSampling
from .level_leakage import report_leakage
from .level_report import LevelReport

MOST_LEVELS = 256
"""People choose among a handful of levels; estimators hold a number for each level and distinct report."""

SAME_EPSILON = 1e-9
"""Relative distance below which a budget is that of a level, written with other last digits."""

Level = TypeVar("Level", bound=CategoricalMechanism | TabulatedMechanism | AttributeSampling | KeyValueMechanism)


@dataclass(frozen=True, eq=False)
class PersonalisedReports:
    """What the users send.

    Parameters
    ----------
    levels : (N,) ndarray of int
        Reported levels, numbers from 0; the true ones only where levels are reported in the clear.  Under another
        protocol than randomised response: its reports, see `LevelReport`.
    reports : (N, ...) ndarray
        Reports of the values, of the kind that the levels' mechanisms make; of d attributes (N, d), NaN where one was
        not drawn.

    Example
    -------
    >>> from optldp.mechanisms import PersonalisedMechanism
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> made = PersonalisedMechanism([categorical_grr(["yes", "no"], epsilon) for epsilon in (1.0, 2.0)])
    >>> sent = made.sample(["yes", "no", "no"], [0, 1, 1])
    >>> sent.levels, sent.reports.shape
    (array([0, 1, 1]), (3,))
    """

    levels: np.ndarray
    reports: np.ndarray


@dataclass(frozen=True, eq=False)
class Levelled(Bundle, Generic[Level]):
    """t mechanisms for the same values, of increasing budgets, and how the level that was used is itself reported.

    A kind says which levels match, and how values are drawn. Parameters and errors: see `PersonalisedMechanism`.
    """

    levels: tuple[Level, ...]
    level_epsilon: float | None
    level_mechanism: CategoricalMechanism | None

    def __init__(
        self,
        levels: Sequence[Level],
        level_epsilon: float | None = None,
        *,
        level_mechanism: CategoricalMechanism | None = None,
    ) -> None:
        object.__setattr__(self, "levels", tuple(levels))
        object.__setattr__(self, "level_mechanism", level_mechanism)
        if not 2 <= len(self.levels) <= MOST_LEVELS:
            raise InputError(f"there must be 2 to {MOST_LEVELS} levels, got {len(self.levels)}")
        self._check_kinds()
        require_rising(self.epsilons)
        self._check_match()
        if level_mechanism is not None:
            if level_epsilon is not None or not isinstance(level_mechanism, CategoricalMechanism):
                raise InputError("the level's report takes a budget or a mechanism for categories, and not both")
            level_epsilon = level_mechanism.epsilon
        if level_epsilon is not None:
            try:
                level_epsilon = check_epsilon(level_epsilon)
            except InputError as error:
                raise InputError(f"level_{error}") from None
        object.__setattr__(self, "level_epsilon", level_epsilon)
        told, places = self.level_report.n_reports, self._places()
        what = f"{told} reports of levels beside {places} numbers for each"
        require_affordable(what, table_cost(told, places), "report levels otherwise, or use fewer")

    def __repr__(self) -> str:
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        inner = f"{type(self.levels[0]).__name__}, ({budgets}), level_epsilon={self.level_epsilon}"
        return f"{type(self).__name__}({inner})"

    def _told(self) -> Told:
        facts = {"epsilon": self.epsilons[-1], "levels": len(self.levels), "level_epsilon": self.level_epsilon}
        columns = {
            "level": list(range(len(self.levels))),
            "epsilon": self.epsilons,
            "mechanism": [repr(level) for level in self.levels],
        }
        names = [f"level {number}" for number in columns["level"]]
        return Told(facts, columns, Dots(names, np.array(self.epsilons), "epsilon of a level"))

    def __reduce__(self) -> tuple[Any, ...]:
        return _made_again, (type(self), self.levels, self.level_epsilon, self.level_mechanism)

    @abstractmethod
    def _check_kinds(self) -> None:
        """Raise InputError for a level of another kind, TableError for one in doubles."""

    @abstractmethod
    def _check_match(self) -> None:
        """Raise InputError unless reports of all levels are of the same values and of the same kind."""

    @abstractmethod
    def _places(self) -> int:
        """Return the numbers counted for each report of a level: of categories, outputs, or outputs of keys."""

    @property
    def epsilons(self) -> tuple[float, ...]:
        """The budgets of the levels, increasing."""
        return tuple(level.epsilon for level in self.levels)

    @cached_property
    def level_report(self) -> LevelReport:
        """How the level is reported."""
        many, protocol = len(self.levels), self.level_mechanism
        if protocol is None and self.level_epsilon is not None:
            protocol = categorical_grr(range(many), self.level_epsilon)
        return LevelReport(many, protocol)

    @property
    def level_response(self) -> np.ndarray:
        """(t, m) probability of each report of the level for each level; the identity where they are in the clear."""
        return self.level_report.response

    @cached_property
    def level_leakage(self) -> float:
        """The largest log-ratio of two levels' probabilities of both reports together, for the same value.

        The level's own report adds its budget to `report_leakage`; infinite where levels are in the clear.
        """
        return self.level_report.max_log_ratio + report_leakage(self.levels)

    def level_numbers(self, epsilons: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the level with each of these budgets.

        Raises InputError for budgets that are no level's, with their count and the first.
        """
        given, declared = numbers("levels", epsilons), np.array(self.epsilons)
        after = np.minimum(np.searchsorted(declared, given), declared.size - 1)
        nearest = after - ((after > 0) & (given - declared[after - 1] < declared[after] - given))
        known = np.abs(given - declared[nearest]) <= SAME_EPSILON * declared[nearest]
        self._require_levels(known, given)
        return nearest

    def checked_levels(self, levels: ArrayLike) -> np.ndarray:
        """Return the numbers (N,) of levels as int64, or raise InputError with the count of others and the first."""
        given = np.asarray(levels)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise InputError(f"levels must be one-dimensional integers, got shape {given.shape} of {given.dtype}")
        self._require_levels((given >= 0) & (given < len(self.levels)), given)
        return given.astype(np.int64)

    def checked_level_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return reports (N,) of levels as int64; InputError for impossible ones, with their count and the first."""
        if self.level_mechanism is None:
            return self.checked_levels(reports)
        return report_numbers(reports, self.level_report.n_reports)

    def _require_levels(self, known: np.ndarray, given: np.ndarray) -> None:
        if not known.all():
            first = int(np.argmin(known))
            raise InputError(
                f"levels must be among the {len(self.levels)} declared, 0 to {len(self.levels) - 1} with budgets "
                f"{', '.join(f'{epsilon:g}' for epsilon in self.epsilons)}, got {np.count_nonzero(~known)} that are "
                f"not, the first {given[first]} in row {first + 1}"
            )

    def _reported(
        self,
        size: int,
        levels: ArrayLike,
        rng: np.random.Generator | None,
        draw: Callable[[Level, np.ndarray, Words], np.ndarray],
    ) -> PersonalisedReports:
        """Draw both reports of so many users; `draw` makes those of a level's users, whose numbers it is given."""
        chosen, words = self.checked_levels(levels), random_words(rng)
        if size != chosen.size:
            raise InputError(f"values and levels must be as many, got {size} and {chosen.size}")
        groups = [np.flatnonzero(chosen == i) for i in range(len(self.levels))]
        reports = np.concatenate([draw(level, users, words) for level, users in zip(self.levels, groups, strict=True)])
        reports[np.concatenate(groups)] = reports.copy()
        return PersonalisedReports(self.level_report.draw(chosen, words), reports)

    def members(self) -> dict[str, Any]:
        own = {} if self.level_mechanism is None else {"level_mechanism": self.level_mechanism}
        return {"levels": list(self.levels), "level_epsilon": self.level_epsilon, **own}

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        require_keys("the mechanism", members, ("levels", "level_epsilon"), ("level_mechanism",))
        if not isinstance(members["levels"], list):
            raise TableError(f"levels must be a list, got {type(members['levels']).__name__}")
        budget = members["level_epsilon"]
        levels = [nested(level) for level in members["levels"]]
        epsilon = None if budget is None else as_number("level_epsilon", budget)
        if "level_mechanism" not in members:
            return cls(levels, epsilon)
        made = cls(levels, level_mechanism=nested(members["level_mechanism"]))
        if epsilon != made.level_epsilon:
            raise TableError(f"level_epsilon must be that of level_mechanism, {made.level_epsilon}, got {epsilon!r}")
        return made

    def failures(self) -> tuple[str, ...]:
        """Return what breaks a level's promise, or that of the level's own report."""
        found = []
        for epsilon, level in zip(self.epsilons, self.levels, strict=True):
            broken = prove(level).failures if isinstance(level, TabulatedMechanism) else level.failures()
            found += [f"level of epsilon {epsilon:g}: {failure}" for failure in broken]
        return (*found, *(f"report of the level: {failure}" for failure in self.level_report.failures()))


def require_rising(epsilons: Sequence[float]) -> None:
    """Raise InputError unless budgets increase strictly.

    Example
    -------
    >>> require_rising([0.5, 0.5])
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: levels must have different budgets, got epsilon 0.5 twice: leave one out
    """
    for before, after in pairwise(epsilons):
        if before == after:
            raise InputError(f"levels must have different budgets, got epsilon {after:g} twice: leave one out")
        if before > after:
            raise InputError(
                f"levels must be in the order of their budgets, got epsilon {after:g} after {before:g}: sort them"
            )


def require_alike(whats: Sequence[str], left: Sequence[object], right: Sequence[object]) -> None:
    """Raise InputError for the first property of two levels that is not the same.

    Example
    -------
    >>> require_alike(["units"], ["year"], ["day"])
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: levels must match, got units 'year' and 'day': make them alike
    """
    for what, mine, theirs in zip(whats, left, right, strict=True):
        if mine != theirs:
            raise InputError(f"levels must match, got {what} {mine!r:.60} and {theirs!r:.60}: make them alike")


def _made_again(
    kind: type[Levelled[Any]], levels: Sequence[Any], epsilon: float | None, protocol: CategoricalMechanism | None
) -> Levelled[Any]:
    return kind(levels, None if protocol is not None else epsilon, level_mechanism=protocol)
