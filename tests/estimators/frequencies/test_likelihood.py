"""The likelihood of categorical reports, against the probability of every report there is."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAbstractUsage=false

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import CategoryCounts
from optldp.estimators.frequencies.likelihood import category_likelihood
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood.bits import BitLikelihood
from optldp.solvers.likelihood.dense import DenseLikelihood

from ..categorical_mechanisms import any_mechanism

# The package offers the function under the module's name.
module = importlib.import_module("optldp.estimators.frequencies.likelihood")


def rows_of(likelihood) -> np.ndarray:
    """The matrix L, column by column."""
    return np.stack([likelihood.mix(unit) for unit in np.eye(likelihood.n_components)], axis=1)


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_rows_are_the_reports_probabilities_up_to_a_factor(seed, packed):
    """Every report there is, as a full matrix and as packed bits."""
    mechanism = any_mechanism(np.random.default_rng(seed))
    reports = mechanism.all_reports()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FEW_REPORTS", 0 if packed else 10**6)
        rows = rows_of(category_likelihood(CategoryCounts.from_reports(mechanism, reports)))
    chance = mechanism.pmf(reports)
    order = np.lexsort(np.unpackbits(reports, axis=1).T[::-1]) if reports.ndim == 2 else np.argsort(reports)
    expected = chance[order]
    np.testing.assert_allclose(
        rows / rows.sum(axis=1, keepdims=True), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12
    )
    np.testing.assert_allclose(chance.sum(axis=0), 1.0, rtol=1e-12)


@pytest.mark.parametrize("make", [basic_rappor, optimised_unary])
@pytest.mark.parametrize("size", [3, 9])
def test_a_unary_report_has_the_product_of_its_bits(make, size):
    """All 2^K vectors, bit by bit: the factor of a row is q^ones (1 - q)^zeros, and then all add up to one."""
    mechanism = make(range(size), 1.3)
    p, q = mechanism.own_support, mechanism.other_support
    counts = CategoryCounts.from_reports(mechanism, mechanism.all_reports())
    bits = mechanism.bits(counts.reports)
    product = np.ones((2**size, size))
    for bit in range(size):
        for own in range(size):
            one = p if own == bit else q
            product[:, own] *= np.where(bits[:, bit], one, 1 - one)
    ones = bits.sum(axis=1, keepdims=True)
    found = rows_of(category_likelihood(counts)) * q**ones * (1 - q) ** (size - ones)
    scale = (1 - p) / (1 - q)  # an own bit that is not set
    np.testing.assert_allclose(found * scale, product, rtol=1e-12)
    np.testing.assert_allclose(product.sum(axis=0), 1.0, rtol=1e-12)


def test_few_reports_make_a_matrix_and_many_stay_packed(monkeypatch):
    """Either the number of reports or the bytes of the matrix decide; the fit is the same."""
    rng = np.random.default_rng(3)
    mechanism = optimised_unary(range(12), 1.0)
    counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(rng.integers(0, 5, 900), rng))
    fits = {}
    for name, few, full in (("full", 4096, 2**28), ("many", 10, 2**28), ("large", 4096, 100)):
        monkeypatch.setattr(module, "FEW_REPORTS", few)
        monkeypatch.setattr(module, "FULL_BYTES", full)
        likelihood = category_likelihood(counts)
        assert isinstance(likelihood, DenseLikelihood if name == "full" else BitLikelihood)
        fits[name] = fit_mixture(likelihood)
    for name in ("many", "large"):
        np.testing.assert_allclose(fits[name].weights, fits["full"].weights, atol=1e-7)
        assert fits[name].loglik == pytest.approx(fits["full"].loglik, abs=1e-6)


def test_bits_of_thousands_of_categories_do_not_underflow():
    """2,000 bits would have a probability near e^-1300; here it is relative."""
    mechanism = optimised_unary(range(2000), 1.0)
    counts = CategoryCounts.from_reports(
        mechanism, mechanism.sample_codes(np.zeros(50, dtype=int), np.random.default_rng(1))
    )
    likelihood = category_likelihood(counts)
    mixed = likelihood.mix(np.full(2000, 1 / 2000))
    assert (mixed >= 1).all()
    assert (mixed <= mechanism.support_ratio).all()


def test_reports_of_hashing_are_counted_whatever_the_number_of_users():
    """A hundred thousand users, but no more rows than seeds times values."""
    mechanism = local_hashing(range(40), 1.0)
    reports = mechanism.sample_codes(np.zeros(100_000, dtype=int), np.random.default_rng(1))
    likelihood = category_likelihood(CategoryCounts.from_reports(mechanism, reports))
    assert likelihood.counts.size <= mechanism.n_hashes * mechanism.n_values
    assert likelihood.total == 100_000


def test_no_reports_are_refused():
    with pytest.raises(InputError, match="at least one report"):
        category_likelihood(CategoryCounts.from_reports(categorical_grr("abc", 1.0), []))
