"""The levels program: what multipliers prove, how far outputs must reach, what is refused."""

import math
from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import solve_with_highs
from optldp.solvers.levels import LevelsProgram, solve_levels
from optldp.solvers.levels.levels_program import least_reach

from ..levels_oracle import least_mean_variance, random_levels


class TestBound:
    @pytest.mark.parametrize("seed", range(4))
    def test_any_multipliers_at_all_prove_a_true_bound(self, seed):
        """Those of the optimum shaken a little and a lot, and pure noise, against the optimum by cvxpy."""
        program = random_levels(seed)
        optimum, found = least_mean_variance(program), solve_levels(program, tolerance=1e-5)
        rng = np.random.default_rng(seed)
        for size in (0.0, 1e-6, 1e-3, 0.1, 10.0):
            shaken = (part + size * rng.standard_normal(part.shape) for part in found.multipliers.values())
            assert program.bound(*shaken) <= optimum * (1 + 1e-7)

    def test_what_is_given_away_to_rounding_is_less_than_a_millionth_of_a_millionth(self):
        """Conservative, and no more than that: by exact arithmetic the bound lies a hair above."""
        program = random_levels(0)
        found = solve_levels(program, tolerance=1e-5)
        lam, nu, (z1, z2, z3, z4) = found.multipliers.values()
        reduced = program.costs - lam[:, :, None] - nu[:, :, None] * program.offsets - z1 + z2 - z3 + z4
        floors = (z1 - program.ratios[:, None, None] * z2).sum(1), (z3 - program.between * z4).sum(0)
        plain = lam.sum() + sum(np.minimum(part.min(axis=-1), 0).sum() for part in (reduced, *floors))
        assert 0 < plain - found.bound < 1e-12 * plain

    def test_without_a_tie_multipliers_of_a_tie_count_for_nothing(self):
        """A bound for levels that have nothing to do with each other must not use what ties them."""
        program = replace(random_levels(1), between=math.inf)
        found = solve_levels(program, tolerance=1e-5)
        tied = found.multipliers["of_ratios"].copy()
        tied[2:] = 5.0
        assert program.bound(**{**found.multipliers, "of_ratios": tied}) == found.bound


class TestReach:
    @pytest.mark.parametrize("epsilon", [0.1, 0.7, 3.0])
    @pytest.mark.parametrize("side", [0, 1])
    def test_outputs_that_reach_as_far_have_an_unbiased_table_and_nearer_ones_have_none(self, epsilon, side):
        """By HiGHS, on a domain away from zero; the other side reaches far enough by a lot."""
        low, high = 10.0, 14.0
        reach = np.array(least_reach(math.exp(epsilon), low, high))
        exact = np.array([low, high]) + (reach - [low, high]) / (1 + 1e-3)
        far = np.array([low - 200, high + 200])
        for ends, feasible in ((reach, True), (12 + (exact - 12) * 0.999, False)):
            outputs = far.copy()
            outputs[side] = ends[side]
            try:
                solve_with_highs([low, 13.0, high], np.full(3, 1 / 3), outputs, epsilon)
            except SolverError:
                assert not feasible
            else:
                assert feasible

    def test_the_smallest_ratio_decides(self):
        """Outputs that are enough for every level but the strictest are refused, on one side or both."""
        made = random_levels(2)
        for outputs in (made.outputs[1:], made.outputs[:-1], made.outputs[3:4], made.outputs[:0]):
            with pytest.raises(InputError, match="outputs must reach from"):
                replace(made, outputs=outputs)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"ratios": [2.0, 2.0]}, "must increase"),
        ({"ratios": [3.0, 2.0]}, "must increase"),
        ({"ratios": []}, "must increase"),
        ({"ratios": [1.0, 2.0]}, "above 1"),
        ({"shares": [0.5, 0.4]}, "sum to 1"),
        ({"shares": [1.0, 0.0]}, "positive"),
        ({"shares": [1.0]}, "one for each level"),
        ({"between": 0.9}, "at least 1"),
        ({"between": math.nan}, "at least 1"),
        ({"outputs": [-9.0, 9.0, 8.0]}, "increase"),
        ({"outputs": [-9.0, math.inf]}, "finite"),
        ({"knots": [-2.0, 1.0]}, "scale the domain"),
        ({"knots": np.linspace(-1, 1, 2049), "weights": np.full(2049, 1 / 2049)}, "must be fewer, got 2, 2049 and 2"),
        (
            {"knots": np.linspace(-1, 1, 1000), "weights": np.full(1000, 1e-3), "outputs": np.linspace(-9, 9, 2**15)},
            "must be fewer, got 2, 1000 and 32768",
        ),
    ],
    ids=lambda given: str(given)[:40],
)
def test_a_program_that_makes_no_sense_is_refused_in_one_line(change, says):
    """Each part by itself."""
    ends, even = np.array([-1.0, 1.0]), np.array([0.5, 0.5])
    given = {"knots": ends, "weights": even, "ratios": [1.5, 2.0], "shares": even, "between": 2.0, "outputs": ends * 9}
    LevelsProgram(**given)
    with pytest.raises(InputError, match=says):
        LevelsProgram(**given | change)
