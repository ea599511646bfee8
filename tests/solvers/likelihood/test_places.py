"""Components of one place each: the products of a matrix that is never formed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood.places import PlaceLikelihood

EXACT = 1e-12
"""Agreement of products that are summed in another order."""


def matrix_of(symbols, ratios, neutral):
    """L, entry by entry."""
    rows = [[ratios[j][symbol] for symbol in row for j in range(len(ratios))] + [1.0] * neutral for row in symbols]
    return np.array(rows)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_products_are_those_of_the_matrix(seed, neutral):
    """Up to five places of four symbols, one to three components each, rows that repeat and counts of zero."""
    rng = np.random.default_rng(seed)
    n_rows, n_places, n_symbols, each = rng.integers(1, [20, 6, 5, 4])
    symbols = rng.integers(0, n_symbols, (n_rows, n_places)).astype(np.int16)
    ratios = rng.uniform(0.2, 3.0, (each, n_symbols))
    counts = np.append(rng.integers(0, 5, n_rows - 1), 1)
    likelihood = PlaceLikelihood(symbols, counts, ratios, neutral=neutral)
    matrix = matrix_of(symbols.tolist(), ratios.tolist(), neutral)
    assert likelihood.n_components == matrix.shape[1]
    weights, values = rng.dirichlet(np.ones(matrix.shape[1])), rng.random(n_rows)
    np.testing.assert_allclose(likelihood.mix(weights), matrix @ weights, rtol=EXACT)
    np.testing.assert_allclose(likelihood.gather(values), matrix.T @ values, rtol=EXACT)
    np.testing.assert_allclose(likelihood.curvature(values), (matrix.T * values) @ matrix, rtol=EXACT)


@pytest.mark.slow
def test_both_ways_of_fitting_reach_the_same_maximum():
    """The interior point uses the curvature, EM does not."""
    rng = np.random.default_rng(1)
    symbols = rng.integers(0, 3, (40, 3))
    likelihood = PlaceLikelihood(symbols, rng.integers(1, 9, 40), [[0.5, 2.0, 1.5], [0.7, 0.5, 3.0]], neutral=True)
    exact = fit_mixture(likelihood, method="interior-point")
    slow = fit_mixture(likelihood, method="em", certificate=1e-7)
    assert exact.certificate < 1e-8
    assert exact.loglik == pytest.approx(slow.loglik, abs=2e-5)


@pytest.mark.parametrize(
    ("symbols", "ratios", "message"),
    [
        ([[0, 2]], [[1.0, 2.0]], r"symbols must lie in 0\.\.1, got 0 to 2"),
        ([[-1, 0]], [[1.0, 2.0]], r"symbols must lie in 0\.\.1, got -1 to 0"),
        ([[0.0, 1.0]], [[1.0, 2.0]], "symbols must be a matrix of integers"),
        ([0, 1], [[1.0, 2.0]], "symbols must be a matrix of integers"),
        ([[0, 1], [1, 0]], [[1.0, 2.0]], "one row for each of 1 counts, got 2"),
        ([[0, 1]], [[1.0, 0.0]], "ratios must be a matrix of positive numbers"),
        ([[0, 1]], [1.0, 2.0], "ratios must be a matrix"),
        ([[0, 1]], [[1.0, np.inf]], "ratios must be a matrix of positive"),
    ],
)
def test_what_is_no_observation_is_refused(symbols, ratios, message):
    with pytest.raises(InputError, match=message):
        PlaceLikelihood(np.array(symbols), [1], ratios)
