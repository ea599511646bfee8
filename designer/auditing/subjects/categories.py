"""Mechanisms for categories under audit: an input is a category, a report a number, or bits."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ....mechanisms import CategoricalMechanism, InputError
from ....mechanisms.categorical.bit_vectors import BitVectors
from ....mechanisms.categorical.local_hashing import LocalHashing
from ....mechanisms.categorical.table import CategoricalTable
from .events import MOST_COLUMNS, STATED, Columns, Family
from .inputs import positions_to_try, stated_codes, worst_pairs
from .spellings import spellings
from .subject import SHORT_LINE, Kind
from .text import parsed_rows, published_rows, text_columns

REPORT = "the report"
LARGEST_CODE = np.iinfo(np.int64).max


class CategoryKind(Kind):
    """Categories in; numbers or bits out.

    Parameters
    ----------
    mechanism : CategoricalMechanism
    epsilon : float
        The claim.
    """

    def __init__(self, mechanism: CategoricalMechanism, epsilon: float) -> None:
        self.mechanism = mechanism
        self.positions = positions_to_try(len(mechanism.categories))
        self.labels = np.array(mechanism.categories.labels)[self.positions]
        self.weights = np.ones(self.positions.size)
        self.claims = np.full((self.positions.size,) * 2, epsilon)

    def arguments(self, inputs: np.ndarray) -> tuple[np.ndarray]:
        return (self.labels[inputs],)

    def columns(self, reports: object, many: int) -> Columns:
        given, mechanism = np.asarray(reports), self.mechanism
        wide = isinstance(mechanism, BitVectors)
        shape = (many, mechanism.n_bytes) if isinstance(mechanism, BitVectors) else (many,)
        if given.shape != shape or not np.issubdtype(given.dtype, np.integer):
            raise InputError(f"the sampler must return {shape} whole numbers, got shape {given.shape} of {given.dtype}")
        return _bit_columns(given, len(mechanism.categories)) if wide else self._number_columns(given)

    def _number_columns(self, reports: np.ndarray) -> Columns:
        columns = {REPORT: reports.astype(np.int64)}
        if isinstance(self.mechanism, LocalHashing):
            seeds, values = np.divmod(columns[REPORT], self.mechanism.n_values)
            columns |= {"the hash's seed": seeds, "the hash value": values}
        return columns

    def lines(self) -> list[tuple[str, ...]]:
        return [spellings(label) for label in self.labels.tolist()]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        reports, foreign = parsed_rows(texts, self.mechanism.from_text, self._nothing)
        return self.columns(reports, len(texts)) | text_columns(texts) | {"no report": foreign}

    @property
    def _nothing(self) -> np.ndarray | np.generic:
        mechanism = self.mechanism
        wide = isinstance(mechanism, BitVectors)
        return np.full(mechanism.n_bytes, 255, dtype=np.uint8) if wide else np.int64(-1)

    def published(self, texts: Sequence[str]) -> list[str | None]:
        return published_rows(*parsed_rows(texts, self.mechanism.from_text, self._nothing), self.mechanism.to_text)

    def words(self, number: int) -> str:
        return str(self.labels[number])

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        if isinstance(self.mechanism, CategoricalTable):
            return worst_pairs(self.mechanism.probabilities[self.positions], self.claims, samples / 4)
        return [(0, self.positions.size - 1)]

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        one, other = (int(self.positions[number]) for number in (first, second))
        return [Family(STATED, *named) for named in self._of_pair(one, other)]

    def _of_pair(self, one: int, other: int) -> list[tuple[str, Callable[[Columns], np.ndarray], bool]]:
        mechanism = self.mechanism
        if isinstance(mechanism, CategoricalTable):
            laws = mechanism.probabilities
            stated = stated_codes(laws[one], laws[other])

            def ratio(columns: Columns) -> np.ndarray:
                return _looked_up(stated, columns[REPORT])

            return [("the table's log-ratio, in thousandths", ratio, True)]
        if isinstance(mechanism, LocalHashing):

            def supports(columns: Columns) -> np.ndarray:
                seeds = np.clip(columns["the hash's seed"], 0, mechanism.n_hashes - 1)
                bits = [
                    mechanism.hashes(np.full(seeds.size, code), seeds) == columns["the hash value"]
                    for code in (one, other)
                ]
                return bits[0] * 2 + bits[1].astype(np.int64)

            return [("which of the two it supports", supports, False)]
        if len(mechanism.categories) <= MOST_COLUMNS:

            def bits(columns: Columns) -> np.ndarray:
                return columns[_bit(one)] * 2 + columns[_bit(other)]

            return [("the two own bits", bits, False)]

        def in_bytes(columns: Columns) -> np.ndarray:
            own = [columns[_byte(code // 8)] >> (7 - code % 8) & 1 for code in (one, other)]
            return own[0] * 2 + own[1]

        return [("the two own bits", in_bytes, False)]

    @property
    def places(self) -> int:
        return len(self.mechanism.categories) if isinstance(self.mechanism, BitVectors) else 1

    @property
    def longest_line(self) -> int:
        wide = self.mechanism.n_bytes if isinstance(self.mechanism, BitVectors) else 0
        return SHORT_LINE + 2 * wide

    def foreign(self, columns: Columns) -> np.ndarray:
        return foreign_categories(self.mechanism, columns)


def foreign_categories(mechanism: CategoricalMechanism, columns: Columns) -> np.ndarray:
    """Return which reports are none of the mechanism's, (N,) bool."""
    if "no report" in columns:
        return columns["no report"] > 0
    if isinstance(mechanism, BitVectors):
        return columns["bits beyond the last category"] > 0
    many = mechanism.numerators.shape[1] if isinstance(mechanism, CategoricalTable) else LARGEST_CODE
    if isinstance(mechanism, LocalHashing):
        many = mechanism.n_hashes * mechanism.n_values
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
