"""Places: two columns of numbers in, two out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ....estimators.reading.columns.keyed import read_keys
from ....estimators.reading.columns.number_cells import read_column, read_sparse_column
from ....mechanisms.errors import InputError
from ....mechanisms.spaces.places import COLUMNS
from ....mechanisms.spaces.places import Places as Space
from ...priors.categorical import CategoricalPrior
from ...privacies import privacy_asked
from ..options.kind import DesignKind
from ..output.output import solver_progress
from ..output.prior import SENSITIVE
from .bundle import BundleKind
from .categories import LABELS, Categories
from .kind import Designed, Drawing, Held, Kind, Layout, Reader, WrittenReports
from .readers import place_reader

if TYPE_CHECKING:
    from ..options.designs.design import DesignOptions
    from ..options.perturb import PerturbOptions
    from .options import EstimateOptions


@dataclass(frozen=True, eq=False)
class Places(Categories):
    """Values are places of a declared list, reports are places, too: a column for x and one for y."""

    of_one_column: ClassVar[bool] = False
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.PLACES,)

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        return isinstance(mechanism, cls.of) and isinstance(mechanism.inputs, Space)

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return the table of least loss of one report."""
        from ...designs.design import design

        assert options.prior_file is not None  # or there were no places
        prior = CategoricalPrior.from_places_file(options.prior_file)
        outputs = None if options.outputs_text is None else _places_in(options.outputs_text)
        promise, asked = privacy_asked(options.privacy, options.epsilon), options.asked
        with solver_progress(f"{asked.key}, {promise}") as progress:
            made = design(
                prior, promise, objective=asked, outputs=outputs, tolerance=options.tolerance, progress=progress
            )
        more = {**asked.parameters(), **asked.facts(made), "relative_gap": made.gap, "value": made.value}
        notes = [*([] if options.public else [SENSITIVE]), *asked.notes(made)]
        if made.status != "optimal":
            notes.append(f"warning: {made.status.sentence} (gap {made.gap:.1e})")
        return Designed(
            made.mechanism,
            notes,
            more | {"status": str(made.status), "solver": made.solver, "seconds": made.seconds},
            asked.title(made),
        )

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        if asked.secret is None:
            return BundleKind.perturb(self, asked, rng)
        asked.only(*LABELS, "--secret", "--period")
        held, names = self.held(asked, {}), _columns(asked)
        keyed = asked.keyed(self.mechanism, ",".join(names))
        assert keyed is not None  # there is a secret
        assert asked.key is not None  # or it were refused
        reports = keyed.sample(read_keys(asked.data, list(names), asked.key), held.values)
        return WrittenReports(self.columns_of(reports), len(reports), present=held.present)

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        names = _columns(asked)
        columns = {name: read_sparse_column(asked.data, name) for name in names} | dict(beside)
        rows = asked.rows_with(columns)
        points = np.column_stack([columns[name][rows] for name in names])
        return Held(points, rows, 0, tuple(columns), lambda: [tuple(point) for point in points.tolist()])

    def drawing(self, asked: PerturbOptions, rng: np.random.Generator | None) -> Drawing:
        return Kind.drawing(self, asked, rng)

    def layout(self, column: str, level_column: str) -> Layout:
        places, names = self._outputs, tuple(column.split(","))
        return Layout(
            names if len(names) == len(COLUMNS) else COLUMNS,
            (True, True),
            self.reports_of,
            "no place that this mechanism reports",
            wrong=lambda cells: places.locate(np.column_stack(cells)) < 0,
        )

    def reports_of(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        return self.mechanism.checked_reports(self._outputs.codes(np.column_stack(cells)))

    def reader(self, asked: EstimateOptions, *, numbered: bool) -> Reader:
        return place_reader(self.mechanism, asked, self.layout("", ""))

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return dict(zip(COLUMNS, self._outputs.points[reports].T, strict=True))

    def facts(self) -> dict[str, Any]:
        return super().facts() | {"promise": str(self.mechanism.promise)}

    @property
    def _outputs(self) -> Space:
        return cast("Any", self.mechanism).outputs  # which all mechanisms of places have


def _columns(asked: PerturbOptions) -> tuple[str, ...]:
    """The columns of DATA that hold x and y; InputError unless two are named."""
    if len(names := tuple(asked.columns or ())) != len(COLUMNS):
        raise InputError(f"places are in two columns, got {len(names)}: name them, --column x --column y")
    return names


def _places_in(text: str) -> np.ndarray:
    """The places (m, 2) of a file of columns x and y."""
    if not Path(text).exists():
        raise InputError(f"--outputs of places must be a file with columns x and y, got {text!r}")
    return np.column_stack([read_column(text, name) for name in COLUMNS])
