"""Counts of reports on pairs at levels of the users' own: what was sent under each report of a level, kept apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ...mechanisms.combinators.personalised import PersonalisedMechanism
from ...mechanisms.errors import InputError
from ...mechanisms.table.table import TabulatedMechanism
from ...solvers.likelihood.dense import DenseLikelihood
from ...solvers.likelihood.mixture import MixtureLikelihood
from ..input_grid import InputGrid
from ..key_values.counts import KeyValueCounts
from ..key_values.likelihood import joint_likelihood, key_likelihood
from ..key_values.published import KeyTotals, key_totals
from .counts import AtLevels
from .pair_likelihood import likelihood_of_a_key, likelihood_of_pairs
from .pair_totals import pair_totals


@dataclass(frozen=True, eq=False, repr=False)
class PersonalisedPairCounts(AtLevels):
    """Counts of pairs at levels, for `estimate_key_means` and `fit_key_values`.

    Counts of shards with different users add up: ``a + b`` is the counts of the union.

    Parameters
    ----------
    mechanism : PersonalisedMechanism
        That made them.
    by_level : tuple of KeyValueCounts
        Counts for each reported level, in the order of the level's reports. Levels in the clear use that level's
        mechanism, else the strictest one's, which makes the same reports.

    Raises
    ------
    InputError
        Counts for another number of reports of the level.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.estimators.personalised import PersonalisedPairCounts
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
    >>> from optldp.mechanisms.combinators.personalised import PersonalisedReports
    >>> from optldp.mechanisms.families.duchi import duchi
    >>> from optldp.mechanisms.key_value.unary import key_value_unary
    >>> made = PersonalisedMechanism([key_value_unary(["a", "b"], duchi([0.0, 1.0], e), e) for e in (0.5, 1.0)])
    >>> sent = PersonalisedReports(np.array([0, 1, 1]), np.array([[0, 2], [1, 2], [0, 2]]))
    >>> counts = PersonalisedPairCounts.from_reports(made, sent)
    >>> counts.n_users, counts.level_counts, (counts + counts).seen[1].tolist()
    (3, array([1, 2]), [[0, 0, 2], [0, 0, 4]])
    """

    mechanism: PersonalisedMechanism
    by_level: tuple[KeyValueCounts, ...]

    def __post_init__(self) -> None:
        if len(self.by_level) != (many := self.mechanism.level_report.n_reports):
            raise InputError(f"there must be counts for each of {many} reports of the level, got {len(self.by_level)}")

    @classmethod
    def of_rows(cls, mechanism: PersonalisedMechanism, *columns: np.ndarray) -> Self:
        levels, reports, users = columns
        parts, clear = [], mechanism.level_report.protocol is None
        for number in range(mechanism.level_report.n_reports):
            own, mine = mechanism.levels[number if clear else 0], levels == number  # all levels make the same
            parts.append(KeyValueCounts.of_rows(own, reports[mine], users[mine]))
        return cls(mechanism, tuple(parts))

    def _together(self, other: Self) -> Self:
        both = zip(self.by_level, other.by_level, strict=True)
        return type(self)(self.mechanism, tuple(mine + theirs for mine, theirs in both))

    @property
    def symbols(self) -> int:
        """Outputs of a value, beside each report of a level."""
        return len(self.by_level) * self.mechanism.levels[0].value.low.size

    @property
    def keys(self) -> tuple[str, ...]:
        """The K keys."""
        return self.mechanism.levels[0].keys.labels

    @property
    def share_scale(self) -> int:
        """How many times more users hold a key than sample it, at every level."""
        return self.mechanism.levels[0].share_scale

    @property
    def tables(self) -> tuple[TabulatedMechanism, ...]:
        """The levels' value tables, on the same knots."""
        return tuple(level.value for level in self.mechanism.levels)

    def _line(self) -> dict[str, Any]:
        return {"n": self.n_users, "mechanism": repr(self.mechanism)}

    def _columns(self) -> dict[str, Any]:
        parts = [part._columns() for part in self.by_level]
        return {
            "level": np.repeat(np.arange(len(parts)), [len(part["n"]) for part in parts]),
            "output": [text for part in parts for text in part["output"]],
            "n": np.concatenate([part["n"] for part in parts]),
        }

    @property
    def n_users(self) -> int:
        """Number of users."""
        return int(self.level_counts.sum())

    @property
    def level_counts(self) -> np.ndarray:
        """(r,) how often each report of a level was sent."""
        return np.array([part.n_users for part in self.by_level])

    @property
    def seen(self) -> np.ndarray:
        """(K, r, 1 + m) how often nothing, and each output, was shown at each key under each report of a level."""
        parts = [np.hstack([part.hidden[:, None], part.shown]) for part in self.by_level]
        return np.stack(parts, axis=1)


@key_totals.register
def _(counts: PersonalisedPairCounts) -> KeyTotals:
    return pair_totals(counts.mechanism, counts.seen)


@joint_likelihood.register
def _(counts: PersonalisedPairCounts, grid: InputGrid) -> MixtureLikelihood:
    counts.require_reports()
    return likelihood_of_pairs(counts.mechanism, counts.by_level, grid)


@key_likelihood.register
def _(counts: PersonalisedPairCounts, key: int, grid: InputGrid) -> DenseLikelihood:
    return likelihood_of_a_key(counts.mechanism, counts.seen[key], grid)
