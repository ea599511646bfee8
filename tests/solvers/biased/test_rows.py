"""Rows with means of their own, and means of a clip."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import SolverError
from optldp.solvers.biased import Clip, trusted
from optldp.solvers.biased.rows import rows_with_means, sparse_rows_with_means
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse

OUTPUTS, FLOOR = np.array([-3.0, -1.0, 0.5, 2.0, 4.0]), np.array([0.1, 0.15, 0.1, 0.15, 0.1])


def least_distance(ratio: float, knot: float, mean: float) -> float:
    """The least E (Y - x)^2 of a row over the floor, by a linear program."""
    rows = np.stack([np.ones(5), OUTPUTS])
    right = np.array([1.0, mean])
    cost = (OUTPUTS - knot) ** 2
    return solve_linear_program(
        LinearProgram(cost, sparse.csc_array(rows), right, right, FLOOR, ratio * FLOOR)
    ).objective


@settings(max_examples=20, deadline=None, derandomize=True)
@given(means=st.lists(st.floats(-0.5, 1.0), min_size=2, max_size=6), ratio=st.floats(3.0, 8.0))
def test_rows_have_their_means_and_are_nearest_to_any_knot(means, ratio):
    wanted = np.array([*means, means[0]])
    outputs, P = rows_with_means(ratio, OUTPUTS, FLOOR, wanted)
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-12)
    np.testing.assert_allclose(P @ outputs, wanted, atol=1e-9)
    np.testing.assert_array_equal(P[0], P[-1])
    if len(outputs) > 1:
        for row, mean in zip(P, wanted, strict=True):
            best = least_distance(ratio, 0.3, mean)
            assert row @ (outputs - 0.3) ** 2 == pytest.approx(best, rel=1e-6)


def test_equal_means_are_a_report_of_a_point():
    outputs, P = rows_with_means(3.0, OUTPUTS, FLOOR, np.full(4, 0.7))
    assert (outputs.tolist(), P.tolist()) == ([0.7], [[1.0]] * 4)


def test_means_beyond_the_floor_are_refused_or_give_way():
    """They give way where the mechanism is made, for rounding may leave them a hair too far out."""
    means = np.array([-1.0, 0.0, 3.5])
    with pytest.raises(SolverError, match="not far enough"):
        rows_with_means(3.0, OUTPUTS, FLOOR, means)
    box = trusted(np.full(3, 1 / 3), 2.0)
    outputs, P = sparse_rows_with_means(3.0, OUTPUTS, FLOOR, means, box)
    # Windows of mass 0.2 on the outermost outputs: sum t y = 0.3, and 2 (0.1 y_1 + 0.1 y_2) more.
    np.testing.assert_allclose(P @ outputs, [0.3 - 0.8, 0.0, 0.3 + 1.2], atol=1e-9)


def test_thinned_rows_keep_their_means_and_are_as_near_as_before():
    rng = np.random.default_rng(2)
    outputs, floor = np.sort(rng.uniform(-4, 4, 60)), rng.dirichlet(np.ones(60)) * 0.5
    means = np.repeat(np.linspace(-0.5, 0.5, 5), 2)
    box = trusted(np.full(10, 0.1), 2.0)
    whole = rows_with_means(4.0, outputs, floor, means)
    thin = sparse_rows_with_means(4.0, outputs, floor, means, box)
    assert len(thin[0]) <= 15 < len(whole[0])
    np.testing.assert_allclose(thin[1] @ thin[0], means, atol=1e-9)
    assert np.all(thin[1] @ thin[0] ** 2 <= (whole[1] @ whole[0] ** 2) * (1 + 1e-6))


def test_a_clip_is_found_again_from_its_means():
    knots, weights = np.linspace(-1, 1, 21), np.full(21, 1 / 21)
    for low, high, shift in ((-1, 0.33, 0.01), (-0.72, 1, -0.2), (-0.5, 0.47, 0.0), (-1, 1, 0.0), (0.2, 0.2, 0.1)):
        clip = Clip(low, high, shift)
        found = Clip.near(knots, clip.means(knots), weights)
        np.testing.assert_allclose(found.means(knots), clip.means(knots), atol=1e-14)
        if low < high:
            np.testing.assert_allclose((found.low, found.high, found.shift), (low, high, shift), atol=1e-14)
