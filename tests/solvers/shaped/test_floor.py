"""Floors of pieces: their windows and rows against quadrature, linear programs and the closed forms they contain."""

# Lists stand for the arrays of a floor.
# pyright: reportArgumentType=false

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError, three_outputs
from optldp.mechanisms.families.ptt import window_shape
from optldp.solvers import PieceFloor, UnbiasedProgram, solve_unbiased
from optldp.solvers.shaped.floor import piece_rows, reach, windows
from optldp.solvers.unbiased.window_rows import two_outputs, window_rows

SEEDS = st.integers(0, 2**32 - 1)


def random_floor(seed: int) -> tuple[PieceFloor, float]:
    """One to six pieces, some of them points, some touching, of masses that differ by up to a thousand."""
    rng = np.random.default_rng(seed)
    m, ratio = int(rng.integers(1, 7)), float(np.exp(rng.uniform(0.05, 5)))
    ends = np.sort(rng.uniform(-3, 3, 2 * m)) * (ratio + 1) / (ratio - 1)
    if rng.random() < 0.5:
        ends[1::2] = np.where(rng.random(m) < 0.4, ends[::2], ends[1::2])
    if rng.random() < 0.3:
        ends[2::2] = ends[1:-1:2]
    share = 10.0 ** rng.uniform(-3, 0, m)
    return PieceFloor.of_windows(ends[::2], ends[1::2], share / share.sum() * rng.uniform(1.05, 8), ratio), ratio


@pytest.mark.slow
@given(seed=SEEDS)
def test_rows_sum_to_one_around_their_knots_within_the_ratio(seed):
    floor, ratio = random_floor(seed)
    knots = np.linspace(*reach(floor, ratio), 9)
    low, high, rows = piece_rows(floor, knots, ratio)
    scale = max(np.abs(floor.low).max(), np.abs(floor.high).max())
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(rows @ ((low + high) / 2), knots, rtol=0, atol=1e-11 * scale)
    assert (rows.max(axis=0) <= ratio * rows.min(axis=0)).all()
    assert (low <= high).all()
    assert (high[:-1] <= low[1:] + 1e-12 * scale).all()


@pytest.mark.slow
@given(seed=SEEDS)
def test_a_window_holds_the_same_floor_mass_wherever_it_is(seed):
    floor, ratio = random_floor(seed)
    found = windows(floor, np.linspace(*reach(floor, ratio), 7), ratio)
    assert found.mass == pytest.approx((1 - floor.total) / (ratio - 1), rel=1e-12)
    assert (np.diff(found.start) >= 0).all()
    assert (found.start >= 0).all()
    assert (found.start + found.mass <= floor.total * (1 + 1e-12)).all()
    assert (found.left <= found.right).all()


@pytest.mark.slow
@given(seed=SEEDS)
def test_points_give_the_rows_that_window_rows_finds(seed):
    rng = np.random.default_rng(seed)
    ratio, m = float(np.exp(rng.uniform(0.1, 4))), int(rng.integers(2, 9))
    places = np.sort(rng.uniform(-1, 1, m))
    spread = PieceFloor.of_windows(places, places, rng.uniform(0.5, 2, m), ratio)
    low, high = reach(spread, ratio)
    outputs = (places - (low + high) / 2) * rng.uniform(2, 3) / (high - low)
    floor, knots = PieceFloor(outputs, outputs, spread.mass), np.linspace(-1, 1, 5)
    program = UnbiasedProgram(knots, np.full(5, 0.2), ratio)
    cells, same, rows = piece_rows(floor, knots, ratio)
    assert (cells == same).all()
    merged = np.array([rows[:, cells == y].sum(axis=1) for y in outputs]).T
    np.testing.assert_allclose(merged, window_rows(program, outputs, floor.mass), rtol=0, atol=1e-9)


def test_one_piece_is_ptt_with_windows_of_constant_length():
    for eta in (1.5, 2.0, 4.0):
        k, a = window_shape(math.e - 1, eta, kind=1)
        knots = np.linspace(-1, 1, 7)
        found = windows(PieceFloor([-k - a], [k + a], [1 - 1 / k]), knots, math.e)
        np.testing.assert_allclose(found.left, k * knots - a, atol=1e-12)
        np.testing.assert_allclose(found.right, k * knots + a, atol=1e-12)


def test_two_points_are_duchis_mechanism():
    program = UnbiasedProgram(np.linspace(-1, 1, 5), np.full(5, 0.2), 3.0)
    outputs, rows = two_outputs(program)
    low, _, found = piece_rows(PieceFloor(outputs, outputs, [0.25, 0.25]), program.knots, 3.0)
    np.testing.assert_allclose([found[:, low == y].sum(axis=1) for y in outputs], rows.T, atol=1e-14)


@pytest.mark.parametrize(("epsilon", "same"), [(1.0, False), (2.0, True), (3.0, True)])
def test_three_points_are_the_three_output_mechanism_or_better(epsilon, same):
    """At epsilon 1 its rows are not the best ones over its own floor."""
    knots = np.linspace(-1, 1, 9)
    given_table = three_outputs(knots, epsilon)
    points, floor = given_table.low, given_table.probabilities.min(axis=0)
    ratio = float((given_table.probabilities.max(axis=0) / floor).max())
    low, _, rows = piece_rows(PieceFloor(points, points, floor), knots, ratio)
    variances = ((low - knots[:, None]) ** 2 * rows).sum(axis=1)
    assert (variances <= given_table.knot_variances * (1 + 1e-12)).all()
    assert np.allclose(variances, given_table.knot_variances, rtol=1e-9) == same


def test_the_certified_optimum_is_a_floor_of_points():
    """So floors of pieces reach it: with at most 2n of them the gap is closed."""
    knots, weights, ratio = np.linspace(-1, 1, 9), np.full(9, 1 / 9), math.e**2
    best = solve_unbiased(knots, weights, ratio)
    floor = PieceFloor(best.solution.outputs, best.solution.outputs, best.solution.probabilities.min(axis=0))
    low, _, rows = piece_rows(floor, knots, ratio)
    variance = weights @ ((low - knots[:, None]) ** 2 * rows).sum(axis=1)
    assert best.bound <= variance * (1 + 1e-9)
    assert variance == pytest.approx(best.value, rel=1e-6)
    assert low.size >= best.solution.outputs.size
    assert set(low) == set(best.solution.outputs)


def test_out_of_reach_is_an_error():
    floor = PieceFloor([-2.0, 2.0], [-2.0, 2.0], [0.25, 0.25])
    windows(floor, np.array([-1.0, 1.0]), 3.0)
    with pytest.raises(SolverError, match="must reach the knots"):
        windows(floor, np.array([-1.0, 1.01]), 3.0)


def test_less_floor_than_a_window_is_an_error():
    with pytest.raises(SolverError, match="at least 1/E"):
        windows(PieceFloor([-9.0], [9.0], [0.3]), np.array([-1.0, 1.0]), 3.0)


@pytest.mark.parametrize(
    ("low", "high", "mass", "told"),
    [
        ([0.0, 0.5], [1.0, 2.0], [0.1, 0.1], "overlap"),
        ([1.0], [0.0], [0.1], "in order"),
        ([0.0], [1.0], [0.0], "positive"),
        ([0.0], [1.0], [1.0], "less than 1"),
        ([], [], [], "one or more pieces"),
        ([0.0], [1.0, 2.0], [0.1], "one or more pieces"),
    ],
)
def test_what_is_no_floor_is_refused(low, high, mass, told):
    with pytest.raises(InputError, match=told):
        PieceFloor(low, high, mass)


def test_masses_in_windows_and_back_are_the_same():
    floor = PieceFloor([-2.0, 0.5], [-1.0, 3.0], [0.2, 0.3])
    again = PieceFloor.of_windows(floor.low, floor.high, floor.in_windows(4.0), 4.0)
    np.testing.assert_allclose(again.mass, floor.mass, rtol=1e-14)
