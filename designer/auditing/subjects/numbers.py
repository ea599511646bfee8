"""A table of numbers under audit: an input is a number, a report is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ....mechanisms import InputError, TabulatedMechanism
from ....mechanisms.sampling.domain import nearest_knots
from ....mechanisms.table.outputs import locate_outputs
from .events import STATED, Columns, Family
from .inputs import stated_codes, weights_of, worst_pairs
from .spellings import spellings
from .subject import Kind
from .text import numbers_of, published_numbers, text_columns

REPORT = "the report"


class Numbers(Kind):
    """Numbers in, numbers out.

    Parameters
    ----------
    table : TabulatedMechanism
    epsilon : float
        The claim; per unit if the table's promise is so.
    values : (I,) ndarray
        To try, such as `values_to_try` returns.
    """

    def __init__(self, table: TabulatedMechanism, epsilon: float, values: np.ndarray) -> None:
        self.table, self.values = table, values
        self.weights = weights_of(self.values, table)
        inside = np.clip(self.values, *table.domain)
        claimed = table.promise if table.promise.carries_budgets else replace(table.promise, epsilon=epsilon)
        knot = np.searchsorted(table.knots, nearest_knots(inside, table.knots))  # of a pure promise any will do
        self.claims = claimed.limits(table.knots)[np.ix_(knot, knot)]
        self._laws = table.pmf(inside)

    def at(self, mechanism: TabulatedMechanism, epsilon: float) -> Numbers:
        return Numbers(mechanism, epsilon, self.values)

    def arguments(self, inputs: np.ndarray) -> tuple[np.ndarray]:
        return (self.values[inputs],)

    def columns(self, reports: object, many: int) -> Columns:
        return {REPORT: checked_numbers(reports, many)}

    def lines(self) -> list[tuple[str, ...]]:
        return [spellings(value) for value in self.values.tolist()]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        return {REPORT: numbers_of(texts)} | text_columns(texts)

    def published(self, texts: Sequence[str]) -> list[str | None]:
        return published_numbers(texts)

    def words(self, number: int) -> float:
        return float(self.values[number])

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return worst_pairs(self._laws, self.claims, samples / 4)

    def readable(self, columns: Columns) -> bool:
        return not np.isnan(columns[REPORT]).all()

    def foreign(self, columns: Columns, mechanism: TabulatedMechanism | None = None) -> np.ndarray:
        return foreign_numbers(mechanism or self.table, columns[REPORT])

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return {REPORT: self.table}

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        return [stated_family(REPORT, self.table, self._laws[first], self._laws[second])]


def stated_family(name: str, table: TabulatedMechanism, one: np.ndarray, other: np.ndarray) -> Family:
    """Return the family that sorts reports by how much the table itself says that they favour one of two laws."""
    stated = np.r_[stated_codes(one, other), np.iinfo(np.int64).max]  # what is no output favours whatever it does

    def codes(columns: Columns) -> np.ndarray:
        return stated[locate_outputs(table.low, table.high, table.within, columns[name])]

    return Family(STATED, f"the table's log-ratio for {name}, in thousandths", codes, ordered=True)


def checked_numbers(reports: object, many: int) -> np.ndarray:
    """Return reports as (N,) float64 of their own; InputError unless they are so many numbers.

    Example
    -------
    >>> checked_numbers([1, 2], 2)
    array([1., 2.])
    """
    try:
        numbers = np.array(reports, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the sampler must return numbers, got {type(reports).__name__} of something else") from None
    if numbers.shape != (many,):
        raise InputError(f"the sampler must return one report for each of {many} values, got shape {numbers.shape}")
    return numbers


def foreign_numbers(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Return which reports are no outputs of the table, (N,) bool.

    Example
    -------
    >>> from ....mechanisms import duchi
    >>> table = duchi([0.0, 1.0], 1.0)
    >>> foreign_numbers(table, np.array([0.5, float("nan"), table.low[0]]))
    array([ True,  True, False])
    """
    return locate_outputs(table.low, table.high, table.within, reports) < 0
