"""Counts of categorical reports: every report once, however they came."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportOperatorIssue=false

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import CategoryCounts
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing

from ..categorical_mechanisms import any_mechanism

seeds = st.integers(0, 2**32 - 1)


def tally(mechanism, reports) -> Counter:
    return Counter(mechanism.to_text(reports))


@pytest.mark.slow
@given(seeds)
def test_every_report_is_counted_once(seed):
    """Texts of reports, counted one by one, whatever the mechanism."""
    rng = np.random.default_rng(seed)
    mechanism = any_mechanism(rng)
    reports = mechanism.sample_codes(rng.integers(0, len(mechanism.categories), rng.integers(0, 60)), rng)
    counts = CategoryCounts.from_reports(mechanism, reports)
    texts = mechanism.to_text(counts.reports)
    assert len(set(texts)) == len(texts)
    assert dict(zip(texts, counts.counts.tolist(), strict=True)) == tally(mechanism, reports)
    assert counts.n_users == len(reports)


@pytest.mark.nightly
@given(seeds)
def test_adding_counts_counts_the_union(seed):
    """In the same order as if all had been counted at once, and by a mechanism that is equal but another object."""
    rng = np.random.default_rng(seed)
    mechanism, again = any_mechanism(np.random.default_rng(seed)), any_mechanism(rng)
    codes = rng.integers(0, len(mechanism.categories), 40)
    reports, cut = mechanism.sample_codes(codes, rng), rng.integers(0, 41)
    first, second = (
        CategoryCounts.from_reports(made, part) for made, part in ((mechanism, reports[:cut]), (again, reports[cut:]))
    )
    both, whole = first + second, CategoryCounts.from_reports(mechanism, reports)
    np.testing.assert_array_equal(both.reports, whole.reports)
    np.testing.assert_array_equal(both.counts, whole.counts)


@pytest.mark.parametrize(
    "other",
    [
        categorical_grr("abd", 1.0),
        categorical_grr("abc", 1.1),
        optimised_unary("abc", 1.0),
        CategoricalTable.from_probabilities("abc", [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]], 1.0),
    ],
)
def test_counts_of_another_mechanism_are_not_added(other):
    mine = CategoryCounts.from_reports(categorical_grr("abc", 1.0), [0])
    theirs = CategoryCounts.from_reports(other, other.sample_codes([0]))
    with pytest.raises(InputError, match="for the same mechanism only, got CategoricalTable"):
        _ = mine + theirs


def test_unary_encodings_of_other_probabilities_are_others():
    parts = [
        CategoryCounts.from_reports(made, made.sample_codes([0]))
        for made in (basic_rappor("ab", 1.0), optimised_unary("ab", 1.0))
    ]
    with pytest.raises(InputError, match="for the same mechanism only"):
        _ = parts[0] + parts[1]


def test_a_claim_or_a_name_makes_no_other_mechanism():
    """The same probabilities under a larger budget are the same law."""
    first = categorical_grr("abc", 1.0)
    second = CategoricalTable(first.categories, 2.0, first.provenance, first.numerators)
    both = CategoryCounts.from_reports(first, [0]) + CategoryCounts.from_reports(second, [0])
    assert both.counts.tolist() == [2]


def test_only_counts_are_added():
    with pytest.raises(TypeError, match="unsupported operand"):
        _ = CategoryCounts.from_reports(categorical_grr("abc", 1.0), [0]) + 1


@pytest.mark.parametrize(
    ("mechanism", "reports"),
    [
        (categorical_grr("abc", 1.0), [3]),
        (optimised_unary("abc", 1.0), np.array([[1]], dtype=np.uint8)),
        (local_hashing("abc", 1.0), [-1]),
    ],
)
def test_reports_that_cannot_be_are_refused(mechanism, reports):
    with pytest.raises(InputError, match="reports must"):
        CategoryCounts.from_reports(mechanism, reports)


def test_no_report_is_nothing_to_estimate_from():
    empty = CategoryCounts.from_reports(categorical_grr("abc", 1.0), [])
    assert empty.n_users == 0
    with pytest.raises(InputError, match="at least one report, got none"):
        empty.require_reports()
