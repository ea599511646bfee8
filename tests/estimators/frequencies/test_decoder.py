"""Decoders of categorical reports, against sums over every report there is."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAbstractUsage=false

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import CategoryCounts
from optldp.estimators.frequencies import frequency_decoder
from optldp.mechanisms import CategoricalMechanism, InputError
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing

from ..categorical_mechanisms import any_mechanism, uneven_table

seeds = st.integers(0, 2**32 - 1)


def decoded(mechanism: CategoricalMechanism, decoder) -> np.ndarray:
    """(R, K) what every report adds to the estimates, each decoded as the only one."""
    one = np.ones(1, dtype=np.int64)
    reports = mechanism.all_reports()
    if isinstance(mechanism, CategoricalTable):
        reports = reports[mechanism.numerators.max(axis=0) > 0]
    return np.array([decoder.frequencies(CategoryCounts(mechanism, r[None], one)) for r in reports])


@pytest.mark.nightly
@given(seeds)
def test_the_mean_of_a_decoded_report_is_its_users_category(seed):
    """Exactly, over all reports there are."""
    mechanism = any_mechanism(np.random.default_rng(seed))
    numbers = decoded(mechanism, frequency_decoder(mechanism))
    chance = mechanism.pmf(mechanism.all_reports())
    bound = 1e-12 * np.abs(numbers).max() + 1e-9 * isinstance(mechanism, CategoricalTable)
    np.testing.assert_allclose(chance.T @ numbers, np.eye(len(mechanism.categories)), atol=bound)


@pytest.mark.nightly
@given(seeds)
def test_variances_and_covariances_are_those_of_decoded_reports(seed):
    """Given the users' categories: the second moments over all reports less the products of the users' means."""
    rng = np.random.default_rng(seed)
    mechanism = any_mechanism(rng)
    frequencies = rng.dirichlet(np.ones(len(mechanism.categories)))
    decoder = frequency_decoder(mechanism)
    numbers = decoded(mechanism, decoder)
    chance = mechanism.pmf(mechanism.all_reports()) @ frequencies
    expected = (numbers.T * chance) @ numbers - np.diag(frequencies)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(decoder.covariance(frequencies), expected, atol=1e-8 * scale)
    np.testing.assert_allclose(decoder.variances(frequencies), np.diag(expected), atol=1e-8 * scale)


@pytest.mark.slow
@given(seeds)
def test_noise_is_the_variance_for_a_category_that_nobody_has(seed):
    mechanism = any_mechanism(np.random.default_rng(seed))
    decoder, size = frequency_decoder(mechanism), len(mechanism.categories)
    rest = (1 - np.eye(size)) / (size - 1)
    expected = [decoder.variances(row)[k] for k, row in enumerate(rest)]
    np.testing.assert_allclose(decoder.noise(), expected, rtol=1e-8)


@pytest.mark.nightly
@given(seeds)
def test_many_reports_are_decoded_as_one_by_one(seed):
    rng = np.random.default_rng(seed)
    mechanism = any_mechanism(rng)
    decoder = frequency_decoder(mechanism)
    reports = mechanism.sample_codes(rng.integers(0, len(mechanism.categories), 30), rng)
    one = np.ones(1, dtype=np.int64)
    single = [decoder.frequencies(CategoryCounts(mechanism, r[None], one)) for r in reports]
    together = decoder.frequencies(CategoryCounts.from_reports(mechanism, reports))
    np.testing.assert_allclose(together, np.mean(single, axis=0), atol=1e-12 * np.abs(single).max())


def test_randomised_response_is_inverted_as_everybody_does():
    """(share - q) / (p - q)."""
    grr = categorical_grr(range(5), 1.3)
    own, other = grr.probabilities[0, :2]
    counts = CategoryCounts.from_reports(grr, np.repeat(np.arange(5), [40, 30, 20, 10, 0]))
    share = np.array([0.4, 0.3, 0.2, 0.1, 0.0])
    np.testing.assert_allclose(frequency_decoder(grr).frequencies(counts), (share - other) / (own - other), atol=1e-12)


def test_no_other_unbiased_decoder_has_less_variance_at_the_prior():
    """Any change of the decoder that keeps it unbiased, from the null space of the table, adds variance."""
    rng = np.random.default_rng(2)
    table, prior = uneven_table(4, 7), np.array([0.7, 0.1, 0.1, 0.1])
    best = decoded(table, frequency_decoder(table, prior)).T
    weights = prior @ table.probabilities
    spare = np.linalg.svd(table.probabilities)[2][4:]
    for _ in range(20):
        other = best + rng.normal(size=(4, len(spare))) @ spare
        np.testing.assert_allclose(other @ table.probabilities.T, np.eye(4), atol=1e-9)
        assert (other**2 @ weights).sum() > (best**2 @ weights).sum()
    even = decoded(table, frequency_decoder(table)).T
    assert (even**2 @ weights).sum() > (best**2 @ weights).sum() + 1e-6


def test_a_prior_may_have_zeros_and_outputs_may_never_occur():
    """A column of zeros is no report, and the decoder stays unbiased for a category of no prior weight."""
    rows = [[0.6, 0.2, 0.2, 0.0], [0.2, 0.6, 0.2, 0.0], [0.2, 0.2, 0.6, 0.0]]
    table = CategoricalTable.from_probabilities("abc", rows, 1.2)
    numbers = decoded(table, frequency_decoder(table, [1.0, 0.0, 0.0]))
    np.testing.assert_allclose(table.probabilities[:, :3] @ numbers, np.eye(3), atol=1e-9)


@pytest.mark.parametrize(
    "rows",
    [
        [[0.6, 0.4], [0.4, 0.6], [0.5, 0.5]],
        [[0.4, 0.3, 0.3], [0.3, 0.4, 0.3], [0.35, 0.35, 0.3]],
        [[0.25, 0.25, 0.5], [0.25, 0.25, 0.5], [0.5, 0.25, 0.25]],
    ],
)
def test_tables_that_cannot_tell_the_categories_apart_are_refused(rows):
    """Fewer outputs than categories, a row between two others, two equal rows."""
    table = CategoricalTable.from_probabilities("abc", rows, 1.0)
    with pytest.raises(InputError, match="do not tell 3 categories apart"):
        frequency_decoder(table)


@pytest.mark.parametrize("mechanism", [optimised_unary("abc", 1.0), local_hashing("abc", 1.0)])
def test_a_prior_is_for_tables(mechanism):
    with pytest.raises(InputError, match="a prior is for tables"):
        frequency_decoder(mechanism, [1, 1, 1])


@pytest.mark.parametrize("prior", [[1, 1], [-1, 1, 1], [0, 0, 0]])
def test_a_prior_that_is_none_is_refused(prior):
    with pytest.raises(InputError, match="prior must be 3 non-negative numbers"):
        frequency_decoder(categorical_grr("abc", 1.0), prior)


def test_a_mechanism_that_declares_no_statistic_cannot_be_made():
    """So no estimator takes it for one of another kind."""
    assert "statistic" in CategoricalMechanism.__abstractmethods__
