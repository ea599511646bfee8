"""What is tested of counts of each kind: silent with the mechanism that made them, loud with another."""

# What is tested here can be, and has laws.
# pyright: reportOptionalOperand=false, reportAttributeAccessIssue=false

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from optldp.estimators import count, fit_p_value
from optldp.estimators.attributes import AttributeCounts
from optldp.estimators.differences import tally_groups
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.goodness_of_fit.fit import fit_of
from optldp.estimators.goodness_of_fit.tested_counts import parts_of
from optldp.mechanisms import (
    Approximate,
    AttributeSampling,
    Categories,
    InputError,
    PersonalisedMechanism,
    TabulatedMechanism,
    duchi,
    gaussian,
    make_exact,
    piecewise,
)
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.compact_tables import form_over
from optldp.mechanisms.key_value import key_value_response, key_value_unary

KNOTS = np.linspace(0.0, 60.0, 5)
N = 4_000
JOBS = tuple("abcdefgh")
RNG = np.random.default_rng(1)
VALUES = RNG.choice(KNOTS, N, p=[0.4, 0.3, 0.1, 0.1, 0.1])
LABELS = RNG.choice(JOBS, N)
LEVELS = np.arange(N) % 2


def table(epsilon: float):
    return make_exact(piecewise(KNOTS, epsilon)).mechanism


def levels(low: float, made: Callable[[float], Any], protected: bool):
    return PersonalisedMechanism([made(low), made(2 * low)], 2.0 if protected else None)


def attributes(epsilon: float):
    return AttributeSampling(["pay", "more"], [table(epsilon)] * 2, 1, epsilon)


def sampled(made: Any, values: Any) -> Any:
    return made.sample(values, np.random.default_rng(2))


def at_levels(made: Any, values: Any) -> Any:
    return made.sample(values, LEVELS, np.random.default_rng(2))


def of_pairs(made: Any, values: Any) -> Any:
    return made.sample(LABELS, values, np.random.default_rng(2))


def pairs_at_levels(made: Any, values: Any) -> Any:
    return made.sample((LABELS, values), LEVELS, np.random.default_rng(2))


CASES: dict[str, tuple[Callable[[float], Any], Callable[[Any, Any], Any], Any, float]] = {
    "numbers": (table, sampled, VALUES, 3.0),
    "attributes": (attributes, sampled, np.stack([VALUES, VALUES[::-1]], axis=1), 3.0),
    "unary": (lambda e: optimised_unary(JOBS, e), sampled, LABELS, 2.0),
    "hashing": (lambda e: local_hashing(JOBS, e, n_values=3), sampled, LABELS, 4.0),
    "levels of numbers": (lambda e: levels(e, table, False), at_levels, VALUES, 3.0),
    "levels of unary": (lambda e: levels(e, lambda b: optimised_unary(JOBS, b), False), at_levels, LABELS, 2.0),
    "protected levels of unary": (
        lambda e: levels(e, lambda b: optimised_unary(JOBS, b), True), at_levels, LABELS, 2.0,
    ),
    "levels of attributes": (
        lambda e: PersonalisedMechanism([attributes(e), attributes(2 * e)]), at_levels,
        np.stack([VALUES, VALUES[::-1]], axis=1), 3.0,
    ),
    "pairs": (lambda e: key_value_unary(JOBS, table(e), e), of_pairs, VALUES, 3.0),
}  # fmt: skip
FLOOR = form_over(KNOTS, [-90.0, -40.0, 0.0, 30.0, 60.0, 100.0, 150.0], [0.07] * 7, 2.0)
UNTESTED: dict[str, Any] = {
    "two outputs": (make_exact(duchi([0.0, 60.0], 1.0)).mechanism, sampled, VALUES),
    "subsets": (subset_selection(JOBS, 1.0), sampled, LABELS),
    "randomised response": (categorical_grr(JOBS, 1.0), sampled, LABELS),
    "protected levels in intervals": (levels(1.0, table, True), at_levels, VALUES),
}


@pytest.mark.parametrize("kind", CASES)
def test_the_mechanism_that_made_reports_fits_and_another_budget_does_not(kind):
    make, draw, values, other = CASES[kind]
    right, wrong = make(1.0), make(other)
    reports = draw(right, values)
    assert fit_p_value(count(right, reports)) > 1e-3
    assert fit_p_value(count(wrong, renumbered(reports, right, wrong))) < 1e-4


def renumbered(reports: Any, right: Any, wrong: Any) -> Any:
    """Reports of numbers as the other mechanism reads the numbers of their outputs; others are read alike."""
    if isinstance(right, TabulatedMechanism):
        there = ~np.isnan(reports)
        outputs = right.output_index(np.where(there, reports, right.low[0]))
        return np.where(there, wrong.low[outputs], np.nan)
    if isinstance(right, AttributeSampling):
        columns = list(reports.values()) if isinstance(reports, dict) else reports.T
        tables = zip(columns, right.mechanisms, wrong.mechanisms, strict=True)
        return np.stack([renumbered(*each) for each in tables], axis=1)
    if not isinstance(reports, PersonalisedReports) or isinstance(right.inputs.values, Categories):
        return reports
    found = np.array(reports.reports, dtype=float)
    for level, (mine, theirs) in enumerate(zip(right.levels, wrong.levels, strict=True)):
        found[reports.levels == level] = renumbered(found[reports.levels == level], mine, theirs)
    return PersonalisedReports(reports.levels, found)


@pytest.mark.parametrize("kind", UNTESTED)
def test_what_cannot_be_tested_is_said_to_be_that(kind):
    made, draw, values = UNTESTED[kind]
    assert fit_p_value(count(made, draw(made, values))) is None


@pytest.mark.parametrize("made", [gaussian(KNOTS, Approximate(1.0, 1e-5)), FLOOR], ids=["noise", "floor form"])
def test_noise_and_floor_forms_fit_what_they_made(made):
    assert fit_p_value(count(made, sampled(made, VALUES))) > 1e-3


def test_sums_of_bits_fit_the_budget_that_they_were_drawn_at_and_no_other():
    made = optimised_unary(JOBS, 1.0)
    counts = SupportCounts.from_reports(made, sampled(made, LABELS))
    assert fit_p_value(counts) > 1e-3
    other = SupportCounts(optimised_unary(JOBS, 2.0), counts.supports, counts.n_users)
    assert fit_p_value(other) < 1e-10


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "protected"), [(key_value_unary, False), (key_value_unary, True), (key_value_response, False)]
)
def test_pairs_at_levels_have_parts_whose_laws_are_probabilities(make, protected):
    made = PersonalisedMechanism([make(JOBS, table(e), e) for e in (1.0, 2.0)], 1.0 if protected else None)
    counts = count(made, pairs_at_levels(made, VALUES))
    parts = list(parts_of(counts))
    assert all(np.allclose(part.law.sum(axis=1), 1.0) for part in parts)
    assert fit_p_value(counts) > 1e-3


def test_several_services_are_tested_one_by_one_and_the_worst_is_named():
    right, wrong = table(1.0), table(3.0)
    outputs = right.output_index(sampled(right, VALUES))
    sound = ("web", right, {"user": np.arange(N), "output": outputs})
    fit = fit_of([count([sound, ("app", wrong, {"user": np.arange(N), "output": outputs})], key="user")])
    assert fit.fails
    assert fit.part == "app"
    assert fit_p_value(count([sound, ("two", right, {"user": np.arange(N), "output": outputs})], key="user")) > 1e-3


def test_groups_are_tested_together():
    made = table(1.0)
    rows = {"report": sampled(made, VALUES), "shop": np.array(["a", "b"])[LEVELS]}
    (alone,) = tally_groups(made, {"report": rows["report"]}).tallies
    assert fit_p_value(tally_groups(made, rows, by="shop").whole) == pytest.approx(fit_p_value(alone))


def test_a_user_with_many_reports_is_seen():
    """The same reports fifty times over are no users of their own."""
    made = table(1.0)
    reports = sampled(made, VALUES[:300])
    assert fit_p_value(count(made, np.repeat(reports, 50))) < 1e-4


def test_counts_of_attributes_are_those_of_each():
    made = attributes(1.0)
    counts = count(made, sampled(made, np.stack([VALUES, VALUES], axis=1)))
    assert isinstance(counts, AttributeCounts)
    assert [part.name for part in parts_of(counts)] == ["pay", "more"]


def test_something_else_is_refused():
    with pytest.raises(InputError, match="of a kind that count makes, got int"):
        fit_p_value(3)
