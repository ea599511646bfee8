"""The program as data: its formulas against loops, and what it refuses."""

import itertools
import math

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased.unbiased_program import LEAST_WEIGHT

HALVES = np.array([0.5, 0.5])
ENDS = np.array([-1.0, 1.0])


@pytest.mark.parametrize("seed", range(5))
def test_a_column_value_is_the_least_over_all_patterns_within_the_ratio(random_program, seed):
    """F minimises sum c_i g_i over c in {1, E}^n, the extreme points of what privacy allows."""
    program = random_program(seed, knots=(2, 6))
    n = len(program.knots)
    g = np.random.default_rng(seed).normal(size=(n, 7))
    patterns = np.array(list(itertools.product([1.0, program.ratio], repeat=n)))
    np.testing.assert_allclose(program.column_values(g), (patterns @ g).min(0), rtol=1e-12)


def test_reduced_costs_are_the_lagrangian_of_one_entry(random_program):
    program = random_program(3)
    rng = np.random.default_rng(0)
    lam, nu, outputs = rng.normal(size=len(program.knots)), rng.normal(size=len(program.knots)), np.array([-3.0, 0.5])
    g = program.reduced_costs(program.offsets(outputs), lam, nu)
    for i, x in enumerate(program.knots):
        for j, y in enumerate(outputs):
            assert g[i, j] == pytest.approx(program.weights[i] * (y - x) ** 2 - lam[i] - nu[i] * (y - x))


def test_the_objective_is_the_expected_variance():
    """Randomised response on two knots at epsilon = ln 3 has outputs +-2 and variance 4 - 1."""
    program = UnbiasedProgram(ENDS, HALVES, 3.0)
    assert program.objective(2 * ENDS, np.array([[0.75, 0.25], [0.25, 0.75]])) == pytest.approx(3.0)


def test_barrier_weights_stay_away_from_zero():
    program = UnbiasedProgram(np.linspace(-1, 1, 4), np.array([0.0, 1.0, 0.0, 0.0]), 2.0)
    assert program.barrier_weights.sum() == pytest.approx(1)
    assert program.barrier_weights.min() == pytest.approx(1 / 8)


def test_the_arrays_are_the_programs_own():
    """Neither a change of the caller's array nor one through the program can invalidate it."""
    weights = HALVES.copy()
    program = UnbiasedProgram(ENDS, weights, 2.0)
    weights[0] = 7
    assert program.weights.tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="read-only"):
        program.weights[0] = 7


def test_weights_too_small_to_matter_count_as_zero():
    program = UnbiasedProgram(ENDS, np.array([LEAST_WEIGHT / 2, 1.0]), 2.0)
    assert program.weights.tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("knots", "weights", "ratio", "says"),
    [
        ([0.0], [1.0], 2.0, "n >= 2 knots"),
        ([[-1.0, 1.0]], [[0.5, 0.5]], 2.0, "n >= 2 knots"),
        ([-1.0, 0.0, 1.0], [0.5, 0.5], 2.0, "n weights"),
        ([1.0, -1.0], [0.5, 0.5], 2.0, "increase"),
        ([-1.0, -1.0], [0.5, 0.5], 2.0, "increase"),
        ([-1.0, math.nan, 1.0], [0.5, 0.5, 0.0], 2.0, "increase"),
        ([0.0, 10.0], [0.5, 0.5], 2.0, "scale the domain"),
        ([-1.0, 1.0], [1.5, -0.5], 2.0, "non-negative"),
        ([-1.0, 1.0], [0.5, 0.6], 2.0, "sum to 1"),
        ([-1.0, 1.0], [math.nan, 1.0], 2.0, "sum to 1"),
        ([-1.0, 1.0], [0.5, 0.5], 1.0, "above 1"),
        ([-1.0, 1.0], [0.5, 0.5], math.inf, "finite"),
        ([-1.0, 1.0], [0.5, 0.5], math.nan, "finite"),
    ],
)
def test_a_malformed_program_is_refused_in_one_line(knots, weights, ratio, says):
    with pytest.raises(InputError, match=says) as caught:
        UnbiasedProgram(np.array(knots), np.array(weights), ratio)
    assert "\n" not in str(caught.value)
