"""Personalised budgets: every user picks a privacy level, and reports the value at it and the level itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..categorical.categories import Categories
from ..categorical.local_hashing import LocalHashing
from ..categorical.mechanism import CategoricalMechanism
from ..categorical.table import CategoricalTable, categorical_grr
from ..documents.bundle import Bundle, Nested, require_exact
from ..documents.report_text import report_numbers
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import prove
from ..laws.domain import numbers, values_inside
from ..table.exact_sampling import random_words
from ..table.table import TabulatedMechanism
from .level_leakage import report_leakage
from .level_report import LevelReport

MOST_LEVELS = 256
"""People choose among a handful of levels; estimators hold a number for each level and distinct report."""

SAME_EPSILON = 1e-9
"""Relative distance below which a budget is that of a level, written with other last digits."""


@dataclass(frozen=True, eq=False)
class PersonalisedReports:
    """What the users send.

    Parameters
    ----------
    levels : (N,) ndarray of int
        Reported levels, numbers from 0; the true ones only where levels are reported in the clear.  Under another
        protocol than randomised response: its reports, see `LevelReport`.
    reports : (N, ...) ndarray
        Reports of the values, of the kind that the levels' mechanisms make.
    """

    levels: np.ndarray
    reports: np.ndarray


@dataclass(frozen=True, eq=False)
class PersonalisedMechanism(Bundle):
    """t mechanisms for the same values, of increasing budgets, and randomised response for which of them was used.

    A user of level i reports the value x through the i-th mechanism, and i through t-ary randomised response at
    `level_epsilon`.  What that promises:

    - About the value, given the level: the i-th budget, as the level's report does not depend on the value.
    - About the level, by its own report: `level_epsilon`.  **The report of the value depends on the level too**, so
      that both together tell `level_leakage` about it, and that is what somebody who knows the value can learn; for
      unary encodings of many categories it is large.  Somebody who does not know the value learns no more.
    - Nothing, where the level depends on the value: who picks the strictest level because of the value has told it.

    Parameters
    ----------
    levels : sequence of CategoricalMechanism or of TabulatedMechanism
        2 to 256 with strictly increasing epsilons: of one kind, for the same categories with the same reports; or
        exact tables of numbers on one domain in the same units.
    level_epsilon : float, optional
        Budget of the level's own report, by randomised response. None: levels are reported in the clear.
    level_mechanism : CategoricalMechanism, optional
        Of as many categories as levels: another protocol for the level's report, in place of `level_epsilon`.

    Raises
    ------
    InputError
        Levels that are too few or many, not in order, or do not match; a budget that is not usable.
    TableError
        A table in doubles.

    Source
    ------
    Wu, Zhu, Zhang and Xie (2024), "Overcoming challenges in PLDP", section 5.1, whose step 4 leaves the protocol of the
    level open; it claims `level_epsilon` for the level and says nothing of the value's report.

    Example
    -------
    >>> from ..categorical.unary_encoding import basic_rappor
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (0.5, 1.0)], 0.3)
    >>> sent = made.sample(["a", "c"], [0, 1])
    >>> sent.levels.shape, sent.reports.shape, round(made.level_leakage, 3)
    ((2,), (2, 1), 0.744)
    """

    kind: ClassVar[str] = "personalised"
    levels: tuple[CategoricalMechanism, ...] | tuple[TabulatedMechanism, ...]
    level_epsilon: float | None
    level_mechanism: CategoricalMechanism | None

    def __init__(
        self,
        levels: Sequence[CategoricalMechanism] | Sequence[TabulatedMechanism],
        level_epsilon: float | None = None,
        *,
        level_mechanism: CategoricalMechanism | None = None,
    ) -> None:
        object.__setattr__(self, "levels", tuple(levels))
        object.__setattr__(self, "level_mechanism", level_mechanism)
        _check_levels(self.levels)
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

    def __repr__(self) -> str:
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        return (
            f"PersonalisedMechanism({type(self.levels[0]).__name__}, ({budgets}), level_epsilon={self.level_epsilon})"
        )

    @property
    def categorical(self) -> tuple[CategoricalMechanism, ...]:
        """The levels' mechanisms if values are categories, else none."""
        return tuple(level for level in self.levels if isinstance(level, CategoricalMechanism))

    @property
    def tables(self) -> tuple[TabulatedMechanism, ...]:
        """The levels' tables if values are numbers, else none."""
        return tuple(level for level in self.levels if isinstance(level, TabulatedMechanism))

    @property
    def categories(self) -> Categories:
        """The categories; InputError if values are numbers."""
        if not self.categorical:
            raise InputError("values must be categories, got levels that are tables of numbers")
        return self.categorical[0].categories

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

    def sample(
        self, values: ArrayLike, levels: ArrayLike, rng: np.random.Generator | None = None
    ) -> PersonalisedReports:
        """Draw the two reports of each user: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : (N,) array_like
            Labels of categories, or numbers in the domain.
        levels : (N,) array_like of int
            The number of the level that each user chose, from 0, the most private; see `level_numbers`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.

        Raises
        ------
        InputError
            Unknown categories or levels, values outside the domain, or lists of different lengths.
        """
        chosen, words = self.checked_levels(levels), random_words(rng)
        inputs = self._checked_values(values)
        if inputs.size != chosen.size:
            raise InputError(f"values and levels must be as many, got {inputs.size} and {chosen.size}")
        groups = [np.flatnonzero(chosen == i) for i in range(len(self.levels))]
        drawn = []
        for level, users in zip(self.levels, groups, strict=True):
            if isinstance(level, TabulatedMechanism):
                drawn.append(level.sample(inputs[users], rng))
            else:
                drawn.append(level.draw(inputs[users], words))
        reports = np.concatenate(drawn)
        reports[np.concatenate(groups)] = reports.copy()
        return PersonalisedReports(self.level_report.draw(chosen, words), reports)

    def _checked_values(self, values: ArrayLike) -> np.ndarray:
        if self.tables:
            return values_inside(values, *self.tables[0].domain)
        return self.categories.codes(values)

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


def _check_levels(levels: Sequence[CategoricalMechanism | TabulatedMechanism]) -> None:
    if not 2 <= len(levels) <= MOST_LEVELS:
        raise InputError(f"there must be 2 to {MOST_LEVELS} levels, got {len(levels)}")
    for level in levels:
        if not isinstance(level, CategoricalMechanism | TabulatedMechanism):
            raise InputError(f"levels must be mechanisms for categories or tables of numbers, got {level!r:.60}")
        if isinstance(level, TabulatedMechanism):
            require_exact(f"the table of level {level.epsilon:g}", level)
    first = levels[0]
    for before, after in pairwise(levels):
        if before.epsilon == after.epsilon:
            raise InputError(f"levels must have different budgets, got epsilon {after.epsilon:g} twice: leave one out")
        if before.epsilon > after.epsilon:
            raise InputError(
                f"levels must be in the order of their budgets, got epsilon {after.epsilon:g} after "
                f"{before.epsilon:g}: sort them"
            )
        _require_match(first, after)


def _require_match(
    first: CategoricalMechanism | TabulatedMechanism, other: CategoricalMechanism | TabulatedMechanism
) -> None:
    """Raise InputError unless reports of the two can be told to be of the same values and of the same kind."""
    for what, left, right in zip(
        ("kinds", "categories", "domains", "units", "numbers of outputs"), _nature(first), _nature(other), strict=True
    ):
        if left != right:
            raise InputError(f"levels must match, got {what} {left!r:.60} and {right!r:.60}: make them alike")


def _nature(level: CategoricalMechanism | TabulatedMechanism) -> tuple[object, ...]:
    """Kind, categories, domain, units and, where reports are numbers of outputs, how many there are."""
    name = type(level).__name__
    if isinstance(level, TabulatedMechanism):
        return name, None, level.domain, level.units, None
    outputs = None
    if isinstance(level, CategoricalTable):
        outputs = level.numerators.shape[1]
    elif isinstance(level, LocalHashing):
        outputs = level.n_values
    return name, level.categories.labels, None, None, outputs
