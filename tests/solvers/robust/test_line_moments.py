"""Moments of 1/F and 1/F^2 on every piece, and F's least values, against quadrature and running sums."""

import numpy as np
import pytest
from optldp.solvers.barrier.column_value import ColumnValue
from optldp.solvers.robust.line_moments import SharpValue, second_moments, squared_moments

NODES, RULE = np.polynomial.legendre.leggauss(60)
PARTS = 40


def some_value(seed: int, depth: float) -> SharpValue:
    """F of eight random windows, just above zero where depth is near one."""
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(8)) + 1e-3
    middle, half = np.sort(rng.uniform(-2, 2, 8)), rng.uniform(0.5, 1.5, 8)

    def at(theta: float) -> SharpValue:
        return SharpValue(q, q * (theta * half**2 - middle**2), 2 * q * middle, 4.0, 5.0)

    low, high = 0.0, 1.0
    for _ in range(60):
        theta = 0.5 * (low + high)
        low, high = (theta, high) if at(theta).lowest > 0 else (low, theta)
    return at(depth * low)


def dense_rule(F: SharpValue, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights on piece k that are dense where F is least."""
    low, high = F.low[k], F.high[k]
    if F.f[k] <= 0:
        cuts = np.linspace(low, high, PARTS + 1)
    else:
        width = np.sqrt(F.f[k] / F.A[k])
        cuts = width * np.sinh(np.linspace(np.arcsinh(low / width), np.arcsinh(high / width), PARTS + 1))
    half = 0.5 * np.diff(cuts)[:, None]
    return (0.5 * (cuts[1:] + cuts[:-1])[:, None] + half * NODES).ravel(), (half * RULE).ravel()


@pytest.mark.parametrize("depth", [0.5, 0.999, 1 - 1e-6])
@pytest.mark.parametrize("seed", range(3))
def test_every_moment_is_that_of_a_dense_rule(seed, depth):
    F = some_value(seed, depth)
    found, squares = squared_moments(F), second_moments(F)
    for k in range(F.pieces):
        u, rule = dense_rule(F, k)
        value = F.A[k] * u * u + F.f[k]
        assert squares[k] == pytest.approx(rule @ ((F.v[k] + u) ** 2 / value), rel=1e-6)
        away, twice = F.v[k] + u - found.centre[k], rule / value**2
        assert found.mass[k] == pytest.approx(twice.sum(), rel=1e-6)
        assert abs(twice @ away) <= 1e-6 * (twice @ np.abs(away))
        for power, moment in ((2, found.second[k]), (3, found.third[k]), (4, found.fourth[k])):
            assert moment == pytest.approx(twice @ away**power, abs=1e-6 * (twice @ np.abs(away) ** power))


@pytest.mark.parametrize("seed", range(3))
def test_least_values_are_those_of_running_sums_up_to_rounding(seed):
    sharp = some_value(seed, 0.9)
    plain = ColumnValue(np.zeros_like(sharp.p), sharp.p, sharp.lam, sharp.nu, sharp.E, sharp.reach)
    for name in ("f", "least", "most"):
        np.testing.assert_allclose(getattr(sharp, name), getattr(plain, name), rtol=1e-9, atol=1e-13)
