"""Decoders: unbiased whatever the table, of least second moment, and refused where none exists."""

import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import optimal_decoder
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.mechanisms import InputError, TabulatedMechanism
from optldp.mechanisms.table.knot_prior import KnotPrior


def random_table(seed: int, n: int, m: int, prior: KnotPrior | None = None) -> TabulatedMechanism:
    """Positive probabilities without any structure: its mean is affine in the knots with probability zero."""
    rng = np.random.default_rng(seed)
    probabilities = rng.uniform(1.0, math.e, (n, m))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    knots = np.sort(rng.uniform(-1, 1, n))
    return TabulatedMechanism.from_points(knots, np.arange(m), probabilities, 3.0, prior=prior)


def randomised_response(knots: np.ndarray, epsilon: float) -> TabulatedMechanism:
    n = len(knots)
    probabilities = np.ones((n, n)) + np.eye(n) * math.expm1(epsilon)
    return TabulatedMechanism.from_points(knots, knots, probabilities / (n + math.expm1(epsilon)), epsilon * 1.001)


class TestAffine:
    @pytest.mark.slow
    @settings(deadline=None)
    @given(st.integers(2, 9), st.floats(0.1, 5), st.floats(-1e4, 1e4), st.floats(1e-3, 1e3))
    def test_randomised_response_shrinks_towards_its_middle(self, n, epsilon, low, width):
        """E[report | x] = q sum of knots + (p - q) x."""
        knots = np.linspace(low, low + width, n)
        found = affine_unbiasing(randomised_response(knots, epsilon))
        assert found is not None
        other = 1 / (n + math.expm1(epsilon))
        assert found[0] == pytest.approx(other * math.expm1(epsilon), rel=1e-6)
        assert found[1] == pytest.approx(other * knots.sum(), rel=1e-6, abs=1e-6 * width)

    def test_unbiased_tables_need_nothing(self):
        table = randomised_response(np.array([0.0, 1.0, 4.0]), 1.0)
        found = affine_unbiasing(table)
        assert found is not None
        scale, shift = found
        assert affine_unbiasing(table.affine(1 / scale, -shift / scale)) == (1.0, 0.0)

    def test_a_curved_mean_has_none(self):
        assert affine_unbiasing(random_table(1, 5, 7)) is None

    def test_a_mean_that_ignores_the_input_has_none(self):
        constant = TabulatedMechanism.from_points([0, 1, 2], [5, 6], np.full((3, 2), 0.5), 1.0)
        assert affine_unbiasing(constant) is None

    def test_a_negative_slope_is_a_slope(self):
        table = TabulatedMechanism.from_points([0, 1], [0, 1], [[0.25, 0.75], [0.75, 0.25]], 1.2)
        assert affine_unbiasing(table) == pytest.approx((-0.5, 0.75))


def by_quadratic_program(table: TabulatedMechanism, weights: np.ndarray) -> np.ndarray:
    average = weights @ table.probabilities
    values = cp.Variable(average.size)
    problem = cp.Problem(
        cp.Minimize(cp.sum_squares(cp.multiply(np.sqrt(average), values))),
        [table.probabilities @ values == table.knots],
    )
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return np.asarray(values.value)


class TestDecoder:
    @pytest.mark.parametrize("seed", range(4))
    @pytest.mark.parametrize(("n", "m"), [(2, 3), (4, 4), (4, 11)])
    def test_it_solves_the_quadratic_program(self, seed, n, m):
        weights = np.random.default_rng(seed).dirichlet(np.ones(n))
        table = random_table(seed, n, m)
        expected = by_quadratic_program(table, weights)
        got = optimal_decoder(table, weights)
        np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())

    @settings(max_examples=50, deadline=None)
    @given(st.integers(0, 1000), st.integers(2, 6), st.integers(0, 5))
    def test_decoded_reports_are_unbiased_at_every_knot(self, seed, n, extra):
        table = random_table(seed, n, n + extra)
        values = optimal_decoder(table)
        np.testing.assert_allclose(table.probabilities @ values, table.knots, atol=1e-8)

    def test_weights_default_to_the_tables_prior_else_to_equal_ones(self):
        prior = KnotPrior(np.array([0.7, 0.1, 0.2]), np.zeros(2), "public")
        without, with_prior = random_table(3, 3, 6), random_table(3, 3, 6, prior)
        np.testing.assert_array_equal(optimal_decoder(without), optimal_decoder(without, np.ones(3)))
        np.testing.assert_array_equal(optimal_decoder(with_prior), optimal_decoder(without, prior.weights))
        assert not np.allclose(optimal_decoder(with_prior), optimal_decoder(without))

    def test_a_point_mass_of_weights_is_allowed(self):
        """Only that knot's variance counts, yet all knots stay unbiased."""
        table = random_table(5, 4, 9)
        values = optimal_decoder(table, [0, 1, 0, 0])
        np.testing.assert_allclose(table.probabilities @ values, table.knots, atol=1e-9)
        spread = table.probabilities @ values**2
        assert spread[1] < (table.probabilities @ optimal_decoder(table) ** 2)[1]

    def test_outputs_that_never_occur_change_nothing(self):
        table = random_table(6, 3, 5)
        padded = np.insert(table.probabilities, 2, 0.0, axis=1)
        wider = TabulatedMechanism.from_points(table.knots, np.arange(6), padded, 3.0)
        np.testing.assert_allclose(np.delete(optimal_decoder(wider), 2), optimal_decoder(table))
        assert optimal_decoder(wider)[2] == 0.0

    @pytest.mark.slow
    @settings(deadline=None)
    @given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
    def test_another_unit_of_the_inputs_only_rescales(self, shift, scale):
        table = random_table(7, 4, 8)
        moved = TabulatedMechanism.from_points(shift + scale * table.knots, np.arange(8), table.probabilities, 3.0)
        expected = shift + scale * optimal_decoder(table)
        np.testing.assert_allclose(optimal_decoder(moved), expected, atol=1e-6 * (scale + abs(shift) * 1e-6))

    def test_too_few_outputs_name_the_rank_and_the_knot(self):
        table = TabulatedMechanism.from_points([0, 1, 3], [0, 1], [[0.7, 0.3], [0.6, 0.4], [0.3, 0.7]], 1.0)
        with pytest.raises(InputError, match=r"3 knots have rank 2 .* input 1 .*more outputs"):
            optimal_decoder(table)

    def test_a_deficient_rank_suffices_where_the_knots_are_in_range(self):
        """Three knots told apart by two outputs on a straight line: rank 2, and yet unbiased."""
        rows = np.array([[0.7, 0.3], [0.6, 0.4], [0.4, 0.6]])
        table = TabulatedMechanism.from_points([0, 1, 3], [0, 1], rows, 1.0)
        np.testing.assert_allclose(rows @ optimal_decoder(table), [0, 1, 3], atol=1e-12)

    @pytest.mark.parametrize("weights", [[1, 1], [1, -1, 1], [0, 0, 0], [1, math.nan, 1]])
    def test_unusable_weights_are_refused(self, weights):
        with pytest.raises(InputError, match="weights must be 3"):
            optimal_decoder(random_table(8, 3, 4), weights)
