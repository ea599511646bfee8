"""Tables of two columns: both columns of labels in, a report of the cell out, as of categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .....estimators.features import independence, odds_ratio
from .....estimators.reading.columns.texts import read_texts
from .....mechanisms.spaces.cells import Cells
from ...options.kind import DesignKind
from ...output.output import readable
from ..bundle import BundleKind
from ..categories import Categories
from ..features import TOLD
from ..kind import Drawing, Found, Held, Kind, Rows, WrittenReports, split

if TYPE_CHECKING:
    from .....estimators import CategoryCounts, SupportCounts
    from ...options.perturb import PerturbOptions
    from ..options import EstimateOptions


@dataclass(frozen=True, eq=False)
class Tables(Categories):
    """Values are in two columns, reports are those of the cells."""

    of_one_column: ClassVar[bool] = False
    stops: ClassVar[tuple[str, ...]] = ()
    else_stops: ClassVar[str] = BundleKind.else_stops
    holds: ClassVar[tuple[str, ...]] = ("--drop-missing",)
    designs: ClassVar[tuple[DesignKind, ...]] = ()

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        return isinstance(mechanism, cls.of) and Cells.of(mechanism.categories) is not None

    @property
    def takes(self) -> tuple[str, ...]:
        return ()

    @property
    def grid(self) -> Cells:
        """The table that the categories are."""
        found = Cells.of(self.mechanism.categories)
        assert found is not None  # or this kind would not suit
        return found

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        return BundleKind.perturb(self, asked, rng)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        cells = self.grid
        columns = dict(zip(cells.names, read_texts(asked.data, list(cells.names)), strict=True)) | dict(beside)
        rows = asked.rows_with(columns)
        labels = cells.labels_of([columns[name][rows] for name in cells.names])
        return Held(labels, rows, 0, tuple(columns), labels.tolist)

    def drawing(self, asked: PerturbOptions, rng: np.random.Generator | None) -> Drawing:
        return Kind.drawing(self, asked, rng)

    def found(self, counts: CategoryCounts | SupportCounts, asked: EstimateOptions) -> Found:
        """Return the cells with their intervals, the test of independence, and the odds ratio of 2 x 2."""
        from .....estimators import estimate_frequencies

        asked.refuse("of no use to tables of two columns", "--method", "--level-column", "--of", "--target")
        found, cells = estimate_frequencies(counts), self.grid
        assert found.covariance is not None  # of at most 1,024 cells
        held = found.value.reshape(cells.shape)
        tested = independence(held, found.covariance)
        inside = np.clip(found.value, 0, 1)
        worth = int(counts.n_users * (inside * (1 - inside)).sum() / (counts.n_users * np.trace(found.covariance)))
        _, columns = split(found, asked.confidence)
        (first, rows), (second, others) = cells.columns
        named = {first: np.repeat(rows.labels, len(others)).tolist(), second: list(others.labels) * len(rows)}
        columns = named | {name: columns[name] for name in TOLD}
        facts = {"for": "table", "method": found.method, "n": found.n, "confidence": asked.confidence}
        facts["worth_open_records"] = worth
        test = {"method": "wald", "statistic": tested.statistic, "degrees": tested.degrees, "p": tested.p}
        listed = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        more: dict[str, Any] = {"cells": listed, "test": test}
        said = facts | {"independence, Wald's test": f"chi-square {tested.statistic:.3g} of {tested.degrees}"}
        said["p"] = tested.p
        if cells.shape == (2, 2):
            value, low, high = odds_ratio(held, found.covariance, confidence=asked.confidence)
            more["odds_ratio"] = {"value": value, "low": low, "high": high, "method": "inversion"}
            said["odds ratio"] = f"{value:.3g}, from {low:.3g} to {high:.3g}"
        shown = Rows("cells", list(columns), [[readable(cell) for cell in row.values()] for row in listed])
        title = f"table of {first} and {second}"
        last = f"These {found.n:,} reports are worth {worth:,} open records."
        return Found(title, facts, more, shown, columns, said=said, last=last)

    def facts(self) -> dict[str, Any]:
        return super().facts() | {"for": "table", "columns": list(self.grid.names)}
