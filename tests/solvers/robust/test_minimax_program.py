"""The minimax program as data: its bound holds for any multipliers, its objective is what it says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import MinimaxProgram, certified_bound, solve_unbiased
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point
from optldp.solvers.unbiased.window_rows import two_outputs

KNOTS = np.linspace(-1, 1, 5)
EVEN = np.full(5, 0.2)


def test_variances_and_objective_are_the_sums_in_their_definition():
    """Against a loop, on the starting mechanism."""
    prior = np.array([0.1, 0.2, 0.3, 0.4, 0.0])
    program = MinimaxProgram(KNOTS, prior, 3.0, 0.3)
    it = starting_point(program.mixed(EVEN), starting_outputs(program.mixed(EVEN), 16))
    P = it.probabilities
    expected = [sum(P[i, j] * (y - x) ** 2 for j, y in enumerate(it.outputs)) for i, x in enumerate(KNOTS)]
    variances = program.variances(it.outputs, P)
    np.testing.assert_allclose(variances, expected, rtol=1e-13)
    assert program.objective(variances) == pytest.approx(0.7 * (prior @ expected) + 0.3 * max(expected), rel=1e-13)


def test_the_mixed_prior_is_the_prior_and_the_multipliers():
    rho = np.array([0.1, 0.0, 0.0, 0.0, 0.2])
    mixed = MinimaxProgram(KNOTS, EVEN, 3.0, 0.3).mixed(rho)
    np.testing.assert_allclose(mixed.weights, [0.24, 0.14, 0.14, 0.14, 0.34], rtol=1e-14)
    assert mixed.ratio == 3.0


@pytest.mark.nightly
@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=st.integers(0, 2**32 - 1), share=st.sampled_from([0.01, 0.3, 1.0]))
def test_no_multipliers_bound_more_than_a_mechanism_reaches(random_program, seed, share):
    """Any rho, any lambda and nu, against Duchi's mechanism and a starting point of the interior method."""
    given_program = random_program(seed, budgets=(0.1, 4.0))
    program = MinimaxProgram(given_program.knots, given_program.weights, given_program.ratio, share)
    rng = np.random.default_rng(seed)
    n = len(program.knots)
    best = solve_unbiased(program.knots, rng.dirichlet(np.ones(n)), program.ratio, tolerance=1e-2)
    lam = best.multipliers["lam"] * rng.uniform(0.5, 1.5, n)
    bound = program.bound(rng.dirichlet(np.ones(n)) * rng.uniform(0.1, 10), lam, best.multipliers["nu"])
    it = starting_point(given_program, starting_outputs(given_program, 16))
    for outputs, P in ((it.outputs, it.probabilities), two_outputs(given_program)):
        assert bound <= program.objective(program.variances(outputs, P))


def test_the_bound_is_that_of_the_mixed_prior_whatever_the_scale_of_rho():
    program = MinimaxProgram(KNOTS, EVEN, 3.0, 0.4)
    rho = np.array([3.0, 1.0, 0.0, 1.0, 3.0])
    best = solve_unbiased(KNOTS, 0.6 * EVEN + 0.4 * rho / 8, 3.0)
    bound = program.bound(rho, best.multipliers["lam"], best.multipliers["nu"])
    assert bound == pytest.approx(best.bound, rel=1e-12)
    assert bound < certified_bound(program.mixed(0.4 * rho / 8), **best.multipliers)


@pytest.mark.parametrize("share", [0.0, -0.1, 1.1, float("nan")])
def test_the_share_of_the_worst_case_is_a_positive_share(share):
    with pytest.raises(InputError, match="share"):
        MinimaxProgram(KNOTS, EVEN, 3.0, share)


def test_knots_and_prior_are_checked():
    with pytest.raises(InputError, match="weights"):
        MinimaxProgram(KNOTS, np.full(5, 0.3), 3.0)
    with pytest.raises(InputError, match="increase"):
        MinimaxProgram(KNOTS[::-1], EVEN, 3.0)
