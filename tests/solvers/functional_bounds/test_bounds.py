"""Largest functionals over weights that explain data: an independent solver, proofs, and what has no answer."""

from typing import Any

import cvxpy
import numpy as np
import pytest
from optldp.solvers.functional_bounds.bounds import Ball

cp: Any = cvxpy


def made(seed: int, rows: int = 6, weights: int = 40) -> tuple[Ball, np.ndarray]:
    """A smoothing matrix seen with noise, and functionals: shares below, single weights, and a sum."""
    rng = np.random.default_rng(seed)
    place = np.linspace(0.0, 1.0, weights)
    matrix = 30.0 * np.exp(-20.0 * (place - np.linspace(0.0, 1.0, rows)[:, None]) ** 2)
    truth = rng.dirichlet(np.full(weights, 0.1))
    centre = matrix @ truth + rng.normal(size=rows)
    return Ball(matrix, centre), np.vstack([np.tri(weights)[4::9], np.eye(weights)[::13], 5.0 - 3.0 * place])


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_bounds_are_those_of_a_conic_solver(seed):
    """Never below its maximum, and above it by a ten-thousandth of the functional's range at most."""
    ball, functionals = made(seed)
    w = cp.Variable(functionals.shape[1], nonneg=True)
    off = cp.sum_squares(ball.matrix @ w - ball.centre)
    least = cp.Problem(cp.Minimize(off), [cp.sum(w) == 1]).solve()
    assert ball.nearest.least == pytest.approx(least, abs=1e-5)
    found = ball.largest(functionals, 1.96)
    for a, bound in zip(functionals, found, strict=True):
        reached = cp.Problem(cp.Maximize(a @ w), [cp.sum(w) == 1, off <= least + 1.96**2]).solve()
        assert reached - 1e-5 <= bound <= reached + 1e-4 * np.ptp(a)


def test_what_data_say_nothing_of_is_as_large_as_it_can_be():
    """No rows at all, a constant functional, and one that rows are blind to."""
    blind = Ball(np.empty((0, 3)), np.empty(0))
    functionals = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
    assert blind.largest(functionals, 1.0) == pytest.approx([4.0, 3.0])
    one = Ball(np.array([[5.0, 5.0, 0.0]]), np.array([5.0]))
    found = one.largest(np.array([[1.0, 0.0, 0.0], [2.0, 2.0, 2.0]]), 1.0)
    assert found == pytest.approx([1.0, 2.0], abs=2e-3)


def degenerate(seed: int) -> Ball:
    """Fewer rows than weights, columns that are alike or lie between others, and for odd seeds nothing unexplained."""
    rng = np.random.default_rng(seed)
    rows, weights = int(rng.integers(1, 12)), int(rng.integers(12, 30))
    matrix = 10.0 ** rng.uniform(0.0, 3.0) * rng.integers(-1, 2, size=(rows, weights)).astype(float)
    matrix[:, 3], matrix[:, 1] = matrix[:, 4], (matrix[:, 0] + matrix[:, 2]) / 2
    noise = 0.0 if seed % 2 else 1.0
    return Ball(matrix, matrix @ rng.dirichlet(np.full(weights, 0.1)) + noise * rng.normal(size=rows))


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_a_conic_solver_where_weights_cannot_be_told_apart(seed):
    """Paths end at the ball, or at the functional's maximum, whatever systems on the way have no one solution."""
    ball = degenerate(seed)
    size = ball.matrix.shape[1]
    functionals = np.vstack([np.tri(size)[::7], -np.tri(size)[::7], np.eye(size)[:2], np.linspace(0.0, 1.0, size)])
    w = cp.Variable(size, nonneg=True)
    off = cp.norm(ball.matrix @ w - ball.centre)
    least = cp.Problem(cp.Minimize(off), [cp.sum(w) == 1]).solve()
    for a, bound in zip(functionals, ball.largest(functionals, 1.96), strict=True):
        inside = [cp.sum(w) == 1, off <= np.sqrt(least**2 + 1.96**2)]
        assert bound == pytest.approx(cp.Problem(cp.Maximize(a @ w), inside).solve(), abs=1e-4)


def test_paths_are_short(monkeypatch):
    """Of a Laplace kernel fewer steps in all than weights, for 300 functionals: so all rows can be asked."""
    steps, solve, place, rng = [], np.linalg.solve, np.linspace(0.0, 1.0, 150), np.random.default_rng(1)
    matrix = 30.0 * np.exp(-3.0 * np.abs(place - place[:, None]))
    ball = Ball(matrix, matrix @ rng.dirichlet(np.full(place.size, 0.1)) + rng.normal(size=place.size))
    monkeypatch.setattr(np.linalg, "solve", lambda *systems: steps.append(1) or solve(*systems))
    ball.largest(np.vstack([np.eye(place.size), np.tri(place.size)]), 1.96)
    assert len(steps) < place.size
