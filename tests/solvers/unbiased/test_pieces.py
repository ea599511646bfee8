"""The pieces of F and what they cannot fall below, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased import pieces as module
from optldp.solvers.unbiased.pieces import UNIT, exact_running_sums, pieces

SEEDS = st.integers(0, 2**32 - 1)


def hostile(seed: int) -> tuple[UnbiasedProgram, np.ndarray, np.ndarray]:
    """Priors over decades or with zeros, multipliers of all sizes, near double roots, or a parabola's own."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 12))
    x = np.sort(np.append([-1.0, 1.0], rng.uniform(-1, 1, n - 2)))
    p = 10.0 ** rng.uniform(-rng.choice([8, 40]), 0, n) * rng.choice([0, 1, 1], n)
    p[rng.integers(n)] += 1
    program = UnbiasedProgram(x, p / p.sum(), float(np.exp(10.0 ** rng.uniform(-2, rng.choice([1.2, 2.3])))))
    p = program.weights
    kind = rng.integers(3)
    lam, nu = rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-9, 3, (2, 1))
    if kind == 1:
        lam, nu = lam * p, nu * p
    if kind == 2:  # double roots, moved by roundings
        place = rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 4)
        nu = 2 * p * (place - x)
        lam = -p * (place - x) ** 2 * (1 + rng.choice([0, 1e-16, -1e-16, 1e-8, -1e-8], n))
    return program, lam, nu


def exact(program: UnbiasedProgram, lam: np.ndarray, nu: np.ndarray, y: float) -> Fraction:
    """F at a double, by fractions."""
    place, E, total = Fraction(y), Fraction(program.ratio), Fraction(0)
    for x, p, a, b in zip(*(map(Fraction, v) for v in (program.knots, program.weights, lam, nu)), strict=True):
        g = p * (place - x) ** 2 - a - b * (place - x)
        total += min(g, E * g)
    return total


def places(edges: np.ndarray, vertices: np.ndarray, rng: np.random.Generator) -> list[tuple[int, float]]:
    """Of each piece its ends, their neighbours, its vertex and a place between."""
    found = []
    for k in range(len(vertices)):
        low, high = edges[k : k + 2]
        low = min(-1e3, 10 * high if np.isfinite(high) else 0.0) if np.isneginf(low) else low
        high = max(1e3, 10 * low) if np.isposinf(high) else high
        beside = [low, np.nextafter(low, high), np.nextafter(high, low), high, low + rng.random() * (high - low)]
        found += [(k, float(np.clip(y, low, high))) for y in [*beside, vertices[k]]]
    return found


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_nowhere_is_f_below_what_its_piece_cannot_fall_below(seed):
    """And the pieces are F's: their parabolas give its value, but for rounding."""
    program, lam, nu = hostile(seed)
    found, rng = pieces(program, lam, nu), np.random.default_rng(seed)
    lower = found.lower()
    for k, y in places(found.edges, found.vertices, rng):
        truth = exact(program, lam, nu, y)
        assert truth >= Fraction(lower[k])
        if abs(y) < 1e6:
            size = program.ratio * (1 + y * y + (np.abs(lam) + np.abs(nu) * (1 + abs(y))).sum())
            assert float(truth) == pytest.approx(found.values(np.full(len(lower), y))[k], rel=0, abs=1e-13 * size)


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_it_gives_up_a_few_roundings_of_what_f_is_made_of(seed):
    """A bound that is always minus infinity would be one, too."""
    program, lam, nu = hostile(seed)
    assume(program.ratio < 1e7)
    found = pieces(program, lam, nu)
    z = np.clip(found.vertices, found.edges[:-1], found.edges[1:])
    terms = 1 + z * z + np.abs(lam).sum() + (np.abs(nu) * (1 + np.abs(z)[:, None])).sum(1)
    assert np.all(found.values(z) - found.lower() <= 1000 * UNIT * program.ratio * terms)


@pytest.mark.slow
def test_without_its_allowance_it_would_be_above_f(monkeypatch):
    """Somewhere among a hundred cases; so the first test can fail."""
    monkeypatch.setattr(module, "ROUNDINGS", 0)
    monkeypatch.setattr(module, "UNDERFLOW", 0.0)
    above = 0
    for seed in range(100):
        program, lam, nu = hostile(seed)
        found = pieces(program, lam, nu)
        z, lower = np.clip(found.vertices, found.edges[:-1], found.edges[1:]), found.lower()
        above += any(Fraction(lower[k]) > exact(program, lam, nu, z[k]) for k in range(len(z)) if np.isfinite(z[k]))
    assert above > 10


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_f_is_positive_beyond_its_reach(seed):
    program, lam, nu = hostile(seed)
    reach = pieces(program, lam, nu).reach
    for y in (reach, 2 * reach, 100 * reach):
        assert min(exact(program, lam, nu, y), exact(program, lam, nu, -y)) > 0


@pytest.mark.slow
@settings(max_examples=100, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_running_sums_are_exact_but_for_the_last_rounding(seed):
    """Over thirty decades, where a running sum of doubles would keep nothing of the small ones."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    values = rng.normal(size=n) * 10.0 ** rng.uniform(-20, 0, n)
    first = rng.random(n) < 0.3
    who = rng.permutation(np.repeat(np.arange(n), 2))
    joined = first.copy()
    sign = np.empty(len(who), dtype=int)
    for k, i in enumerate(who):
        sign[k] = -1 if joined[i] else 1
        joined[i] = not joined[i]
    total = sum((Fraction(v) for v in values[first]), Fraction(0))
    expected = [total]
    for s, i in zip(sign, who, strict=True):
        total += int(s) * Fraction(float(values[i]))
        expected.append(total)
    slack = Fraction(2) ** -85 * Fraction(np.abs(values).max())
    for computed, truth in zip(exact_running_sums(values, first, who, sign), expected, strict=True):
        assert abs(Fraction(float(computed)) - truth) <= Fraction(UNIT) * 4 * abs(truth) + slack


@pytest.mark.nightly
@pytest.mark.parametrize("E", [1e8, 1e13])
def test_many_weights_too_small_for_the_sums_never_add_up(E):
    """Rounded to nearest, thirty thousand weights of half a quantum would weigh A as much again, times E."""
    n = 32_767
    x, weights = np.linspace(-1, 1, n), np.full(n, 0.51 * 2.0**-89)
    x[n // 2], weights[n // 2] = 0.0, 1.0
    nu = 200 * weights
    nu[n // 2] = 0
    program = UnbiasedProgram(x, weights, E)
    found = pieces(program, np.zeros(n), nu)
    k = int(np.searchsorted(found.edges, 1.0)) - 1
    assert Fraction(found.lower()[k]) <= exact(program, np.zeros(n), nu, 1.0)


def test_multipliers_without_size_are_not_certified():
    """Where squares are no numbers nothing is known, and nothing warns."""
    program = UnbiasedProgram(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 2.0)
    for size in (1e160, 1e200, 1e300, 1e308):
        assert np.isneginf(pieces(program, np.full(2, size), np.full(2, size)).lower()).all()
