"""The variance of AUEM before collection, against derivatives of the estimate itself and against repetitions."""

import numpy as np
import pytest
from optldp.estimators import auem
from optldp.estimators.personalised import auem_variance
from optldp.mechanisms import InputError, PersonalisedMechanism, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr

from ..personalised_cases import PURE, counts_of, drawn_counts, expected_counts, pair_law, personalised

SHARES, FREQUENCIES = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])


def by_derivatives(mechanism: PersonalisedMechanism) -> np.ndarray:
    """The delta method on the estimate as a function of how often each pair of reports is sent, one pair at a time."""
    law = np.einsum("i,j,ijo->o", SHARES, FREQUENCIES, pair_law(mechanism))
    n, step = 10**9, 10**5
    moved = [
        [auem(counts_of(mechanism, np.rint(n * law).astype(np.int64) + sign * step * unit)).value for sign in (1, -1)]
        for unit in np.eye(law.size, dtype=np.int64)
    ]
    slopes = np.array([(up - down) / (2 * step / n) for up, down in moved])
    return law @ slopes**2 - (law @ slopes) ** 2


@pytest.mark.parametrize("family", PURE)
def test_it_is_the_delta_methods(family):
    """Derivatives by differences of the published estimator, for a population."""
    mechanism = personalised(family)
    assert auem_variance(mechanism, SHARES, FREQUENCIES) == pytest.approx(by_derivatives(mechanism), rel=1e-4)


@pytest.mark.parametrize("family", PURE)
@pytest.mark.parametrize("level_epsilon", [0.8, None])
@pytest.mark.parametrize("target", ["users", "population"])
def test_it_is_what_the_estimate_says_of_average_reports(family, level_epsilon, target):
    """The standard error after collection, of counts as they are on average."""
    mechanism = personalised(family, level_epsilon=level_epsilon)
    counts = expected_counts(mechanism, SHARES, FREQUENCIES)
    after = auem(counts, target=target).std_error ** 2 * counts.n_users
    planned = auem_variance(mechanism, SHARES, FREQUENCIES, target=target)
    assert planned == pytest.approx(after, rel=1e-5)


def test_one_level_alone_is_its_own_oracle():
    """Nobody at the other level, levels in the clear: the formula of randomised response."""
    mechanism, oracle = personalised(categorical_grr, level_epsilon=None), categorical_grr("abc", 0.5)
    p, q = oracle.probabilities[0, :2]
    alone = (FREQUENCIES * p * (1 - p) + (1 - FREQUENCIES) * q * (1 - q)) / (p - q) ** 2
    assert auem_variance(mechanism, [1, 0], FREQUENCIES, target="users") == pytest.approx(alone)


@pytest.mark.slow
def test_repetitions_scatter_as_planned():
    """Estimates of 300 groups of 5,000 users."""
    mechanism, rng = personalised(categorical_grr, epsilons=(1.0, 2.0), level_epsilon=2.0), np.random.default_rng(1)
    found = np.array([auem(drawn_counts(mechanism, SHARES, FREQUENCIES, 5000, rng)).value for _ in range(300)])
    planned = np.sqrt(auem_variance(mechanism, SHARES, FREQUENCIES) / 5000)
    np.testing.assert_allclose(found.std(axis=0), planned, rtol=4 / np.sqrt(600))


@pytest.mark.parametrize(
    ("shares", "frequencies", "says"),
    [
        ([1.0], FREQUENCIES, "shares must be 2 numbers"),
        ([0.5, 0.6], FREQUENCIES, "sum to 1"),
        ([1.5, -0.5], FREQUENCIES, "from 0 to 1"),
        (SHARES, [0.5, 0.5], "frequencies must be 3 numbers"),
        (SHARES, [0.5, 0.6, -0.1], "from 0 to 1"),
        (SHARES, [0.5, 1.5, 0.0], "from 0 to 1"),
    ],
    ids=str,
)
def test_shares_and_frequencies_that_are_none_are_refused(shares, frequencies, says):
    """One line each."""
    with pytest.raises(InputError, match=says):
        auem_variance(personalised(categorical_grr), shares, frequencies)


def test_levels_of_numbers_are_refused():
    """They have no supports."""
    made = PersonalisedMechanism([make_exact(duchi([0.0, 1.0], e)).mechanism for e in (1.0, 2.0)])
    with pytest.raises(InputError, match="values must be categories"):
        auem_variance(made, SHARES, FREQUENCIES)
