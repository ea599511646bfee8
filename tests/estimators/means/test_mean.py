"""The mean: unbiased by every way of decoding, with intervals that cover as often as they say."""

import math

import numpy as np
import pytest
from optldp.estimators import count, estimate_mean, optimal_decoder
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism
from scipy import stats

from .test_unbiasing import random_table, randomised_response


def duchi_like() -> TabulatedMechanism:
    """Unbiased on [-1, 1]: reports +-3 with epsilon ln 2."""
    return TabulatedMechanism.from_points([-1, 1], [-3, 3], [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], 0.7)


TABLES = {
    "average": duchi_like(),
    "affine": randomised_response(np.linspace(-1, 1, 5), 1.5),
    "decoder": random_table(11, 4, 7),
}


def inputs(table: TabulatedMechanism, n: int, seed: int) -> np.ndarray:
    low, high = table.domain
    return low + (high - low) * np.random.default_rng(seed).beta(2, 5, n)


@pytest.mark.parametrize("method", list(TABLES))
class TestEveryMethod:
    def test_it_is_unbiased_and_its_standard_error_is_right(self, method):
        table = TABLES[method]
        x = inputs(table, 400_000, 1)
        estimate = estimate_mean(count(table, table.sample(x, np.random.default_rng(2))))
        assert estimate.method == method
        assert estimate.n == x.size
        assert abs(estimate.value - x.mean()) < 5 * estimate.std_error
        halves = [
            estimate_mean(count(table, table.sample(part, np.random.default_rng(seed)))).std_error
            for seed, part in enumerate(np.split(x, 4))
        ]
        np.testing.assert_allclose(halves, 2 * estimate.std_error, rtol=0.02)

    @pytest.mark.nightly
    @pytest.mark.parametrize("confidence", [0.5, 0.95])
    def test_intervals_cover_as_often_as_they_say(self, method, confidence):
        """600 samples of 400 inputs: the share of intervals around the truth, within four standard errors."""
        table, samples, n = TABLES[method], 600, 400
        low, high = table.domain
        truth = low + (high - low) * stats.beta(2, 5).mean()
        reports = table.sample(inputs(table, samples * n, 3), np.random.default_rng(4)).reshape(samples, n)
        ends = [estimate_mean(count(table, row)).interval(confidence) for row in reports]
        covered = np.mean([one.low <= truth <= one.high for one in ends])
        assert abs(covered - confidence) < 4 * math.sqrt(confidence * (1 - confidence) / samples)

    def test_another_unit_only_rescales(self, method):
        table = TABLES[method]
        reports = table.sample(inputs(table, 500, 5), np.random.default_rng(6))
        plain = estimate_mean(count(table, reports))
        scale, shift = 1e3, 5e4
        # Unbiased reports change with the inputs' unit, all others may keep their labels.
        relabelled = table.affine(scale, shift)
        moved = TabulatedMechanism.from_points(
            shift + scale * table.knots, relabelled.low, table.probabilities, table.epsilon
        )
        got = estimate_mean(count(moved, scale * reports + shift))
        assert got.method == method
        assert got.value == pytest.approx(shift + scale * plain.value)
        assert got.std_error == pytest.approx(scale * plain.std_error, rel=1e-6)

    def test_relabelled_reports_give_the_same_estimate(self, method):
        table = TABLES[method]
        reports = table.sample(inputs(table, 500, 7), np.random.default_rng(8))
        plain, other = (
            estimate_mean(count(table, reports)),
            estimate_mean(count(table.affine(-2.0, 7.0), 7.0 - 2.0 * reports)),
        )
        assert other.value == pytest.approx(plain.value)
        assert other.std_error == pytest.approx(plain.std_error)

    def test_the_interval_is_the_normal_one(self, method):
        table = TABLES[method]
        reports = table.sample(inputs(table, 50, 9), np.random.default_rng(10))
        estimate = estimate_mean(count(table, reports))
        reach = stats.norm.ppf(0.95) * estimate.std_error
        found = estimate.interval(0.9)
        assert (found.low, found.high) == pytest.approx((estimate.value - reach, estimate.value + reach))
        assert found.confidence == 0.9

    def test_reports_that_the_table_cannot_make_are_refused(self, method):
        with pytest.raises(InputError):
            estimate_mean(count(TABLES[method], [TABLES[method].low[0], 1234.5]))


@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_family_is_decoded_without_bias(name):
    """Raw, square wave and randomised response by scale and shift, all others as they are; between knots too.

    Without being asked for raw reports, families of more outputs than fit their mean by values of these.
    """
    table = FAMILIES[name](np.linspace(10.0, 30.0, 6), 1.5)
    x = inputs(table, 200_000, 12)
    reports = table.sample(x, np.random.default_rng(13))
    raw, estimate = estimate_mean(count(table, reports), raw=True), estimate_mean(count(table, reports))
    assert raw.method == ("affine" if name in ("square-wave", "grr") else "average")
    assert estimate.method == (raw.method if name in ("duchi", "three-outputs", "grr") else "decoder")
    for found in (raw, estimate):
        assert abs(found.value - x.mean()) < 5 * found.std_error
    assert estimate.std_error <= raw.std_error * 1.005


def test_laplace_reports_are_worth_more_by_default_than_raw():
    """At epsilon 0.5 a report's noise has the variance 32 on [-1, 1], and 19.4 without what its tails are too long."""
    table = FAMILIES["laplace"](np.linspace(-1, 1, 33), 0.5)
    reports = table.sample(np.zeros(100_000), np.random.default_rng(3))
    raw, ours = (estimate_mean(count(table, reports), raw=raw) for raw in (True, False))
    assert raw.std_error**2 * 100_000 == pytest.approx(32, rel=0.03)
    assert ours.std_error**2 * 100_000 == pytest.approx(19.4, rel=0.03)
    assert ours.value == pytest.approx(0.0, abs=4 * ours.std_error)


def test_raw_reports_without_an_affine_mean_are_refused():
    table = TABLES["decoder"]
    with pytest.raises(InputError, match="raw reports must have a mean that is affine in the input, got one of"):
        estimate_mean(count(table, table.sample(np.full(5, table.knots[0]), np.random.default_rng(1))), raw=True)


def test_the_decoder_takes_the_weights_it_is_given():
    table = TABLES["decoder"]
    reports = table.sample(inputs(table, 100, 1), np.random.default_rng(1))
    weights = [1, 0, 0, 0]
    expected = optimal_decoder(table, weights)[table.output_index(reports)].mean()
    assert estimate_mean(count(table, reports), weights=weights).value == pytest.approx(expected)
    assert estimate_mean(count(table, reports)).value != pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("reports", [[], [3.0]])
def test_fewer_than_two_reports_are_refused(reports):
    with pytest.raises(InputError, match="at least 2"):
        estimate_mean(count(duchi_like(), reports))


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_a_confidence_outside_zero_to_one_is_refused(confidence):
    with pytest.raises(InputError, match="confidence"):
        estimate_mean(count(duchi_like(), [3.0, -3.0])).interval(confidence)


@pytest.mark.parametrize("reports", [["a", "b"], [3.0, math.nan], [[3.0, -3.0]]])
def test_what_is_no_column_of_numbers_is_refused(reports):
    with pytest.raises(InputError, match="reports must"):
        estimate_mean(count(duchi_like(), reports))
