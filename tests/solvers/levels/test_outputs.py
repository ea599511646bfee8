"""Outputs of the solver's own choice, against what each level would choose and against fine grids."""

import math

import numpy as np
import pytest
from optldp.solvers import solve_unbiased
from optldp.solvers.levels import LevelsProgram, solve_levels, solve_levels_freely

RATIOS, SHARES = np.exp([0.4, 1.5]), np.array([0.7, 0.3])


def skewed(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Uneven knots, most weight at one end: nothing is symmetric about zero."""
    knots = np.linspace(0, 1, n) ** 1.5 * 2 - 1
    weights = np.linspace(3, 0.1, n)
    return knots, weights / weights.sum()


@pytest.mark.slow
def test_levels_that_are_not_tied_come_near_what_each_would_choose():
    """The optimum of each with free outputs, weighted by the shares."""
    program, found = solve_levels_freely(*skewed(7), RATIOS, SHARES, math.inf)
    alone = SHARES @ [solve_unbiased(*skewed(7), float(ratio)).value for ratio in RATIOS]
    assert alone * (1 - 1e-6) < found.value < alone * (1 + 2e-4)
    assert found.gap < 1e-4
    assert np.array_equal(found.solution.shape, (2, 7, program.outputs.size))


@pytest.mark.slow
@pytest.mark.parametrize("leakage", [0.2, 0.8, 2.0])
def test_tied_levels_are_no_worse_than_on_a_fine_grid(leakage):
    """401 equal steps over twice the least reach."""
    knots, weights = skewed(5)
    _, found = solve_levels_freely(knots, weights, RATIOS, SHARES, math.exp(leakage))
    grid = LevelsProgram(knots, weights, RATIOS, SHARES, math.exp(leakage), np.linspace(-12, 12, 401))
    assert found.value < solve_levels(grid).value * (1 + 2e-4)


def test_outputs_are_scaled_with_the_strictest_budget():
    """A ratio near one, whose reports lie a hundred half-widths out: they are found."""
    program, found = solve_levels_freely(*skewed(4), np.exp([0.02, 1.0]), SHARES, math.e)
    assert program.outputs[0] < -90
    assert found.gap < 1e-4
