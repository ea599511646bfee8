"""Intervals of scores: Wilson's for binomial laws, never empty, and where the quadratic profile says."""

import numpy as np
import pytest
from optldp.estimators.frequencies import frequency_decoder
from optldp.estimators.frequencies.locally_best import plain_scores
from optldp.estimators.frequencies.score import Score, ScoredNumber
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import optimised_unary
from scipy.stats import binomtest, norm

MADE = optimised_unary("abc", 1.0)
COUNTS = SupportCounts(MADE, np.array([300, 290, 500]), 1000)


def plain(target: str = "population") -> Score:
    even = np.full(3, 1 / 3)
    return plain_scores(frequency_decoder(COUNTS.mechanism), COUNTS, even, target).score  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_a_supported_categorys_interval_is_wilsons_of_a_binomial(confidence):
    """scipy has the interval of the probability of support; the frequency is linear in it."""
    p, q = MADE.own_support, MADE.other_support
    ends = plain().interval(confidence)
    for k, seen in enumerate(COUNTS.supports):
        wilson = binomtest(int(seen), 1000).proportion_ci(confidence, method="wilson")
        expected = np.clip((np.array([wilson.low, wilson.high]) - q) / (p - q), 0, 1)
        np.testing.assert_allclose([ends.low[k], ends.high[k]], expected, rtol=0, atol=1e-12)


def test_ends_are_where_the_profile_has_fallen_by_the_quantile():
    """By hand on a fine grid, for estimates below zero, between, and above one."""
    score = Score(np.array([-0.08, 0.01, 0.5, 1.1]), np.full(4, 2.0), np.full(4, 1.5), -1.0, 500)
    ends = score.interval(0.9)
    grid = np.linspace(0, 1, 100_001)
    for k, u in enumerate(score.value):
        variance = 2.0 + 1.5 * grid - grid**2
        deviance = 500 * (u - grid) ** 2 / variance
        nearest = np.clip(u, 0, 1)
        deviance -= 500 * (u - nearest) ** 2 / (2.0 + 1.5 * nearest - nearest**2)
        held = grid[deviance <= norm.ppf(0.95) ** 2]
        np.testing.assert_allclose([ends.low[k], ends.high[k]], [held[0], held[-1]], atol=2e-5)


def test_no_interval_is_empty_and_each_holds_the_estimate():
    """However far below zero the unbiased number is."""
    score = Score(np.array([-5.0, -0.3, 0.2]), np.full(3, 1.0), 0.0, -1.0, 100)
    ends = score.holding(np.array([0.0, 0.4, 0.9]), 0.95)
    assert (ends.low < ends.high).all()
    assert ends.high[1] >= 0.4
    assert ends.high[2] == 0.9
    assert (score.holding(np.array([-0.1, 0.0, 2.0]), 0.95).low >= 0).all()


def test_these_users_shares_are_known_better_than_a_populations():
    """By f (1 - f) in the variance, exactly."""
    users, population = plain("users"), plain()
    place = np.array([0.1, 0.4, 0.9])
    np.testing.assert_allclose(population.variances(place) - users.variances(place), place * (1 - place), rtol=1e-9)
    expected = MADE.frequency_variance(place)
    np.testing.assert_allclose(users.variances(place), expected, rtol=1e-9)


def test_one_number_has_the_scores_interval():
    score = plain()
    number = ScoredNumber(0.2, 0.05, 1000, "mle", "population", 0.0, 1.0, score.of(1))
    ends = score.holding(np.full(3, 0.2), 0.8)
    assert (number.interval(0.8).low, number.interval(0.8).high) == (ends.low[1], ends.high[1])
    with pytest.raises(InputError, match="confidence must lie strictly between"):
        number.interval(1.0)
