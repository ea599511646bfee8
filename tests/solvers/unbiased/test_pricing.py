"""Exact pricing against searches by brute force, and its bound against optima, mechanisms and exact arithmetic."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from optldp.solvers import UnbiasedProgram, certified_bound, price, solve_unbiased, solve_with_cvxpy, solve_with_highs
from optldp.solvers.unbiased.window_rows import window_rows
from scipy.optimize import minimize_scalar

SEEDS = st.integers(0, 2**32 - 1)


def random_multipliers(program: UnbiasedProgram, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal, of sizes from tiny to huge, in proportion to the weights or not."""
    rng = np.random.default_rng(seed)
    n = len(program.knots)
    lam, nu = rng.normal(size=(2, n)) * 10.0 ** rng.uniform(-2, 2, (2, 1))
    return (lam * program.weights, nu * program.weights) if rng.random() < 0.5 else (lam, nu)


def column_values(program: UnbiasedProgram, lam: np.ndarray, nu: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    return program.column_values(program.reduced_costs(program.offsets(outputs), lam, nu))


def rounding(program: UnbiasedProgram, lam: np.ndarray, nu: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    """What rounding can make of F: a few units in the last place of its largest terms."""
    offsets = program.offsets(outputs)
    size = program.weights[:, None] * offsets**2 + np.abs(lam)[:, None] + np.abs(nu[:, None] * offsets)
    return 1e-14 * program.ratio * size.sum(0)


@pytest.mark.nightly
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_no_search_finds_an_output_below_the_priced_minimum(random_program, seed):
    """A grid on three scales and bounded minimisation around its best points stay above."""
    program = random_program(seed)
    lam, nu = random_multipliers(program, seed)
    least = price(program, lam, nu).values.min()
    for reach in (2.0, 30.0, 1e3):
        grid = np.linspace(-reach, reach, 2001)
        values = column_values(program, lam, nu, grid)
        slack = rounding(program, lam, nu, grid).max()
        assert values.min() >= least - slack
        for best in np.argsort(values)[:3]:
            found: Any = minimize_scalar(
                lambda y: float(column_values(program, lam, nu, np.array([y]))[0]),
                bounds=(grid[max(best - 1, 0)], grid[min(best + 1, 2000)]),
                method="bounded",
                options={"xatol": 1e-12},
            )
            assert found.fun >= least - slack


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_every_dip_of_a_fine_grid_has_its_local_minimum(random_program, seed):
    """The outputs are candidates for new columns, so that none may be missing."""
    program = random_program(seed)
    lam, nu = random_multipliers(program, seed)
    grid = np.linspace(-5, 5, 4001)
    values = column_values(program, lam, nu, grid)
    margin = rounding(program, lam, nu, grid)[1:-1]
    dips = np.flatnonzero((values[1:-1] < values[:-2] - margin) & (values[1:-1] < values[2:] - margin)) + 1
    outputs = price(program, lam, nu).outputs
    for k in dips:
        assert np.any((outputs > grid[k - 1]) & (outputs < grid[k + 1]))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_outputs_increase_and_carry_their_values(random_program, seed):
    program = random_program(seed)
    lam, nu = random_multipliers(program, seed)
    pricing = price(program, lam, nu)
    assert len(pricing.outputs) <= 2 * len(program.knots) + 1
    assert np.all(np.diff(pricing.outputs) > 0)
    values = column_values(program, lam, nu, pricing.outputs)
    assert np.all(np.abs(pricing.values - values) <= rounding(program, lam, nu, pricing.outputs))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_every_output_is_a_local_minimum(random_program, seed):
    """Vertices of pieces that lie in other pieces are none."""
    program = random_program(seed)
    lam, nu = random_multipliers(program, seed)
    pricing = price(program, lam, nu)
    for side in (-1, 1):
        beside = pricing.outputs + side * 1e-6 * (1 + np.abs(pricing.outputs))
        slack = rounding(program, lam, nu, beside)
        assert np.all(column_values(program, lam, nu, beside) >= pricing.values - slack)


@pytest.mark.slow
@settings(max_examples=200, deadline=None, derandomize=True)
@given(seed=SEEDS)
@example(seed=162).via("a search for roots that round away from far places")
@example(seed=787).via("the same")
def test_a_minimum_that_touches_zero_is_found_whichever_way_its_roots_round(seed):
    """All g_i have a double root at one place, which rounding moves, splits or takes away."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    x, p = np.sort(np.append([-1, 1], rng.uniform(-1, 1, n - 2))), rng.dirichlet(np.ones(n))
    program = UnbiasedProgram(x, p, float(np.exp(rng.uniform(0.1, 5))))
    place = rng.choice([-1, 1]) * 10 ** rng.uniform(-1, 6)
    nu = 2 * p * (place - x)
    lam = -(nu * nu) / (4 * p) * (1 - rng.choice([0, 1e-16, -1e-16, 1e-15, 3e-16], n))
    outputs = price(program, lam, nu).outputs
    assert np.abs(outputs - place).min(initial=np.inf) < 1e-6 * (1 + abs(place))


def test_without_multipliers_the_minimum_is_the_priors_mean():
    """F is then sum p (y - x)^2, one parabola."""
    program = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.array([0.2, 0.3, 0.5]), 3.0)
    pricing = price(program, np.zeros(3), np.zeros(3))
    assert pricing.outputs.tolist() == pytest.approx([0.3])
    assert pricing.values.tolist() == pytest.approx([0.7 - 0.09])


@pytest.mark.parametrize("solve", [solve_with_highs, solve_with_cvxpy])
@pytest.mark.parametrize("seed", range(4))
def test_bounds_lie_below_a_fine_grids_optimum_and_close_to_it_at_its_duals(random_program, solve, seed):
    """At the program's own multipliers the bound is tight, at perturbed ones it is lower, and at none it is wrong."""
    program = random_program(seed, knots=(4, 8), budgets=(0.3, 3.0))
    reach = 1.5 * (program.ratio + 1) / (program.ratio - 1)
    outputs = np.linspace(-reach, reach, 121)
    grid = solve(program.knots, program.weights, outputs, float(np.log(program.ratio)))
    lam, nu = grid.multipliers["lam"], grid.multipliers["nu"]
    optimum = grid.value * (1 + 1e-7)
    assert 0.99 * optimum < certified_bound(program, lam, nu) <= optimum
    rng = np.random.default_rng(seed)
    for size in (1e-6, 1e-4, 1e-2, 1.0):
        noise = 1 + size * rng.normal(size=(2, len(lam)))
        assert certified_bound(program, lam * noise[0], nu * noise[1]) <= optimum


@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_no_mechanism_costs_less_than_any_bound(random_program, seed):
    """Mechanisms on random symmetric outputs with a random symmetric floor, bounds from random multipliers."""
    program = random_program(seed)
    rng = np.random.default_rng(seed)
    right = np.append(np.sort(rng.uniform(0, 2, 4)), 2.5) * (program.ratio + 1) / (program.ratio - 1)
    share = np.append(0.5 * rng.dirichlet(np.ones(4)), 0.5) / (1 + program.ratio)
    outputs, floor = np.concatenate([-right[::-1], right]), np.concatenate([share[::-1], share])
    P = window_rows(program, outputs, floor)
    lam, nu = random_multipliers(program, seed)
    assert program.objective(outputs, P) >= certified_bound(program, lam, nu)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_the_bound_is_no_less_than_its_first_step_proves(random_program, seed):
    """sum lambda + min F; lowering lambda may only improve on it, and never beyond sum lambda."""
    program = random_program(seed)
    lam, nu = random_multipliers(program, seed)
    least = price(program, lam, nu).values.min()
    plain = lam.sum() + min(0.0, least)
    assert certified_bound(program, lam, nu) >= plain - 1e-12 * (np.abs(lam).sum() + abs(least))
    assert certified_bound(program, lam, nu) <= lam.sum()


@pytest.mark.parametrize("seed", range(4))
def test_lowering_lambda_gains_where_the_multipliers_are_nearly_feasible(random_program, seed):
    """Usually half of what min F gives up."""
    program = random_program(seed, knots=(4, 8), budgets=(0.3, 3.0))
    best = solve_unbiased(program.knots, program.weights, program.ratio)
    lam = best.multipliers["lam"] * (1 + 1e-3)
    given_up = price(program, lam, best.multipliers["nu"]).values.min()
    assert given_up < 0
    assert certified_bound(program, lam, best.multipliers["nu"]) > lam.sum() + 0.8 * given_up


def exact_bound(program: UnbiasedProgram, lam: np.ndarray, nu: np.ndarray, outputs: np.ndarray) -> Fraction:
    """sum lambda + min(0, min F) over the outputs, in rational arithmetic."""
    E, total = Fraction(program.ratio), sum(map(Fraction, lam))
    values = []
    for y in map(Fraction, outputs):
        value = Fraction(0)
        for x, p, a, b in zip(*(map(Fraction, v) for v in (program.knots, program.weights, lam, nu)), strict=True):
            g = p * (y - x) ** 2 - a - b * (y - x)
            value += min(g, E * g)
        values.append(value)
    return total + min(Fraction(0), *values)


@pytest.mark.parametrize("scale", [1.0, 1e-9])
@pytest.mark.parametrize("seed", range(6))
def test_rounding_never_lifts_the_bound_above_exact_arithmetic(random_program, seed, scale, monkeypatch):
    """A certificate that holds up to rounding is none; without Dinkelbach's steps the two are comparable.

    With small multipliers F > 0 and the bound is their sum.
    """
    monkeypatch.setattr("optldp.solvers.unbiased.pricing.DINKELBACH_STEPS", 0)
    program = random_program(seed, knots=(20, 40), budgets=(6.0, 16.0))
    lam, nu = (scale * multiplier for multiplier in random_multipliers(program, seed))
    exact = exact_bound(program, lam, nu, price(program, lam, nu).outputs)
    bound = certified_bound(program, lam, nu)
    assert Fraction(bound) <= exact
    assert bound == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("decades", [30, 90, 300])
def test_a_prior_of_hundreds_of_decades_overflows_nothing(decades):
    """The roots of a g_i grow like 1/p_i and are squared; warnings are errors."""
    weights = 10.0 ** -np.linspace(0, decades, 9)
    program = UnbiasedProgram(np.linspace(-1, 1, 9), weights / weights.sum(), 2.0)
    lam, nu = 0.1 * program.barrier_weights, 0.2 * program.barrier_weights
    assert np.isfinite(certified_bound(program, lam, nu))


def test_roots_beyond_all_doubles_are_none():
    """A line of slope 1e-300 through 1e10: warnings are errors, the other roots are found all the same."""
    program = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.5]), 2.0)
    pricing = price(program, np.array([0.1, 1e10, 0.1]), np.array([0.1, 1e-300, -0.1]))
    assert np.isfinite(pricing.outputs).all()
    assert np.isfinite(pricing.values).all()
