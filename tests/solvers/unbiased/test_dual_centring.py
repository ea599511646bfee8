"""The closed-form centre: its equations, and that nothing nearby is better."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.solvers.unbiased.dual_centring import centre_slacks

SEEDS = st.integers(0, 2**32 - 1)


def random_columns(seed: int) -> tuple[np.ndarray, float, np.ndarray]:
    """Reduced costs of six columns with F from comfortable to almost zero, a ratio and weights."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    ratio = float(np.exp(10.0 ** rng.uniform(-2, 1)))
    g = rng.normal(size=(n, 6)) * 10.0 ** rng.uniform(-3, 3, (1, 6))
    value = np.minimum(g, ratio * g).sum(0)
    aim = np.abs(g).sum(0) * 10.0 ** rng.uniform(-9, 0, 6)
    k = np.argmax(g, axis=0)
    g[k, np.arange(6)] = np.maximum(g[k, np.arange(6)], 0) + np.maximum(aim - value, 0) + np.abs(value)
    return g, ratio, rng.dirichlet(np.ones(n)) * 0.5 + 0.5 / n


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_the_slacks_satisfy_the_dual_equations(seed):
    """z_s - z_u = g, sum z_u = sum g / (E - 1), both positive."""
    g, ratio, w = random_columns(seed)
    zs, zu, tau = centre_slacks(g, ratio, w)
    assert min(zs.min(), zu.min(), tau.min()) > 0
    np.testing.assert_allclose(zs - zu, g, atol=1e-15 * zs.max(), rtol=1e-12)
    size = np.abs(g).sum(0) * (1 + 1 / (ratio - 1))
    assert np.all(np.abs(zu.sum(0) - g.sum(0) / (ratio - 1)) <= 1e-12 * size + 1e-7 * w.sum() * tau)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_the_slacks_are_stationary(seed):
    """w/z_s + w/z_u = 1/tau for every row: the gradient is a multiple of the constraint's."""
    g, ratio, w = random_columns(seed)
    zs, zu, tau = centre_slacks(g, ratio, w)
    np.testing.assert_allclose((w[:, None] / zs + w[:, None] / zu) * tau, 1.0, rtol=1e-6)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_no_feasible_move_raises_the_logarithms(seed):
    """The barrier is strictly concave, so every move that keeps the sum of z_u loses."""
    g, ratio, w = random_columns(seed)
    zs, zu, _ = centre_slacks(g, ratio, w)
    rng = np.random.default_rng(seed)
    best = (w[:, None] * (np.log(zs) + np.log(zu))).sum(0)
    for _ in range(20):
        move = rng.normal(size=g.shape) * np.minimum(zs, zu)
        move -= move.mean(0)
        length = 0.5 * rng.random() / np.maximum(np.abs(move / zs), np.abs(move / zu)).max(0)
        other = (w[:, None] * (np.log(zs + length * move) + np.log(zu + length * move))).sum(0)
        assert np.all(other <= best + 1e-9)


@settings(max_examples=50, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_the_primal_point_that_goes_with_it_is_feasible(seed):
    """s = mu w / z_s, u = mu w / z_u and t = mu / ((E - 1) tau) satisfy s + u = (E - 1) t."""
    g, ratio, w = random_columns(seed)
    zs, zu, tau = centre_slacks(g, ratio, w)
    s, u, t = w[:, None] / zs, w[:, None] / zu, 1 / ((ratio - 1) * tau)
    np.testing.assert_allclose(s + u, np.broadcast_to((ratio - 1) * t, s.shape), rtol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_a_handful_of_newton_steps_is_enough(seed, monkeypatch):
    """The centre is computed at every step of the interior point, for every output."""
    columns = random_columns(seed)
    expected = centre_slacks(*columns)
    monkeypatch.setattr("optldp.solvers.unbiased.dual_centring.STEPS", 6)
    for one, other in zip(centre_slacks(*columns), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)


def test_equal_costs_have_equal_slacks():
    """Of one value g each: z_u = g / (E - 1), whatever the weights' common scale."""
    zs, zu, _ = centre_slacks(np.full((3, 1), 2.0), 5.0, np.full(3, 1 / 3))
    assert zu.ravel() == pytest.approx([0.5] * 3)
    assert zs.ravel() == pytest.approx([2.5] * 3)


def test_scaling_the_costs_scales_the_slacks():
    g, ratio, w = random_columns(1)
    for one, scaled in zip(centre_slacks(g, ratio, w), centre_slacks(1e6 * g, ratio, w), strict=True):
        np.testing.assert_allclose(scaled, 1e6 * one, rtol=1e-6)
