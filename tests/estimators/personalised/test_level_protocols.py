"""Levels reported by other protocols than randomised response: likelihood, AUEM and shares against enumeration."""

import numpy as np
import pytest
from optldp.estimators import PersonalisedCounts, auem, personalised_mle
from optldp.estimators.personalised import auem_variance
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.mechanisms import InputError, PersonalisedMechanism
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.combinators.personalised import PersonalisedReports

from ..personalised_cases import counts_of, drawn_counts, expected_counts, pair_law, protocols

SHARES, FREQUENCIES = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])

PROTOCOLS = protocols()


def levels(protocol) -> PersonalisedMechanism:
    return PersonalisedMechanism([categorical_grr("abc", e) for e in (0.5, 1.5)], level_mechanism=protocol)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_likelihood_is_the_enumerated_law(protocol):
    """The probability of every possible pair of reports, alone."""
    made = levels(protocol)
    law = np.einsum("i,j,ijo->o", SHARES, FREQUENCIES, pair_law(made))
    assert law.sum() == pytest.approx(1.0)
    for o, expected in enumerate(law):
        alone = personalised_likelihood(counts_of(made, np.eye(law.size, dtype=int)[o]))
        assert np.exp(alone.loglik(SHARES, FREQUENCIES)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_average_reports_give_back_what_they_were_made_of(protocol):
    """Both estimators, frequencies and shares of the levels."""
    counts = expected_counts(levels(protocol), SHARES, FREQUENCIES)
    for estimate, tolerance in ((auem, 1e-9), (personalised_mle, 2e-3)):
        found = estimate(counts)
        np.testing.assert_allclose(found.value, FREQUENCIES, atol=tolerance)
        np.testing.assert_allclose(found.level_shares.value, SHARES, atol=tolerance)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_planned_variance_is_that_of_the_estimate(protocol):
    """Before and after collection."""
    made = levels(protocol)
    counts = expected_counts(made, SHARES, FREQUENCIES)
    after = auem(counts).std_error ** 2 * counts.n_users
    assert auem_variance(made, SHARES, FREQUENCIES) == pytest.approx(after, rel=1e-5)


@pytest.mark.parametrize("protocol", PROTOCOLS[:2])
def test_repetitions_scatter_as_planned(protocol):
    """Estimates of 200 groups of 20,000 users."""
    made, rng = levels(protocol), np.random.default_rng(1)
    found = np.array([auem(drawn_counts(made, SHARES, FREQUENCIES, 20_000, rng)).value for _ in range(200)])
    planned = np.sqrt(auem_variance(made, SHARES, FREQUENCIES) / 20_000)
    np.testing.assert_allclose(found.std(axis=0), planned, rtol=4 / np.sqrt(400) + 0.05)


def test_reports_that_the_protocol_does_not_make_are_refused():
    """Four reports of a unary encoding of two levels."""
    with pytest.raises(InputError, match=r"must lie in 0\.\.3, got 4"):
        PersonalisedCounts.from_reports(levels(PROTOCOLS[0]), PersonalisedReports(np.array([0, 4]), np.array([0, 1])))
