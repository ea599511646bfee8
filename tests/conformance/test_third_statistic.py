"""A statistic that nothing reads yet is refused by its name wherever categories are estimated, and never as another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
import pytest
from numpy.typing import ArrayLike
from optldp.designer import CategoricalPrior
from optldp.designer.commands.handlers.categories import Categories as CategoriesKind
from optldp.designer.objectives.base import Problem
from optldp.designer.objectives.frequencies import Frequencies
from optldp.designer.objectives.questions.workload import Workload
from optldp.designer.planning.categories import draw_counts, unbiased_row
from optldp.designer.plots.mechanism_mesh import support_map
from optldp.estimators import CategoryCounts, auem, estimate_frequencies, fit_p_value, influence, personalised_mle
from optldp.estimators.differences import (
    GroupedTallies,
    MatchedTallies,
    Tally,
    above_noise,
    estimate_difference,
    estimate_groups,
    estimate_others,
    estimate_weighted,
)
from optldp.estimators.differences import report_numbers as numbers_of_reports
from optldp.estimators.frequencies import frequency_decoder, locally_best
from optldp.estimators.frequencies.likelihood import category_likelihood
from optldp.estimators.frequencies.locally_best import locally_best_scores
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.methods import FREQUENCIES
from optldp.estimators.personalised.counts import PersonalisedCounts, require_pure
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import CategoricalMechanism, InputError, PersonalisedMechanism
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr
from optldp.mechanisms.combinators import PersonalisedReports
from optldp.mechanisms.documents.bundle import Nested
from optldp.mechanisms.sampling.law import Words

REFUSAL = "statistic 'Sums' is known by name, and nothing here works by it"


class Sums:
    """A statistic that is neither whole outputs nor supports."""


@dataclass(frozen=True, eq=False, repr=False)
class Scratch(CategoricalMechanism):
    """Randomised response that says something new of its reports."""

    kind: ClassVar[str] = "scratch"
    known: CategoricalTable

    @property
    def statistic(self) -> Any:
        return Sums()

    @property
    def largest_ratio(self) -> Fraction | None:
        return self.known.largest_ratio

    @classmethod
    def from_members(cls, members: Mapping[str, Any], nested: Nested) -> Self:
        raise NotImplementedError  # never written

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        return self.known.draw(codes, words)

    def checked_reports(self, reports: ArrayLike) -> np.ndarray:
        return self.known.checked_reports(reports)

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        return self.known.pmf(reports)

    def all_reports(self) -> np.ndarray:
        return self.known.all_reports()

    def to_text(self, reports: np.ndarray) -> list[str]:
        return self.known.to_text(reports)

    def from_text(self, texts: Sequence[str]) -> np.ndarray:
        return self.known.from_text(texts)


def scratch(epsilon: float) -> Scratch:
    known = categorical_grr("abc", epsilon)
    return Scratch(known.categories, epsilon, known.provenance, known)


MADE, KNOWN = scratch(1.0), categorical_grr("abc", 1.0)
LEVELS = PersonalisedMechanism([scratch(0.5), scratch(1.0)])
COUNTS = CategoryCounts.from_reports(MADE, np.repeat([0, 1, 2], [50, 30, 20]))
TALLY = Tally.of(COUNTS)
PROBLEM = Problem(CategoricalPrior("abc", [1, 1, 1]), 1.0)


def at_levels() -> PersonalisedCounts:
    return PersonalisedCounts.from_reports(LEVELS, PersonalisedReports(np.array([0, 1]), np.array([1, 2])))


CASES: Mapping[str, Callable[[], object]] = {
    **{f"frequencies by {name}": lambda m=name: estimate_frequencies(COUNTS, method=m) for name in FREQUENCIES},
    "likelihood": lambda: category_likelihood(COUNTS),
    "intervals": lambda: locally_best_scores(COUNTS),
    "sums of supports": lambda: SupportCounts.from_reports(MADE, [0, 1]),
    "supports": lambda: COUNTS.support_counts(),
    "fit": lambda: fit_p_value(COUNTS),
    "fit of weights": lambda: fit_p_value(TALLY),
    "influence": lambda: influence(MADE),
    "noise": lambda: above_noise(COUNTS),
    "the rest": lambda: estimate_others(COUNTS, np.array([True, False, False])),
    "difference": lambda: estimate_difference(MatchedTallies(TALLY, TALLY, None, 0, False, SkippedRows())),
    "groups": lambda: estimate_groups(
        GroupedTallies("team", ("x", "y"), (TALLY, TALLY), False, 0, False, SkippedRows())
    ),
    "weights": lambda: estimate_weighted(TALLY),
    "levels' supports": lambda: require_pure(LEVELS),
    "levels by mle": lambda: personalised_mle(at_levels()),
    "levels by auem": lambda: auem(at_levels()),
    "error of frequencies": lambda: Frequencies().value(MADE, PROBLEM),
    "error of queries": lambda: Workload(np.eye(3)).value(MADE, PROBLEM),
    "simulation": lambda: draw_counts(MADE, np.full(3, 1 / 3), 10, (1, 0, 0)),
    "plan": lambda: unbiased_row("scratch", MADE, np.full(3, 1 / 3), 10),
    "picture": lambda: support_map(MADE),
    "facts": lambda: CategoriesKind(MADE).facts(),
}


@pytest.mark.parametrize("name", CASES)
def test_whoever_reads_a_statistic_refuses_a_third_by_its_name(name):
    with pytest.raises(InputError, match=REFUSAL):
        CASES[name]()


DECODED = ["intervals", "noise", "weights"]
"""What asks again after the decoder has answered."""


@pytest.mark.parametrize("name", DECODED)
def test_a_decoder_alone_does_not_make_it_one_of_the_two(monkeypatch, name):
    """Whoever teaches the decoder a third statistic is told of each other place that reads it."""
    for module in (locally_best, numbers_of_reports):
        monkeypatch.setattr(module, "frequency_decoder", lambda made: frequency_decoder(KNOWN))
    with pytest.raises(InputError, match=REFUSAL):
        CASES[name]()


def test_privacy_and_drawing_ask_no_statistic():
    """What it is refused by are estimates: its promise is proved and its reports are drawn all the same."""
    assert MADE.failures() == ()
    assert sorted(set(MADE.sample(["a"] * 200).tolist())) == [0, 1, 2]
