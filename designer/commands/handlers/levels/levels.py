"""Budgets that users choose, of any kind of mechanism: a column of budgets beside its own, in and out."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .....estimators.intervals import CONFIDENCE
from .....estimators.reading.columns.rows.counted_rows import Wanted, counted_rows
from .....estimators.reading.columns.simulated_columns import OUTPUT, USERS
from .....mechanisms.combinators.level_leakage import report_leakage
from .....mechanisms.combinators.personalised import PersonalisedMechanism, PersonalisedReports
from .....mechanisms.errors import InputError
from .....mechanisms.files.identifier import table_identifier
from .....mechanisms.report_text import doubles_of_text
from ...output.output import number, refuse_given, told_of_reports
from ..bundle import NO_QUERY, BundleKind, read_to_count
from ..kind import Answer, Found, Held, Kind, Layout, Part, Service, WrittenReports, marked
from ..options import LEVEL_COLUMN, REPORT_COLUMN

if TYPE_CHECKING:
    from .....estimators.personalised.estimate import LevelShares
    from .....estimators.reading.columns import SkippedRows
    from .....mechanisms.table.knot_prior import KnotPrior
    from ....planning.people import MeanWithin
    from ...options.perturb import PerturbOptions
    from ..options import CountOptions

NOT_OF_COLUMNS = "count is not for levels of attributes: estimate takes the reports themselves"


@dataclass(frozen=True, eq=False)
class Levels(BundleKind[PersonalisedMechanism]):
    """A mechanism of any kind for each budget: values and reports are that kind's, beside the level of each user."""

    of: ClassVar[type] = PersonalisedMechanism
    wraps: ClassVar[type[Kind]]
    """The kind of each level."""

    @classmethod
    def suits(cls, mechanism: Any) -> bool:
        return super().suits(mechanism) and cls.wraps.suits(mechanism.levels[0])

    @property
    def first(self) -> Kind:
        """The kind of the strictest level, as which those of all others are read and written."""
        return self.wraps(self.mechanism.levels[0])

    def held(self, asked: PerturbOptions, beside: Mapping[str, np.ndarray]) -> Held:
        return self.first.held(asked, beside)

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from .....estimators.reading.columns.number_cells import read_sparse_column

        asked.only(*self.wraps.holds, "--level-column", "--drop-missing")
        mechanism, level_column = self.mechanism, asked.needed("--level-column")
        budgets = read_sparse_column(asked.data, level_column)
        held = self.held(asked, {level_column: budgets})
        sent = mechanism.sample(held.values, mechanism.level_numbers(budgets[held.rows]), rng)
        columns = self.first.columns_of(sent.reports) | {LEVEL_COLUMN: told_levels(mechanism, sent.levels)}
        return WrittenReports(marked(columns, rng), sent.levels.size, held.clipped, present=held.present)

    def layout(self, column: str, level_column: str) -> Layout:
        own = self.first.layout(column, level_column)
        columns, numeric = (*own.columns, level_column), (*own.numeric, True)
        return Layout(columns, numeric, self._parse, may_be_blank=own.may_be_blank)

    def _parse(self, cells: Sequence[np.ndarray]) -> PersonalisedReports:
        from .....estimators import count

        if np.isnan(cells[-1]).any():  # where a column may be blank
            raise InputError("every row must tell a level, got none")
        sent = PersonalisedReports(read_levels(self.mechanism, cells[-1]), self.first.reports_of(cells[:-1]))
        count(self.mechanism, sent)
        return sent

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Return the distinct pairs of a report and a level, both as `perturb` writes them, and of how many users."""
        if self.mechanism.by_column:
            raise InputError(NOT_OF_COLUMNS)
        read = read_to_count(self, services, asked)
        sent: PersonalisedReports = read.reports
        (written,) = self.first.columns_of(sent.reports).values()
        counts = Counter(zip(written.tolist(), told_levels(self.mechanism, sent.levels).tolist(), strict=True))
        ordered = sorted(counts, key=lambda pair: (pair[1], pair[0]))
        columns = {
            OUTPUT: np.array([report for report, _ in ordered], dtype=written.dtype),
            LEVEL_COLUMN: np.array([level for _, level in ordered], dtype=float),
            USERS: np.array([counts[pair] for pair in ordered]),
        }
        return columns, told_of_reports(read.simulated, read.skipped)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        """Return the query that counts pairs of a report and a level, as `perturb` writes them."""
        from .....estimators.engines.query import count_together

        if self.mechanism.by_column:
            raise InputError(NO_QUERY)
        refuse_given("for tables of numbers", {f"--{name}": options[name] for name in ("key", "cells")})
        refuse_given("for reports without levels", {"--by": options["daily"]})
        if len(kinds) > 1:
            raise InputError("several services must be tables of numbers, got levels: count them by themselves")
        column = REPORT_COLUMN if options["column"] == OUTPUT else options["column"]
        columns = {column: OUTPUT, LEVEL_COLUMN: LEVEL_COLUMN}
        return count_together(relations[0], columns, options["dialect"], table=options["table"], where=options["where"])

    def rows_of(self, path: Answer, skip_invalid: bool | SkippedRows) -> dict[str, np.ndarray]:
        """Return the rows of such an answer as `from_counts` takes them: levels as numbers, or as reports."""
        if skip_invalid:
            raise InputError("--skip-invalid is not for counts of levels: leave it out, or give the reports")
        made = partial(table_identifier, self.mechanism)
        found = counted_rows(path, [Wanted((OUTPUT, LEVEL_COLUMN), whole=False)], made)
        levels = read_levels(self.mechanism, doubles_of_text(found.columns[1].tolist()))
        return {OUTPUT: found.columns[0], LEVEL_COLUMN: levels, USERS: found.users}

    def parts(self) -> list[Part]:
        return [
            replace(part, name=_at(part.name, level.epsilon))
            for level in self.mechanism.levels
            for part in self.wraps(level).parts()
        ]

    def facts(self) -> dict[str, Any]:
        made = self.mechanism
        return {
            "kind": made.kind,
            "method": self.first.facts()["method"],
            "levels": list(made.epsilons),
            "level_epsilon": made.level_epsilon,
            "level_method": made.level_report.method,
            "report_leakage": report_leakage(made.levels),
            "level_leakage": made.level_leakage,
            **self.own_facts(),
        }

    @abstractmethod
    def own_facts(self) -> dict[str, Any]:
        """Return what there is to know of levels of this kind alone."""

    def units(self, attribute: str | None) -> str:
        return self.first.units(attribute)

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return those of people who are all of one level, for each level; a prior is that of a level."""
        levels = self.mechanism.levels
        return {
            _at(name, level.epsilon) if name else f"all at {level.epsilon:g}": within
            for level, prior in zip(levels, [[one] for one in priors] or [()] * len(levels), strict=True)
            for name, within in self.wraps(level).means_within(people, prior, confidence=confidence).items()
        }

    def influence_times_n(self) -> list[float] | None:
        """Return None: it depends on how many users chose which level."""


def told_levels(mechanism: PersonalisedMechanism, reported: np.ndarray) -> np.ndarray:
    """Return what a column tells of reports of levels: their budgets, or numbers of another protocol."""
    return reported if mechanism.level_mechanism is not None else np.array(mechanism.epsilons)[reported]


def read_levels(mechanism: PersonalisedMechanism, told: np.ndarray) -> np.ndarray:
    """Return the reports of levels that a column tells: by their budgets, or as numbers of another protocol."""
    if mechanism.level_mechanism is None:
        return mechanism.level_numbers(told)
    if (told != np.rint(told)).any():
        raise InputError("reports of the level must be whole numbers, got others: use the column as perturb wrote it")
    return mechanism.checked_level_reports(told.astype(np.int64))


def with_shares(found: Found, shares: LevelShares, confidence: float) -> Found:
    """Return what was found, with the shares of the users at each level."""
    said = [f"{number(share)} at {level:g}" for level, share in zip(shares.levels, shares.value, strict=True)]
    return replace(
        found,
        more=found.more | {"level_shares": shares.to_dict(confidence)},
        said=(found.facts if found.said is None else found.said) | {"level_shares": said},
    )


def _at(name: str, epsilon: float) -> str:
    """What a part of a level is called in pictures and tables."""
    return ", ".join([*([name] if name else []), f"level {epsilon:g}"])
