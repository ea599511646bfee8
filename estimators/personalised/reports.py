"""How reports of several levels are read, told apart and written, by the space of their values and what they tell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.report_text import doubles_of_text, report_numbers
from ...mechanisms.sampling.domain import numbers
from ...mechanisms.spaces.categories import Categories
from ...mechanisms.spaces.interval import Interval
from ...mechanisms.spaces.space import Space
from ...mechanisms.statistics import Outputs, as_supports
from ...mechanisms.table.table import TabulatedMechanism

Cells = tuple[Sequence[np.ndarray], np.ndarray]
"""A law (K, m) of each level over cells that are the same for all, and the cell (R,) of each report."""


class ReportsAtLevels:
    """Reports that every level makes, and that counts hold as levels have them.

    Parameters
    ----------
    made : PersonalisedMechanism

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> made = PersonalisedMechanism([optimised_unary("abc", epsilon) for epsilon in (1.0, 2.0)])
    >>> held = ReportsAtLevels(made).checked(np.array([[128]], dtype=np.uint8))
    >>> ReportsAtLevels(made).written(held)
    ['80']
    """

    def __init__(self, made: PersonalisedMechanism) -> None:
        self.levels = made.levels

    def parse(self, texts: Sequence[str]) -> np.ndarray:
        """Return the reports (R, ...) that are written as these texts; InputError for other text."""
        return self.levels[0].from_text(texts)

    def checked(self, reports: np.ndarray) -> np.ndarray:
        """Return what counts hold (R, ...) of reports, or raise InputError for what is none."""
        return self.levels[0].checked_reports(reports)

    def possible(self, held: np.ndarray) -> np.ndarray | None:
        """Return which levels can have made each (R, t); None where all of them can."""
        return None

    def written(self, held: np.ndarray) -> list[str]:
        """Return what is held as text, for a data frame."""
        return self.levels[0].to_text(held)

    def of_level(self, held: np.ndarray, level: int) -> np.ndarray:
        """Return reports (R, ...) as the statistic of one level takes them, by its number."""
        return held

    def cells(self, held: np.ndarray) -> Cells | None:
        """Return cells that all levels share; None where reports are too many to have one each."""
        return None


class OutputsAtLevels(ReportsAtLevels):
    """Reports that are numbers of outputs, of which a level's table may never make some."""

    @property
    def _outputs(self) -> list[Outputs]:
        return [level.statistic for level in self.levels]

    def checked(self, reports: np.ndarray) -> np.ndarray:
        return report_numbers(reports, self._outputs[0].law.shape[1])  # what the first never makes, another may

    def possible(self, held: np.ndarray) -> np.ndarray:
        return np.stack([outputs.possible[held] for outputs in self._outputs], axis=1)

    def cells(self, held: np.ndarray) -> Cells:
        return [outputs.law for outputs in self._outputs], held


class NumbersAtLevels(ReportsAtLevels):
    """Reports that are numbers: held is which output of each level's table they are (R, t), -1 for none."""

    def parse(self, texts: Sequence[str]) -> np.ndarray:
        return doubles_of_text(texts)

    def checked(self, reports: np.ndarray) -> np.ndarray:
        given = numbers("reports", reports)
        return np.stack([table.locate(given) for table in self.levels], axis=1)

    def possible(self, held: np.ndarray) -> np.ndarray:
        return held >= 0

    def written(self, held: np.ndarray) -> list[str]:
        return [" ".join(map(str, row)) for row in held.tolist()]

    def of_level(self, held: np.ndarray, level: int) -> np.ndarray:
        return held[:, level]

    def cells(self, held: np.ndarray) -> Cells | None:
        if not all(table.is_discrete for table in self.levels):
            return None
        points = np.unique(np.concatenate([table.low for table in self.levels]))
        laws = [np.zeros((len(table.knots), points.size)) for table in self.levels]
        places = np.zeros(len(held), dtype=np.int64)
        for law, table, outputs in zip(laws, self.levels, held.T, strict=True):
            at = np.searchsorted(points, table.low)
            np.add.at(law.T, at, table.probabilities.T)
            places = np.where(outputs >= 0, at[outputs], places)
        return laws, places


def reports_at_levels(made: PersonalisedMechanism) -> ReportsAtLevels:
    """Return how reports of the mechanism's levels are held.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (1.0, 2.0)])
    >>> reports_at_levels(made).checked(made.levels[1].high)
    array([[-1,  0],
           [-1,  1]])
    """
    return _of_space(made.inputs.values, made)


@singledispatch
def _of_space(values: Space, made: PersonalisedMechanism) -> ReportsAtLevels:
    return ReportsAtLevels(made)


@_of_space.register
def _(values: Interval, made: PersonalisedMechanism) -> ReportsAtLevels:
    return NumbersAtLevels(made)


@_of_space.register
def _(values: Categories, made: PersonalisedMechanism) -> ReportsAtLevels:
    return (OutputsAtLevels if as_supports(made.levels[0].statistic) is None else ReportsAtLevels)(made)


def categories_of(made: PersonalisedMechanism) -> Categories:
    """Return the categories that values are of, or raise InputError.

    Example
    -------
    >>> from optldp.mechanisms.categorical.unary_encoding import optimised_unary
    >>> categories_of(PersonalisedMechanism([optimised_unary("ab", epsilon) for epsilon in (1.0, 2.0)])).labels
    ('a', 'b')
    """
    if not isinstance(values := made.inputs.values, Categories):
        raise InputError("values must be categories, got levels of numbers: use personalised_distribution")
    return values


def tables_of(made: PersonalisedMechanism) -> Sequence[TabulatedMechanism]:
    """Return the levels' tables of numbers, or raise InputError where values are none.

    Example
    -------
    >>> from optldp.mechanisms import duchi, make_exact
    >>> made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], epsilon)).mechanism for epsilon in (1.0, 2.0)])
    >>> len(tables_of(made))
    2
    """
    if not isinstance(made.inputs.values, Interval):
        raise InputError("values must be numbers, got categories: use personalised_mle")
    return made.levels
