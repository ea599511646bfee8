"""The Gaussian table against scipy's normal law: sigma, masses, and the divergence of the continuous mechanism."""

import numpy as np
import pytest
from optldp.designer import Pure
from optldp.mechanisms import Approximate, InputError, Metric, TableError, gaussian, make_exact, prove, verify
from optldp.mechanisms.additive.gaussian import gaussian_delta, gaussian_sigma
from optldp.mechanisms.exactness import require_proved
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

BUDGETS = [(0.1, 1e-9), (1.0, 1e-6), (1.0, 0.5), (5.0, 1e-3), (16.0, 1e-6), (1e-6, 0.99), (1.0, 1e-12)]


def continuous_delta(epsilon: float, sigma: float) -> float:
    """The hockey-stick divergence of N(0, sigma^2) and N(1, sigma^2), by the ratio's threshold (Balle and Wang)."""
    threshold = 0.5 - epsilon * sigma**2
    return norm.cdf(threshold, 0, sigma) - np.exp(epsilon) * norm.cdf(threshold, 1, sigma)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_sigma_is_the_least_that_the_normal_law_allows(epsilon, delta):
    """By scipy's root of its own formula."""
    oracle = brentq(lambda s: continuous_delta(epsilon, s) / delta - 1, 0.05, 1e9, xtol=1e-14, rtol=1e-14)  # pyright: ignore[reportArgumentType] -- a float will do
    assert gaussian_sigma(epsilon, delta) == pytest.approx(oracle, rel=1e-9)
    assert gaussian_delta(epsilon, gaussian_sigma(epsilon, delta)) <= delta


def test_the_divergence_is_that_of_the_two_densities():
    """By integrating the positive part of their difference."""
    sigma, epsilon = 1.3, 0.7
    part = quad(lambda y: max(0.0, norm.pdf(y, 0, sigma) - np.exp(epsilon) * norm.pdf(y, 1, sigma)), -12, 12, limit=200)
    assert gaussian_delta(epsilon, sigma) == pytest.approx(part[0], abs=1e-8)


@pytest.mark.parametrize(("epsilon", "delta"), BUDGETS)
def test_a_table_is_proved_with_hardly_any_delta_left(epsilon, delta):
    """Telling cells alone costs less than a hundredth of delta, where whole numbers can tell so little."""
    made = make_exact(gaussian(np.linspace(-3, 5, 9), Approximate(epsilon, delta)))
    assert made.proof.ok
    assert made.proof.divergence is not None
    room = 1.0 if delta * 2**53 > 1e5 * np.exp(epsilon) else 0.7
    assert 0.93 * room < float(made.proof.divergence) / delta <= 1
    assert verify(made.mechanism).ok
    assert abs(float(made.mean_change)) <= 1e-12 * 8
    assert abs(made.variance_change) < 1e-11


def test_the_divergence_of_finer_knots_is_still_that_of_the_ends():
    """The tightest pair of knots is the first and the last: that of the width of the domain."""
    two, many = (make_exact(gaussian(np.linspace(0, 1, n), Approximate(1.0, 1e-6))).proof for n in (2, 33))
    assert two.divergence is not None
    assert many.divergence is not None
    assert abs(float(two.divergence - many.divergence)) < 1e-14


def test_masses_are_those_of_the_normal_law():
    """Cell by cell against scipy's, to relative precision in both tails."""
    table = gaussian([0.0, 0.5, 1.0], Approximate(1.0, 1e-6))
    sigma = table.provenance.parameters["sigma"]
    edges = (table.low[:-1] + table.low[1:]) / 2
    for x, row in zip(table.knots, table.probabilities, strict=True):
        z = np.r_[-np.inf, (edges - x) / sigma, np.inf]
        masses = np.where(z[1:] <= 0, norm.cdf(z[1:]) - norm.cdf(z[:-1]), norm.sf(z[:-1]) - norm.sf(z[1:]))
        np.testing.assert_allclose(row, masses, rtol=1e-9, atol=0)
    np.testing.assert_allclose(table.knot_variances, sigma**2 * (1 + 1 / (12 * 16**2)), rtol=1e-12)
    np.testing.assert_allclose(table.knot_means, table.knots, atol=1e-14)


def test_no_pure_budget_is_kept():
    """Some output is possible at one value and not at another, in whole numbers."""
    table = make_exact(gaussian([0, 1], Approximate(1.0, 1e-6))).mechanism
    assert not prove(table, epsilon=16.0).ok
    assert prove(table, epsilon=Approximate(1.1, 1e-6)).ok
    with pytest.raises(TableError, match="delta must be at least the divergence"):
        require_proved(table, epsilon=Approximate(1.0, 0.9e-6))


def test_a_delta_that_whole_numbers_cannot_tell_is_refused():
    """And a promise of another kind."""
    with pytest.raises(
        InputError, match=r"^delta must be at least 5\.3e-14 at epsilon 1 to be proved in whole numbers"
    ):
        gaussian([0, 1], Approximate(1.0, 1e-14))
    for promise in (Pure(1.0), Metric(1.0)):
        with pytest.raises(InputError, match="keeps a promise of epsilon and delta, got epsilon 1"):
            gaussian([0, 1], promise)  # pyright: ignore[reportArgumentType] -- what it refuses
