"""Categories at budgets that users choose: frequencies by AUEM, or by the joint likelihood of values and levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .....mechanisms.errors import InputError, wired
from ...options.kind import DesignKind
from ..categories import Categories, frequency_table, read_labels_prior, require_oracle
from ..kind import Answer, Designed, Found, Kind
from .levels import Levels, with_shares
from .report_of_level import designed

if TYPE_CHECKING:
    from .....estimators import PersonalisedCounts
    from .....estimators.reading.columns import SkippedRows
    from ...options.designs.design import DesignOptions
    from ..options import EstimateOptions


@dataclass(frozen=True, eq=False)
class LevelsOfCategories(Levels):
    """Labels at levels, each by a protocol of one kind."""

    wraps: ClassVar[type[Kind]] = Categories
    designs: ClassVar[tuple[DesignKind, ...]] = (DesignKind.LEVELS_OF_CATEGORIES,)

    @classmethod
    def design(cls, options: DesignOptions) -> Designed:
        """Return one protocol for each level, together with the protection of the level itself."""
        from ....methods.oracles import ORACLES, levels_of_oracle

        labels, notes = read_labels_prior(options)
        method = options.method or "auto"
        require_oracle(method, options, [*ORACLES], "levels of categories")
        levels = levels_of_oracle(method, labels.categories, options.budgets.epsilons)
        return designed(options, notes, levels, "methods grr and olh leak least")

    def counted(self, path: Answer, skip_invalid: bool | SkippedRows) -> PersonalisedCounts:
        from .....estimators import PersonalisedCounts

        return PersonalisedCounts.from_counts(self.mechanism, self.rows_of(path, skip_invalid))

    def found(self, counts: PersonalisedCounts, asked: EstimateOptions) -> Found:
        from .....estimators import auem, personalised_mle
        from .....estimators.personalised import personalised_shrunk

        estimators = {"mle": personalised_mle, "unbiased": auem, "shrunk": personalised_shrunk}
        method = asked.chosen(*estimators)
        estimate = wired("--method", estimators, method)(counts, target=asked.target)
        return with_shares(frequency_table(estimate, asked.confidence, {}), estimate.level_shares, asked.confidence)

    def own_facts(self) -> dict[str, Any]:
        planned = self._planned_error()
        return {"max_log_ratio": [level.max_log_ratio for level in self.mechanism.levels]} | (
            {} if planned is None else {"std_error_times_root_n": planned}
        )

    def _planned_error(self) -> float | None:
        """Return that of AUEM's frequencies, were all alike and as many users at each level; None without AUEM."""
        from .....estimators.personalised.auem import auem_variance

        made = self.mechanism
        many = len(made.levels), len(made.levels[0].categories)
        shares, frequencies = (np.full(each, 1 / each) for each in many)
        try:
            return float(np.sqrt(auem_variance(made, shares, frequencies).mean()))
        except InputError:  # levels of other tables
            return None
