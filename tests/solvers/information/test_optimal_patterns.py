"""The most informative table over all patterns, against brute force, and its bound against everything private."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.solvers import InformationProgram, Status, certified_information_bound, solve_information
from optldp.solvers.information import masses as information_masses
from optldp.solvers.information.information_program import most_information
from optldp.solvers.information.masses import MassGrid, best_patterns
from optldp.solvers.information.optimal_patterns import whole_table

from ..information_oracle import (
    all_patterns,
    highs_information,
    mutual_information,
    program_of,
    random_prior,
    random_private_table,
)

SEEDS = st.integers(0, 2**32 - 1)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.integers(2, 10), st.floats(0.05, 7.0), SEEDS)
def test_the_optimum_is_that_of_all_patterns_by_highs(size, epsilon, seed):
    program = program_of(seed, size, math.exp(epsilon))
    found = solve_information(program.prior, program.ratio)
    expected = highs_information(program.prior, program.ratio, all_patterns(size))
    assert found.value == pytest.approx(expected, rel=1e-6)
    assert found.bound == pytest.approx(expected, rel=2e-6)
    assert found.value <= found.bound
    assert found.status is Status.OPTIMAL


@pytest.mark.nightly
@given(st.integers(2, 8), st.floats(0.05, 6.0), SEEDS)
def test_any_multipliers_bound_every_private_table(size, epsilon, seed):
    """Tables that are not staircases among them."""
    rng = np.random.default_rng(seed)
    prior, ratio = random_prior(rng, size), math.exp(epsilon)
    table = random_private_table(rng, size, ratio, 2 * size)
    good = solve_information(prior, ratio).multipliers["lam"]
    for multipliers in (good, good + 0.01 * rng.normal(size=size), rng.normal(size=size)):
        assert certified_information_bound(prior, ratio, multipliers) >= mutual_information(prior, table)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.integers(3, 10), st.floats(0.1, 5.0), SEEDS)
def test_pricing_by_mass_is_never_below_and_hardly_above_enumeration(size, epsilon, seed):
    rng = np.random.default_rng(seed)
    program = program_of(seed, size, math.exp(epsilon))
    multipliers = program.prior * rng.random() + 0.02 * rng.normal(size=size)
    grid = MassGrid.of(program.prior, 2**20)
    exact, marks = best_patterns(program, multipliers, 1, grid)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(information_masses, "MOST_ENUMERATED", 0)
        by_mass, found = best_patterns(program, multipliers, 1, grid)
    assert exact - 1e-12 <= by_mass <= exact + 1e-4
    for one in (marks, found):
        mass = program.prior @ one
        value = (program.values(mass) - multipliers @ program.patterns(one)) / (1 + (program.ratio - 1) * mass)
        assert value[0] == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_uniform_prior_leads_to_subsets_of_the_best_size(epsilon):
    """Of 30 knots; by symmetry the best table reports subsets of one size, uniformly."""
    size = 30
    program = InformationProgram(np.full(size, 1 / size), math.exp(epsilon))
    marked = np.arange(size + 1)
    expected = (program.values(marked / size) / (1 + (program.ratio - 1) * marked / size)).max()
    found = solve_information(program.prior, program.ratio)
    assert found.value == pytest.approx(expected, rel=1e-7)
    assert found.bound == pytest.approx(expected, rel=1e-6)


def test_small_masses_let_the_bound_of_all_priors_be_reached():
    """Forty knots of different mass: subsets of the best mass abound."""
    prior = random_prior(np.random.default_rng(5), 40)
    found = solve_information(prior, math.e)
    assert found.value == pytest.approx(most_information(1.0), rel=1e-6)
    assert found.status is Status.OPTIMAL


@pytest.mark.slow
def test_tables_keep_the_ratio_and_the_rows_and_repeat():
    prior = 0.8 ** np.arange(24)
    one, other = (solve_information(prior / prior.sum(), math.exp(3), tolerance=1e-3) for _ in range(2))
    P = one.solution
    assert (P.max(0) / P.min(0)).max() <= math.exp(3) * (1 + 1e-15)
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-13)
    np.testing.assert_array_equal(P, other.solution)
    assert one.status is Status.OPTIMAL


def test_rows_that_patterns_cannot_fill_get_a_column_of_their_own():
    """Two patterns for three rows: what is missing stays private."""
    patterns, weights = np.array([[3.0, 1.0], [3.0, 1.0], [1.0, 3.0]]), np.array([0.25, 0.2])
    whole = whole_table(patterns, weights, 3.0)
    assert whole.shape == (3, 2)
    np.testing.assert_allclose(whole.sum(1), 1, atol=1e-15)
    crooked = patterns + np.array([[0, 0], [-1e-6, 0], [0, 0]])
    whole = whole_table(crooked, np.array([0.25, 0.25]), 3.0)
    assert whole.shape == (3, 3)
    np.testing.assert_allclose(whole.sum(1), 1, atol=1e-15)
    assert (whole.max(0) <= 3.0 * whole.min(0) * (1 + 1e-12)).all()


def test_progress_is_told_after_each_round():
    seen = []
    found = solve_information(np.array([0.4, 0.3, 0.2, 0.06, 0.04]), math.exp(1.5), progress=seen.append)
    assert [one.step for one in seen] == list(range(1, found.steps + 1))
    assert seen[-1].gap < 1e-6
    assert seen[-1].bound == pytest.approx(found.bound, rel=1e-9)
    assert seen[-1].value <= seen[-1].bound
