"""Intervals from counted values: numpy's variance, the normal quantile, and Maurer and Pontil's bound."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.intervals import Sample, check_interval, check_level, pooled
from optldp.mechanisms.errors import InputError
from scipy import stats


@given(st.lists(st.tuples(st.floats(-100, 100), st.integers(1, 9)), min_size=2, max_size=20))
def test_counted_values_have_the_moments_of_listed_ones(pairs):
    values, counts = (np.array(column) for column in zip(*pairs, strict=True))
    listed = np.repeat(values, counts)
    sample = Sample.of(values, counts, 200.0)
    assert sample.n == listed.size
    assert sample.mean == pytest.approx(listed.mean(), abs=1e-9)
    assert sample.variance == pytest.approx(listed.var(ddof=1), abs=1e-7)


def test_one_sample_has_the_textbook_interval():
    mean, std_error, reach = pooled([Sample(400, 1.5, 9.0, 7.0)], 0.9, "normal")
    assert (mean, std_error) == (1.5, 0.15)
    assert reach == pytest.approx(0.15 * stats.norm.ppf(0.95))


def test_two_samples_are_averaged_by_their_users_with_variances_about_their_own_means():
    """n_1 = 100 and n_2 = 300: (100 * 4 + 300 * 1) / 400^2."""
    mean, std_error, _ = pooled([Sample(100, 0.0, 4.0, 1.0), Sample(300, 8.0, 1.0, 1.0)], 0.95, "normal")
    assert mean == 6.0
    assert std_error == pytest.approx(math.sqrt(700) / 400)


def test_the_bernstein_interval_is_maurer_and_pontils():
    """Two sides of delta/2 each, scaled from [0, 1]; two samples share delta and average their bounds."""
    first, second = Sample(50, 0.0, 2.0, 6.0), Sample(150, 0.0, 3.0, 5.0)

    def bound(sample: Sample, delta: float) -> float:
        log = math.log(2 / delta)
        scaled = sample.variance / sample.width**2
        return sample.width * (math.sqrt(2 * scaled * log / sample.n) + 7 * log / (3 * (sample.n - 1)))

    assert pooled([first], 0.9, "bernstein")[2] == pytest.approx(bound(first, 0.05))
    expected = 0.25 * bound(first, 0.025) + 0.75 * bound(second, 0.025)
    assert pooled([first, second], 0.9, "bernstein")[2] == pytest.approx(expected)


def test_the_bernstein_interval_covers_where_the_normal_one_does_not():
    """Ten draws that are 1 with probability 0.02: mostly all zero, so that the normal interval is a point."""
    draws = np.random.default_rng(1).random((2000, 10)) < 0.02
    covered = {}
    for interval in ("normal", "bernstein"):
        found = [pooled([Sample.of(row.astype(float), np.ones(10), 1.0)], 0.95, interval) for row in draws]
        covered[interval] = np.mean([abs(mean - 0.02) <= reach for mean, _, reach in found])
    assert covered["normal"] < 0.5
    assert covered["bernstein"] >= 0.95


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_a_level_outside_zero_to_one_is_refused(level):
    with pytest.raises(InputError, match="level must lie strictly between 0 and 1"):
        check_level(level)


def test_an_unknown_interval_is_refused():
    with pytest.raises(InputError, match="interval must be one of normal, bernstein, got 'wald'"):
        check_interval("wald")
