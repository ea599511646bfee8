"""Means and frequencies of users with weights: against lists of users, and by how often intervals cover."""

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, count, estimate_frequencies, estimate_mean
from optldp.estimators.differences import (
    WeightedFrequencies,
    estimate_groups,
    estimate_weighted,
    ratio_to_no_privacy,
    tally_groups,
)
from optldp.estimators.intervals import each_of
from optldp.mechanisms import InputError, duchi, laplace, piecewise
from optldp.mechanisms.categorical import categorical_grr, optimised_unary

from .tallies import tally

JOBS = list("abcdef")
KNOTS = np.linspace(0.0, 1.0, 6)
SHARES = np.array([0.4, 0.3, 0.15, 0.1, 0.05, 0.0])


@pytest.mark.parametrize("make", [duchi, laplace, piecewise])
def test_equal_weights_give_the_mean_of_every_group_as_by_itself(make):
    rng, table = np.random.default_rng(1), make(KNOTS, 1.0)
    reports, region = table.sample(rng.random(300), rng), rng.choice(["east", "west"], 300)
    rows = {"report": reports, "region": region, "weight": np.full(300, 7.5)}
    found = estimate_groups(tally_groups(table, rows, by="region", weights="weight"))
    for name, one in zip(found.groups, found.of, strict=True):
        alone = estimate_mean(count(table, reports[region == name]))
        assert (one.value, one.std_error, one.n) == pytest.approx((alone.value, alone.std_error, alone.n))
        assert one.method == alone.method


@pytest.mark.parametrize("mechanism", [categorical_grr(JOBS, 1.0), optimised_unary(JOBS, 1.0)], ids=["grr", "oue"])
def test_equal_weights_give_the_unbiased_frequencies(mechanism):
    reports = mechanism.sample(np.repeat(JOBS, 50), np.random.default_rng(2))
    alone = estimate_frequencies(CategoryCounts.from_reports(mechanism, reports))
    found = estimate_weighted(tally(mechanism, reports, np.full(300, 0.1)))
    np.testing.assert_allclose(found.value, alone.value, atol=1e-12)
    np.testing.assert_allclose(found.std_error, alone.std_error)
    assert isinstance(found, WeightedFrequencies)
    assert found.ratio == pytest.approx(ratio_to_no_privacy(alone))


def test_a_weighted_mean_is_that_of_a_list_of_users():
    rng, table = np.random.default_rng(3), duchi(KNOTS, 1.0)
    outputs, weights = rng.integers(0, 2, 80), rng.random(80)
    found = estimate_weighted(tally(table, outputs, weights))
    decoded = table.low[outputs]
    mean = np.average(decoded, weights=weights)
    apart = weights * (decoded - mean) / weights.sum()
    assert found.value == pytest.approx(mean)
    assert found.std_error == pytest.approx(np.sqrt(80 / 79 * np.sum(apart**2)))


def test_a_single_user_has_no_standard_error_and_few_users_are_said():
    rows = {"output": np.array([1, 0, 1]), "region": np.array(["a", "b", "b"])}
    found = estimate_groups(tally_groups(duchi(KNOTS, 1.0), rows, by="region"))
    assert np.isnan(found.std_error).tolist() == [True, False]
    assert found.to_dict()["too_few"] == [True, True]
    with pytest.raises(InputError, match="a column that names them"):
        estimate_groups(tally_groups(duchi(KNOTS, 1.0), rows))


def test_intervals_that_hold_at_once_have_the_confidence_of_their_number():
    rows = {"output": np.tile([0, 1], 50), "region": np.repeat(list("abcde"), 20)}
    tallies = tally_groups(duchi(KNOTS, 1.0), rows, by="region")
    at_once, each = estimate_groups(tallies, simultaneous=True), estimate_groups(tallies)
    np.testing.assert_allclose(at_once.interval(0.95).low, each.interval(0.95**0.2).low)
    assert each_of(0.95, 5) < 1 - 0.05 / 5
    with pytest.raises(InputError, match="at least one"):
        each_of(0.95, 0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["two", "by value"])
def test_intervals_of_weighted_means_cover(kind):
    """Of weights that have nothing to do with values, and of such as grow with them."""
    rng, table, hits = np.random.default_rng(4), duchi(KNOTS, 4.0), 0
    for _ in range(400):
        values = rng.beta(2, 2, 400)
        weights = rng.choice([1.0, 5.0], 400) if kind == "two" else 1 + 4 * values
        truth = 0.5 if kind == "two" else (0.5 + 4 * 0.3) / 3
        ends = estimate_weighted(tally(table, table.sample_index(values, rng), weights)).interval()
        hits += ends.low <= truth <= ends.high
    assert 0.92 <= hits / 400 <= 0.98  # 2.7 standard errors to either side of 95%


@pytest.mark.slow
def test_intervals_of_weighted_frequencies_cover():
    """Of weights that depend on the category."""
    rng, made, hits = np.random.default_rng(5), categorical_grr(JOBS, 3.0), np.zeros(6)
    by_category = np.array([1.0, 2.0, 3.0, 1.0, 5.0, 2.0])
    truth = by_category * SHARES / (by_category @ SHARES)
    for _ in range(400):
        codes = rng.choice(6, 500, p=SHARES)
        weights = by_category[codes] * rng.choice([0.5, 1.5], 500)
        ends = estimate_weighted(tally(made, made.sample(np.array(JOBS)[codes], rng), weights)).interval()
        hits += (ends.low <= truth) & (truth <= ends.high)
    assert (hits / 400 >= 0.92).all()
    assert (hits[:5] / 400 <= 0.98).all()  # that of the category that nobody has is cut at 0, so one-sided
