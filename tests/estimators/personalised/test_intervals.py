"""Intervals of distributions at levels: laws that sum to one, what one level alone has, and how often they hold."""

# pyright: reportArgumentType=false

import numpy as np
import pytest
from optldp.estimators import (
    InputGrid,
    PersonalisedCounts,
    ReportCounts,
    estimate_distribution,
    personalised_distribution,
)
from optldp.estimators.personalised.covariance import expected_scores
from optldp.estimators.personalised.every_report import every_report
from optldp.estimators.personalised.fit import derivatives
from optldp.estimators.personalised.numeric_levels import tabled_likelihood
from optldp.mechanisms import PersonalisedMechanism, duchi, grr, laplace, piecewise, square_wave
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

KNOTS, EPSILONS = np.linspace(0.0, 1.0, 9), (1.0, 2.0)
RARE = np.array([0.55, 0.43, 0.01, 0.01, 0.0, 0.0, 0.0, 0.0, 0.0])


def made(family, level_epsilon) -> PersonalisedMechanism:
    return PersonalisedMechanism([exact(family(KNOTS, epsilon)) for epsilon in EPSILONS], level_epsilon)


def counted(mechanism: PersonalisedMechanism, n: int, rng: np.random.Generator) -> PersonalisedCounts:
    values, levels = KNOTS[rng.choice(KNOTS.size, n, p=RARE)], rng.choice(2, n, p=[0.6, 0.4])
    return PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng))


FAMILIES = [piecewise, square_wave, duchi, grr]
CASES = [(family, level_epsilon) for family in FAMILIES for level_epsilon in (0.5, None)] + [(laplace, None)]


@pytest.mark.parametrize(("family", "level_epsilon"), CASES)
def test_every_report_is_there_once(family, level_epsilon):
    """Probabilities of all of them sum to one, whatever the shares and weights are."""
    mechanism = made(family, level_epsilon)
    reports, sizes = every_report(mechanism)
    likelihood = tabled_likelihood(reports, list(mechanism.levels), InputGrid.knots(KNOTS))
    for shares in ([0.5, 0.5], [0.9, 0.1]):
        assert sizes @ likelihood.mix(np.array(shares), RARE) == pytest.approx(1.0, rel=1e-9)


@pytest.mark.parametrize("level_epsilon", [0.5, None])
def test_expected_products_of_scores_are_those_of_many_reports(level_epsilon):
    """A million users' own products are near them, relative to the largest."""
    mechanism, rng = made(piecewise, level_epsilon), np.random.default_rng(2)
    shares, weights = np.array([0.6, 0.4]), np.full(KNOTS.size, 1 / KNOTS.size)
    reports, sizes = every_report(mechanism)
    every = tabled_likelihood(reports, list(mechanism.levels), InputGrid.knots(KNOTS))
    every.counts = sizes
    sent = mechanism.sample(rng.choice(KNOTS, 300_000), rng.choice(2, 300_000, p=shares), rng)
    counts = PersonalisedCounts.from_reports(mechanism, sent)
    seen = tabled_likelihood(counts, list(mechanism.levels), InputGrid.knots(KNOTS))
    expected = expected_scores(every, shares, weights)
    np.testing.assert_allclose(derivatives(seen, shares, weights).scores, expected, atol=0.01 * expected.max())


@pytest.mark.slow
def test_one_level_that_everybody_chose_has_its_own_intervals():
    """Those of its table's reports alone."""
    mechanism, rng = made(square_wave, None), np.random.default_rng(3)
    values = KNOTS[rng.choice(KNOTS.size, 5000, p=RARE)]
    sent = mechanism.sample(values, np.ones(5000, dtype=int), rng)
    found = personalised_distribution(PersonalisedCounts.from_reports(mechanism, sent))
    table = mechanism.levels[1]
    alone = estimate_distribution(ReportCounts.from_reports(table, sent.reports), method="em")
    for ask in (lambda f: f.mean(), lambda f: f.quantile(0.5), lambda f: f.probability(0.2, 0.6)):
        # Its strict bounds and the pair of estimates are two ways to the same numbers.
        assert ask(found).low <= ask(alone).value <= ask(found).high
        assert ask(found).high - ask(found).low == pytest.approx(ask(alone).high - ask(alone).low, rel=0.6)


@pytest.mark.nightly
def test_where_the_shares_are_vague_nothing_is_said():
    """A weakly protected level of few users who report by randomised response: whole ranges."""
    mechanism, rng, ended = made(grr, 0.05), np.random.default_rng(4), []
    for _ in range(20):
        found = personalised_distribution(counted(mechanism, 2000, rng))
        assert (found.mean().low, found.mean().high) == (0.0, 1.0)
        assert (found.interval().low.max(), found.interval().high.min()) == (0.0, 1.0)
        ended.append(found.level_shares.value.min())
    assert min(ended) < 1e-3  # where a share is nothing, too


@pytest.mark.nightly
@pytest.mark.parametrize(("family", "level_epsilon"), [(square_wave, 1.0), (square_wave, None), (grr, None)])
def test_intervals_hold_near_zero(family, level_epsilon):
    """Rare values and frequent ones, and the mean: normal intervals at the fit fail here."""
    mechanism, rng, cells, means = made(family, level_epsilon), np.random.default_rng(5), [], []
    for _ in range(60):
        found = personalised_distribution(counted(mechanism, 4000, rng))
        ends, mean = found.interval(), found.mean()
        cells.append((ends.low <= RARE) & (ends.high >= RARE))
        means.append(mean.low <= RARE @ KNOTS <= mean.high)
    assert np.mean(cells) > 0.93
    assert np.mean(np.array(cells)[:, RARE > 0.005]) > 0.9
    assert np.mean(means) > 0.95 - 2.5 * np.sqrt(0.05 * 0.95 / 60)
