"""Personalised budgets: every user picks a privacy level, and reports the value at it and the level itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..categorical.mechanism import CategoricalMechanism
from ..categorical.table import categorical_grr
from ..channel import Channel
from ..cost import require_affordable, table_cost
from ..display.summary import Dots, Told
from ..documents.bundle import Bundle, Nested, require_exact
from ..documents.table import as_number, require_keys
from ..errors import InputError, TableError
from ..exactness.proof import failures_of
from ..key_value.mechanism import KeyValueMechanism
from ..promise import Pure
from ..report_text import integers_of_text, report_numbers
from ..sampling.law import Words
from ..spaces.columns import naming
from ..spaces.levels import HeldAtLevels, ValuesAtLevels
from ..table.table import TabulatedMechanism
from .attribute_sampling import AttributeSampling
from .counted_places import counted_places
from .level_leakage import report_leakage
from .level_report import LevelReport

MOST_LEVELS = 256
"""People choose among a handful of levels; estimators hold a number for each level and distinct report."""

LEVEL_COLUMN = "level"
"""What stands beside the reports of columns, so that none of them may have its name."""


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


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PersonalisedMechanism(Bundle):
    """t mechanisms for the same values, of increasing budgets, and randomised response for which of them was used.

    A user of level i reports the value x through the i-th mechanism, and i through t-ary randomised response at
    `level_epsilon`. This promises:

    - About the value, given the level: the i-th budget, as the level's report does not depend on the value.
    - About the level, by its own report: `level_epsilon`.  **The report of the value depends on the level too**, so
      both together reveal up to `level_leakage` about the level to somebody who knows the value. With unary encodings
      of many categories that is large.  Somebody who does not know the value learns no more.
    - With several attributes, `level_leakage` is computed for the k that reveal the level most; with pairs, for the set
      that does. Tables with different outputs at each level reveal the level, unless reports are numbers of outputs.
    - Nothing is promised where the level depends on the value: choosing the strictest level because of the value
      reveals the value.

    Parameters
    ----------
    levels : sequence of mechanisms
        2 to 256 with strictly increasing epsilons, alike in their `nature`: exact tables of numbers on one domain in
        the same units; of one kind for the same categories with the same reports; for the same pairs of keys and
        values, with value tables on the same knots with equally many outputs; or for the same attributes (equally many
        sampled, none called "level"), where each attribute's budgets increase too.
    level_epsilon : float, optional
        Budget of the level's own report, by randomised response. None: levels are reported in the clear.
    level_mechanism : CategoricalMechanism, optional
        Another protocol for the level's report, with a category for each level, in place of `level_epsilon`.

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
    >>> import numpy as np
    >>> from optldp import AttributeSampling, PersonalisedMechanism, make_exact
    >>> from optldp.mechanisms import duchi
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (0.5, 1.0)], 0.3)
    >>> sent = made.sample(["a", "c"], [0, 1])
    >>> sent.levels.shape, sent.reports.shape, round(made.level_leakage, 3)
    ((2,), (2, 1), 0.744)
    >>> def at(epsilon):
    ...     tables = [make_exact(duchi(ends, epsilon)).mechanism for ends in ([18, 90], [0, 80])]
    ...     return AttributeSampling(["age", "hours"], tables, 1, epsilon)
    >>> sent = PersonalisedMechanism([at(0.5), at(1.0)]).sample({"age": [20, 64, 33], "hours": [40, 0, 35]}, [0, 1, 1])
    >>> sent.levels, np.isnan(sent.reports).sum(axis=1)
    (array([0, 1, 1]), array([1, 1, 1]))
    """

    levels: tuple[Any, ...]
    level_epsilon: float | None
    level_mechanism: CategoricalMechanism | None

    def __init__(
        self,
        levels: Sequence[Channel],
        level_epsilon: float | None = None,
        *,
        level_mechanism: CategoricalMechanism | None = None,
    ) -> None:
        object.__setattr__(self, "levels", tuple(levels))
        object.__setattr__(self, "level_mechanism", level_mechanism)
        if not 2 <= len(self.levels) <= MOST_LEVELS:
            raise InputError(f"there must be 2 to {MOST_LEVELS} levels, got {len(self.levels)}")
        for level in self.levels:
            _require_level(level)
        require_rising(self.epsilons)
        for other in self.levels[1:]:
            require_alike(self.levels[0].nature(), other.nature())
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
        require_names_beside_levels(self.levels[0].by_column)
        for name in self.levels[0].by_column:
            with naming(name):
                self.of_column(name)
        told, places = self.level_report.n_reports, counted_places(self.levels)
        what = f"{told} reports of levels beside {places} numbers for each"
        require_affordable(what, table_cost(told, places), "report levels otherwise, or use fewer")

    @property
    def kind(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] -- files have a name for each kind of level
        """The name in a file, which depends on what the levels are."""
        return self.levels[0].of_levels

    def __repr__(self) -> str:
        budgets = ", ".join(f"{epsilon:g}" for epsilon in self.epsilons)
        inner = f"{type(self.levels[0]).__name__}, ({budgets}), level_epsilon={self.level_epsilon}"
        return f"{type(self).__name__}({inner})"

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return what files call levels of numbers and categories, of attributes, and of pairs."""
        kinds = TabulatedMechanism, AttributeSampling, KeyValueMechanism
        return tuple(kind.of_levels for kind in kinds if kind.of_levels is not None)

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

    @property
    def inputs(self) -> ValuesAtLevels:
        """Values of the levels' space, each with the number of its level."""
        return ValuesAtLevels(self.levels[0].inputs, self.epsilons)

    def nature(self) -> dict[str, object]:
        return {"levels": self.epsilons, "reports of levels": self.level_epsilon} | self.levels[0].nature()

    def level_numbers(self, epsilons: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the level with each of these budgets; InputError for budgets that are none's."""
        return self.inputs.level_numbers(epsilons)

    def checked_level_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return reports (N,) of levels as int64; InputError for impossible ones, with their count and the first."""
        if self.level_mechanism is None:
            return self.inputs.checked_levels(reports)
        return report_numbers(reports, self.level_report.n_reports)

    @property
    def by_column(self) -> Mapping[str, PersonalisedMechanism]:
        """Where values are several columns: for each, what `of_column` returns."""
        return self._by_column

    @cached_property
    def _by_column(self) -> Mapping[str, PersonalisedMechanism]:
        return {name: self.of_column(name) for name in self.levels[0].by_column}

    def of_column(self, name: str) -> PersonalisedMechanism:
        """Return one column's mechanisms of all levels with the same report of the level; InputError for another name.

        Their budgets are what a report of this column spends, not the levels'.
        """
        if name not in (known := self.levels[0].by_column):
            raise InputError(f"columns must be among {', '.join(known) or 'none'}, got {name!r:.60}")
        levels = [level.by_column[name] for level in self.levels]
        return _made_again(type(self), levels, self.level_epsilon, self.level_mechanism)

    def sample(
        self, values: Any, levels: ArrayLike, rng: np.random.Generator | None = None, *, clip: bool = False
    ) -> PersonalisedReports:
        """Draw the two reports of each user: by the operating system's generator, or as a simulation.

        Parameters
        ----------
        values : (N,) array_like, mapping or pair of (N,) array_like
            As the levels' `inputs` take them: labels, numbers in the domain, every attribute by its name, or the keys
            and the values of pairs; sets of pairs as `SetsOfPairs.of_sets` makes them.
        levels : (N,) array_like of int
            The number of the level that each user chose, from 0, the most private; see `level_numbers`.
        rng : numpy.random.Generator, optional
            For simulations only: whoever knows its seed can undo the noise.
        clip : bool
            Move numbers outside a domain to its nearer end, and warn with their count, instead of raising.

        Raises
        ------
        InputError
            Unknown categories or levels, values outside the domain, or lists of different lengths.
        """
        return self.drawn((values, levels), rng, clip=clip)

    def draw(self, held: HeldAtLevels, words: Words, /) -> PersonalisedReports:
        """Draw both reports of each user."""
        reports = self._by_level(held.levels, lambda level, users: level.draw(held.values[users], words))
        return PersonalisedReports(self.level_report.draw(held.levels, words), reports)

    def _by_level(self, levels: np.ndarray, of: Callable[[Any, np.ndarray], np.ndarray]) -> np.ndarray:
        """Return what is made of the users of each level, whose numbers it is given, in the order of users."""
        groups = [np.flatnonzero(levels == i) for i in range(len(self.levels))]
        made = np.concatenate([of(level, users) for level, users in zip(self.levels, groups, strict=True)])
        made[np.concatenate(groups)] = made.copy()
        return made

    def checked_reports(self, reports: PersonalisedReports) -> PersonalisedReports:  # pyright: ignore[reportIncompatibleMethodOverride] -- two reports are a record
        """Return both reports in their canonical types; InputError for ones that no level makes."""
        levels = self.checked_level_reports(reports.levels)
        return self._read(levels, np.asarray(reports.reports), lambda level, rows: level.checked_reports(rows))

    def to_text(self, reports: PersonalisedReports) -> list[str]:  # pyright: ignore[reportIncompatibleMethodOverride] -- two reports are a record
        """Return the level's report, a space, and that of the value."""
        texts = self.levels[0].to_text(reports.reports)
        return [f"{level} {text}" for level, text in zip(reports.levels.tolist(), texts, strict=True)]

    def from_text(self, texts: Sequence[str]) -> PersonalisedReports:  # pyright: ignore[reportIncompatibleMethodOverride] -- two reports are a record
        """Return the reports that are written as these texts; InputError for others."""
        halves = [text.partition(" ") for text in texts]
        levels = self.checked_level_reports(integers_of_text([level for level, _, _ in halves]))
        written = np.array([report for _, _, report in halves], dtype=object)
        return self._read(levels, written, lambda level, rows: level.from_text(rows.tolist()))

    def _read(
        self, levels: np.ndarray, rows: np.ndarray, read: Callable[[Any, np.ndarray], np.ndarray]
    ) -> PersonalisedReports:
        """Read rows by the level that made them, or, where it is protected, each by the first that can have made it."""
        if self.level_epsilon is None:
            return PersonalisedReports(levels, self._by_level(levels, lambda level, users: read(level, rows[users])))
        with suppress(InputError):  # most often outputs of all levels are the same
            return PersonalisedReports(levels, read(self.levels[0], rows))
        return PersonalisedReports(
            levels, np.concatenate([self._read_alone(row, read) for row in np.split(rows, len(rows))])
        )

    def _read_alone(self, row: np.ndarray, read: Callable[[Any, np.ndarray], np.ndarray]) -> np.ndarray:
        *others, last = self.levels
        for level in others:
            with suppress(InputError):
                return read(level, row)
        return read(last, row)

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
        found = [
            f"level of epsilon {level.epsilon:g}: {failure}" for level in self.levels for failure in failures_of(level)
        ]
        return (*found, *(f"report of the level: {failure}" for failure in self.level_report.failures()))


def _require_level(level: object) -> None:
    """Raise InputError for what has no levels, TableError for a table in doubles."""
    if not isinstance(level, Channel) or level.of_levels is None:
        raise InputError(
            "levels must be tables (a floor form expanded), or mechanisms for categories, pairs or attributes, got "
            f"{level!r:.60}"
        )
    if isinstance(level, TabulatedMechanism):
        require_exact(f"the table of level {level.epsilon:g}", level)
    elif level.promise is not None and not isinstance(level.promise, Pure):
        raise InputError(f"levels must promise pure epsilon-LDP, got one that promises {level.promise}")


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


def require_alike(mine: Mapping[str, object], theirs: Mapping[str, object]) -> None:
    """Raise InputError for the first property of two levels that is not the same.

    Example
    -------
    >>> require_alike({"units": "year"}, {"units": "day"})
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.InputError: levels must match, got units 'year' and 'day': make them alike
    """
    for what in mine:
        if mine[what] != theirs.get(what):
            raise InputError(
                f"levels must match, got {what} {mine[what]!r:.60} and {theirs.get(what)!r:.60}: make them alike"
            )


def require_names_beside_levels(columns: Iterable[str]) -> None:
    """Raise InputError if a column has the name of the one that tells the level."""
    if LEVEL_COLUMN in columns:
        raise InputError(f"an attribute must not be named {LEVEL_COLUMN!r}, as the column of levels is: rename it")


def _made_again(
    kind: type[PersonalisedMechanism],
    levels: Sequence[Any],
    epsilon: float | None,
    protocol: CategoricalMechanism | None,
) -> PersonalisedMechanism:
    return kind(levels, None if protocol is not None else epsilon, level_mechanism=protocol)
