"""A table whose rows are categories: randomised response, and whatever design makes of a prior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..documents.bundle import Nested
from ..documents.exact_table import numerators_from_document, require_denominator
from ..errors import TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR, check_numerators, tightest_output
from ..integers.rounding import round_rows
from ..laws.drawing import invert_rows
from ..laws.law import Words
from ..laws.random_words import draw53
from ..report_text import integers_of_text, report_numbers, require_possible
from ..shown.over_floor import FAVOUR, favour
from ..shown.told import HeatMap, Told
from ..spaces.categories import Categories
from ..statistics import Outputs
from ..table.provenance import Provenance
from .mechanism import CategoricalMechanism, shared_members

MAX_SUM_ERROR = 1e-12
"""Summing 1e4 doubles that ought to give one errs by about 1e-14."""


@dataclass(frozen=True, eq=False, repr=False)
class CategoricalTable(CategoricalMechanism):
    """The probability of each of m outputs under each category; a report is the number of an output.

    Parameters
    ----------
    categories : Categories
        K of them.
    epsilon : float
    provenance : Provenance
    numerators : (K, m) array_like of int
        Over 2^53, in rows that sum to it.

    Raises
    ------
    TableError
        Numerators of another shape or sum.

    Example
    -------
    >>> from optldp.mechanisms.categorical import CategoricalTable
    >>> made = CategoricalTable.from_probabilities(["yes", "no"], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    >>> made.pmf([0]), made.failures()
    (array([[0.75, 0.25]]), ())
    """

    kind: ClassVar[str] = "categorical-table"
    numerators: np.ndarray

    def __post_init__(self) -> None:
        super().__post_init__()
        matrix = np.asarray(self.numerators)
        if matrix.ndim != 2 or len(matrix) != len(self.categories) or not np.issubdtype(matrix.dtype, np.integer):
            raise TableError(f"numerators must be integers, one row for each category, got shape {matrix.shape}")
        checked = check_numerators(matrix.astype(np.int64))
        checked.setflags(write=False)
        object.__setattr__(self, "numerators", checked)

    @classmethod
    def from_probabilities(
        cls,
        categories: Categories | Sequence[object],
        probabilities: ArrayLike,
        epsilon: float,
        *,
        provenance: Provenance | None = None,
    ) -> Self:
        """Return the table with these probabilities (K, m) rounded to whole numbers, towards more privacy.

        Raises InputError or TableError for probabilities that are none, or that are not private.
        """
        names = Categories.of(categories)
        matrix = np.asarray(probabilities, dtype=np.float64)
        if matrix.ndim != 2 or len(matrix) != len(names):
            raise TableError(f"probabilities must have one row for each of {len(names)} categories, got {matrix.shape}")
        if not (
            np.isfinite(matrix).all() and (matrix >= 0).all() and np.abs(matrix.sum(axis=1) - 1).max() <= MAX_SUM_ERROR
        ):
            raise TableError("probabilities must be non-negative in rows that sum to 1 within 1e-12")
        nowhere = [Fraction(0)]  # outputs have no place, so there are no means to keep
        limit = exponential_below(Fraction(check_epsilon(epsilon)))
        numerators = round_rows(matrix, limit, nowhere * matrix.shape[1], nowhere * len(matrix))
        return cls(names, epsilon, provenance or Provenance(), numerators)

    def _told(self) -> Told:
        told, labels, m = super()._told(), self.categories.labels, self.numerators.shape[1]
        ends = (labels[0], labels[-1]), ("0", str(m - 1))
        return Told(
            told.facts | {"outputs": m},
            picture=HeatMap(favour(self.probabilities), "category", "report", *ends, FAVOUR),
        )

    def _columns(self) -> dict[str, Any]:
        size, m = self.numerators.shape
        return {
            "category": np.repeat(np.array(self.categories.labels, dtype=object), m),
            "output": np.tile(np.arange(m), size),
            "probability": self.probabilities.ravel(),
        }

    def members(self) -> dict[str, Any]:
        return super().members() | {"denominator": DENOMINATOR, "numerators": self.numerators}

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        shared = shared_members(members, ("denominator", "numerators"))
        require_denominator(members["denominator"])
        return cls(*shared, numerators_from_document(members["numerators"]))

    @property
    def probabilities(self) -> np.ndarray:
        """(K, m) probability of each output under each category."""
        return self.numerators / DENOMINATOR

    @property
    def statistic(self) -> Outputs:
        """Its outputs, with the law of each category."""
        return self._outputs

    @cached_property
    def _outputs(self) -> Outputs:
        return Outputs(self.probabilities)

    def nature(self) -> dict[str, object]:
        return super().nature() | {"numbers of outputs": self.numerators.shape[1]}

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        return invert_rows(np.cumsum(self.numerators, axis=1), codes, draw53(words, codes.size))

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        """Return the outputs (N,) as int64, numbers from 0 to m - 1; InputError for others and impossible ones."""
        checked = report_numbers(reports, self.numerators.shape[1])
        require_possible((self.numerators.max(axis=0) > 0)[checked], checked)
        return checked

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        return self.probabilities.T[report_numbers(reports, self.numerators.shape[1])]

    def all_reports(self) -> np.ndarray:
        return np.arange(self.numerators.shape[1])

    def to_text(self, reports: np.ndarray) -> list[str]:
        return list(map(str, reports.tolist()))

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.checked_reports(integers_of_text(texts))

    @property
    def largest_ratio(self) -> Fraction | None:
        _, largest, smallest = tightest_output(self.numerators)
        return Fraction(largest, smallest) if smallest else None


def categorical_grr(categories: Categories | Sequence[object], epsilon: float) -> CategoricalTable:
    """Return generalised randomised response: the category itself, or any of the others alike.

    With limit L <= e^epsilon, each other category has Q = ceil(2^53 / (L + K - 1)) of 2^53, the own one the rest.

    Parameters
    ----------
    categories : Categories or sequence
        At least two, different, in the order of the numbers that they get.
    epsilon : float
        The budget, in nats.

    Returns
    -------
    table : CategoricalTable

    Raises
    ------
    InputError
        Categories or an epsilon that are not usable.

    Source
    ------
    Kairouz, Oh and Viswanath (2016), as k-ary randomised response.

    Example
    -------
    >>> from optldp.mechanisms.categorical import categorical_grr
    >>> categorical_grr(["a", "b", "c"], 1.0).probabilities[0].round(4)
    array([0.5761, 0.2119, 0.2119])
    """
    names = Categories.of(categories)
    own, other = randomised_response_numerators(len(names), check_epsilon(epsilon))
    matrix = np.where(np.eye(len(names), dtype=bool), own, other)
    return CategoricalTable(names, epsilon, Provenance("grr"), matrix)


def randomised_response_numerators(size: int, epsilon: float) -> tuple[int, int]:
    """Return the numerators over 2^53 of the value itself and of each other one of `size` values.

    The largest own share whose ratio to the others is at most e^epsilon.

    Example
    -------
    >>> own, other = randomised_response_numerators(2, 1.0)
    >>> own + other == 2**53, own / other < 2.718281828459045
    (True, True)
    """
    limit = exponential_below(epsilon)
    other = -((-DENOMINATOR * limit.denominator) // (limit.numerator + (size - 1) * limit.denominator))
    return DENOMINATOR - (size - 1) * other, other
