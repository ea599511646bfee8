"""Mutual information of tables, and bounds that hold for any multipliers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import InformationProgram
from optldp.solvers.information.information_program import certified_interval_bound, interval_masses, most_information

from ..information_oracle import (
    all_intervals,
    all_patterns,
    highs_information,
    mutual_information,
    random_prior,
    random_private_table,
)

SEEDS = st.integers(0, 2**32 - 1)


@given(st.integers(2, 8), st.floats(0.05, 6.0), SEEDS)
def test_the_information_of_a_table_is_its_definition(size, epsilon, seed):
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, size)
    table = random_private_table(rng, size, math.exp(epsilon), 5)
    program = InformationProgram(prior, math.e)
    assert program.information(table) == pytest.approx(mutual_information(prior, table), rel=1e-9, abs=1e-14)
    assert program.information(np.column_stack([table, np.zeros(size)])) == pytest.approx(program.information(table))


@pytest.mark.parametrize("epsilon", [1e-4, 0.5, 3.0])
def test_a_pattern_s_value_is_the_information_of_its_column(epsilon):
    """phi by its definition, sum_i p_i c_i ln(c_i / p . c)."""
    prior, marks = np.array([0.1, 0.2, 0.3, 0.4]), all_patterns(4)
    program = InformationProgram(prior, math.exp(epsilon))
    c = program.patterns(marks)
    expected = prior @ (c * np.log(c / (prior @ c)))
    np.testing.assert_allclose(program.values(prior @ marks), expected, rtol=1e-7, atol=1e-15)


def test_a_report_of_the_value_itself_tells_its_entropy():
    """Tables with zeros are read too."""
    prior = np.array([0.5, 0.25, 0.25])
    assert InformationProgram(prior, 2.0).information(np.eye(3)) == pytest.approx(1.5 * math.log(2))


@pytest.mark.slow
@given(st.integers(2, 6), st.floats(0.05, 6.0), SEEDS)
def test_any_multipliers_bound_every_table_of_intervals(size, epsilon, seed):
    """Right multipliers, disturbed a little or beyond recognition."""
    rng = np.random.default_rng(seed)
    prior, ratio = random_prior(rng, size), math.exp(epsilon)
    best = highs_information(prior, ratio, all_intervals(size))
    for scale in (0.0, 1e-3, 1.0):
        multipliers = scale * rng.normal(size=size) + rng.random() * prior * best
        assert certified_interval_bound(prior, ratio, multipliers) >= best * (1 - 1e-9)


@given(st.integers(2, 8), st.floats(0.05, 6.0), SEEDS)
def test_nothing_private_tells_more_than_most_information(size, epsilon, seed):
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, size)
    table = random_private_table(rng, size, math.exp(epsilon), 6)
    assert mutual_information(prior, table) <= most_information(epsilon) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [1e-6, 1e-3, 0.1, 0.14, 0.15, 1.0, 8.0])
def test_most_information_is_the_largest_value_per_mean(epsilon):
    """max over s of phi / z on a fine grid, where that has digits; epsilon^2 / 8 for small budgets."""
    if epsilon < 0.01:
        assert most_information(epsilon) == pytest.approx(epsilon**2 / 8, rel=1e-3)
    else:
        program, s = InformationProgram(np.array([0.5, 0.5]), math.exp(epsilon)), np.linspace(0, 1, 200_001)
        found = (program.values(s) / (1 + (program.ratio - 1) * s)).max()
        assert most_information(epsilon) == pytest.approx(found, rel=1e-6)
        assert most_information(epsilon) >= found * (1 - 1e-12)


def test_a_uniform_prior_of_many_knots_comes_near_most_information():
    """So it is a supremum: reports of a set of about the best mass, in all cyclic shifts."""
    size, epsilon = 400, 2.0
    program = InformationProgram(np.full(size, 1 / size), math.exp(epsilon))
    marked = round(size * (program.slope - 1) / (program.ratio - 1))
    shifts = (np.arange(size)[:, None] - np.arange(size)) % size
    columns = program.patterns((shifts < marked).astype(float))
    found = program.information(columns / columns.sum(1, keepdims=True))
    assert found == pytest.approx(most_information(epsilon), rel=1e-4)


def test_masses_of_intervals_are_sums():
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    for a in range(5):
        for b in range(a, 5):
            assert interval_masses(prior)[a, b] == pytest.approx(prior[a:b].sum())


@pytest.mark.parametrize(
    ("prior", "ratio", "message"),
    [
        ([1.0], 2.0, "at least 2 knots"),
        ([0.5, 0.6], 2.0, "sum to 1"),
        ([1.5, -0.5], 2.0, "non-negative"),
        ([0.5, 0.5], 1.0, "above 1"),
        ([0.5, 0.5], math.inf, "finite"),
    ],
)
def test_what_is_no_program_is_refused(prior, ratio, message):
    with pytest.raises(InputError, match=message):
        InformationProgram(np.array(prior), ratio)


@pytest.mark.parametrize("multipliers", [[0.1], [0.1, math.nan]])
def test_multipliers_must_be_one_number_for_each_knot(multipliers):
    with pytest.raises(InputError, match="2 finite numbers"):
        certified_interval_bound([0.5, 0.5], 2.0, multipliers)
