"""Features of several columns under audit: an input is a record, a report the number of a feature and its report."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping, Sequence

import numpy as np

from ....mechanisms import InputError, TabulatedMechanism
from ....mechanisms.features import Features
from .events import Columns, Family
from .numbers import foreign_numbers, stated_family
from .subject import Kind
from .text import parsed_rows, published_rows, text_columns

CORNERS = 6
"""Columns up to which every corner of the box is tried; of more, corners are drawn at random."""

RANDOM_ROWS = 32
"""Records whose values are drawn at random."""

FEATURE = "the feature drawn"


class FeatureKind(Kind):
    """A record in, the number of the feature that was drawn and its report out.

    Parameters
    ----------
    mechanism : Features
    epsilon : float
        The claim, of any two records.
    rows : (I, d) ndarray of float
        The records to try, such as `records_to_try` returns.
    """

    def __init__(self, mechanism: Features, epsilon: float, rows: np.ndarray) -> None:
        self.mechanism, self.rows = mechanism, rows
        self.weights = np.ones(len(rows))
        self.claims = np.full((len(rows),) * 2, epsilon)
        self._values = np.array([mechanism.values_of(rows, place) for place in range(len(mechanism.features))])
        self._laws = [each.mechanism.pmf(values) for each, values in zip(mechanism.features, self._values, strict=True)]

    def at(self, mechanism: Features, epsilon: float) -> FeatureKind:
        return FeatureKind(mechanism, epsilon, self.rows)

    def arguments(self, inputs: np.ndarray) -> tuple[np.ndarray]:
        return (self.rows[inputs],)

    def columns(self, reports: object, many: int) -> Columns:
        found = np.asarray(reports, dtype=float)
        if found.shape != (many, 2):
            raise InputError(f"the sampler must return reports {(many, 2)}, got shape {found.shape}")
        drawn = {
            _column(each.name): np.where(found[:, 0] == place, found[:, 1], np.nan)
            for place, each in enumerate(self.mechanism.features)
        }
        return {FEATURE: np.where(np.isnan(found[:, 0]), -1, found[:, 0]).astype(np.int64)} | drawn

    def lines(self) -> list[tuple[str, ...]]:
        return [(json.dumps(self._record(row)),) for row in self.rows]

    def columns_of_text(self, texts: Sequence[str]) -> Columns:
        reports, foreign = parsed_rows(texts, self.mechanism.from_text, np.full(2, np.nan))
        return self.columns(reports.reshape(len(texts), 2), len(texts)) | text_columns(texts) | {"no report": foreign}

    def published(self, texts: Sequence[str]) -> list[str | None]:
        reports, foreign = parsed_rows(texts, self.mechanism.from_text, np.full(2, np.nan))
        return published_rows(reports.reshape(len(texts), 2), foreign, self.mechanism.to_text)

    def words(self, number: int) -> str:
        return "; ".join(f"{name}: {value}" for name, value in self._record(self.rows[number]).items())

    def likely_pairs(self, samples: int) -> list[tuple[int, int]]:
        """The records of the least and the largest value of each feature, the one most reported first."""
        order = np.argsort(-self.mechanism.shares)
        return [(int(self._values[place].argmin()), int(self._values[place].argmax())) for place in order]

    def tables(self) -> Mapping[str, TabulatedMechanism]:
        return {_column(each.name): each.mechanism for each in self.mechanism.features}

    def pair_families(self, first: int, second: int) -> Sequence[Family]:
        return [
            stated_family(_column(each.name), each.mechanism, law[first], law[second])
            for each, law in zip(self.mechanism.features, self._laws, strict=True)
        ]

    def foreign(self, columns: Columns, mechanism: Features | None = None) -> np.ndarray:
        made = mechanism or self.mechanism
        wrong = ~np.isin(columns[FEATURE], np.arange(len(made.features)))
        for place, each in enumerate(made.features):
            mine = columns[FEATURE] == place
            wrong |= mine & foreign_numbers(each.mechanism, columns[_column(each.name)])
        return wrong

    def _record(self, row: np.ndarray) -> dict[str, float | str]:
        labels = self.mechanism.labels
        return {
            name: labels[name].labels[int(value)] if name in labels else value
            for name, value in zip(self.mechanism.columns, row.tolist(), strict=True)
        }


def records_to_try(mechanism: Features, rng: np.random.Generator) -> np.ndarray:
    """Return records (I, d) within the box: its corners, some at random, and every label of columns that hold labels.

    Example
    -------
    >>> from ....mechanisms import duchi, make_exact
    >>> from ....mechanisms.features import Feature, Quadratic
    >>> product = Quadratic([0, 0], [1, 1], 0.0, [0, 0], [[0, 0.5], [0.5, 0]])
    >>> one = Feature("xy", product, make_exact(duchi([-1, 1], 1.0)).mechanism)
    >>> records_to_try(Features({"x": (-1, 1), "y": (-1, 1)}, [one], 1.0), np.random.default_rng(1)).shape
    (36, 2)
    """
    low, high = np.array(list(mechanism.columns.values())).T
    if low.size <= CORNERS:
        corners = np.array(list(itertools.product(*zip(low, high, strict=True))))
    else:
        corners = np.where(rng.random((2**CORNERS, low.size)) < 0.5, low, high)
    rows = np.concatenate([corners, low + (high - low) * rng.random((RANDOM_ROWS, low.size))])
    for place, name in enumerate(mechanism.columns):
        if name in mechanism.labels:
            rows[:, place] = np.arange(len(rows)) % len(mechanism.labels[name])
    return rows


def _column(name: str) -> str:
    return f"the report of {name!r}"
