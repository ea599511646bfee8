"""Packed bits: the products of the matrix that they stand for, without ever forming it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood import bits as bit_likelihood
from optldp.solvers.likelihood.bits import BitLikelihood
from optldp.solvers.likelihood.tuples import TupleLikelihood

EXACT = 1e-12
"""Agreement, relative to the largest entry, of products summed in another order."""


@pytest.mark.slow
@pytest.mark.parametrize("many_rows", [1, 1000])
@given(seed=st.integers(0, 2**32 - 1), per_row=st.booleans())
def test_packed_bits_multiply_as_the_matrix_does(many_rows, seed, per_row):
    """Up to forty bits, whole bytes and not, added by one or two bytes, with numbers of each row's own or of all."""
    rng = np.random.default_rng(seed)
    n_rows, n_components = rng.integers(1, 30), int(rng.integers(1, 41))
    bits = rng.random((n_rows, n_components)) < rng.random()
    low, high = rng.uniform(0.1, 2.0, (2, n_rows, 1) if per_row else (2, 1, 1))
    matrix = np.where(bits, high, low)
    counts = rng.integers(1, 9, n_rows)
    packed = np.packbits(bits, axis=1)
    likelihood = BitLikelihood(packed, counts, n_components, low=np.squeeze(low.T), high=np.squeeze(high.T))
    weights, values = rng.random(n_components), rng.random(n_rows)  # products take weights of any sum
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bit_likelihood, "MANY_ROWS", many_rows)
        gathered = likelihood.gather(values)
    for got, expected in (
        (likelihood.mix(weights), matrix @ weights),
        (gathered, matrix.T @ values),
        (likelihood.curvature(values), (matrix.T * values) @ matrix),
    ):
        np.testing.assert_allclose(got, expected, rtol=EXACT)
    assert likelihood.total == counts.sum()


@pytest.mark.parametrize("rows_a_block", [1, 4, 7, 100])
def test_blocks_of_any_size_give_the_same_products(monkeypatch, rows_a_block):
    """Seven rows of 19 bits, in blocks that divide them and blocks that do not."""
    rng = np.random.default_rng(2)
    bits = rng.random((7, 19)) < 0.5
    matrix = np.where(bits, 0.75, 0.25)
    monkeypatch.setattr(bit_likelihood, "BLOCK_ROWS", rows_a_block)
    monkeypatch.setattr(bit_likelihood, "BLOCK_BYTES", rows_a_block * 8 * 19)
    likelihood = BitLikelihood(np.packbits(bits, axis=1), np.ones(7), 19, low=0.25, high=0.75)
    weights, values = rng.dirichlet(np.ones(19)), rng.random(7)
    np.testing.assert_allclose(likelihood.mix(weights), matrix @ weights, rtol=EXACT)
    np.testing.assert_allclose(likelihood.gather(values), matrix.T @ values, rtol=EXACT)
    np.testing.assert_allclose(likelihood.curvature(values), (matrix.T * values) @ matrix, rtol=EXACT)


@pytest.mark.parametrize("method", ["em", "squarem", "interior-point"])
def test_the_fit_is_that_of_the_same_rows_kept_whole(method):
    """Every row is an outcome of one view, whose probabilities are the row."""
    rng = np.random.default_rng(3)
    drawn = np.packbits(rng.random((400, 11)) < np.linspace(0.2, 0.6, 11), axis=1)
    bits, counts = np.unique(drawn, axis=0, return_counts=True)
    matrix = np.where(np.unpackbits(bits, axis=1, count=11), 0.6, 0.2)
    packed = fit_mixture(BitLikelihood(bits, counts, 11, low=0.2, high=0.6), method=method, certificate=1e-6)
    whole = TupleLikelihood([matrix.T], np.arange(len(bits))[:, None], counts)
    kept = fit_mixture(whole, method=method, certificate=1e-6)
    assert packed.loglik == pytest.approx(kept.loglik, rel=1e-12)
    assert packed.iterations == kept.iterations
    np.testing.assert_allclose(packed.weights, kept.weights, atol=1e-8)


def test_a_factor_of_a_row_changes_no_gradient():
    """What multiplies both numbers of a row adds a constant to the log-likelihood."""
    rng = np.random.default_rng(4)
    bits, counts, factor = rng.integers(0, 256, (6, 2), dtype=np.uint8), rng.integers(1, 5, 6), rng.uniform(0.1, 9, 6)
    plain = BitLikelihood(bits, counts, 13, low=0.3, high=0.8)
    scaled = BitLikelihood(bits, counts, 13, low=0.3 * factor, high=0.8 * factor)
    weights = rng.dirichlet(np.ones(13))
    before, after = plain.mix(weights), scaled.mix(weights)
    np.testing.assert_allclose(scaled.gradient(after), plain.gradient(before), rtol=EXACT)
    assert scaled.loglik(after) == pytest.approx(plain.loglik(before) + counts @ np.log(factor), rel=EXACT)


def test_bits_beyond_the_last_component_are_ignored():
    packed = np.array([[0b10100000], [0b10111111]], dtype=np.uint8)
    plain, padded = (BitLikelihood(row[None], [1], 3, low=0.1, high=0.9) for row in packed)
    np.testing.assert_array_equal(plain.curvature(np.ones(1)), padded.curvature(np.ones(1)))
    np.testing.assert_array_equal(plain.gather(np.ones(1)), padded.gather(np.ones(1)))
    np.testing.assert_array_equal(plain.mix(np.eye(3)[1]), padded.mix(np.eye(3)[1]))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bits": np.zeros((2, 1), dtype=np.uint8)}, r"bytes of shape \(2, 2\), got shape \(2, 1\) of uint8"),
        ({"bits": np.zeros((3, 2), dtype=np.uint8)}, r"bytes of shape \(2, 2\), got shape \(3, 2\)"),
        ({"bits": np.zeros((2, 2), dtype=bool)}, "of bool: use numpy.packbits"),
        ({"low": -0.1}, "low must be one non-negative number"),
        ({"high": [0.5, -0.5]}, "high must be one non-negative number, or one for each of 2 rows"),
        ({"high": np.inf}, "high must be one non-negative number"),
        ({"low": [0.5, 0.5, 0.5]}, "low must be one non-negative number, or one for each of 2 rows"),
    ],
)
def test_what_is_no_bit_likelihood_is_refused(change, message):
    arguments = {"bits": np.zeros((2, 2), dtype=np.uint8), "counts": [1, 1], "n_components": 9, "low": 0.1, "high": 0.9}
    with pytest.raises(InputError, match=message):
        BitLikelihood(**(arguments | change))
