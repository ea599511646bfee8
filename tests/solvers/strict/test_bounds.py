"""Largest functionals over weights that explain data: an independent solver, proofs, and what has no answer."""

from typing import Any

import cvxpy
import numpy as np
import pytest
from optldp.solvers.strict.bounds import RELATIVE, Ball

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
    """Never below its maximum, and above it by a thousandth of the functional's range at most."""
    ball, functionals = made(seed)
    start = ball.inside(2.0)
    w = cp.Variable(functionals.shape[1], nonneg=True)
    off = cp.sum_squares(ball.matrix @ w - ball.centre)
    least = cp.Problem(cp.Minimize(off), [cp.sum(w) == 1]).solve()
    assert start.least <= least + 1e-6
    assert ball.inside(1e-6).least == pytest.approx(least, abs=1e-5)
    found = ball.largest(functionals, 1.96, start)
    for a, bound in zip(functionals, found, strict=True):
        reached = cp.Problem(cp.Maximize(a @ w), [cp.sum(w) == 1, off <= start.least + 1.96**2]).solve()
        assert reached - 1e-5 <= bound <= reached + 1.5 * RELATIVE * np.ptp(a)


def test_what_data_say_nothing_of_is_as_large_as_it_can_be():
    """No rows at all, a constant functional, and one that rows are blind to."""
    blind = Ball(np.empty((0, 3)), np.empty(0))
    functionals = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0]])
    assert blind.largest(functionals, 1.0, blind.inside(0.5)) == pytest.approx([4.0, 3.0])
    one = Ball(np.array([[5.0, 5.0, 0.0]]), np.array([5.0]))
    found = one.largest(np.array([[1.0, 0.0, 0.0], [2.0, 2.0, 2.0]]), 1.0, one.inside(0.5))
    assert found == pytest.approx([1.0, 2.0], abs=2e-3)
