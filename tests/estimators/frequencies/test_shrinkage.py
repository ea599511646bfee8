"""Empirical Bayes: posterior moments by numerical integration, and errors against what knows more."""

import numpy as np
import pytest
from optldp.estimators.frequencies import norm_sub
from optldp.estimators.frequencies.shrinkage import _posteriors, _ranges, shrunk
from scipy.integrate import quad
from scipy.stats import norm


@pytest.mark.parametrize("estimate", [-0.09, -0.01, 0.0, 0.03, 0.3])
def test_posterior_moments_are_those_of_numerical_integration(estimate):
    """Density of the estimate, mean and mean square of the frequency, for ranges and points."""
    low, high = np.array([0.0, 0.0, 0.0, 0.02, 0.05]), np.array([0.0, 0.004, 0.5, 0.06, 0.05])
    found = _posteriors(np.array([estimate]), np.array([0.02]), low, high)
    for g, (a, b) in enumerate(zip(low, high, strict=True)):
        if a == b:
            expected = norm.pdf(estimate, a, 0.02), a, a * a
        else:
            parts = [
                quad(
                    lambda t, k=k: t**k * norm.pdf(estimate, t, 0.02), a, b, epsabs=0, points=[min(max(estimate, a), b)]
                )[0]
                for k in range(3)
            ]
            expected = parts[0] / (b - a), parts[1] / parts[0], parts[2] / parts[0]
        np.testing.assert_allclose([each[g, 0] for each in found], expected, rtol=1e-6, atol=1e-12)


def test_estimates_far_below_zero_are_zero():
    """Where no range has a likelihood that a double shows."""
    found = shrunk(np.array([-2.0, 0.5, 0.5, 0.0]), np.full(4, 0.01))
    assert np.isfinite(found).all()
    assert found[0] < 1e-3
    assert found.sum() == pytest.approx(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["alike", "sparse", "few"])
def test_errors_are_far_below_those_of_the_projection_where_many_are_alike_or_nothing(kind):
    """A hundred categories, one standard error each; the same noise for both."""
    rng, size, error = np.random.default_rng(5), 100, 0.01
    truth = {
        "alike": np.full(size, 1 / size),
        "sparse": np.concatenate([[0.7, 0.3], np.zeros(size - 2)]),
        "few": np.concatenate([np.full(5, 0.1), np.full(size - 5, 0.5 / (size - 5))]),
    }[kind]
    losses = []
    for _ in range(20):
        given = truth + rng.normal(0.0, error, size)
        losses.append([np.sum((f - truth) ** 2) for f in (shrunk(given, np.full(size, error)), norm_sub(given))])
    mine, projected = np.mean(losses, axis=0)
    assert mine < projected / 2


def test_frequencies_that_are_known_well_stay_where_they_are():
    truth = np.array([0.4, 0.3, 0.2, 0.1])
    np.testing.assert_allclose(shrunk(truth, np.full(4, 1e-5)), truth, atol=1e-4)


def test_the_order_of_categories_does_not_matter_and_one_has_everything():
    given, errors, order = np.array([0.5, 0.1, -0.02, 0.42]), np.array([0.02, 0.01, 0.03, 0.02]), [2, 0, 3, 1]
    np.testing.assert_allclose(shrunk(given[order], errors[order]), shrunk(given, errors)[order], atol=1e-9)
    assert shrunk(np.array([0.7]), np.array([0.1])) == [1.0]


def test_ranges_start_at_zero_or_surround_the_even_frequency():
    low, high = _ranges(np.array([0.5, 0.3, 0.2, 0.0]), np.full(4, 0.01))
    assert ((low == 0) | np.isclose(low + high, 0.5)).all()
    assert (low >= 0).all()
    assert high.max() == pytest.approx(1.0, rel=0.5)
