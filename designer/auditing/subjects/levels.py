"""Personalised mechanisms under audit: an input is a value, pairs or a row of values, with the level of who holds it.

Three claims are tried. Two values at one level keep the level's budget. One value at two levels keeps what both reports
tell of the level, where that is finite. For two values at two levels nothing is claimed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ....mechanisms import InputError, TabulatedMechanism
from ....mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from .events import STATED, Columns, Family
from .spellings import spellings
from .subject import SHORT_LINE, Kind
from .text import parsed_rows

MOST_LEVELS = 4
"""Levels that are tried, the first and the last among them."""

MOST_VALUES = 48
"""Values that are tried at each level."""

LEVEL = "the level"


class LevelKind(Kind):
    """Values at levels in; levels and reports of values out.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
    kinds : sequence of Kind
        How `levels_to_try` are looked at, with the same inputs.
    """

    def __init__(self, mechanism: PersonalisedMechanism, kinds: Sequence[Kind]) -> None:
        self.mechanism, self._kinds = mechanism, kinds
        levels = levels_to_try(mechanism)
        inner = self._kinds[0]
        values = np.unique(np.linspace(0, inner.weights.size - 1, min(MOST_VALUES, inner.weights.size)).astype(int))
        self._values, self._levels = np.tile(values, levels.size), np.repeat(levels, values.size)
        self.weights = np.tile(inner.weights[values], levels.size)
        same_value = self._values[:, None] == self._values
        same_level = self._levels[:, None] == self._levels
        leaked = mechanism.level_leakage if np.isfinite(mechanism.level_leakage) else np.nan
        budgets = np.array(mechanism.epsilons)[self._levels][:, None]
        self.claims = np.where(same_level, budgets, np.where(same_value, leaked, np.nan))
        self._of_level = values.size

    def at(self, mechanism: PersonalisedMechanism, epsilon: float) -> LevelKind:
        levels = levels_to_try(mechanism).tolist()
        return LevelKind(mechanism, [self._kinds[0].at(mechanism.levels[i], mechanism.epsilons[i]) for i in levels])

    def arguments(self, inputs: np.ndarray) -> tuple:
        return *self._kinds[0].arguments(self._values[inputs]), self._levels[inputs]

    def columns(self, reports: object, many: int) -> Columns:
        if not isinstance(reports, PersonalisedReports):
            raise InputError(f"the sampler must return PersonalisedReports, got {type(reports).__name__}")
        levels = np.asarray(reports.levels)
        if levels.shape != (many,) or not np.issubdtype(levels.dtype, np.integer):
            raise InputError(f"the sampler must return {many} levels, got shape {levels.shape} of {levels.dtype}")
        return {LEVEL: levels.astype(np.int64)} | self._kinds[0].columns_beside_level(reports.reports, many)

    def lines(self) -> list[tuple[str, ...]]:
        inner = self._kinds[0].lines()
        return [
            spellings([json.loads(inner[value][0]), level])
            for value, level in zip(self._values.tolist(), self._levels.tolist(), strict=True)
        ]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        halves = [text.partition(",") for text in texts]
        levels, _ = parsed_rows([half[0] for half in halves], _whole_numbers, np.int64(-1))
        return {LEVEL: levels} | self._kinds[0].columns_of_text([half[2] for half in halves])

    def published(self, texts: Sequence[str]) -> list[str | None]:
        halves = [text.partition(",") for text in texts]
        levels, none = parsed_rows([half[0] for half in halves], _whole_numbers, np.int64(-1))
        values = self._kinds[0].published([half[2] for half in halves])
        return [
            None if foreign or value is None else f"{level},{value}"
            for level, foreign, value in zip(levels.tolist(), none.tolist(), values, strict=True)
        ]

    def words(self, number: int) -> str:
        budget = self.mechanism.epsilons[int(self._levels[number])]
        return f"{self._kinds[0].words(int(self._values[number]))} at level {budget:g}"

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        ends = [(start, start + self._of_level - 1) for start in range(0, len(self.weights), self._of_level)]
        across = [(0, len(self.weights) - self._of_level)]
        return [ends[-1], ends[0], *(pair for pair in across if not np.isnan(self.claims[pair]))]

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        first, *others = (kind.tables() for kind in self._kinds)
        return {
            name: table
            for name, table in first.items()
            if all(np.array_equal(other[name].low, table.low) for other in others)
        }

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        if self._levels[first] != self._levels[second]:
            return []
        kind = self._kinds[int(np.searchsorted(np.unique(self._levels), self._levels[first]))]
        families = list(kind.pair_families(int(self._values[first]), int(self._values[second])))
        many = self.mechanism.level_report.n_reports
        return families + [_with_level(family, many) for family in families]

    def readable(self, columns: Columns) -> bool:
        return self._kinds[0].readable(columns)

    @property
    def places(self) -> int:
        return self._kinds[0].places

    @property
    def longest_line(self) -> int:
        return SHORT_LINE + self._kinds[0].longest_line

    def foreign(self, columns: Columns, mechanism: Any = None) -> np.ndarray:
        """Return which reports tell no level or, of the value, what is made at none."""
        made = self.mechanism if mechanism is None else mechanism
        outside = (columns[LEVEL] < 0) | (columns[LEVEL] >= made.level_report.n_reports)
        told = {name: column for name, column in columns.items() if name != LEVEL}
        return outside | np.all([self._kinds[0].foreign(told, level) for level in made.levels], axis=0)


def levels_to_try(mechanism: PersonalisedMechanism) -> np.ndarray:
    """Return the numbers of the levels that are tried, the first and the last among them.

    Example
    -------
    >>> from ....mechanisms import PersonalisedMechanism
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> levels_to_try(PersonalisedMechanism([categorical_grr("ab", epsilon) for epsilon in (0.5, 1.0)]))
    array([0, 1])
    """
    many = len(mechanism.levels)
    return np.unique(np.linspace(0, many - 1, min(MOST_LEVELS, many)).astype(int))


def _with_level(family: Family, many: int) -> Family:
    """Return the family that tells the reported levels apart too."""

    def codes(columns: Columns) -> np.ndarray:
        return np.clip(family.codes(columns), -(2**40), 2**40) * (many + 1) + columns[LEVEL]

    return Family(STATED, f"{family.name}, with the level", codes)


def _whole_numbers(texts: Sequence[str]) -> np.ndarray:
    try:
        return np.array(list(map(int, texts)), dtype=np.int64)
    except (ValueError, OverflowError):
        raise InputError("levels must be whole numbers, got something else") from None
