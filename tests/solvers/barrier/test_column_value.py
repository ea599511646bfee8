"""F on pieces against its definition, and its integrals against quadrature."""

from itertools import pairwise

import numpy as np
import pytest
from optldp.solvers.barrier.column_value import ColumnValue
from scipy.integrate import quad

SEEDS = range(6)


def value_at(F: ColumnValue, y: float) -> float:
    """By its definition."""
    g = F.p * (y - F.x) ** 2 - F.lam - F.nu * (y - F.x)
    return float(np.minimum(g, F.E * g).sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_pieces_are_those_of_f(some_point, seed):
    _, _, F = some_point(seed)
    for k in range(F.pieces):
        for share in (0.01, 0.5, 0.99):
            y = F.edges[k] + share * (F.edges[k + 1] - F.edges[k])
            piece = F.A[k] * (y - F.v[k]) ** 2 + F.f[k]
            assert piece == pytest.approx(value_at(F, y), rel=1e-9, abs=1e-9)
            assert F.least[k] <= piece * (1 + 1e-9)
            assert piece <= F.most[k] * (1 + 1e-9)
    grid = np.linspace(-F.reach, F.reach, 4001)
    assert min(value_at(F, y) for y in grid) >= F.lowest


@pytest.mark.parametrize("seed", SEEDS)
def test_integrals_are_those_of_quadrature(some_point, seed):
    """On pieces where F is curved, in closed form, as on those where it is nearly constant."""
    _, _, F = some_point(seed)
    found = F.integrals

    def over(k, what):
        def parabola(u: float) -> float:
            return what(F.v[k] + u, F.A[k] * u * u + F.f[k])

        low, high = F.edges[k] - F.v[k], F.edges[k + 1] - F.v[k]
        cuts = [low, *(c for c in (-0.1, 0.0, 0.1) if low < c < high), high]
        return sum(quad(parabola, a, b, epsabs=1e-12, epsrel=1e-10)[0] for a, b in pairwise(cuts))

    for k in range(F.pieces):
        v, c = F.v[k], F.centre[k]
        assert found.zero[k] == pytest.approx(over(k, lambda y, f: 1 / f), rel=1e-7)
        assert F.first[k] == pytest.approx(over(k, lambda y, f: y / f), rel=1e-7, abs=1e-9)
        assert found.zero_squared[k] == pytest.approx(over(k, lambda y, f: f**-2), rel=1e-7)
        assert found.one_squared[k] == pytest.approx(over(k, lambda y, f, v=v: (y - v) * f**-2), rel=1e-6, abs=1e-9)
        assert found.spread[k] == pytest.approx(over(k, lambda y, f, c=c: (y - c) ** 2 * f**-2), rel=1e-5)
        assert F.second_squared[k] == pytest.approx(over(k, lambda y, f: y * y * f**-2), rel=1e-6)
        assert F.third_squared[k] == pytest.approx(over(k, lambda y, f: y**3 * f**-2), rel=1e-6, abs=1e-7)
    assert found.log == pytest.approx(sum(over(k, lambda y, f: np.log(f)) for k in range(F.pieces)), rel=1e-8)


@pytest.mark.parametrize("seed", SEEDS)
def test_sums_and_rows_are_the_pattern_and_its_transpose(some_point, seed):
    _, _, F = some_point(seed)
    middle = 0.5 * (F.edges[1:] + F.edges[:-1])
    pattern = np.where((middle > F.left[:, None]) & (middle < F.right[:, None]), F.E, 1.0)
    rng = np.random.default_rng(seed)
    of_rows, of_pieces = rng.normal(size=len(F.p)), rng.normal(size=F.pieces)
    np.testing.assert_allclose(F.sums(of_rows), of_rows @ pattern, rtol=0, atol=1e-12 * F.E)
    np.testing.assert_allclose(F.within(of_pieces), (pattern > 1) @ of_pieces, rtol=0, atol=1e-12)
    np.testing.assert_allclose(F.rows(of_pieces), pattern @ of_pieces, rtol=0, atol=1e-12 * F.E)


def test_a_row_without_two_roots_is_said_to_have_none():
    assert not ColumnValue(np.array([-1.0, 1.0]), np.full(2, 0.5), np.array([-1.0, 1.0]), np.zeros(2), 2.0, 5.0).proper
