"""Personalised budgets: every user picks a privacy level, and reports the value at it and the level itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..categorical.categories import Categories
from ..categorical.local_hashing import LocalHashing
from ..categorical.mechanism import CategoricalMechanism
from ..categorical.subset_selection import SubsetSelection
from ..categorical.table import CategoricalTable
from ..documents.bundle import require_exact
from ..errors import InputError
from ..laws.domain import values_inside
from ..laws.law import Words
from ..table.table import TabulatedMechanism
from .levelled import Levelled, PersonalisedReports, require_alike


@dataclass(frozen=True, eq=False, init=False, repr=False)
class PersonalisedMechanism(Levelled[CategoricalMechanism | TabulatedMechanism]):
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
    >>> from optldp import PersonalisedMechanism
    >>> from optldp.mechanisms.categorical.unary_encoding import basic_rappor
    >>> made = PersonalisedMechanism([basic_rappor(["a", "b", "c"], e) for e in (0.5, 1.0)], 0.3)
    >>> sent = made.sample(["a", "c"], [0, 1])
    >>> sent.levels.shape, sent.reports.shape, round(made.level_leakage, 3)
    ((2,), (2, 1), 0.744)
    """

    kind: ClassVar[str] = "personalised"
    levels: tuple[CategoricalMechanism, ...] | tuple[TabulatedMechanism, ...]

    def _check_kinds(self) -> None:
        for level in self.levels:
            if not isinstance(level, CategoricalMechanism | TabulatedMechanism):
                raise InputError(f"levels must be mechanisms for categories or tables of numbers, got {level!r:.60}")
            if isinstance(level, TabulatedMechanism):
                require_exact(f"the table of level {level.epsilon:g}", level)

    def _check_match(self) -> None:
        whats = "kinds", "categories", "domains", "units", "numbers of outputs"
        for other in self.levels[1:]:
            require_alike(whats, _nature(self.levels[0]), _nature(other))

    def _places(self) -> int:
        return sum(table.low.size for table in self.tables) if self.tables else len(self.categories)

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
        inputs = self._checked_values(values)

        def draw(level: CategoricalMechanism | TabulatedMechanism, users: np.ndarray, words: Words) -> np.ndarray:
            if isinstance(level, TabulatedMechanism):
                return level.sample(inputs[users], rng)
            return level.draw(inputs[users], words)

        return self._reported(inputs.size, levels, rng, draw)

    def _checked_values(self, values: ArrayLike) -> np.ndarray:
        if self.tables:
            return values_inside(values, *self.tables[0].domain)
        return self.categories.codes(values)


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
    elif isinstance(level, SubsetSelection):
        outputs = level.n_chosen
    return name, level.categories.labels, None, None, outputs
