"""What all kinds but tables of numbers have in common: proved whole, and estimated from one service at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ....estimators.reading.columns import SkippedRows
from ....estimators.reading.columns.cells import LONGEST_CELL
from ....estimators.reading.columns.simulated_columns import OUTPUT, USERS
from ....estimators.reading.formats.axis import length_on, said_on
from ....mechanisms.channel import Channel
from ....mechanisms.documents.bundle import Bundle
from ....mechanisms.errors import InputError
from ....mechanisms.third_party.adoption import written_of
from ..output.output import readable, told_of_reports
from .kind import Answer, Checked, Found, Kind, Layout, Rows, Service, WrittenReports, marked
from .options import LEVEL_COLUMN, REPORT_COLUMN

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ....estimators.reading.columns import SkippedRows
    from ..options.designs.design import DesignOptions
    from ..options.kind import DesignKind
    from ..options.perturb import PerturbOptions
    from .kind import Designed
    from .options import CountOptions, EstimateOptions, ReportOptions
    from .reading import ReadReports

MOST_ROWS = 25
"""Rows of a result that are printed; --out and --json have all."""

NUMERIC = (
    "--of", "--key", "--cells", "--between", "--above", "--winsorise", "--raw", "--keep-first",
    "--allow-disjoint", "--rounds", "--prior", "--alike",
)  # fmt: skip
"""Options of `estimate` that only tables of numbers have a use for."""

NO_QUERY = "count-sql is for numbers, categories, pairs and their levels, got attributes: use count, or estimate"

RANKED = ("--simultaneous", "--top")
"""Options of `estimate` for lists of frequencies."""

B = TypeVar("B", bound=Bundle)


class BundleKind(Kind[B]):
    """A kind whose mechanisms are bundles: it says its facts, and what its own estimators find."""

    by_itself: ClassVar[bool] = True
    stops: ClassVar[tuple[str, ...]] = ()
    """When an estimate by EM may be told to stop."""

    else_stops: ClassVar[str] = "for tables of numbers"
    """What is said where it is told otherwise."""

    once: ClassVar[bool] = False
    """Whether equal reports of a long file may be read once, with their number."""

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

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        asked.only(*self.holds, "--ledger")
        held = self.held(asked, {})
        mechanism: Any = self.mechanism
        if (booked := asked.booked(mechanism, held.present)) is None:
            reports, given = mechanism.drawn(held.values, rng), None
        else:
            reports, given = self.booked(booked[0].rows(booked[1], held.each())), booked[0].given
        columns = marked(self.columns_of(reports), rng)
        return WrittenReports(columns, int(held.rows.sum()), held.clipped, given, present=held.present)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        if self.mechanism.by_column:
            raise InputError(NO_QUERY)
        return super().query(kinds, relations, **options)

    def booked(self, rows: list[Any]) -> np.ndarray:
        """Return reports (N, ...) that a ledger gave, one for each user, as the mechanism draws them."""
        return np.array(rows)

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout((column,), (False,), self.reports_of)

    def reports_of(self, cells: Sequence[np.ndarray]) -> np.ndarray:
        return self.mechanism.from_text(cells[0].tolist())

    def columns_of(self, reports: np.ndarray) -> dict[str, np.ndarray]:
        return {REPORT_COLUMN: report_texts(self.mechanism, reports)}

    def of_reports(self, reports: Any, many: np.ndarray) -> Any:
        """Return what `found` takes of reports, as its `layout` makes them: their counts, `many` users of each."""
        from ....estimators import count

        mechanism: Any = self.mechanism
        return count(mechanism, reports)

    @abstractmethod
    def found(self, counts: Any, asked: EstimateOptions) -> Found:
        """Return what counts of reports tell of the values."""

    def summed(self, service: Service, asked: EstimateOptions) -> tuple[Any, bool] | None:
        """Return the counts of a long file whose reports need not be looked at one by one, and whether they are
        simulated; None where they need."""
        return None

    def to_test(self, counts: Any) -> Sequence[Any]:
        """Return counts as those who test whether they fit take them."""
        return [counts]

    def tested(self, rows: Mapping[str, Any], skipped: SkippedRows) -> Sequence[Any]:
        return self.to_test(self.counted(rows, skipped))

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> Any:
        """Return the counts of an engine's answer; InputError for kinds that have none."""
        raise InputError(f"--counts are not for {self.mechanism.kind}: give the reports")

    def figure(self) -> Axes:
        from ...plots.mechanism_mesh import parts_map

        return parts_map({part.name: part.mechanism for part in self.parts()})

    def checked(self, exact: bool) -> Checked:
        failures = self.mechanism.failures()
        return Checked("broken" if failures else "proved", self.facts(), failures)

    def estimate(self, services: Sequence[Service], asked: EstimateOptions) -> Found:
        if asked.told.get("stop") not in self.stops:
            asked.refuse_told(self.else_stops, "stop")
        asked.refuse("for tables of numbers", *(option for option in NUMERIC if option not in self.takes))
        asked.refuse("for several attributes", "--attribute")
        asked.refuse("for frequencies of categories", *(option for option in RANKED if option not in self.takes))
        if len(services) > 1:
            raise InputError(
                "several services must be tables of numbers, or of attributes, got another kind: estimate from it by "
                "itself"
            )
        return self.told_alone(services[0], asked)

    def read(self, service: Service, asked: ReportOptions, level_column: str = LEVEL_COLUMN) -> ReadReports:
        """Return the reports of a service as its file has them."""
        from ....estimators.reading.streams.value_blocks import is_long
        from .reading import column_in, read_laid_out

        layout = self.layout(column_in(service.reports, asked.column)[0], level_column)
        return read_laid_out(
            layout,
            service.reports,
            self.identifier,
            drop_missing=asked.drop_missing,
            skip_invalid=asked.skip_invalid,
            once=self.once and is_long(service.reports),
        )

    def taken(self, service: Service, asked: EstimateOptions) -> tuple[Any, bool, SkippedRows]:
        """Return the counts of one service, whether they are of a simulation, and which rows were left out."""
        from .days import answered
        from .reading import accounted, added

        if asked.counts:
            skipped = SkippedRows()
            answers, simulated = answered(asked.counts, [self.identifier()])
            counts = added(self.counted(rows, skipped if asked.skip_invalid else False) for rows in answers)
            return counts, simulated, skipped
        if (summed := self.summed(service, asked)) is not None:
            return *summed, SkippedRows()
        read = self.read(service, asked, asked.level_column or LEVEL_COLUMN)
        with accounted(read.skipped):
            return self.of_reports(read.reports, read.many), read.simulated, read.skipped

    def told_alone(self, service: Service, asked: EstimateOptions) -> Found:
        """Return what the reports of one service tell."""
        from .reading import accounted

        counts, simulated, skipped = self.taken(service, asked)
        with accounted(skipped):
            found = self.found(counts, asked)
        if asked.plot is not None and found.figure is None:
            raise InputError(f"--plot is for frequencies, got reports of {self.mechanism.kind}: leave it out")
        if asked.out is not None and found.columns is None:
            raise InputError("--out is for results of several rows, got a mean: leave it out")
        told = told_of_reports(simulated, skipped)
        said = None if found.said is None else found.said | told
        return replace(found, facts=found.facts | told, said=said, counts=self.to_test(counts))


def found_rows(
    title: str,
    facts: dict[str, Any],
    columns: dict[str, list[Any]],
    figure: Callable[[], Axes] | None = None,
    *,
    top: int = MOST_ROWS,
    in_order: bool = False,
    signed: bool = False,
    units: str | Sequence[str] = "",
) -> Found:
    """Return a result of one row for each key, category or attribute: the largest are printed, all are written.

    Signed values are ranked by their size, as differences are; units are those of all rows, or of each.
    """
    each = [units] * len(next(iter(columns.values()))) if isinstance(units, str) else units
    rows = [(*row, of) for *row, of in zip(*columns.values(), each, strict=True)]
    last = None
    if len(rows) > top or in_order:  # by frequency, which is the value itself but for keys
        rank = list(columns).index("frequency" if "frequency" in columns else "value")
        if len(rows) > top:
            last = f"the {top} largest of {len(rows)}; all of them: --out FILE or --json"
        rows = sorted(rows, key=lambda row: -(abs(row[rank]) if signed else row[rank]))[:top]
    says = {"value": said_on, "low": said_on, "high": said_on, "std_error": length_on, "one_report": length_on}
    named = [(zip(columns, row, strict=True), of) for *row, of in rows]
    told = [
        [(says[name](cell, of) if name in says else None) or readable(cell) for name, cell in row] for row, of in named
    ]
    shown = Rows(title, list(columns), told, last)
    return Found("estimate", facts, columns, shown, columns, figure, moved="a frequency")


def read_to_count(kind: BundleKind[Any], services: Sequence[Service], asked: CountOptions) -> ReadReports:
    """Return the reports of the one service whose reports are counted; InputError for several, or their options."""
    asked.refuse("for tables of numbers", "--key", "--keep-first", "--allow-disjoint", "--rounds")
    if len(services) > 1:
        raise InputError("several services must be tables of numbers, got another kind: count it by itself")
    return kind.read(services[0], asked)


def answer_in_text(
    kind: BundleKind[Any], services: Sequence[Service], asked: CountOptions
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Return the reports of one service, which are written as text, counted, and what its file told."""
    read = read_to_count(kind, services, asked)
    counts = kind.of_reports(read.reports, read.many)
    written = written_of(kind.mechanism)
    texts = np.array((kind.mechanism.to_text if written is None else written.texts)(counts.reports), dtype=object)
    return {OUTPUT: texts, USERS: counts.counts}, told_of_reports(read.simulated, read.skipped)


def report_texts(mechanism: Channel, reports: np.ndarray) -> np.ndarray:
    """Return reports (n, ...) as a column (n,) of text, or raise InputError for texts that no file's reader takes."""
    texts = mechanism.to_text(reports)
    if (longest := max(map(len, texts), default=0)) > LONGEST_CELL:
        raise InputError(
            f"a report must have at most {LONGEST_CELL:,} characters in a file, got {longest:,} of {mechanism!r:.60}: "
            "reports of fewer bits are those of optldp design --method olh"
        )
    return np.array(texts, dtype=object)
