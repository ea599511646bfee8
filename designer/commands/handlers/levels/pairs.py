"""Pairs at budgets that users choose: keys and the means of their values, of all levels together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ...options.kind import DesignKind
from ..bundle import found_rows
from ..kind import Answer, Designed, Found, Kind, split
from ..options import REDUCTION
from ..pairs import KEYS_AND_MEANS, Pairs, best_pairs, fitted_keys, method_of_pairs
from .levels import Levels, with_shares
from .report_of_level import designed

if TYPE_CHECKING:
    from .....estimators.personalised import PersonalisedPairCounts
    from .....estimators.reading.columns import SkippedRows
    from ...options.designs.design import DesignOptions
    from ..options import EstimateOptions


@dataclass(frozen=True, eq=False)
class LevelsOfPairs(Levels):
    """A row is a user's pair, or a user who holds none."""

    wraps: ClassVar[type[Kind]] = Pairs
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS_OF_PAIRS,)

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return the best mechanism of each level, and how the level is reported."""
        best, notes = best_pairs(options)
        levels = [best(epsilon) for epsilon in options.budgets.epsilons]
        return designed(options, notes, levels, "--method grr tells less where there are many keys")

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> PersonalisedPairCounts:
        from .....estimators.personalised import PersonalisedPairCounts

        return PersonalisedPairCounts.from_counts(self.mechanism, self.rows_of(path, skip_invalid))

    def found(self, counts: PersonalisedPairCounts, asked: EstimateOptions) -> Found:
        from .....estimators import estimate_key_means
        from .....estimators.personalised.estimate import shares_of_reports

        method = method_of_pairs(asked)
        asked.refuse_told("for numbers and categories", *REDUCTION)
        asked.of_population("levels of pairs")
        if method == "unbiased":
            told = found_rows(KEYS_AND_MEANS, *split(estimate_key_means(counts), asked.confidence))
        else:
            told = fitted_keys(counts, method, asked.confidence)
        return with_shares(told, shares_of_reports(self.mechanism, counts.level_counts), asked.confidence)

    def own_facts(self) -> dict[str, Any]:
        levels = self.mechanism.levels
        return {
            "keys": len(levels[0].keys),
            "padding": levels[0].padding,
            "value_method": levels[0].value.provenance.method,
            "value_epsilon": [level.value.epsilon for level in levels],
            "own_shown": [level.own_shown for level in levels],
            "other_shown": [level.other_shown for level in levels],
            "max_log_ratio": [level.max_log_ratio for level in levels],
        }
