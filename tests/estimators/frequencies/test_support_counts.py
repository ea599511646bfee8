"""Support counts: what they hold, that they suffice, and what they cannot do."""

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection

PROTOCOLS = [basic_rappor, optimised_unary, local_hashing, subset_selection]
CODES = np.random.default_rng(0).integers(0, 11, 500)


@pytest.mark.parametrize("make", PROTOCOLS)
def test_they_are_the_column_sums_of_the_supports(make):
    """Eleven categories, so that the last byte has unused bits."""
    mechanism = make(range(11), 1.0)
    reports = mechanism.sample_codes(CODES, np.random.default_rng(1))
    bits = np.unpackbits(mechanism.support(reports), axis=1, count=11)
    counts = SupportCounts.from_reports(mechanism, reports)
    assert np.array_equal(counts.supports, bits.sum(axis=0))
    assert np.array_equal(CategoryCounts.from_reports(mechanism, reports).support_counts(), counts.supports)
    assert counts.n_users == 500


@pytest.mark.parametrize("make", PROTOCOLS)
@pytest.mark.parametrize("method", ["unbiased", "norm-sub", "base-cut", "iiw"])
def test_they_suffice_for_what_is_made_of_unbiased_estimates(make, method):
    """The estimate and its errors equal those from whole reports."""
    mechanism = make(range(11), 1.0)
    reports = mechanism.sample_codes(CODES, np.random.default_rng(2))
    few = estimate_frequencies(SupportCounts.from_reports(mechanism, reports), method=method)
    whole = estimate_frequencies(CategoryCounts.from_reports(mechanism, reports), method=method)
    assert np.array_equal(few.value, whole.value)
    assert np.array_equal(few.std_error, whole.std_error)


def test_shards_add_up():
    """The sum of two shards is the whole; a mechanism that is equal counts as the same."""
    mechanism = optimised_unary(range(11), 1.0)
    reports = mechanism.sample_codes(CODES, np.random.default_rng(3))
    whole = SupportCounts.from_reports(mechanism, reports)
    again = optimised_unary(range(11), 1.0)
    both = SupportCounts.from_reports(mechanism, reports[:200]) + SupportCounts.from_reports(again, reports[200:])
    assert np.array_equal(both.supports, whole.supports)
    assert both.n_users == whole.n_users
    with pytest.raises(InputError, match="for the same mechanism only"):
        _ = whole + SupportCounts.from_reports(optimised_unary(range(11), 2.0), reports)


def test_what_they_cannot_do_is_refused():
    """Likelihoods, tables, and an empty collection."""
    oue = optimised_unary(range(3), 1.0)
    counts = SupportCounts.from_reports(oue, oue.sample_codes([0, 1, 2]))
    with pytest.raises(InputError, match="needs whole reports"):
        estimate_frequencies(counts, method="mle")
    grr = categorical_grr(range(3), 1.0)
    with pytest.raises(InputError, match="pure protocol"):
        SupportCounts.from_reports(grr, [0, 1])  # pyright: ignore[reportArgumentType] -- what is refused
    with pytest.raises(InputError, match="pure protocol"):
        CategoryCounts.from_reports(grr, [0, 1]).support_counts()
    with pytest.raises(InputError, match="at least one report"):
        estimate_frequencies(SupportCounts.from_reports(oue, np.empty((0, 1), np.uint8)))


def test_counts_of_supports_are_read_again_from_their_frame():
    """What `to_frame` has is what `from_counts` takes, but for the number of reports, which supports do not tell."""
    oue = optimised_unary("abc", 1.0)
    counts = SupportCounts.from_reports(oue, np.array([[0b10100000], [0b10000000]], np.uint8))
    again = SupportCounts.from_counts(oue, counts.to_frame(backend="pandas"), n_users=counts.n_users)
    np.testing.assert_array_equal(again.supports, [2, 0, 1])
