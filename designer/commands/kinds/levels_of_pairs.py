"""Pairs at budgets that users choose: columns of keys, numbers and budgets in; what is shown, and the budgets, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ....estimators.intervals import CONFIDENCE
from ....mechanisms.composed.personalised import PersonalisedMechanism, PersonalisedReports
from ....mechanisms.key_value.mechanism import KeyValueMechanism
from ..asked.kind import DesignKind
from .asked import LEVEL_COLUMN, REDUCTION, REPORT_COLUMN
from .bundle import BundleKind, found_rows, report_texts
from .kind import Designed, Found, Kind, Layout, Part, Service, WrittenReports, marked, split
from .levels import (
    answer_of_levels,
    counted_levels,
    level_facts,
    level_name,
    level_notes,
    protocol_of_level,
    query_of_levels,
    read_levels,
    told_levels,
    with_shares,
)
from .pairs import KEYS_AND_MEANS, best_pairs, fitted_keys, method_of_pairs, read_pairs

if TYPE_CHECKING:
    from pathlib import Path

    from ....estimators.data import SkippedRows
    from ....estimators.personalised import PersonalisedPairCounts
    from ....mechanisms.table.knot_prior import KnotPrior
    from ...planning.people import MeanWithin
    from ..asked.design import DesignOptions
    from .asked import CountOptions, EstimateOptions, PerturbOptions


@dataclass(frozen=True, eq=False)
class LevelsOfPairs(BundleKind[PersonalisedMechanism]):
    """A row is a user's pair, or a user who holds none, and every user has a budget, which is reported beside it."""

    of: ClassVar[type] = PersonalisedMechanism
    of_level: ClassVar[tuple[type, ...]] = (KeyValueMechanism,)
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS_OF_PAIRS,)

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return the best mechanism of each level, and how the level is reported."""
        best, notes = best_pairs(options)
        levels = [best(epsilon) for epsilon in options.budgets.epsilons]
        made = PersonalisedMechanism(levels, **protocol_of_level(len(levels), options))
        return Designed(made, notes + level_notes(made, "--method grr tells less where there are many keys"))

    def perturb(self, asked: PerturbOptions, rng: np.random.Generator | None) -> WrittenReports:
        from ....estimators.data.numbers import read_sparse_column

        asked.only("--column", "--value-column", "--level-column", "--clip", "--drop-missing")
        mechanism, level_column = self.mechanism, asked.needed("--level-column")
        budgets = read_sparse_column(asked.data, level_column)
        rows = asked.rows_with({level_column: budgets})  # who has no pair reports all the same
        keys, values, clipped = read_pairs(asked, mechanism.levels[0].value, rows)
        sent = mechanism.sample((keys, values), mechanism.level_numbers(budgets[rows]), rng)
        texts = report_texts(mechanism.levels[0], sent.reports)
        columns = {REPORT_COLUMN: texts, LEVEL_COLUMN: told_levels(mechanism, sent.levels)}
        return WrittenReports(marked(columns, rng), keys.size, clipped, present=(level_column,))

    def layout(self, column: str, level_column: str) -> Layout:
        return Layout((column, level_column), (False, True), self._parse)

    def _parse(self, cells: Sequence[np.ndarray]) -> PersonalisedReports:
        first = self.mechanism.levels[0]
        reports = first.checked_reports(first.from_text(cells[0].tolist()))
        return PersonalisedReports(read_levels(self.mechanism, cells[1]), reports)

    def answer(self, services: Sequence[Service], asked: CountOptions) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return answer_of_levels(self, services, asked, self.mechanism.levels[0].to_text)

    def query(self, kinds: Sequence[Kind], relations: Sequence[str], **options: Any) -> str:
        return query_of_levels(kinds, relations, **options)

    def counted(self, path: Path, skip_invalid: bool | SkippedRows) -> PersonalisedPairCounts:
        from ....estimators.personalised import PersonalisedPairCounts

        return PersonalisedPairCounts.from_counts(self.mechanism, counted_levels(self.mechanism, path, skip_invalid))

    def found(self, counts: PersonalisedPairCounts, asked: EstimateOptions) -> Found:
        from ....estimators import estimate_key_means
        from ....estimators.personalised.estimate import shares_of_reports

        method = method_of_pairs(asked)
        asked.refuse_told("for numbers and categories", *REDUCTION)
        asked.of_population("levels of pairs")
        if method == "unbiased":
            told = found_rows(KEYS_AND_MEANS, *split(estimate_key_means(counts), asked.confidence))
        else:
            told = fitted_keys(counts, method, asked.confidence)
        return with_shares(told, shares_of_reports(self.mechanism, counts.level_counts), asked.confidence)

    def parts(self) -> list[Part]:
        return [
            Part(f"{what}, {level_name(level.epsilon)}", part)
            for level in self.mechanism.levels
            for what, part in (("keys", level), ("values", level.value))
        ]

    def facts(self) -> dict[str, Any]:
        made, first = self.mechanism, self.mechanism.levels[0]
        return {
            "kind": made.kind,
            "method": first.provenance.method,
            **level_facts(made),
            "keys": len(made.levels[0].keys),
            "padding": made.levels[0].padding,
            "value_method": first.value.provenance.method,
            "value_epsilon": [level.value.epsilon for level in made.levels],
            "own_shown": [level.own_shown for level in made.levels],
            "other_shown": [level.other_shown for level in made.levels],
            "max_log_ratio": [level.max_log_ratio for level in made.levels],
        }

    def means_within(
        self, people: int, priors: Sequence[KnotPrior] = (), *, confidence: float = CONFIDENCE
    ) -> dict[str, MeanWithin]:
        """Return those of people who are all of one level, for each level, as of pairs at one level."""
        from ...planning.people_of_pairs import pairs_within

        return {
            f"all at {level.epsilon:g}": pairs_within(
                level, people, holders=len(self.mechanism.levels[0].keys), confidence=confidence
            )
            for level in self.mechanism.levels
        }

    def influence_times_n(self) -> None:
        """Return None: it depends on how many users chose which level."""
