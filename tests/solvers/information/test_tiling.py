"""The best cut into cells is the best table of intervals, whatever overlaps they may have."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.solvers import InformationProgram, best_tiling
from optldp.solvers.information.information_program import certified_interval_bound

from ..information_oracle import all_intervals, highs_information, program_of


def table_of(program, tiling):
    return program.patterns(tiling.marks) * tiling.weights


@pytest.mark.slow
@given(st.integers(2, 12), st.floats(0.05, 7.0), st.integers(0, 2**32 - 1))
def test_no_table_of_intervals_tells_more(size, epsilon, seed):
    """HiGHS over all intervals, and the certificate."""
    program = program_of(seed, size, math.exp(epsilon))
    found = best_tiling(program)
    table = table_of(program, found)
    np.testing.assert_allclose(table.sum(1), 1, atol=1e-13)
    reached = program.information(table)
    assert reached == pytest.approx(
        highs_information(program.prior, program.ratio, all_intervals(size)), rel=1e-6, abs=1e-10
    )
    bound = certified_interval_bound(program.prior, program.ratio, found.multipliers)
    rounding = 1e-13 * program.ratio  # which the bound gives up to be safe; columns are of the order of the ratio
    assert reached <= bound <= reached * (1 + 1e-8) + rounding


def test_with_little_budget_two_cells_of_equal_mass_are_best():
    """Kairouz, Oh and Viswanath (2016), theorem 13: the binary mechanism."""
    program = InformationProgram(np.array([0.1, 0.25, 0.15, 0.2, 0.3]), math.exp(0.1))
    np.testing.assert_array_equal(best_tiling(program).marks, [[1, 0], [1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize("size", [2, 5, 9])
def test_with_much_budget_randomised_response_is_best(size):
    """The same, theorem 14."""
    program = InformationProgram(np.full(size, 1 / size), math.exp(10))
    found = best_tiling(program)
    np.testing.assert_array_equal(found.marks[:, np.argmax(found.marks, 0).argsort()], np.eye(size))
    np.testing.assert_allclose(found.weights, 1 / (size + program.ratio - 1))


def test_equally_good_tilings_are_all_used_alike():
    """Seven equal knots in two cells: cut before or after the middle one; the table is its own mirror image."""
    program = InformationProgram(np.full(7, 1 / 7), math.exp(0.5))
    found = best_tiling(program)
    assert sorted(found.marks.sum(0)) == [3, 3, 4, 4]
    assert np.ptp(found.weights) < 1e-15
    mirrored = {tuple(column) for column in found.marks[::-1].T}
    assert mirrored == {tuple(column) for column in found.marks.T}


@pytest.mark.nightly
def test_a_thousand_knots_are_cut_and_certified():
    """More tilings are equally good than doubles can count."""
    program = InformationProgram(np.full(1000, 1e-3), math.exp(3))
    found = best_tiling(program)
    table = table_of(program, found)
    np.testing.assert_allclose(table.sum(1), 1, atol=1e-12)
    bound = certified_interval_bound(program.prior, program.ratio, found.multipliers)
    assert program.information(table) == pytest.approx(bound, rel=1e-8)


def test_knots_of_no_mass_cost_nothing():
    some = InformationProgram(np.array([0.2, 0.3, 0.5]), 3.0)
    more = InformationProgram(np.array([0.2, 0.0, 0.3, 0.0, 0.0, 0.5]), 3.0)
    tables = [table_of(program, best_tiling(program)) for program in (some, more)]
    assert some.information(tables[0]) == pytest.approx(more.information(tables[1]), rel=1e-12)
