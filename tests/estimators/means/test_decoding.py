"""The plain decoder: the reports' own means where that is unbiased, else as near to them as unbiasedness allows."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from optldp.estimators import InputGrid, Service, optimal_decoder, plain_decoder
from optldp.estimators.means.decoding import decoded_variances, plain_decoders
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.mechanisms import FAMILIES, InputError, TabulatedMechanism, duchi, laplace, piecewise, square_wave

from .test_unbiasing import random_table

KNOTS = np.linspace(-1, 1, 9)


def deficient() -> TabulatedMechanism:
    """Two outputs whose chances do not move in step with the input: rank 2, no unbiased decoder."""
    return TabulatedMechanism.from_points([-1, 0, 1], [0, 1], [[0.7, 0.3], [0.6, 0.4], [0.3, 0.7]], 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("name", list(FAMILIES))
def test_every_family_is_decoded_without_bias(name, epsilon):
    """Also in units far from zero."""
    table = FAMILIES[name](np.linspace(5e4, 9e4, 12), epsilon)
    np.testing.assert_allclose(table.probabilities @ plain_decoder(table), table.knots, atol=4e4 * 1e-9)


@pytest.mark.parametrize("name", [name for name in FAMILIES if name not in ("laplace", "ptt2")])
def test_where_the_law_in_a_cell_ignores_the_input_it_is_the_affine_unbiasing(name):
    """The mean of each output, less the shift, over the scale; Laplace and tents have laws that do not."""
    table = FAMILIES[name](KNOTS, 1.5)
    affine = affine_unbiasing(table)
    assert affine is not None
    middles = (table.low + table.high) / 2
    np.testing.assert_allclose(plain_decoder(table), (middles - affine[1]) / affine[0], rtol=1e-9)


def test_laplace_gets_the_nearest_unbiased_decoder():
    """Against Clarabel; the start is the mean report of each output under equal weights, itself biased."""
    table = laplace(KNOTS, 1.0)
    joint = table.probabilities / KNOTS.size
    start = (joint * table.output_mean).sum(axis=0) / joint.sum(axis=0)
    assert np.abs(table.probabilities @ start - KNOTS).max() > 1e-4
    values = cp.Variable(start.size)
    distance = cp.sum_squares(cp.multiply(np.sqrt(joint.sum(axis=0)), values - start))
    problem = cp.Problem(cp.Minimize(distance), [table.probabilities @ values == KNOTS])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    np.testing.assert_allclose(plain_decoder(table), np.asarray(values.value), atol=1e-6)
    # Nearest to its start is not of least variance: the two decoders differ.
    assert np.abs(plain_decoder(table) - optimal_decoder(table)).max() > 1e-2


def test_the_tails_of_laplace_lose_their_noise():
    """Reports beyond the domain are decoded as one value, with less variance than the 8/epsilon^2 of the report."""
    table = laplace(KNOTS, 0.5)
    variances = decoded_variances(table, plain_decoder(table), InputGrid.knots(KNOTS))
    assert (variances < 0.7 * table.knot_variances).all()


def test_a_curved_mean_gets_the_optimal_decoder():
    table = random_table(3, 4, 7)
    np.testing.assert_array_equal(plain_decoder(table), optimal_decoder(table))


def test_an_output_that_never_occurs_is_no_obstacle():
    rows = np.insert(duchi([-1.0, 1.0], 1.0).probabilities, 1, 0.0, axis=1)
    table = TabulatedMechanism.from_points([-1, 1], [-2, 0, 2], rows, 1.0)
    np.testing.assert_allclose(rows @ plain_decoder(table), [-1, 1], atol=1e-12)


def test_a_table_without_an_unbiased_mean_is_named_with_its_rank_and_what_it_still_tells():
    services = [Service("good", duchi(KNOTS, 1.0)), Service("poor", deficient())]
    expected = r"^service 'poor': an unbiased mean .* rank 2 .* estimate the distribution, .* fix 1 linear"
    with pytest.raises(InputError, match=expected) as refused:
        plain_decoders(services)
    assert "\n" not in str(refused.value)


class TestVariances:
    def test_discrete_reports_keep_the_variance_that_the_table_states(self):
        """Between knots too, rounding included."""
        table, x = duchi(KNOTS, 1.0), np.array([-0.9, 0.1, 0.33])
        np.testing.assert_allclose(decoded_variances(table, plain_decoder(table), InputGrid.knots(x)), table.var(x))

    @pytest.mark.parametrize("family", [piecewise, square_wave, laplace])
    def test_over_a_cell_it_is_the_average_of_those_within(self, family):
        """Against the midpoint rule with 4000 inputs per cell."""
        table = family(KNOTS, 2.0)
        decoder, edges = plain_decoder(table), np.array([-0.8, -0.3, 0.0, 0.9])
        shares = (np.arange(4000) + 0.5) / 4000
        inside = [low + (high - low) * shares for low, high in itertools.pairwise(edges)]
        expected = [np.mean(table.pmf(x) @ decoder**2 - x**2) for x in inside]
        np.testing.assert_allclose(decoded_variances(table, decoder, InputGrid.cells(edges)), expected, rtol=1e-6)

    def test_a_domain_far_from_zero_costs_no_digits(self):
        near, far = square_wave(KNOTS, 3.0), square_wave(KNOTS + 1e6, 3.0)
        got = decoded_variances(far, plain_decoder(far), InputGrid.knots(far.knots))
        expected = decoded_variances(near, plain_decoder(near), InputGrid.knots(near.knots))
        np.testing.assert_allclose(got, expected, rtol=1e-6)
