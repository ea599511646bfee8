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
from optldp.estimators.affine_pairs.at_levels import PairsAtLevels
from optldp.estimators.personalised.every_report import every_report
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


def test_one_level_that_everybody_chose_has_its_own_intervals():
    """Those of its table's reports alone."""
    mechanism, rng = made(square_wave, None), np.random.default_rng(3)
    values = KNOTS[rng.choice(KNOTS.size, 5000, p=RARE)]
    sent = mechanism.sample(values, np.ones(5000, dtype=int), rng)
    found = personalised_distribution(PersonalisedCounts.from_reports(mechanism, sent))
    alone = estimate_distribution(ReportCounts.from_reports(mechanism.levels[1], sent.reports), method="em")
    for ask in (lambda f: f.mean(), lambda f: f.probability_above(0.0)):
        np.testing.assert_allclose([ask(found).low, ask(found).high], [ask(alone).low, ask(alone).high], atol=1e-6)
    assert found.mean().to_dict()["interval"] == "affine-pair"


@pytest.mark.slow
def test_where_the_shares_are_vague_intervals_are_those_of_any_shares():
    """A level that is hardly told: far longer than in the clear, and still an interval."""
    hidden, clear = (
        personalised_distribution(counted(made(grr, level), 2000, np.random.default_rng(4))) for level in (0.05, None)
    )
    low, high = hidden.mean().low, hidden.mean().high
    assert low <= RARE @ KNOTS <= high
    assert high - low > 1.5 * (clear.mean().high - clear.mean().low)


@pytest.mark.slow
def test_shares_that_differ_between_values_above_their_limits_are_allowed_for():
    """The mean holds for the rarest mixture that limits allow, not for independent levels alone."""
    mechanism, rng = made(grr, 1.0), np.random.default_rng(6)
    found = personalised_distribution(counted(mechanism, 4000, rng)).explained
    assert isinstance(found, PairsAtLevels)
    pairs = found.made(0.001)
    h = pairs.estimates(np.tile(KNOTS, 2)[None], 0.95)
    limits = found.limits(0.001)
    assert 0.0 < limits.sum() < 1.0
    for at in rng.dirichlet(np.ones(18), 50).reshape(50, 2, 9):  # of a level above the limits, and a value
        law = sum((limits[i] * at.sum(axis=0) + (1 - limits.sum()) * at[i]) @ found.laws[i] for i in range(2))
        assert at.sum(axis=0) @ KNOTS <= (h.weights @ law)[0] + h.bias[0] + 1e-12


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
