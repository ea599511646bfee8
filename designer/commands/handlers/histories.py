"""The handler of directions and trees: a report is of a history, or of its changes, and of no single value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....mechanisms.over_time import Directions, Tree
from .bundle import BundleKind
from .kind import Checked, Held, Layout, Part
from .options import REPORT_COLUMN
from .over_time import Ways, said_promise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..options.kind import DesignKind
    from ..options.perturb import PerturbOptions


@dataclass(frozen=True, eq=False)
class Histories(Ways):
    """Values are those of one period, which a state keeps; reports are text."""

    of: ClassVar[type] = Directions
    designs: ClassVar[tuple[DesignKind, ...]] = ()

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        return isinstance(mechanism, cls.of)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        from ....estimators.reading.columns.number_cells import read_sparse_column

        made: Any = self.mechanism
        column = asked.needed("--column")
        values = read_sparse_column(asked.data, column, units=made.units)
        columns = {column: values, **beside}
        rows = asked.rows_with(columns)
        moved, clipped = asked.inside(values[rows], made.values.domain)
        return Held(moved, rows, clipped, tuple(columns), moved.tolist)

    def layout(self, column: str, level_column: str) -> Layout:
        return BundleKind.layout(self, column, level_column)

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return {REPORT_COLUMN: np.array(self.mechanism.to_text(reports), dtype=object)}

    def facts(self) -> dict[str, Any]:
        made: Any = self.mechanism
        return {
            "kind": made.kind,
            "promise": said_promise(made),
            "epsilon": made.epsilon,
            "periods": made.periods,
            "reports": made.reports,
            "epsilon_of_a_report": made.epsilon,
            "life_epsilon": made.life_epsilon,
            "span": made.span,
            **self.own_facts(),
            "device_keeps": made.keeps,
            "max_log_ratio": made.max_log_ratio,
        }

    def own_facts(self) -> dict[str, Any]:
        """What there is to say of this kind alone."""
        made: Any = self.mechanism
        return {"directions": made.directions, "favoured": made.favoured}

    def figure(self) -> Axes:
        return self.mechanism.plot()

    def checked(self, exact: bool) -> Checked:
        return BundleKind.checked(self, exact)

    def parts(self) -> list[Part]:
        return [Part("", self.mechanism)]

    def units(self, attribute: str | None) -> str:
        return self.mechanism.units  # pyright: ignore[reportAttributeAccessIssue] -- of directions


@dataclass(frozen=True, eq=False)
class Trees(Histories):
    """Values are those of one period, of which a state keeps a sign; reports are text, a sign or a number."""

    of: ClassVar[type] = Tree

    def own_facts(self) -> dict[str, Any]:
        made: Any = self.mechanism
        return {"steps": [branch.step for branch in made.branches], "method": made.table.provenance.method}
