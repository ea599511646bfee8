"""The counts of each kind that a test of fit looks at: users in each cell, and the laws that mix there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from scipy.special import gammaln, ndtr, stdtr, xlog1py, xlogy

from ...mechanisms.errors import InputError
from ...mechanisms.statistics import Outputs, Statistic, Supports, as_supports, unread
from ..attributes.counts import ByAttribute
from ..counting.counts import ReportCounts
from ..differences.tally import Tally
from ..frequencies.category_counts import CategoryCounts
from ..frequencies.support_counts import SupportCounts, supports_of
from ..input_grid import InputGrid
from ..key_values.counts import KeyValueCounts, ShownCounts
from ..key_values.likelihood import key_law
from ..personalised.counts import PersonalisedCounts
from ..personalised.pair_counts import PersonalisedPairCounts
from ..personalised.reports import Cells, reports_at_levels
from .law_test import law_p_value

MOST_KEYS = 32
"""Keys that are tested one by one, those shown most often; the others count as tested, too."""


@dataclass(frozen=True, eq=False)
class Part:
    """Counts of users by cell, and the laws that they are a mixture of.

    Attributes
    ----------
    name : str
        Of a service, an attribute, a level or a key; "" where there is one part alone.
    law : (K, m) ndarray of float
    counts : (m,) ndarray of int
    """

    name: str
    law: np.ndarray
    counts: np.ndarray

    def p_value(self) -> float | None:
        """Return that of `law_p_value`."""
        return law_p_value(self.law, self.counts)


@dataclass(frozen=True, eq=False)
class Sizes:
    """How many categories the reports of a pure protocol support: on average p* + (K - 1) q*, whatever the values.

    Attributes
    ----------
    name : str
    expected : float
    sizes : (R,) ndarray of int
        Categories that each distinct report supports.
    counts : (R,) ndarray of int
    """

    name: str
    expected: float
    sizes: np.ndarray
    counts: np.ndarray

    def p_value(self) -> float | None:
        """Return that of Student's test of the average; None where all reports support as many."""
        total = int(self.counts.sum())
        if total < 2 or np.ptp(self.sizes) == 0:
            return None
        average = float(self.counts @ self.sizes) / total
        variance = float(self.counts @ (self.sizes - average) ** 2) / (total - 1)
        return float(2.0 * stdtr(total - 1, -abs(average - self.expected) / np.sqrt(variance / total)))


@dataclass(frozen=True)
class Total:
    """How many categories the reports of a unary encoding support together, if no more than that is known.

    Attributes
    ----------
    name : str
    expected, variance : float
        Of one report, whatever the value.
    total, users : int
    """

    name: str
    expected: float
    variance: float
    total: int
    users: int

    def p_value(self) -> float | None:
        """Return that of the normal law, which a sum of so many bits has; None without reports."""
        if not self.users:
            return None
        away = abs(self.total - self.users * self.expected) / np.sqrt(self.users * self.variance)
        return float(2.0 * ndtr(-away))


@singledispatch
def parts_of(counts: Any) -> Iterator[Part | Sizes | Total]:
    """Yield what of counts can be tested; each is a test by itself.

    | counts | cells | laws |
    |---|---|---|
    | of tables of numbers | outputs of each service | of its knots |
    | of several attributes | those of each attribute | as of numbers |
    | of categories in a table | outputs | of the categories |
    | of unary encodings | how many ones a report has | one, whatever the category |
    | of their support sums | ones of all reports together | one |
    | of other pure protocols | categories that a report supports, on average | one |
    | of pairs | what is shown at each key | of its values, and of none |
    | of levels in the clear | those of each level | as of one mechanism |
    | of protected levels | reports of level and value together | of each level's each value |

    Raises InputError for counts of another kind.
    """
    raise InputError(f"counts must be of a kind that count makes, got {type(counts).__name__}")


@parts_of.register
def _of_numbers(counts: ReportCounts) -> Iterator[Part | Sizes | Total]:
    several = len(counts.services) > 1
    for j, service in enumerate(counts.services):
        seen = np.zeros(service.mechanism.low.size, dtype=np.int64)
        for group in counts.groups:
            if j in group.services:
                np.add.at(seen, group.outputs[:, group.services.index(j)], group.counts)
        yield Part(service.name if several else "", service.mechanism.probabilities, seen)


@parts_of.register(ByAttribute)
def _of_attributes(counts: ByAttribute[Any]) -> Iterator[Part | Sizes | Total]:
    for name, alone in counts.items():
        for part in parts_of(alone):
            yield _named(part, name)


@parts_of.register
def _of_categories(counts: CategoryCounts) -> Iterator[Part | Sizes | Total]:
    yield from _of_statistic(counts.mechanism.statistic, counts.reports, counts.counts)


@parts_of.register
def _of_supports(counts: SupportCounts) -> Iterator[Part | Sizes | Total]:
    made = supports_of(counts.mechanism)
    if made.independent:  # else how much the reports differ in their sizes is not known
        own, others, many = made.own_support, made.other_support, made.size - 1
        variance = own * (1 - own) + many * others * (1 - others)
        yield Total("", own + many * others, variance, int(counts.supports.sum()), counts.n_users)


@parts_of.register
def _of_tally(counts: Tally) -> Iterator[Part | Sizes | Total]:
    yield from _of_statistic(counts.mechanism.statistic, counts.reports, counts.users)


@parts_of.register(KeyValueCounts | ShownCounts)
def _of_pairs(counts: KeyValueCounts | ShownCounts) -> Iterator[Part | Sizes | Total]:
    law = key_law(counts.mechanism, InputGrid.common([counts.mechanism.value]))
    seen = np.hstack([counts.hidden[:, None], counts.shown])
    if isinstance(counts, KeyValueCounts) and counts.mechanism.independent:
        made, many = counts.mechanism, len(counts.keys)
        shown = np.count_nonzero(counts.reports, axis=1)  # 0 where nothing is
        yield Part("", _ones(many, made.own_shown, made.other_shown), _seen(shown, counts.counts, many + 1))
    yield from _keys(counts.keys, law, seen)


@parts_of.register
def _of_levels(counts: PersonalisedCounts) -> Iterator[Part | Sizes | Total]:
    made = counts.mechanism
    if made.level_epsilon is None:
        held = reports_at_levels(made)
        for number, epsilon in enumerate(made.epsilons):
            mine = counts.levels == number
            reports = held.of_level(counts.reports[mine], number)
            for part in _of_statistic(made.levels[number].statistic, reports, counts.counts[mine]):
                yield _named(part, f"level {epsilon:g}")
    elif (cells := _cells_of_levels(counts)) is not None:
        laws, places = cells
        seen = np.zeros((made.level_response.shape[1], laws[0].shape[1]), dtype=np.int64)
        np.add.at(seen, (counts.levels, places), counts.counts.astype(np.int64))
        yield Part("", _with_level(made.level_response, laws), seen.reshape(-1))


@parts_of.register
def _of_levels_of_pairs(counts: PersonalisedPairCounts) -> Iterator[Part | Sizes | Total]:
    made = counts.mechanism
    if made.level_epsilon is None:
        for epsilon, alone in zip(made.epsilons, counts.by_level, strict=True):
            for part in parts_of(alone) if alone.n_users else ():
                yield _named(part, f"level {epsilon:g}")
        return
    laws = [key_law(level, InputGrid.common([level.value])) for level in made.levels]
    seen = np.stack([np.hstack([one.hidden[:, None], one.shown]) for one in counts.by_level], axis=1)  # (K, r, 1 + m)
    keys = counts.by_level[0].keys
    yield from _keys(keys, _with_level(made.level_response, laws), seen.reshape(len(keys), -1))


def _of_statistic(made: Statistic, reports: np.ndarray, counts: np.ndarray) -> Iterator[Part | Sizes | Total]:
    match made:
        case Outputs(law):
            yield Part("", law, _seen(reports, counts, law.shape[1]))
        case Supports(independent=True):
            law = _sizes_law(made)
            yield Part("", law, _seen(_sizes(made, reports), counts, law.shape[1]))
        case Supports(own_support=own, other_support=other):
            yield Sizes("", own + (made.size - 1) * other, _sizes(made, reports), counts)
        case _:
            raise unread(made)


def _sizes(made: Supports, reports: np.ndarray) -> np.ndarray:
    """How many categories (R,) each report supports."""
    return np.bitwise_count(made.support(reports)).sum(axis=1, dtype=np.int64)


def _sizes_law(made: Supports) -> np.ndarray:
    """The law (1, K + 1) of how many are supported, whatever the category, if each is by itself."""
    return _ones(made.size, made.own_support, made.other_support)[:1]


def _cells_of_levels(counts: PersonalisedCounts) -> Cells | None:
    """Cells that all levels share: outputs or, where each category is supported by itself, how many are supported."""
    made = counts.mechanism
    if (cells := reports_at_levels(made).cells(counts.reports)) is not None:
        return cells
    statistics = [level.statistic for level in made.levels]
    if sums := [one for each in statistics if (one := as_supports(each)) is not None and one.independent]:
        return [_sizes_law(one) for one in sums], _sizes(sums[0], counts.reports)
    return None


def _with_level(response: np.ndarray, laws: Sequence[np.ndarray]) -> np.ndarray:
    """Laws of the report of the level (t, r) and of another one, (K, m) for each level, together: (t K, r m)."""
    return np.concatenate(
        [
            (told[None, :, None] * law[:, None, :]).reshape(len(law), -1)
            for told, law in zip(response, laws, strict=True)
        ]
    )


def _ones(many: int, own: float, other: float) -> np.ndarray:
    """Laws (2, K + 1) of how many of K places are shown: by users with a place of their own, and without."""
    others = _binomial(many - 1, other)
    with_own = (1 - own) * np.append(others, 0.0) + own * np.append(0.0, others)
    return np.stack([with_own, _binomial(many, other)])


def _binomial(many: int, share: float) -> np.ndarray:
    """Return the law (n + 1,) of how many of n happen, each with the same probability."""
    ones = np.arange(many + 1.0)
    ways = gammaln(many + 1.0) - gammaln(ones + 1.0) - gammaln(many - ones + 1.0)
    return np.exp(ways + xlogy(ones, share) + xlog1py(many - ones, -share))


def _keys(keys: tuple[str, ...], law: np.ndarray, seen: np.ndarray) -> Iterator[Part | Sizes | Total]:
    """Yield the keys that are shown most often, and of the others parts that say nothing."""
    order = np.argsort(-seen[:, 1:].sum(axis=1), kind="stable").tolist()
    for place, k in enumerate(order):
        yield Part(keys[k], law, seen[k] if place < MOST_KEYS else np.zeros_like(seen[k]))


def _seen(places: np.ndarray, counts: np.ndarray, size: int) -> np.ndarray:
    seen = np.zeros(size, dtype=np.int64)
    np.add.at(seen, places, counts.astype(np.int64))
    return seen


def _named(part: Part | Sizes | Total, name: str) -> Part | Sizes | Total:
    return replace(part, name=", ".join(filter(None, [name, part.name])))
