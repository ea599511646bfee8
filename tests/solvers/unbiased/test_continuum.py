"""The bound for the continuum against finer optima, dense scans, continuous mechanisms and exact arithmetic."""

import importlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.mechanisms.families.duchi import duchi_variance
from optldp.mechanisms.families.hybrid import hybrid_variance
from optldp.mechanisms.families.piecewise import piecewise_variance, pm_sub_variance
from optldp.mechanisms.families.three_outputs import three_outputs_variance
from optldp.solvers import Optimum, Rows, UnbiasedProgram, certified_bound, continuum_bound, price, solve_unbiased

MODULE = importlib.import_module("optldp.solvers.unbiased.continuum")  # the package exports a function of its name

SEEDS = st.integers(0, 2**32 - 1)


def rounded(x: np.ndarray, values: np.ndarray, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights and rounding of weighted values, one value at a time."""
    weights, rounding = np.zeros(len(x)), np.zeros(len(x) - 1)
    for value, m in zip(values, mass, strict=True):
        k = min(int(np.searchsorted(x, value, side="right")) - 1, len(x) - 2)
        share = (value - x[k]) / (x[k + 1] - x[k])
        weights[k] += m * (1 - share)
        weights[k + 1] += m * share
        rounding[k] += m * (value - x[k]) * (x[k + 1] - value)
    return weights, rounding


FINE = (np.arange(4000) + 0.5) / 2000 - 1

DENSITIES = {"uniform": np.ones(4000), "gaussian": np.exp(-(FINE**2) / 0.18), "exponential": np.exp(-3 * FINE)}


def density_prior(name: str, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Knots, weights and rounding of 4000 values that stand for a density on [-1, 1]."""
    x = np.linspace(-1, 1, n)
    return x, *rounded(x, FINE, DENSITIES[name] / DENSITIES[name].sum())


Measure = tuple[UnbiasedProgram, np.ndarray, np.ndarray, np.ndarray]


def random_measure(program: UnbiasedProgram, seed: int) -> Measure:
    """A program with the weights of values between and on its knots, their rounding, the values and their masses."""
    rng = np.random.default_rng(seed)
    x = program.knots
    values = np.concatenate([rng.uniform(rng.choice([-1, 0.3]), 1, 60), x])
    mass = rng.dirichlet(np.full(len(values), rng.choice([0.2, 1.0])))
    weights, rounding = rounded(x, values, mass)
    return UnbiasedProgram(x, weights / weights.sum(), program.ratio), rounding, values, mass


def disturbed_multipliers(program: UnbiasedProgram, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The optimum's, disturbed by nothing, a little or a lot."""
    rng = np.random.default_rng(seed)
    best = solve_unbiased(program.knots, program.weights, program.ratio, tolerance=1e-4)
    noise = 1 + rng.choice([0, 1e-3, 0.3]) * rng.normal(size=(2, len(best.multipliers["lam"])))
    return best.multipliers["lam"] * noise[0], best.multipliers["nu"] * noise[1]


def gap(program: UnbiasedProgram, best: Optimum[Rows], rounding: np.ndarray, margins: tuple | None = None) -> float:
    """What the bound at the optimum's multipliers lacks to its variance, relative, with other margins if given."""
    variance = best.value + rounding.sum()
    with pytest.MonkeyPatch.context() as patch:
        if margins is not None:
            patch.setattr(MODULE, "MARGINS", margins)
        return float(1 - continuum_bound(program, **best.multipliers, rounding=rounding).lower_bound / variance)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("finer", [2, 4])
@pytest.mark.parametrize("ratio", [1.5, np.e, 60.0])
@pytest.mark.parametrize("seed", range(4))
def test_it_lies_below_the_optimum_on_finer_knots(seed, ratio, finer):
    """Values on finer knots: their optimum is a mechanism on the interval, and the coarse knots' is none better."""
    rng = np.random.default_rng(seed)
    fine = np.linspace(-1, 1, 10 * finer + 1)
    mass = rng.dirichlet(np.full(len(fine), [0.1, 1.0, 10.0, 1.0][seed]))
    if seed == 3:
        mass[len(fine) // 2 :] = 0
        mass /= mass.sum()
    x = fine[::finer]
    weights, rounding = rounded(x, fine, mass)
    best, finest = solve_unbiased(x, weights, ratio), solve_unbiased(fine, mass, ratio)
    found = continuum_bound(UnbiasedProgram(x, weights, ratio), **best.multipliers, rounding=rounding)
    assert found.lower_bound <= finest.value
    assert finest.bound <= best.value + rounding.sum()
    assert found.knot_bound <= best.value + rounding.sum()


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", ["uniform", "gaussian", "exponential"])
def test_no_continuous_closed_form_beats_it(name, epsilon):
    """Families without knots, their variances averaged over the values; some come close."""
    x, weights, rounding = density_prior(name, 81)
    ratio = float(np.exp(epsilon))
    best = solve_unbiased(x, weights, ratio)
    bound = continuum_bound(UnbiasedProgram(x, weights, ratio), **best.multipliers, rounding=rounding).lower_bound
    mass = DENSITIES[name] / DENSITIES[name].sum()
    families = [duchi_variance, piecewise_variance, hybrid_variance, three_outputs_variance, pm_sub_variance]
    variances = [float(mass @ family(FINE, epsilon)) for family in families]
    assert bound <= min(variances)
    assert bound >= 0.7 * min(variances)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_no_distribution_with_these_weights_has_a_lower_dual_function(random_program, seed):
    """The proof's inequality, for the values themselves: E min(g_x, E g_x) >= sum_i p_i min(g_i, E g_i), any y."""
    program, _, values, mass = random_measure(random_program(seed, knots=(3, 9)), seed)
    rng = np.random.default_rng(seed)
    level, slope = rng.normal(size=(2, len(program.knots))) * 3
    y = np.linspace(-8, 8, 801)

    def dual(x: np.ndarray, p: np.ndarray) -> np.ndarray:
        at = np.interp(x, program.knots, level)[:, None] + np.interp(x, program.knots, slope)[:, None] * y
        g = y**2 - at
        return p @ np.minimum(g, program.ratio * g)

    assert np.all(dual(values, mass) >= dual(program.knots, program.weights) - 1e-12 * program.ratio * 100)


def dual_value(measure: Measure, lam: np.ndarray, nu: np.ndarray, margin: float) -> float:
    """The Lagrangian bound of the same split, value by value, with the least G among many outputs instead of F.

    Spread parts y^2 - l(x) - n(x) y at the values, atoms at the knots; no smaller than the true bound.
    """
    program, _, values, mass = measure
    x, p, E = program.knots, program.weights, program.ratio
    outputs = price(program, lam, nu).outputs
    low, high = min(outputs[0], -1.0), max(outputs[-1], 1.0)
    low, high = low - margin * (high - low), high + margin * (high - low)
    level, slope, atom_lam, atom_nu = (np.zeros(len(x)) for _ in range(4))
    for i in range(len(x)):
        roots = np.roots([p[i], -nu[i] - 2 * p[i] * x[i], p[i] * x[i] ** 2 + nu[i] * x[i] - lam[i]]).real
        left, right = np.clip(np.sort(roots), low, high)
        slope[i], level[i] = left + right, -left * right
        if (np.clip(roots, low, high) == roots).all():
            slope[i], level[i] = nu[i] / p[i] + 2 * x[i], lam[i] / p[i] - x[i] ** 2 - nu[i] / p[i] * x[i]
        atom_nu[i] = nu[i] - p[i] * (slope[i] - 2 * x[i])
        atom_lam[i] = lam[i] - p[i] * (level[i] + slope[i] * x[i] - x[i] ** 2)
    y = np.concatenate([np.linspace(3 * outputs[0] - 1, 3 * outputs[-1] + 1, 4001), outputs])
    at, by = np.interp(values, x, level), np.interp(values, x, slope)
    g = y**2 - at[:, None] - by[:, None] * y
    atoms = -atom_lam[:, None] - atom_nu[:, None] * (y - x[:, None])
    G = mass @ np.minimum(g, E * g) + np.minimum(atoms, E * atoms).sum(0)
    return float(mass @ (at + by * values - values**2) + atom_lam.sum() + min(0.0, G.min()))


@pytest.mark.nightly
@settings(max_examples=60, deadline=None, derandomize=True)
@given(seed=SEEDS, margin=st.sampled_from([0.0, 0.02, 0.3, 1e6]))
def test_a_dense_scan_of_the_dual_function_confirms_it(random_program, seed, margin):
    """Any multipliers, any margin: at most the dual value of the same split; and the same value where G > 0."""
    measure = random_measure(random_program(seed, knots=(3, 9), budgets=(0.2, 4.0)), seed)
    program, rounding = measure[:2]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "MARGINS", (margin,))
        patch.setattr("optldp.solvers.unbiased.pricing.DINKELBACH_STEPS", 0)
        lam, nu = disturbed_multipliers(program, seed)
        scanned = dual_value(measure, lam, nu, margin)
        slack = 1e-9 * (1 + abs(scanned))
        assert continuum_bound(program, lam, nu, rounding).lower_bound <= max(scanned, 0.0) + slack
        best = solve_unbiased(program.knots, program.weights, program.ratio)
        # 0.001 of p (y - x)^2 more makes F > 0 wherever the two parts agree in sign.
        lam, nu = 0.999 * best.multipliers["lam"], 0.999 * best.multipliers["nu"]
        found = continuum_bound(program, lam, nu, rounding)
        if found.knot_bound > lam.sum() + rounding.sum() - 1e-9 * best.value:
            scanned = dual_value(measure, lam, nu, margin)
            assert found.lower_bound == pytest.approx(max(scanned, 0.0), abs=1e-9 * (1 + abs(scanned)))


def test_values_on_the_knots_leave_nothing_to_interpolate():
    """Then every mechanism on the knots extends to the interval by rounding, and the two bounds are one."""
    x = np.linspace(-1, 1, 9)
    weights = np.arange(1.0, 10) / 45
    best = solve_unbiased(x, weights, np.e)
    found = continuum_bound(
        UnbiasedProgram(x, weights, np.e), best.multipliers["lam"], best.multipliers["nu"], np.zeros(8)
    )
    assert found.interpolation == 0
    assert found.lower_bound == pytest.approx(best.bound, rel=1e-6)
    assert found.lower_bound <= best.value


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", ["uniform", "gaussian", "exponential"])
def test_its_gap_falls_with_the_square_of_the_knots_distance(name, epsilon):
    """A factor of 16 from 21 knots to 81, which the multipliers of the end knots would spoil if they were spread."""
    gaps = []
    for n in (21, 81):
        x, weights, rounding = density_prior(name, n)
        best = solve_unbiased(x, weights, np.exp(epsilon))
        gaps.append(gap(UnbiasedProgram(x, weights, np.exp(epsilon)), best, rounding))
    assert 12 < gaps[0] / gaps[1] < 18


def test_the_end_knots_keep_multipliers_to_themselves():
    """Spread over the ends' weights they would cost ten times the gap at 41 knots."""
    x, weights, rounding = density_prior("uniform", 41)
    best, program = solve_unbiased(x, weights, np.e), UnbiasedProgram(x, weights, np.e)
    assert continuum_bound(program, **best.multipliers, rounding=rounding).atoms == 2
    assert gap(program, best, rounding, (1e9,)) > 10 * gap(program, best, rounding)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "epsilon"), [("uniform", 4.0), ("exponential", 1.0), ("exponential", 4.0)])
def test_another_margin_gains_little(name, epsilon):
    """The few that are tried lose at most a tenth of the gap to a search among a hundred."""
    x, weights, rounding = density_prior(name, 41)
    best, program = solve_unbiased(x, weights, np.exp(epsilon)), UnbiasedProgram(x, weights, np.exp(epsilon))
    searched = gap(program, best, rounding, tuple(np.geomspace(1e-3, 2, 100)))
    assert gap(program, best, rounding) < 1.1 * searched


@pytest.mark.parametrize("values", [[0.03], [-0.99, 0.99], [0.5, 0.51, 0.52]])
def test_knots_without_weight_are_no_obstacle(values):
    """Most knots keep all they have, and the bound still lies below the optimum on knots that hold the values."""
    mass = np.full(len(values), 1 / len(values))
    x = np.linspace(-1, 1, 21)
    weights, rounding = rounded(x, np.array(values), mass)
    best = solve_unbiased(x, weights, np.e)
    found = continuum_bound(UnbiasedProgram(x, weights, np.e), **best.multipliers, rounding=rounding)
    finer = np.union1d(x, values)
    exact = solve_unbiased(finer, rounded(finer, np.array(values), mass)[0], np.e)
    assert 0.9 * exact.value < found.lower_bound <= exact.value


@pytest.mark.parametrize("weights", [[0.0, 0.5, 0.5, 0.0], [0.25] * 4, [1.0, 0.0, 0.0, 0.0]])
def test_no_multipliers_at_all_prove_that_no_variance_is_negative(weights):
    program = UnbiasedProgram(np.linspace(-1, 1, 4), np.array(weights), 2.0)
    found = continuum_bound(program, np.zeros(4), np.zeros(4), np.array([0.0, 0.1, 0.0]) * weights[1] * weights[2])
    assert found.lower_bound == 0
    assert np.isfinite(found.interpolation)
    assert np.isfinite(found.knot_bound)


@pytest.mark.nightly
@settings(max_examples=20, deadline=None, derandomize=True)
@given(seed=SEEDS)
def test_the_mirror_image_has_the_same_bound(random_program, seed):
    program, rounding, _, _ = random_measure(random_program(seed, knots=(3, 9), budgets=(0.2, 4.0)), seed)
    best = solve_unbiased(program.knots, program.weights, program.ratio)
    found = continuum_bound(program, **best.multipliers, rounding=rounding)
    mirrored = UnbiasedProgram(-program.knots[::-1], program.weights[::-1], program.ratio)
    other = continuum_bound(mirrored, best.multipliers["lam"][::-1], -best.multipliers["nu"][::-1], rounding[::-1])
    assert other.lower_bound == pytest.approx(found.lower_bound, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_never_lifts_it_above_exact_arithmetic(seed):
    """Feasible multipliers, all spread: the bound is a sum, done here in rational numbers."""
    rng = np.random.default_rng(seed)
    x = np.linspace(-1, 1, 31)
    weights, rounding = rounded(x, np.concatenate([x, rng.uniform(-1, 1, 200)]), np.full(231, 1 / 231))
    program = UnbiasedProgram(x, weights / weights.sum(), 5.0)
    best = solve_unbiased(x, program.weights, 5.0)
    lam, nu = 0.999 * best.multipliers["lam"], 0.999 * best.multipliers["nu"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "MARGINS", (1e9,))
        found = continuum_bound(program, lam, nu, 0.5 * rounding)
    n = [Fraction(b) / Fraction(p) + 2 * Fraction(a) for a, b, p in zip(x, nu, program.weights, strict=True)]
    at, terms = list(map(Fraction, x)), list(map(Fraction, 0.5 * rounding))
    given_up = sum(r * (n[k + 1] - n[k]) / (at[k + 1] - at[k]) for k, r in enumerate(terms))
    exact = sum(map(Fraction, lam)) + sum(terms) - given_up
    assert found.atoms == 0
    assert exact > 0
    assert Fraction(found.lower_bound) <= exact
    assert Fraction(found.lower_bound) <= Fraction(found.knot_bound) - given_up
    assert found.lower_bound == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("seed", range(4))
def test_rounding_never_lifts_split_multipliers_above_their_exact_sum(seed):
    """Feasible multipliers with atoms at the ends, many of them: what is proved on the knots is their sum."""
    x = np.linspace(-1, 1, 31)
    weights, rounding = rounded(x, x, np.random.default_rng(seed).dirichlet(np.full(31, 0.3)))
    best = solve_unbiased(x, weights, 5.0)
    lam, nu = 0.999 * best.multipliers["lam"], 0.999 * best.multipliers["nu"]
    found = continuum_bound(UnbiasedProgram(x, weights, 5.0), lam, nu, rounding)
    assert found.atoms >= 2
    assert Fraction(found.knot_bound) <= sum(map(Fraction, lam)) + sum(map(Fraction, rounding))
    assert found.knot_bound == pytest.approx(lam.sum() + rounding.sum(), rel=1e-11)


@pytest.mark.parametrize(
    ("lam", "nu", "rounding", "message"),
    [
        (np.zeros(2), np.zeros(3), np.zeros(2), "3 knots need as many lam and nu and 2 rounding terms"),
        (np.zeros(3), np.zeros(3), np.zeros(3), "3 knots need as many lam and nu and 2 rounding terms"),
        (np.array([0, np.nan, 0]), np.zeros(3), np.zeros(2), "multipliers must be finite"),
        (np.zeros(3), np.zeros(3), np.array([-0.1, 0]), "rounding terms must lie between 0"),
        (np.zeros(3), np.zeros(3), np.array([0.1, 0.21]), "rounding terms must lie between 0"),
    ],
)
def test_what_fits_no_distribution_is_refused(lam, nu, rounding, message):
    program = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.array([0.3, 0.5, 0.2]), 3.0)
    with pytest.raises(InputError, match=message):
        continuum_bound(program, lam, nu, rounding)


def test_numbers_of_half_the_length_are_taken_for_what_they_are():
    """Computed with in full length: the same bound to the last bit."""
    knots, weights, rounding = density_prior("gaussian", 9)
    program = UnbiasedProgram(knots, weights / weights.sum(), np.e)
    best = solve_unbiased(knots, program.weights, np.e)
    short: list[Any] = [
        array.astype(np.float32) for array in (best.multipliers["lam"], best.multipliers["nu"], rounding)
    ]
    short[2] *= np.float32(0.99)  # what is rounded up might be more than these weights allow
    lam, nu, rounded_down = (array.astype(np.float64) for array in short)
    assert continuum_bound(program, *short).lower_bound == continuum_bound(program, lam, nu, rounded_down).lower_bound


class TestParts:
    """What the bound is made of, by hand."""

    X = np.array([-1.0, -0.4, 0.1, 0.5, 1.0])
    P = np.array([0.3, 0.1, 0.25, 0.15, 0.2])
    R = np.array([0.01, 0.004, 0.003, 0.006])

    def test_slopes_are_those_of_the_multipliers_where_terms_have_no_roots(self):
        """n_i = nu_i / p_i + 2 x_i; nothing is clipped, so that no knot keeps anything."""
        nu = self.P * np.array([0.4, -0.3, 0.2, 0.5, -0.1])
        found = continuum_bound(UnbiasedProgram(self.X, self.P, 3.0), -0.5 * nu**2 / self.P, nu, self.R)
        slopes = np.diff(nu / self.P + 2 * self.X) / np.diff(self.X)
        assert found.atoms == 0
        assert found.interpolation == pytest.approx(slopes @ self.R, rel=1e-12)

    def test_what_is_given_up_to_rounding_between_knots_is_its_allowance(self, monkeypatch):
        """A trillion roundings of each term are allowed here, so that the allowance is a number to see."""
        program = UnbiasedProgram(self.X, self.P, 3.0)
        nu = self.P * np.array([0.4, -0.3, 0.2, 0.5, -0.1])
        monkeypatch.setattr(MODULE, "SUM_ROUNDINGS", 1e12)
        monkeypatch.setattr(MODULE, "MARGINS", (1.0,))
        found = continuum_bound(program, 0.1 * self.P, nu, self.R)
        size = np.abs(nu / self.P + 2 * self.X) + 2 * np.abs(self.X)
        allowance = sum(
            r * (1 + (a + b) / w) for r, a, b, w in zip(self.R, size, size[1:], np.diff(self.X), strict=False)
        )
        assert found.atoms == 0
        given_up = found.knot_bound - found.interpolation - found.lower_bound
        assert given_up == pytest.approx(1e12 * 2.0**-53 * allowance, rel=1e-6)

    @pytest.mark.parametrize(("lam", "nu"), [(0.4, 0.0), (0.0, 0.4), (0.3, -0.2)])
    @pytest.mark.parametrize("size", [0.1, 1.0])
    def test_a_knot_of_hardly_any_weight_keeps_its_multipliers_without_a_loss(self, lam, nu, size, monkeypatch):
        """One of them, or both: the first step proves as much on the knots as without keeping any."""
        monkeypatch.setattr("optldp.solvers.unbiased.pricing.DINKELBACH_STEPS", 0)
        x, p = np.array([-1.0, 0.0, 1.0]), np.array([0.5, 1e-8, 0.5])
        program = UnbiasedProgram(x, p / p.sum(), 3.0)
        lam, nu = size * np.array([0.2, lam, 0.2]), size * np.array([0.1, nu, -0.1])
        found = continuum_bound(program, lam, nu, np.zeros(2))
        assert found.atoms >= 1
        assert found.knot_bound == pytest.approx(certified_bound(program, lam, nu), rel=1e-5)

    def test_moving_two_atoms_costs_eighteen_half_roundings_of_what_is_moved(self, monkeypatch):
        """Sixteen and one for each atom; the two cancel, and nothing is proved besides."""
        monkeypatch.setattr(MODULE, "certified_bound", lambda *_: 0.0)
        program = UnbiasedProgram(np.array([-0.75, -0.375, 0.375, 0.75]), np.full(4, 0.25), 3.0)
        none, atoms = np.zeros(4), np.array([0.0, 1.0, -2.0, 0.0])
        assert MODULE._with_atoms(program, none, none, none, atoms) == pytest.approx(
            -18 * 2.0**-53 / 2, rel=1e-9, abs=0
        )

    def test_roots_are_accurate_and_in_order(self):
        """Of a parabola, of one with hardly any weight, where the naive formula cancels, and of a line."""
        x, p = np.array([-1.0, 0.0, 0.5, 1.0]), np.array([0.5, 1e-20, 0.0, 0.5])
        left, right = MODULE._roots(UnbiasedProgram(x, p, 3.0), np.array([0.5, 0.5, 0.5, 0.5]), np.array([0, 1, 1, -1]))
        assert left.tolist() == pytest.approx([-1, -0.5, -0.5, -1 - 2**0.5])
        assert right.tolist() == pytest.approx([1, 1e20, np.inf, 2**0.5 - 1])

    def test_roots_beyond_all_doubles_are_no_obstacle(self):
        """A line of slope 1e-300 through 1e10, without weight: warnings are errors."""
        program = UnbiasedProgram(np.array([-1.0, 0.0, 1.0]), np.array([0.5, 0.0, 0.5]), 2.0)
        found = continuum_bound(program, np.array([0.1, -1e10, 0.1]), np.array([0.1, 1e-300, -0.1]), np.zeros(2))
        assert found.lower_bound == 0
