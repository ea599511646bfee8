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


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_of_estimates_chosen_unseen_they_are_the_shortest_that_a_conic_solver_finds(seed):
    """Noise and largest bias of both ends together; told where noise is the larger of them."""
    ball, functionals = made(seed)
    bounds, told = ball.foreseen(functionals, 1.96)
    below, _ = ball.foreseen(-functionals, 1.96)
    h, top, bottom = cp.Variable(len(ball.matrix)), cp.Variable(), cp.Variable()
    for a, length, here, inside in zip(
        functionals, bounds + below, told, bounds < functionals.max(axis=1), strict=True
    ):
        rest = a - ball.matrix.T @ h
        noise = 2 * 1.96 * cp.norm(h)
        shortest = cp.Problem(cp.Minimize(noise + top - bottom), [rest <= top, rest >= bottom]).solve()
        assert length <= shortest + 8 * RELATIVE * np.ptp(a)
        if here and inside:
            assert length == pytest.approx(shortest, abs=8 * RELATIVE * np.ptp(a))
        assert here == (top.value - bottom.value <= noise.value)
    assert told.any()
    assert not told.all()


@pytest.mark.parametrize("place", [0, 12, None])
def test_they_hold_as_often_as_they_say_where_a_number_is_as_small_as_it_can_be(place):
    """Point masses and even weights, all weights told apart: by estimates chosen by what was seen the mean at the end
    holds in under nine of ten."""
    size = 25
    truth = np.full(size, 1 / size) if place is None else np.eye(size)[place]
    matrix, mean = 20.0 * np.eye(size), np.linspace(0.0, 1.0, size)
    held, chosen = [], []
    for seed in range(200):
        ball = Ball(matrix, matrix @ truth + np.random.default_rng(seed).normal(size=size))
        (high, low), told = ball.foreseen(np.stack([mean, -mean]), 1.96)
        assert told.all()
        held.append(-low <= truth @ mean <= high)
        high, low = ball.largest(np.stack([mean, -mean]), 1.96, ball.inside(2.0))
        chosen.append(-low <= truth @ mean <= high)
    assert np.mean(held) > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 200)
    if place == 0:
        assert np.mean(chosen) < 0.9
