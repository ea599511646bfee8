"""Metrics: scipy and brute force as oracles, and what each must be on easy cases."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from optldp.estimators.distributions import metrics
from optldp.mechanisms import InputError
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy, wasserstein_distance


@st.composite
def pairs(draw):
    """Points and two sets of weights on them, zeros included."""
    size = draw(st.integers(1, 12))
    gaps = draw(arrays(float, size, elements=st.floats(0.01, 5)))
    weights = arrays(float, size, elements=st.sampled_from([0.0, 0.1, 0.7, 1.0, 3.0])).filter(lambda w: w.sum() > 0)
    return np.cumsum(gaps) - 7.0, draw(weights), draw(weights)


@pytest.mark.nightly
@given(pairs())
def test_jensen_shannon_is_scipys(case):
    """The distance has natural logarithms, and the divergence is its square."""
    _, found, true = case
    # scipy's own answer for equal distributions can be the root of a rounding error.
    expected = np.nan_to_num(jensenshannon(found, true)) ** 2
    assert metrics.jensen_shannon_divergence(found, true) == pytest.approx(expected, abs=1e-12)
    assert metrics.jensen_shannon_distance(found, true) ** 2 == pytest.approx(expected, abs=1e-12)


@pytest.mark.nightly
@given(pairs())
def test_kullback_leibler_is_scipys(case):
    _, found, true = case
    assert metrics.kl_divergence(true, found) == pytest.approx(entropy(true, found), abs=1e-12)


@pytest.mark.slow
@given(pairs())
def test_wasserstein_is_scipys(case):
    points, found, true = case
    expected = wasserstein_distance(points, points, found, true)
    assert metrics.wasserstein_1(points, found, true) == pytest.approx(expected, abs=1e-12)


@pytest.mark.nightly
@given(pairs())
def test_quantiles_are_those_of_a_long_sorted_sample(case):
    """Weights in tenths, repeated as so many values, have order statistics as quantiles."""
    points, found, true = case
    samples = [np.repeat(points, np.rint(10 * weights).astype(int)) for weights in (found, true)]
    levels = np.array([0.07, 0.25, 0.5, 0.93])
    expected = [s[np.ceil(levels * s.size - 1e-9).astype(int) - 1] for s in samples]
    answer = metrics.quantile_error(points, found, true, levels)
    assert answer == pytest.approx(np.abs(expected[0] - expected[1]).mean(), abs=1e-12)


@pytest.mark.nightly
@given(pairs())
def test_range_queries_are_summed_one_by_one(case):
    _, found, true = case
    size = found.size
    ranges = [(a, b) for a in range(size) for b in range(a + 1, size + 1)]
    p, q = found / found.sum(), true / true.sum()
    brute = np.mean([abs(p[a:b].sum() - q[a:b].sum()) for a, b in ranges])
    assert metrics.range_query_error(found, true, ranges) == pytest.approx(brute, abs=1e-12)
    chosen = metrics.dyadic_ranges(size)
    brute = np.mean([abs(p[a:b].sum() - q[a:b].sum()) for a, b in chosen])
    assert metrics.range_query_error(found, true) == pytest.approx(brute, abs=1e-12)


@pytest.mark.parametrize(("size", "count"), [(1, 1), (2, 2), (5, 5 + 3 + 2), (8, 8 + 4 + 2), (9, 9 + 5 + 3 + 2)])
def test_dyadic_ranges_tile_the_grid_at_every_length_below_the_whole(size, count):
    ranges = metrics.dyadic_ranges(size)
    assert len(ranges) == count
    lengths = [2**level for level in range(max(1, math.ceil(math.log2(size))))]
    tiled = [list(range(a, b)) for a, b in ranges]
    assert [k for tile in tiled for k in tile] == list(range(size)) * len(lengths)
    assert {b - a for a, b in ranges} >= set(lengths)


@pytest.mark.nightly
@given(pairs(), st.floats(0.1, 10), st.floats(-50, 50))
def test_errors_scale_with_the_units(case, scale, shift):
    """Distances scale with the points, the variance with their square, and a shift changes nothing."""
    points, found, true = case
    moved = scale * points + shift
    for metric, factor in (
        (metrics.wasserstein_1, scale),
        (metrics.quantile_error, scale),
        (metrics.variance_error, scale**2),
    ):
        assert metric(moved, found, true) == pytest.approx(factor * metric(points, found, true), rel=1e-9, abs=1e-9)


@pytest.mark.nightly
@given(pairs())
def test_the_variance_error_is_that_of_the_moments(case):
    points, found, true = case
    spread = [np.cov(points, aweights=weights, ddof=0) if points.size > 1 else 0.0 for weights in (found, true)]
    assert metrics.variance_error(points, found, true) == pytest.approx(abs(spread[0] - spread[1]), abs=1e-10)


@pytest.mark.nightly
@given(pairs())
def test_the_truth_itself_has_no_error(case):
    points, weights, _ = case
    assert metrics.jensen_shannon_divergence(weights, 2 * weights) == pytest.approx(0, abs=1e-15)
    assert metrics.kl_divergence(weights, 2 * weights) == pytest.approx(0, abs=1e-15)
    for metric in (metrics.wasserstein_1, metrics.quantile_error, metrics.variance_error):
        assert metric(points, weights, 2 * weights) == pytest.approx(0, abs=1e-12)
    assert metrics.range_query_error(weights, 2 * weights) == pytest.approx(0, abs=1e-15)


def test_squared_and_absolute_errors_are_means_over_everything():
    found, true = np.array([[1.0, 2.0], [3.0, 5.0]]), np.array([[1.0, 1.0], [1.0, 1.0]])
    assert metrics.mse(found, true) == metrics.mse(found, 1.0) == (0 + 1 + 4 + 16) / 4
    assert metrics.mae(found, true) == metrics.mae(found, 1.0) == (0 + 1 + 2 + 4) / 4


def test_what_the_estimate_excludes_is_infinitely_surprising():
    assert metrics.kl_divergence([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert metrics.kl_divergence([1.0, 0.0], [0.5, 0.5]) == pytest.approx(math.log(2))


def test_tiny_weights_do_not_overflow():
    assert math.isfinite(metrics.kl_divergence([1.0, 1.0], [1e-320, 1.0]))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: metrics.mse([], 1.0), "estimate and truth must be of one shape, got (0,) and ()"),
        (lambda: metrics.mae([1.0, 2.0], [1.0, 2.0, 3.0]), "must be of one shape, got (2,) and (3,)"),
        (lambda: metrics.mse([math.nan], 1.0), "estimate and truth must be finite"),
        (lambda: metrics.kl_divergence([1, -1], [1, 1]), "truth must be non-negative weights with a positive sum"),
        (lambda: metrics.kl_divergence([1, 1], [0, 0]), "estimate must be non-negative weights with a positive sum"),
        (lambda: metrics.jensen_shannon_distance([1, 1], [1, 1, 1]), "on the same grid, got 2 and 3 components"),
        (lambda: metrics.wasserstein_1([0, 0], [1, 1], [1, 1]), "points must be finite and strictly increasing"),
        (lambda: metrics.wasserstein_1([0, 1, 2], [1, 1], [1, 1]), "on the same grid, got 3 and 2 components"),
        (lambda: metrics.quantile_error([0, 1], [1, 1], [1, 1], [0.5, 1.0]), "levels must lie strictly between"),
        (lambda: metrics.variance_error([0, 1], [1, 1, 1], [1, 1, 1]), "on the same grid, got 2 and 3 components"),
        (lambda: metrics.range_query_error([1, 1], [1, 1], [[0, 3]]), "must have 0 <= start < stop <= 2"),
        (lambda: metrics.range_query_error([1, 1], [1, 1], [[1, 1]]), "must have 0 <= start < stop <= 2"),
        (lambda: metrics.range_query_error([1, 1], [1, 1], [[0.0, 1.0]]), "ranges must be pairs of whole numbers"),
        (lambda: metrics.range_query_error([1, 1], [1, 1], []), "ranges must be pairs of whole numbers"),
    ],
)
def test_bad_input_is_one_line(call, says):
    with pytest.raises(InputError) as refusal:
        call()
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
