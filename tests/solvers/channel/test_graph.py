"""The interior point of cones in any pattern against HiGHS, and what multipliers on some pairs alone prove."""

import numpy as np
import pytest
from optldp import InputError
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.channel.graph_program import near
from optldp.solvers.cone import circle, ratios, sensitive


def of_points(n: int, m: int, share: float, seed: int, unit: float = 1.0) -> ChannelProgram:
    rng = np.random.default_rng(seed)
    x, z, weights = rng.normal(size=(n, 2)), rng.normal(size=(m, 2)), rng.random(n)
    apart = np.hypot(*(x[:, None] - x).T)
    return ChannelProgram(ratios(unit * apart), weights / weights.sum(), np.hypot(*(x[:, None] - z).T).T, share)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_it_agrees_with_highs(share, seed):
    program = of_points(9, 7, share, seed)
    found, other = (solve_channel(program, tolerance=1e-5, solver=solver) for solver in ("graph", "highs"))
    assert found.bound <= other.value * (1 + 1e-9)
    assert other.bound <= found.value * (1 + 1e-9)
    assert found.gap < 1e-4
    assert program.cone.holds(found.solution)
    assert found.solution.sum(1) == pytest.approx(np.ones(9), abs=1e-12)


def test_unbiased_reports_on_a_circle_of_log_ratios():
    """The matrices of the outputs are weighed by deviations as by ones: numbers, though their limits are a circle."""
    knots, outputs = np.arange(6.0), np.linspace(-30.0, 35.0, 27)
    program = ChannelProgram.unbiased(circle(knots, 7.0, 0.6), np.full(6, 1 / 6), knots, outputs)
    found, other = (solve_channel(program, tolerance=1e-5, solver=solver) for solver in ("graph", "highs"))
    assert found.value == pytest.approx(other.value, rel=1e-4)
    assert found.bound <= other.value * (1 + 1e-9)


@pytest.mark.nightly
def test_of_many_rows_the_nearest_are_solved_for_and_all_are_kept():
    program = of_points(80, 6, 0.0, 5, unit=0.5)
    few = near(program)
    assert len(few.cone.logs) < len(program.cone.logs)
    found = solve_channel(program, tolerance=1e-5, solver="graph")
    assert len(found.multipliers["pairs"].T) == len(few.cone.logs)
    assert program.cone.holds(found.solution)
    whole = solve_channel(program, tolerance=1e-7, solver="highs")
    assert found.bound <= whole.value <= found.value
    assert found.gap < 0.05


def test_any_multipliers_on_any_pairs_prove_no_more_than_is_so():
    program, rng = of_points(6, 5, 0.0, 1), np.random.default_rng(2)
    best = solve_channel(program, solver="highs")
    for _ in range(20):
        pairs = np.array([(i, j) for i in range(6) for j in range(6) if i != j and rng.random() < 0.5]).T
        flow, lam = rng.normal(size=(pairs.shape[1], 5)), best.multipliers["lam"] + 0.1 * rng.normal(size=6)
        assert program.bound(lam, pairs=pairs, flow=flow) <= best.value * (1 + 1e-9)


def test_infinite_ratios_are_for_highs():
    program = ChannelProgram(sensitive([True, False, False], 1.0), np.full(3, 1 / 3), 1 - np.eye(3))
    with pytest.raises(InputError, match="choose HiGHS"):
        solve_channel(program, solver="graph")


def test_log_ratios_of_both_directions_may_differ():
    """Then the first table by distances can be outside, and rows are as right as elsewhere."""
    rng = np.random.default_rng(3)
    program = ChannelProgram(ratios(rng.uniform(0.05, 3.0, (8, 8))), np.full(8, 1 / 8), rng.random((8, 6)))
    found, other = (solve_channel(program, tolerance=1e-5, solver=solver) for solver in ("graph", "highs"))
    assert found.value == pytest.approx(other.value, rel=1e-4)
    assert found.bound <= other.value * (1 + 1e-9)
