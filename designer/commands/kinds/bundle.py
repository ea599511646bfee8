"""What all kinds but tables of numbers have in common: proved whole, and estimated from one service at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.errors import InputError
from ..output import readable
from .asked import LEVEL_COLUMN
from .kind import Checked, Found, Kind, Rows, Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ..asked.design import DesignOptions
    from ..asked.kind import DesignKind
    from .asked import EstimateOptions
    from .kind import Designed

MOST_ROWS = 25
"""Rows of a result that are printed; --out and --json have all."""

NUMERIC = (
    "--of", "--key", "--cells", "--quantile", "--between", "--stop", "--winsorise", "--raw", "--keep-first",
    "--allow-disjoint", "--prior", "--trust",
)  # fmt: skip
"""Options of `estimate` that only tables of numbers have a use for."""

B = TypeVar("B", bound=Bundle)


class BundleKind(Kind[B]):
    """A kind whose mechanisms are bundles: it says its facts, and what its own estimators find."""

    by_itself: ClassVar[bool] = True

    designs: ClassVar[tuple[DesignKind, ...]]
    """What `design` calls what this kind makes."""

    @property
    def takes(self) -> tuple[str, ...]:
        """Those of the numeric options that this mechanism has a use for."""
        return ()

    @classmethod
    @abstractmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return what `design` was asked for."""

    @abstractmethod
    def found(self, reports: Any, asked: EstimateOptions) -> Found:
        """Return what reports, as its `layout` makes them, tell of the values."""

    def checked(self, exact: bool) -> Checked:
        failures = self.mechanism.failures()
        return Checked("broken" if failures else "proved", self.facts(), failures)

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        asked.refuse("for tables of numbers", *(option for option in NUMERIC if option not in self.takes))
        asked.refuse("for several attributes", "--attribute")
        if len(services) > 1:
            raise InputError(
                "several services must be tables of numbers, or of attributes, got another kind: estimate from it by "
                "itself"
            )
        return self.told_alone(services[0], asked)

    def told_alone(self, service: Service, asked: EstimateOptions) -> Found:
        """Return what the reports of one service tell."""
        from ..output import told_of_reports
        from .reading import accounted, read_laid_out

        layout = self.layout(asked.column, asked.level_column or LEVEL_COLUMN)
        read = read_laid_out(layout, service.reports, drop_missing=asked.drop_missing, skip_invalid=asked.skip_invalid)
        with accounted(read.skipped):
            found = self.found(read.reports, asked)
        if asked.plot is not None and found.figure is None:
            raise InputError(f"--plot is for frequencies, got reports of {self.mechanism.kind}: leave it out")
        if asked.out is not None and found.columns is None:
            raise InputError("--out is for results of several rows, got a mean: leave it out")
        told = told_of_reports(read.simulated, read.skipped)
        said = None if found.said is None else found.said | told
        return replace(found, facts=found.facts | told, said=said)


def found_rows(
    title: str, facts: dict[str, Any], columns: dict[str, list[Any]], figure: Callable[[], Axes] | None = None
) -> Found:
    """Return a result of one row for each key, category or attribute: the largest are printed, all are written."""
    rows = list(zip(*columns.values(), strict=True))
    last = None
    if len(rows) > MOST_ROWS:  # by frequency, which is the value itself but for keys
        rank = list(columns).index("frequency" if "frequency" in columns else "value")
        last = f"the {MOST_ROWS} largest of {len(rows)}; all of them: --out FILE or --json"
        rows = sorted(rows, key=lambda row: -row[rank])[:MOST_ROWS]
    shown = Rows(title, list(columns), [[readable(value) for value in row] for row in rows], last)
    return Found("estimate", facts, columns, shown, columns, figure, moved="a frequency")
