"""Geometric tails at their limits: which outputs fit, reports trillions of steps out, both sides alike."""

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.sampling.within_cell import GeometricTails

INF = np.inf


@pytest.mark.parametrize("ratio", [0.0, -0.5, 1.0, float("nan")])
def test_a_ratio_of_zero_or_one_is_refused(ratio):
    with pytest.raises(TableError, match=f"ratio must be between 0 and 1, got {ratio}"):
        GeometricTails(1.0, ratio)


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0.0, 1.0, 4.0], [0.0, 2.0, INF], r"there must be only points, got \[1\.0, 2\.0\] at output 1"),
        ([-INF, 1.0, 3.0, 3.0], [0.0, 1.0, 3.0, INF], r"between the geometric tails, got 3\.0 at output 2"),
        ([-INF, 0.0, 1.0], [0.0, 0.0, 1.0], r"between the geometric tails, got 0\.0 at output 1"),
        ([2.0, 3.0, 3.0], [2.0, 3.0, INF], r"between the geometric tails, got 3\.0 at output 1"),
    ],
)
def test_outputs_that_do_not_fit_are_named(low, high, message):
    with pytest.raises(TableError, match=message):
        GeometricTails(1.0, 0.5).check(np.array(low), np.array(high), 1)


@pytest.mark.parametrize(
    ("low", "high"), [([0.0, 3.0], [0.0, INF]), ([-INF, 3.0], [0.0, 3.0]), ([1.0], [1.0]), ([-INF, 1, 2], [0, 1, INF])]
)
def test_points_beside_one_tail_two_or_none_fit(low, high):
    assert GeometricTails(1.0, 0.5).check(np.array(low), np.array(high), 1) is None


def test_both_sides_vary_alike_and_points_do_not():
    low, high = np.array([-INF, 0.0, 3.0]), np.array([-3.0, 0.0, INF])
    _, variance = GeometricTails(0.5, 0.8).moments(low, high, 2)
    np.testing.assert_allclose(variance, [[5.0, 0.0, 5.0]] * 2, rtol=1e-14)


@pytest.mark.parametrize("side", [1, -1])
def test_reports_whose_steps_cannot_be_told_apart_are_admitted(side):
    """Between 2^48 and 2^53 steps of a tenth a report less its end, over the step, may round to a neighbour."""
    law = GeometricTails(0.1, 1 - 2.0**-50)
    low, high = (np.array([0.7]), np.array([INF])) if side > 0 else (np.array([-INF]), np.array([-0.7]))
    rng = np.random.default_rng(1)
    steps = np.floor(2.0 ** rng.uniform(47, 53, 3000))
    columns = np.zeros(3000, dtype=np.intp)
    assert law.contains(low, high, columns, side * (0.7 + steps * 0.1)).all()


@pytest.mark.parametrize("ratio", [0.01, 0.5, 0.8, 0.999])
def test_the_exact_means_are_those_of_the_law_to_the_rounding_of_its_digits(ratio):
    """Step times r / (1 - r) beyond the ends, as moments have it; points are their own means."""
    law, low, high = GeometricTails(0.25, ratio), np.array([-INF, 0.5, 3.0]), np.array([-2.0, 0.5, INF])
    found = [float(mean) for mean in law.exact_means(low, high)]
    beyond = 0.25 * ratio / (1 - ratio)
    np.testing.assert_allclose(found, [-2 - beyond, 0.5, 3 + beyond], rtol=1e-13)
    np.testing.assert_allclose(found, law.moments(low, high, 1)[0][0], rtol=1e-13)


def test_tails_are_told_by_their_moments_rate_step_and_farthest_chance():
    """Against sums over the lattice; the farthest report has all 6 digits of its 63 steps."""
    mean, second, rate, step, farthest = GeometricTails(0.25, 0.5).tails(np.array([3.0]), np.array([INF]))
    distance, chance = 0.25 * np.arange(2000), 0.5 ** np.arange(1, 2001)
    np.testing.assert_allclose([mean, second], [chance @ distance, chance @ distance**2], rtol=1e-14)
    np.testing.assert_allclose(np.exp(-rate * step), 0.5, rtol=1e-14)
    assert step == 0.25
    assert farthest == pytest.approx(0.5**64, rel=1e-5)
    _, second, *_ = GeometricTails(0.25, 0.8).tails(np.array([3.0]), np.array([INF]))
    chance = 0.2 * 0.8 ** np.arange(2000)
    np.testing.assert_allclose(second, chance @ distance**2, rtol=1e-12)


def test_reports_reach_as_far_as_digits_go_and_a_scale_stretches_the_step():
    low, high = np.array([-INF, 0.5, 3.0]), np.array([-2.0, 0.5, INF])
    for scale in (2.0, -2.0):
        law = GeometricTails(0.25, 0.5).scaled(scale)
        assert law.parameters() == {"step": 0.5, "ratio": 0.5}
        nearest, farthest = law.farthest(low, high)
        assert nearest.tolist() == [-2 - 31.5, 0.5, 3.0]
        assert farthest.tolist() == [-2.0, 0.5, 3 + 31.5]


@pytest.mark.parametrize(("below", "steps"), [((0, 0), 0.0), ((1, 0), 1.0), ((0, 1), 2.0), ((1, 1), 3.0)])
def test_a_digit_is_one_for_as_many_words_as_its_odds_say(below, steps):
    """Of the upper 53 bits those below the odds, 134217726 and 2: not the odds themselves, whatever bits follow."""
    words = iter([((odds - less) << 11) + 2047 for odds, less in zip([134217726, 2], below, strict=True)])
    low, high, zero = np.array([0.0]), np.array([INF]), np.array([0])
    drawn = GeometricTails(1.0, 2.0**-26).draw_exact(
        low, high, zero, lambda size: np.full(size, next(words), dtype=np.uint64)
    )
    assert drawn.tolist() == [steps]
