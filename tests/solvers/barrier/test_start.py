"""Starts inside the barrier, cold and from coarser knots."""

import numpy as np
import pytest
from optldp.solvers.barrier.grids import grids, refined
from optldp.solvers.barrier.path import Walk
from optldp.solvers.barrier.problem import Problem, State
from optldp.solvers.barrier.start import start

SHAPES = {
    "bell": lambda x: np.exp(-0.5 * (x / 0.2) ** 2),
    "spikes": lambda x: np.where(np.arange(len(x)) % 17 == 0, 1.0, 1e-9),
    "falling": lambda x: np.exp(-6 * (x + 1)),
}


def problem_of(name: str, knots: int, epsilon: float) -> Problem:
    x = np.linspace(-1, 1, knots)
    p = SHAPES[name](x)
    return Problem.of(x, p / p.sum(), float(np.exp(epsilon)))


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 4.0, 10.0])
@pytest.mark.parametrize("knots", [3, 40])
@pytest.mark.parametrize("name", list(SHAPES))
def test_the_cold_start_is_inside_and_balanced(name, knots, epsilon):
    """F is positive, and the rows over its floor sum to one on average."""
    problem = problem_of(name, knots, epsilon)
    state = start(problem)
    assert state is not None
    F = problem.at(state)
    assert F.proper
    assert F.lowest > 0
    assert np.mean(state.mu * F.rows(F.integrals.zero)) == pytest.approx(1)


def test_coarser_knots_keep_mass_and_mean():
    problem = problem_of("falling", 700, 1.0)
    found = grids(problem)
    assert [len(grid.x) for grid in found] == [33, 129, 700]
    for grid in found[:-1]:
        assert np.isin(grid.x, problem.x).all()
        assert grid.p.sum() == pytest.approx(1)
        assert grid.p @ grid.x == pytest.approx(problem.p @ problem.x)
        assert grid.even.sum() == pytest.approx(1)


@pytest.mark.parametrize("name", list(SHAPES))
def test_refining_a_point_raises_f(name):
    """min(g, E g) is concave, so interpolated windows keep F at least where it was: the fine start is inside."""
    coarse, fine = grids(problem_of(name, 129, 1.0))
    passed: list[State] = []
    first = start(coarse)
    assert first is not None
    Walk(coarse, first).until(lambda here: passed.append(here.state) or len(passed) > 12)
    for state in passed:
        before, after = coarse.at(state), fine.at(refined(coarse, state, fine))
        assert after.proper
        grid = np.linspace(-fine.reach, fine.reach, 999)
        value = [np.minimum(g, F.E * g).sum(0) for F in (before, after) for g in [_g(F, grid)]]
        assert np.all(value[1] >= value[0] - 1e-12 * fine.E)


def _g(F, grid):
    offsets = grid - F.x[:, None]
    return (F.p[:, None] * offsets - F.nu[:, None]) * offsets - F.lam[:, None]
