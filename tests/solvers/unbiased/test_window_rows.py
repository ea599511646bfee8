"""Rows over a floor: the closed form against a linear program per row, down to the last bits of sums and means."""

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from optldp.mechanisms import SolverError
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased.window_rows import stretched_rows, two_outputs, window_rows
from scipy.optimize import linprog

SEEDS = st.integers(0, 2**32 - 1)


def random_floor(program: UnbiasedProgram, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Symmetric outputs and floors, some floors tiny, that reach beyond the knots."""
    rng = np.random.default_rng(seed)
    E = program.ratio
    right = np.append(np.sort(rng.uniform(0, 2, 5)), 2.5) * (E + 1) / (E - 1)
    share = rng.dirichlet(np.ones(5)) * 10.0 ** rng.choice([0, -12], 5)
    share = np.append(0.5 * share / share.sum(), 0.5) / (1 + E)
    return np.concatenate([-right[::-1], right]), np.concatenate([share[::-1], share])


@pytest.mark.slow
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_no_linear_program_finds_cheaper_rows(random_program, seed):
    """Each row by itself: add mass below the caps (E - 1) t, at least cost, for sum one and the knot as mean."""
    program = random_program(seed, budgets=(0.05, 5.0))
    outputs, floor = random_floor(program, seed)
    P = window_rows(program, outputs, floor)
    for x, row in zip(program.knots, P, strict=True):
        offset = outputs - x
        scale = np.abs(offset).max()
        best = linprog(
            (offset / scale) ** 2,
            A_eq=[np.ones_like(offset), offset / scale],
            b_eq=[1 - floor.sum(), -(floor @ offset) / scale],
            bounds=[(0, (program.ratio - 1) * t) for t in floor],
        )
        assert offset**2 @ row == pytest.approx(offset**2 @ floor + scale**2 * best.fun, rel=1e-6)


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_rows_sum_to_one_around_their_knots_within_the_ratio(random_program, seed):
    program = random_program(seed, budgets=(1e-3, 16.0))
    outputs, floor = random_floor(program, seed)
    P = window_rows(program, outputs, floor)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-14)
    bias = (program.offsets(outputs) * P).sum(1)
    np.testing.assert_allclose(bias, 0, rtol=0, atol=1e-14 * np.abs(outputs).max())
    assert ((floor <= P) & (floor * program.ratio * (1 + 1e-15) >= P)).all()


@pytest.mark.slow
@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_a_row_is_a_window_with_two_fractional_ends(random_program, seed):
    """Along the outputs: floor, at most one in between, the floor times E, at most one in between, floor."""
    program = random_program(seed)
    outputs, floor = random_floor(program, seed)
    level = (window_rows(program, outputs, floor) / floor - 1) / (program.ratio - 1)
    for row in level:
        raised = np.flatnonzero(row > 1e-9)
        inner = row[raised[0] + 1 : raised[-1]]
        np.testing.assert_allclose(inner, 1, atol=1e-9)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(seed=SEEDS)
@example(seed=1_761_847_521)
def test_nearly_equal_outputs_cost_no_digits(seed):
    """A knot whose window lies on one of two outputs a hair apart, as optimal floors have it.

    The mean then says next to nothing of the shares of the two, and rounding must not decide them. A window's start is
    known to a rounding, by which the mean moves E - 1 times as far as the outputs, of [-3, 3], are apart.
    """
    rng = np.random.default_rng(seed)
    E, k = float(np.exp(rng.uniform(4, 10))), int(rng.integers(1, 6))
    knots = np.linspace(-1, 1, 2 * k + 1)
    mass = rng.uniform(0.005, 0.5)
    distance, side = 10 ** rng.uniform(-12, -4), rng.integers(0, 2, k)
    place = knots[k + 1 :] / (1 - mass)  # a window around it has the knot as its row's mean
    right = np.append(np.column_stack([place - distance * side, place + distance * (1 - side)]).ravel(), 3.0)
    share = mass * np.append(np.full(2 * k, 1 / (2 * k)), 1 / k) / (2 + 2 / k)
    outputs, floor = np.concatenate([-right[::-1], right]), np.concatenate([share[::-1], share])
    assume((1 - mass) / (E - 1) <= share.min())  # that a window has room on one output
    P = window_rows(UnbiasedProgram(knots, np.full(2 * k + 1, 1 / (2 * k + 1)), E), outputs, floor)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(P @ outputs, knots, rtol=0, atol=1e-14 + 6 * np.finfo(float).eps * E)
    assert ((floor <= P) & (floor * E * (1 + 1e-15) >= P)).all()


THIRDS = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.full(3, 1 / 3), 3.0)


@pytest.mark.parametrize("floor", [0.16, 0.5, 0.6])
def test_a_floor_of_the_wrong_mass_is_an_error(floor):
    """Two floors of 0.16 cannot be raised to one by a factor of three; two of 0.5 or 0.6 leave nothing to add."""
    with pytest.raises(SolverError, match="total mass"):
        window_rows(THIRDS, np.array([-2.0, 2.0]), np.full(2, floor))


def test_outputs_that_do_not_reach_are_an_error():
    """At a floor of a quarter each, three to one, outputs below 2 leave the outermost knots out."""
    with pytest.raises(SolverError, match="reaches not far enough"):
        window_rows(THIRDS, np.array([-1.9, 1.9]), np.full(2, 0.25))


@pytest.mark.parametrize("shortfall", [0.0, 1e-15, 1e-12, 9e-8])
def test_a_hair_of_reach_is_made_up_by_stretching_that_much(shortfall):
    outputs, P = stretched_rows(THIRDS, np.array([-2.0, 2.0]) * (1 - shortfall), np.full(2, 0.25))
    np.testing.assert_allclose(outputs, [-2, 2], rtol=1e-15)
    np.testing.assert_allclose(P, [[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], rtol=1e-14)


def test_outputs_that_reach_are_not_stretched():
    assert stretched_rows(THIRDS, np.array([-2.5, 2.5]), np.full(2, 0.25))[0].tolist() == [-2.5, 2.5]


def test_more_than_a_hair_is_an_error():
    with pytest.raises(SolverError, match="reaches not far enough"):
        stretched_rows(THIRDS, np.array([-2.0, 2.0]) * (1 - 1e-6), np.full(2, 0.25))


def test_outputs_on_one_side_of_the_knots_are_an_error():
    """No stretch brings a mean to the other side of zero."""
    with pytest.raises(SolverError, match="both sides"):
        stretched_rows(THIRDS, np.array([2.0, 3.0]), np.full(2, 0.25))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_two_outputs_serve_every_program_and_use_the_whole_ratio(random_program, seed):
    """To the last digits, also where E is in the millions and the smaller probability tiny."""
    program = random_program(seed, budgets=(1e-5, 16.0))
    outputs, P = two_outputs(program)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(P @ outputs, program.knots, rtol=0, atol=1e-15 * outputs[1])
    np.testing.assert_allclose(P.max(0) / P.min(0), program.ratio, rtol=1e-15)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_rows_that_only_just_exist_are_found(random_program, seed):
    """Over the floor of the two outputs the outermost knots are reached exactly, and rounding must not refuse them."""
    program = random_program(seed)
    outputs, P = two_outputs(program)
    floor = np.full(2, 1 / (program.ratio + 1))
    np.testing.assert_allclose(window_rows(program, outputs, floor), P, rtol=0, atol=1e-14)
