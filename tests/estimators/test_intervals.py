"""Intervals from counted values: numpy's variance, the normal quantile, and Maurer and Pontil's bound."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import Interval
from optldp.estimators.intervals import (
    Sample,
    bernstein_reach,
    bias_aware_reach,
    normal_interval,
    normal_quantile,
    pooled,
)
from optldp.mechanisms import InputError
from scipy import stats


@settings(max_examples=15)
@given(st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 9)), min_size=2, max_size=20))
def test_counted_values_have_the_moments_of_listed_ones(pairs):
    values, counts = (np.array(column) for column in zip(*pairs, strict=True))
    listed = np.repeat(values, counts)
    sample = Sample.of(values, counts, 200.0)
    assert sample.n == listed.size
    assert sample.mean == pytest.approx(listed.mean(), abs=1e-9)
    assert sample.variance == pytest.approx(listed.var(ddof=1), abs=1e-7)


def test_one_sample_has_the_textbook_interval():
    mean, std_error = pooled([Sample(400, 1.5, 9.0, 7.0)])
    assert (mean, std_error) == (1.5, 0.15)
    found = normal_interval(mean, std_error, 0.9, -math.inf, math.inf)
    assert found.high - mean == pytest.approx(0.15 * stats.norm.ppf(0.95))
    assert mean - found.low == pytest.approx(0.15 * stats.norm.ppf(0.95))
    assert found.confidence == 0.9
    assert normal_interval(mean, std_error, 0.9, 1.4, 1.6) == Interval(1.4, 1.6, 0.9)


def test_two_samples_are_averaged_by_their_users_with_variances_about_their_own_means():
    """n_1 = 100 and n_2 = 300: (100 * 4 + 300 * 1) / 400^2."""
    mean, std_error = pooled([Sample(100, 0.0, 4.0, 1.0), Sample(300, 8.0, 1.0, 1.0)])
    assert mean == 6.0
    assert std_error == pytest.approx(math.sqrt(700) / 400)


def test_the_bernstein_interval_is_maurer_and_pontils():
    """Two sides of delta/2 each, scaled from [0, 1]; two samples share delta and average their bounds."""
    first, second = Sample(50, 0.0, 2.0, 6.0), Sample(150, 0.0, 3.0, 5.0)

    def bound(sample: Sample, delta: float) -> float:
        log = math.log(2 / delta)
        scaled = sample.variance / sample.width**2
        return sample.width * (math.sqrt(2 * scaled * log / sample.n) + 7 * log / (3 * (sample.n - 1)))

    assert bernstein_reach([first], 0.9) == pytest.approx(bound(first, 0.05))
    expected = 0.25 * bound(first, 0.025) + 0.75 * bound(second, 0.025)
    assert bernstein_reach([first, second], 0.9) == pytest.approx(expected)


def test_the_bernstein_interval_covers_where_the_normal_one_does_not():
    """Ten draws that are 1 with probability 0.02: mostly all zero, so that the normal interval is a point."""
    draws = np.random.default_rng(1).random((2000, 10)) < 0.02
    samples = [Sample.of(row.astype(float), np.ones(10), 1.0) for row in draws]
    off = np.array([abs(sample.mean - 0.02) for sample in samples])
    normal = [normal_quantile(0.95) * pooled([sample])[1] for sample in samples]
    assert np.mean(off <= normal) < 0.5
    assert np.mean(off <= [bernstein_reach([sample], 0.95) for sample in samples]) >= 0.95


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, math.nan])
def test_a_confidence_outside_zero_to_one_is_refused(confidence):
    for call in (normal_quantile, lambda confidence: bernstein_reach([Sample(9, 0.0, 1.0, 1.0)], confidence)):
        with pytest.raises(InputError, match="confidence must lie strictly between 0 and 1"):
            call(confidence)


@given(st.floats(0, 1e3), st.floats(0.1, 1e6), st.floats(0.001, 0.9999))
def test_a_biased_estimate_is_within_its_reach_as_often_as_said_and_no_farther(bias, error, confidence):
    """By the folded normal's distribution; never more than both parts added up, nor less than either."""
    reach = bias_aware_reach(error, bias, confidence)
    assert stats.foldnorm.cdf(reach / error, bias / error) == pytest.approx(confidence, abs=1e-9)
    assert reach <= (normal_quantile(confidence) * error + bias) * (1 + 1e-12)
    assert reach >= normal_quantile(confidence) * error * (1 - 1e-12)


def test_without_noise_the_bias_is_the_reach():
    assert bias_aware_reach(0.0, 2.5, 0.95) == 2.5
    assert bias_aware_reach(0.0, 0.0, 0.95) == 0.0


@pytest.mark.parametrize("confidence", [0.0, 1.0, math.nan])
def test_the_reach_has_a_confidence_between_0_and_1(confidence):
    with pytest.raises(InputError, match="confidence must lie strictly between 0 and 1"):
        bias_aware_reach(1.0, 1.0, confidence)
