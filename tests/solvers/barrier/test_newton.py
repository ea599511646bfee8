"""The Newton system, as a matrix and without one, against finite differences of the gradient and each other."""

import numpy as np
import pytest
from optldp.solvers.barrier.dense_newton import DenseNewton
from optldp.solvers.barrier.path import Here
from optldp.solvers.barrier.sparse_newton import SparseNewton


@pytest.mark.parametrize("seed", range(5))
def test_the_gradient_is_that_of_the_objective(some_point, seed):
    problem, state, F = some_point(seed)
    gradient, scale = problem.gradient(F, state.mu), np.concatenate([F.p, F.p])
    for j in np.random.default_rng(seed).permutation(2 * len(F.p))[:8]:
        by = np.zeros(2 * len(F.p))
        by[j] = 1e-6 * scale[j]
        up, down = (problem.objective(problem.at(state.moved(by, side)), state.mu) for side in (1.0, -1.0))
        assert (up - down) / (2 * by[j]) == pytest.approx(gradient[j], rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("seed", range(5))
def test_the_matrix_is_the_gradients_derivative(some_point, seed):
    """Kinks included: a window's end that moves changes the integrals beside it."""
    problem, state, F = some_point(seed)
    system, scale = DenseNewton(F, state.mu), np.concatenate([F.p, F.p])
    S = system.scaled / np.outer(system.scale, system.scale)
    for j in np.random.default_rng(seed).permutation(2 * len(F.p))[:8]:
        by = np.zeros(2 * len(F.p))
        by[j] = 1e-6 * scale[j]
        up, down = (problem.gradient(problem.at(state.moved(by, side)), state.mu) for side in (1.0, -1.0))
        outside = np.tile((F.left <= -F.reach) | (F.right >= F.reach), 2)  # their kinks are continued, not real
        expected = (down - up) / (2 * by[j])
        near = np.abs(expected - S[:, j]) <= 1e-4 * np.abs(S).max(1) * scale[j] + 1e-4 * np.abs(expected)
        assert (near | outside).all() or outside[j]


@pytest.mark.parametrize("knots", [5, 40, 150])
@pytest.mark.parametrize("seed", range(3))
def test_both_forms_have_the_same_solutions(some_point, knots, seed):
    problem, state, F = some_point(seed, knots)
    rng = np.random.default_rng(seed)
    sides = np.stack([problem.gradient(F, state.mu), *rng.normal(size=(2, 2 * knots))])
    dense, sparse = (system.solve(sides) for system in (DenseNewton(F, state.mu), SparseNewton(F, state.mu)))
    scale = np.concatenate([1 / F.p, 1 / F.p])  # multipliers are of the size of their weights
    for one, other in zip(dense * scale, sparse * scale, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-6 * np.abs(one).max())


@pytest.mark.parametrize("seed", range(2))
def test_directions_follow_the_path(some_point, seed):
    """Newton to the centre; from there a hundredth less of mu along the tangent changes the gradient far less.

    Were no root outside the stretch, the change would be of second order.
    """
    problem, state, F = some_point(seed)
    here = Here.at(problem, state, F)
    for _ in range(60):
        if here.directions.decrement < 1e-16:
            break
        after = here.stepped()
        assert after is not None
        state, F, _ = after
        here = Here.at(problem, state, F)
    assert np.abs(problem.gradient(F, state.mu)).max() < 1e-6
    ahead = state.moved(here.directions.by_mu, 0.01)._replace(mu=state.mu * 0.99)
    assert np.abs(problem.gradient(F, ahead.mu)).max() == pytest.approx(0.01)
    assert np.abs(problem.gradient(problem.at(ahead), ahead.mu)).max() < 0.002
