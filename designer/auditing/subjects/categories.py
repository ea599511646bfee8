"""Mechanisms for categories under audit: an input is a category, a report a number, or bits."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import singledispatch
from typing import Any, Generic, TypeVar

import numpy as np

from ....mechanisms import CategoricalMechanism, InputError
from ....mechanisms.categorical.bit_vectors import BitVectors
from ....mechanisms.categorical.local_hashing import LocalHashing
from ....mechanisms.categorical.numbered_reports import NumberedReports
from ....mechanisms.categorical.table import CategoricalTable
from ....mechanisms.errors import unwired
from ....mechanisms.promise import OfPairs, Promise
from .events import MOST_COLUMNS, STATED, Columns, Family
from .inputs import positions_to_try, stated_codes, worst_pairs
from .spellings import spellings
from .subject import SHORT_LINE, Kind
from .text import parsed_rows, published_rows, text_columns

REPORT = "the report"
SEED, HASH = "the hash's seed", "the hash value"
LARGEST_CODE = np.iinfo(np.int64).max

M = TypeVar("M", bound=CategoricalMechanism)
N = TypeVar("N", bound=NumberedReports)


class CategoryKind(Kind, Generic[M]):
    """Categories in; numbers or bits out.

    Parameters
    ----------
    mechanism : CategoricalMechanism
    epsilon : float
        The claim.
    """

    mechanism: M

    nothing: np.ndarray | np.generic = np.int64(-1)
    """What text that is no report is read as."""

    def __init__(self, mechanism: M, epsilon: float) -> None:
        self.mechanism = mechanism
        self.positions = positions_to_try(len(mechanism.categories))
        self.labels = np.array(mechanism.categories.labels)[self.positions]
        self.weights = np.ones(self.positions.size)
        self.claims = _claims(mechanism.promise, epsilon, len(mechanism.categories))[np.ix_(*[self.positions] * 2)]

    def at(self, mechanism: M, epsilon: float) -> CategoryKind[Any]:
        return category_kind(mechanism, epsilon)

    def arguments(self, inputs: np.ndarray) -> tuple[np.ndarray]:
        return (self.labels[inputs],)

    def columns(self, reports: object, many: int) -> Columns:
        given, shape = np.asarray(reports), (many, *np.shape(self.nothing))
        if given.shape != shape or not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"the sampler must return {shape} whole numbers, got shape {given.shape} of {given.dtype}")
        return self.columns_of(given)

    def columns_of(self, reports: np.ndarray) -> Columns:
        """Return reports of the right shape as columns."""
        return {REPORT: reports.astype(np.int64)}

    def lines(self) -> list[tuple[str, ...]]:
        return [spellings(label) for label in self.labels.tolist()]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        reports, foreign = parsed_rows(texts, self.mechanism.from_text, self.nothing)
        return self.columns(reports, len(texts)) | text_columns(texts) | {"no report": foreign}

    def published(self, texts: Sequence[str]) -> list[str | None]:
        return published_rows(*parsed_rows(texts, self.mechanism.from_text, self.nothing), self.mechanism.to_text)

    def words(self, number: int) -> str:
        return str(self.labels[number])

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return [(0, self.positions.size - 1)]

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        one, other = (int(self.positions[number]) for number in (first, second))
        return [self.stated(one, other)]

    @abstractmethod
    def stated(self, one: int, other: int) -> Family:
        """Return the family that sorts reports by what the mechanism says of these two categories."""

    def foreign(self, columns: Columns, mechanism: M | None = None) -> np.ndarray:
        if "no report" in columns:
            return columns["no report"] > 0
        return self.outside(columns, self.mechanism if mechanism is None else mechanism)

    @abstractmethod
    def outside(self, columns: Columns, mechanism: M) -> np.ndarray:
        """Return which reports are none of such a mechanism's, (N,) bool."""


def _claims(promise: Promise, epsilon: float, many: int) -> np.ndarray:
    """The log-ratio (K, K) that each two categories may have, by a promise of such an epsilon."""
    if isinstance(promise, OfPairs):
        return (promise if promise.carries_budgets else replace(promise, epsilon=epsilon)).limits(np.arange(many))
    return np.full((many, many), epsilon)


class OutputKind(CategoryKind[CategoricalTable]):
    """Numbers of a table's outputs."""

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return worst_pairs(self.mechanism.probabilities[self.positions], self.claims, samples / 4)

    def stated(self, one: int, other: int) -> Family:
        laws = self.mechanism.probabilities
        codes = stated_codes(laws[one], laws[other])
        return Family(STATED, "the table's log-ratio, in thousandths", lambda c: _looked_up(codes, c[REPORT]), True)

    def outside(self, columns: Columns, mechanism: CategoricalTable) -> np.ndarray:
        return _beyond(columns, mechanism.numerators.shape[1])


class NumberKind(CategoryKind[N]):
    """Numbers that stand for the categories that they support."""

    def stated(self, one: int, other: int) -> Family:
        made = self.mechanism

        def supports(columns: Columns) -> np.ndarray:
            reports = np.clip(columns[REPORT], 0, made.n_reports - 1)
            return made.supported_at(one, reports) * 2 + made.supported_at(other, reports).astype(np.int64)

        return Family(STATED, "which of the two it supports", supports, False)

    def outside(self, columns: Columns, mechanism: N) -> np.ndarray:
        return _beyond(columns, mechanism.n_reports)


class HashKind(NumberKind[LocalHashing]):
    """Seeds of hashes and values of them, as one number."""

    def columns_of(self, reports: np.ndarray) -> Columns:
        columns = super().columns_of(reports)
        seeds, values = np.divmod(columns[REPORT], self.mechanism.n_values)
        return columns | {SEED: seeds, HASH: values}


class BitKind(CategoryKind[BitVectors]):
    """A bit for each category."""

    def __init__(self, mechanism: BitVectors, epsilon: float) -> None:
        super().__init__(mechanism, epsilon)
        self.nothing = np.full(mechanism.n_bytes, 255, dtype=np.uint8)

    def columns_of(self, reports: np.ndarray) -> Columns:
        return _bit_columns(reports, self.mechanism.size)

    def stated(self, one: int, other: int) -> Family:
        return Family(STATED, "the two own bits", self._own_bits(one, other), False)

    def _own_bits(self, one: int, other: int) -> Callable[[Columns], np.ndarray]:
        if self.mechanism.size <= MOST_COLUMNS:
            return lambda columns: columns[_bit(one)] * 2 + columns[_bit(other)]

        def in_bytes(columns: Columns) -> np.ndarray:
            own = [columns[_byte(code // 8)] >> (7 - code % 8) & 1 for code in (one, other)]
            return own[0] * 2 + own[1]

        return in_bytes

    @property
    def places(self) -> int:
        return self.mechanism.size

    @property
    def longest_line(self) -> int:
        return SHORT_LINE + 2 * self.mechanism.n_bytes

    def outside(self, columns: Columns, mechanism: BitVectors) -> np.ndarray:
        return columns["bits beyond the last category"] > 0


@singledispatch
def category_kind(mechanism: CategoricalMechanism, epsilon: float) -> CategoryKind[Any]:
    """Return how reports of a mechanism for categories are looked at.

    Example
    -------
    >>> from ....mechanisms.categorical.table import categorical_grr
    >>> category_kind(categorical_grr(["a", "b"], 1.0), 1.0).words(1)
    'b'
    """
    raise unwired("mechanism", mechanism)


category_kind.register(CategoricalTable, OutputKind)
category_kind.register(NumberedReports, NumberKind)
category_kind.register(LocalHashing, HashKind)
category_kind.register(BitVectors, BitKind)


def _beyond(columns: Columns, many: int) -> np.ndarray:
    return (columns[REPORT] < 0) | (columns[REPORT] >= many)


def _looked_up(stated: np.ndarray, reports: np.ndarray) -> np.ndarray:
    known = (reports >= 0) & (reports < stated.size)
    return np.where(known, stated[np.where(known, reports, 0)], LARGEST_CODE)


def _bit(code: int) -> str:
    return f"bit {code} of the report"


def _byte(number: int) -> str:
    return f"byte {number} of the report"


def _bit_columns(reports: np.ndarray, many: int) -> Columns:
    """Return the number of ones and the bits; bytes where there are more bits than families."""
    bits = np.unpackbits(reports.astype(np.uint8), axis=1)
    columns = {
        "the number of ones": bits[:, :many].sum(axis=1, dtype=np.int64),
        "bits beyond the last category": bits[:, many:].sum(axis=1, dtype=np.int64),
    }
    if many <= MOST_COLUMNS:
        return columns | {_bit(code): bits[:, code].astype(np.int64) for code in range(many)}
    return columns | {_byte(number): reports[:, number].astype(np.int64) for number in range(reports.shape[1])}
