"""The optimum of the levels program against cvxpy, and against programs of one level where it is theirs."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import Optimum, Progress, Status, solve_with_highs
from optldp.solvers.levels import LevelsProgram, optimal_levels, solve_levels

from ..levels_oracle import least_mean_variance, random_levels


def nine_knots(between: float) -> LevelsProgram:
    """Even weights on 9 knots, levels 0.5, 1 and 2 in equal shares, 77 outputs."""
    even = np.full(9, 1 / 9), np.exp([0.5, 1.0, 2.0]), np.full(3, 1 / 3)
    return LevelsProgram(np.linspace(-1, 1, 9), *even, between, np.linspace(-9.5, 9.5, 77))


def keeps_everything(program: LevelsProgram, found: Optimum[np.ndarray]) -> bool:
    """Whether the tables are what the program asks for: rows, means, ratios within levels and between them."""
    P = found.solution
    rows = abs(P.sum(2) - 1).max() < 1e-12 and abs(P @ program.outputs - program.knots).max() < 1e-11
    own = (P.max(1) <= program.ratios[:, None] * P.min(1) * (1 + 1e-12)).all()
    tied = (P.max(0) <= program.between * P.min(0) * (1 + 1e-12)).all() if program.bounded else True
    return bool((P >= 0).all() and rows and own and tied)


@pytest.mark.parametrize("seed", range(8))
def test_the_optimum_is_that_of_cvxpy(seed):
    """Value, bound and tables of random small programs, levels bounded loosely to tightly."""
    program = random_levels(seed)
    found, optimum = solve_levels(program, tolerance=1e-5), least_mean_variance(program)
    assert found.value == pytest.approx(optimum, rel=1e-5)
    assert found.bound <= optimum * (1 + 1e-8)
    assert found.status is Status.OPTIMAL
    assert found.gap <= 1e-5
    assert keeps_everything(program, found)


@pytest.mark.parametrize(
    ("leakage", "mean_variance"), [(math.inf, 6.914), (3, 7.369), (2, 8.171), (1, 11.009), (0.5, 13.767), (0, 16.002)]
)
def test_what_bounding_the_leakage_costs_on_nine_knots(leakage, mean_variance):
    """Golden numbers: the same program through HiGHS, all rows written out, on these 77 outputs."""
    program = nine_knots(math.exp(leakage))
    found = solve_levels(program, tolerance=1e-5)
    assert found.value == pytest.approx(mean_variance, abs=6e-4)
    assert found.status is Status.OPTIMAL
    assert keeps_everything(program, found)


def test_levels_that_are_not_tied_are_as_good_as_each_can_be():
    """The programs of one level each, by HiGHS, weighted by their shares."""
    program = nine_knots(math.inf)
    alone = [
        solve_with_highs(program.knots, program.weights, program.outputs, math.log(ratio)).value
        for ratio in program.ratios
    ]
    assert solve_levels(program, tolerance=1e-6).value == pytest.approx(program.shares @ alone, rel=2e-6)


def test_levels_that_must_not_be_told_apart_have_one_table_that_of_the_strictest():
    """Its own program by HiGHS; the certificate is one of the program of all levels."""
    program = nine_knots(1.0)
    found = solve_levels(program, tolerance=1e-5)
    strictest = solve_with_highs(program.knots, program.weights, program.outputs, 0.5).value
    assert found.value == pytest.approx(strictest, rel=1e-5)
    assert (found.solution == found.solution[0]).all()
    assert program.bound(**found.multipliers) == found.bound > (1 - 1e-5) * strictest


def test_users_at_a_level_make_it_better():
    """The level with nearly all shares is at its own optimum; a level's variance falls with its share."""
    programs = [
        replace(nine_knots(math.e), shares=np.array(shares)) for shares in ((0.98, 0.01, 0.01), (0.01, 0.01, 0.98))
    ]
    mean = [program.variances(solve_levels(program).solution).mean(1) for program in programs]
    assert mean[0][0] < mean[1][0]
    assert mean[1][2] < mean[0][2]


def test_progress_is_told_step_by_step_with_bounds_that_only_rise():
    """One call for each step, on one clock."""
    told: list[Progress] = []
    found = solve_levels(random_levels(3), progress=told.append)
    assert [each.step for each in told] == list(range(1, found.steps + 1))
    assert all(a.bound <= b.bound for a, b in pairwise(told))


def test_a_gap_that_rounding_leaves_open_is_said():
    """No tolerance below rounding is ever reached; tables and bound are those of the best iterate."""
    program = random_levels(4)
    found = solve_levels(program, tolerance=1e-15)
    assert found.status is Status.GAP_OPEN
    assert found.gap < 1e-4
    assert keeps_everything(program, found)


def test_a_path_that_ends_before_its_equations_are_met_is_an_error(monkeypatch):
    """Nothing is returned that is no table."""
    monkeypatch.setattr(optimal_levels, "MAX_STEPS", 2)
    with pytest.raises(SolverError, match="got no such tables in 2 steps"):
        solve_levels(nine_knots(math.e))


def test_a_tolerance_that_is_none_is_refused():
    """As everywhere."""
    with pytest.raises(InputError, match="tolerance must lie strictly between"):
        solve_levels(random_levels(0), tolerance=0)


@pytest.mark.nightly
def test_ten_levels_on_thirty_three_knots_come_within_a_thousandth():
    """Budgets 0.1 to 1, whose outputs reach 33 half-widths, tied tightly and loosely."""
    knots, ratios = np.linspace(-1, 1, 33), np.exp(np.linspace(0.1, 1, 10))
    outer = np.geomspace(2.2, 34, 30)
    outputs = np.concatenate([-outer[::-1], np.linspace(-2, 2, 21), outer])
    for leakage in (0.2, 4.0):
        even = np.full(33, 1 / 33), ratios, np.full(10, 0.1)
        program = LevelsProgram(knots, *even, math.exp(leakage), outputs)
        found = solve_levels(program, tolerance=1e-3)
        assert found.gap <= 1e-3
        assert keeps_everything(program, found)
