"""Several attributes under audit: an input is a value of each, a report a number for each that was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ....mechanisms import AttributeSampling, InputError, TabulatedMechanism
from ....mechanisms.cost import require_affordable, table_cost
from .events import STATED, Columns, Family
from .inputs import values_to_try
from .numbers import checked_numbers, foreign_numbers, stated_family
from .spellings import spellings
from .subject import SHORT_LINE, Kind
from .text import numbers_of, published_numbers, text_columns

VALUES = 9
"""Values of each attribute that are tried while all others stay at their low ends."""

RANDOM_ROWS = 8
"""Users whose values are all drawn at random."""


class AttributeKind(Kind):
    """A row of numbers in, a row of numbers out, NaN where an attribute was not drawn.

    Parameters
    ----------
    mechanism : AttributeSampling
    epsilon : float
        The claim, of any two rows.
    rows : (I, d) ndarray
        The inputs to try, such as `rows_to_try` returns.
    """

    def __init__(self, mechanism: AttributeSampling, epsilon: float, rows: np.ndarray) -> None:
        self.mechanism, self.rows = mechanism, rows
        self.weights = np.ones(len(self.rows))
        self.weights[[0, -1]] = VALUES
        self.claims = np.full((len(self.rows),) * 2, epsilon)
        outputs = sum(table.low.size for table in mechanism.mechanisms)
        require_affordable(
            f"an audit of {len(mechanism.attributes)} attributes of {outputs} outputs in all",
            table_cost(len(self.rows), outputs),
            "audit tables of some of them",
        )
        self._laws = [table.pmf(column) for table, column in zip(mechanism.mechanisms, self.rows.T, strict=True)]

    def at(self, mechanism: AttributeSampling, epsilon: float) -> AttributeKind:
        return AttributeKind(mechanism, epsilon, self.rows)

    def arguments(self, inputs: np.ndarray) -> tuple[dict[str, np.ndarray]]:
        return (dict(zip(self.mechanism.attributes, self.rows[inputs].T, strict=True)),)

    def columns(self, reports: object, many: int) -> Columns:
        names = self.mechanism.attributes
        if not isinstance(reports, Mapping) or set(reports) != set(names):
            raise InputError(f"the sampler must return a column for each of {', '.join(names)}, got {reports!r:.60}")
        return {_column(name): checked_numbers(reports[name], many) for name in names} | self._drawn(reports)

    def columns_beside_level(self, reports: object, many: int) -> Columns:
        rows, names = np.asarray(reports), self.mechanism.attributes
        if rows.shape != (many, len(names)):
            raise InputError(f"the sampler must return reports {(many, len(names))}, got shape {rows.shape}")
        return self.columns(dict(zip(names, rows.T, strict=True)), many)

    def _drawn(self, reports: Mapping[str, np.ndarray]) -> Columns:
        """Which attributes were drawn: as many as 62, as bits."""
        present = [~np.isnan(np.asarray(reports[name], dtype=float)) for name in self.mechanism.attributes[:62]]
        return {
            "the attributes drawn": sum(
                (one.astype(np.int64) << i for i, one in enumerate(present)), start=0 * present[0]
            )
        }

    def lines(self) -> list[tuple[str, ...]]:
        return [spellings(row) for row in self.rows.tolist()]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        names = self.mechanism.attributes
        cells = [text.split(",") for text in texts]
        whole = [row if len(row) == len(names) else ["no report"] * len(names) for row in cells]
        reports = {name: numbers_of([row[i] or "nan" for row in whole]) for i, name in enumerate(names)}
        foreign = np.array([len(row) != len(names) for row in cells], dtype=np.int64)
        return self.columns(reports, len(texts)) | text_columns(texts) | {"no report": foreign}

    def published(self, texts: Sequence[str]) -> list[str | None]:
        many = len(self.mechanism.attributes)
        rows = [text.split(",") for text in texts]
        cells = iter(published_numbers([cell for row in rows if len(row) == many for cell in row]))
        return [_row([next(cells) for _ in row], row) if len(row) == many else None for row in rows]

    def words(self, number: int) -> str:
        return "; ".join(
            f"{name}: {value:.6g}"
            for name, value in zip(self.mechanism.attributes, self.rows[number].tolist(), strict=True)
        )

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        return [(0, len(self.rows) - 1)]

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return {
            _column(name): table
            for name, table in zip(self.mechanism.attributes, self.mechanism.mechanisms, strict=True)
        }

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        families = [
            stated_family(_column(name), table, laws[first], laws[second])
            for name, table, laws in zip(self.mechanism.attributes, self.mechanism.mechanisms, self._laws, strict=True)
        ]

        def together(columns: Columns) -> np.ndarray:
            found = np.zeros(next(iter(columns.values())).size, dtype=np.int64)
            for name, family in zip(self.mechanism.attributes, families, strict=True):
                codes = family.codes(columns)
                found += np.where(np.isnan(columns[_column(name)]), 0, np.clip(codes, -(2**40), 2**40))
            return found

        return [
            *families,
            Family(STATED, "the tables' log-ratio for all that is reported, in thousandths", together, True),
        ]

    @property
    def longest_line(self) -> int:
        return SHORT_LINE * len(self.mechanism.attributes)

    def foreign(self, columns: Columns, mechanism: AttributeSampling | None = None) -> np.ndarray:
        return foreign_rows(mechanism or self.mechanism, columns)


def rows_to_try(mechanism: AttributeSampling, rng: np.random.Generator) -> np.ndarray:
    """Return rows (I, d) of values: all low, one attribute after the other changed, some at random, all high.

    Example
    -------
    >>> from ....mechanisms import duchi, make_exact
    >>> table = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
    >>> rows_to_try(AttributeSampling(["a", "b"], [table, table], 1, 1.0), np.random.default_rng(1)).shape
    (28, 2)
    """
    low, high = (np.array([table.domain[end] for table in mechanism.mechanisms]) for end in (0, 1))
    rows = [low, *_changed(mechanism, low, rng), *(low + (high - low) * rng.random((RANDOM_ROWS, low.size))), high]
    return np.clip(np.array(rows), low, high)


def _changed(mechanism: AttributeSampling, low: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    rows = []
    for place, table in enumerate(mechanism.mechanisms):
        every = values_to_try(table, rng)
        for value in every[np.linspace(1, every.size - 1, VALUES).astype(int)].tolist():
            rows.append(np.where(np.arange(low.size) == place, value, low))
    return rows


def _row(published: list[str | None], cells: list[str]) -> str | None:
    """Return a row from its cells' own spellings; an empty cell is that of an attribute that was not drawn."""
    told = ["" if cell == "" else number for number, cell in zip(published, cells, strict=True)]
    return None if None in told else ",".join(map(str, told))


def foreign_rows(mechanism: AttributeSampling, columns: Columns) -> np.ndarray:
    """Return which reports have another number of attributes than are drawn, or one that is no output."""
    tables = dict(zip(map(_column, mechanism.attributes), mechanism.mechanisms, strict=True))
    drawn = {name: ~np.isnan(columns[name]) for name in tables}
    numbers = [drawn[name] & foreign_numbers(table, columns[name]) for name, table in tables.items()]
    return np.any(numbers, axis=0) | (sum(drawn.values()) != mechanism.sampled)


def _column(name: str) -> str:
    return f"the report of {name!r}"
