"""The Newton system with weights that move: against finite differences of the gradient, folded and not."""

import numpy as np
import pytest
from optldp.solvers.barrier.column_value import ColumnValue
from optldp.solvers.robust.line_newton import LineNewton
from optldp.solvers.robust.line_path import Mixtures, State

KNOTS = 9


def some_point(epsilon: float, worst: float = 1.0, knots: int = KNOTS) -> tuple[Mixtures, State, ColumnValue]:
    """The first point of a path."""
    x = np.linspace(-1, 1, knots)
    problem = Mixtures.of(x, np.full(knots, 1 / knots), float(np.exp(epsilon)), worst)
    state = problem.start()
    assert state is not None
    return problem, state, inside(problem, state)


def inside(problem: Mixtures, state: State) -> ColumnValue:
    """F where it must be positive."""
    F = problem.at(state)
    assert F is not None
    return F


def system_at(problem: Mixtures, state: State, F: ColumnValue, *, mirrored: bool) -> LineNewton:
    return LineNewton(F, state.mu, state.mu * problem.each / problem.rest(state) ** 2, mirrored)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_the_gradient_is_that_of_the_objective(epsilon):
    problem, state, F = some_point(epsilon)
    gradient = problem.gradient(state, F)
    for j in range(0, 3 * KNOTS, 2):
        by = np.zeros(3 * KNOTS)
        by[j] = 1e-6
        ends = [state._replace(z=state.z + side * by) for side in (1.0, -1.0)]
        values = [problem.objective(end, inside(problem, end)) for end in ends]
        assert (values[0] - values[1]) / 2e-6 == pytest.approx(gradient[j], rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
def test_a_move_takes_the_gradient_to_a_multiple_of_the_border(epsilon):
    """Along the move the gradient falls to its mean over the weights and to zero elsewhere; the weights' sum stays."""
    problem, state, F = some_point(epsilon)
    side = problem.gradient(state, F)
    (move,) = system_at(problem, state, F, mirrored=False).solve(side[None])
    ends = [state._replace(z=state.z + sign * 1e-5 * move) for sign in (1.0, -1.0)]
    up, down = (problem.gradient(end, inside(problem, end)) for end in ends)
    change = (up - down) / 2e-5
    real = (F.left > -F.reach) & (F.right < F.reach)  # kinks beyond are continued, not real
    assert real.sum() >= KNOTS - 2
    lam, nu, q = (side + change).reshape(3, -1)[:, real]
    assert abs(move[2 * KNOTS :].sum()) < 1e-12
    np.testing.assert_allclose(np.concatenate([lam, nu, q - q.mean()]), 0, atol=2e-4 * np.abs(side).max())


@pytest.mark.parametrize("knots", [8, 9])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_half_of_a_symmetric_problem_says_all_of_it(epsilon, knots):
    problem, state, F = some_point(epsilon, worst=0.5, knots=knots)
    sides = np.stack([problem.gradient(state, F), problem.costs])
    falling = 0.1 * (np.cos(problem.x) - np.cos(problem.x).mean())
    found = []
    for mirrored in (False, True):
        system = system_at(problem, state, F, mirrored=mirrored)
        found.append((system.solve(sides, system.resisted(falling)), system.parts))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9 * np.abs(one).max())
