"""The certified optimum: known optima, and a bound that brute force confirms."""

import math

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.mechanisms import verify
from optldp.mechanisms.budget import inner_epsilon
from threadpoolctl import threadpool_info, threadpool_limits

KNOTS = np.linspace(-1.0, 1.0, 17)
DENSITIES = {
    "gaussian": np.exp(-(KNOTS**2) / (2 * 0.1**2)),
    "exponential": np.exp(-6 * (KNOTS + 1)),
    "uniform": np.ones(17),
}
REFERENCE = {  # theory, section 2: continuous outputs, certified to 1e-6, printed to six decimals
    "gaussian": {0.5: 15.764916, 1.0: 3.345629, 2.0: 0.526262, 4.0: 0.046030},
    "exponential": {0.5: 15.795037, 1.0: 3.803270, 2.0: 0.770015, 4.0: 0.083001},
    "uniform": {0.5: 16.000626, 1.0: 3.909797, 2.0: 0.788867, 4.0: 0.108200},
}


def density_prior(name: str) -> Prior:
    return Prior.on_knots(KNOTS, DENSITIES[name], source="public")


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("name", list(REFERENCE))
class TestReference:
    def test_the_variance_is_the_known_optimum_and_the_bound_is_just_below(self, name, epsilon):
        prior, known = density_prior(name), REFERENCE[name][epsilon]
        best = design(prior, epsilon, tolerance=1e-6, uniform_share=0.0, exact=False)
        variance = best.mechanism.expected_variance(prior.knot_prior)
        assert best.status == "optimal"
        assert variance == pytest.approx(known, rel=1e-6, abs=5.1e-7)
        assert variance * (1 - 1e-6) <= best.bound <= variance

    def test_the_table_is_sparse_private_and_unbiased(self, name, epsilon):
        best = design(density_prior(name), epsilon, tolerance=1e-6, uniform_share=0.0, exact=False)
        assert best.mechanism.is_discrete
        assert best.mechanism.low.size <= 2 * KNOTS.size
        checked = verify(best.mechanism)
        assert not checked.failures
        assert checked.max_log_ratio <= epsilon
        assert checked.max_abs_bias < 1e-12


@pytest.mark.parametrize("domain", [(-1.0, 1.0), (0.0, 200.0), (2000.0, 2024.0)])
def test_brute_force_over_outputs_confirms_the_bound(domain):
    """A column y costs sum_i min(g_i, e^eps g_i); on a fine grid of y none is below zero by more than given up."""
    low, high = domain
    values = np.random.default_rng(3).uniform(low, high, 200)
    prior, epsilon = Prior.from_data(values, knots=9, domain=domain), 1.0
    best = design(prior, epsilon, tolerance=1e-6, uniform_share=0.0, exact=False)
    lam, nu = (best.certificate.multipliers[name] for name in ("lam", "nu"))
    y = np.linspace(-20, 20, 200_001)
    offset = y - np.linspace(-1, 1, 9)[:, None]
    reduced = prior.weights[:, None] * offset**2 - lam[:, None] - nu[:, None] * offset
    lowest = np.minimum(reduced, math.e * reduced).sum(axis=0).min()
    bound = ((high - low) / 2) ** 2 * (lam.sum() + min(0.0, lowest)) + prior.rounding_variance
    assert best.bound == pytest.approx(bound, rel=1e-6)
    assert best.bound <= best.mechanism.var(values).mean()


def test_a_budget_a_hair_smaller_is_spent_but_the_bound_holds_for_the_whole():
    best = design(density_prior("uniform"), 1.0, tolerance=1e-6, uniform_share=0.0, exact=False)
    spent = verify(best.mechanism).max_log_ratio
    assert 1 - 3e-12 < spent < 1.0
    assert spent == pytest.approx(inner_epsilon(1.0), abs=1e-15)
    assert best.mechanism.epsilon == 1.0


def test_two_knots_give_duchis_mechanism():
    prior = Prior.on_knots([0, 10], [1, 3], source="public")
    best = design(prior, 1.0, tolerance=1e-6, uniform_share=0.0, exact=False)
    reach = (math.e + 1) / (math.e - 1)
    np.testing.assert_allclose(best.mechanism.low, [5 - 5 * reach, 5 + 5 * reach], rtol=1e-6)
    assert best.bound == pytest.approx(25 * (reach**2 - 1), rel=1e-6)


@pytest.mark.slow
def test_a_point_mass_and_a_prior_over_many_magnitudes_are_solved():
    for weights in (np.arange(17) == 8, np.exp(-30 * (KNOTS + 1)), np.arange(17) == 0):
        best = design(
            Prior.on_knots(KNOTS, weights, source="public"), 1.0, tolerance=1e-6, uniform_share=0.0, exact=False
        )
        assert best.status == "optimal"
        assert not verify(best.mechanism).failures


@pytest.mark.slow
def test_the_threads_of_others_are_left_as_they_were():
    with threadpool_limits(2, user_api="blas"):
        before = [pool["num_threads"] for pool in threadpool_info()]
        design(density_prior("uniform"), 1.0, tolerance=1e-6, uniform_share=0.0, exact=False)
        assert 2 in before
        assert [pool["num_threads"] for pool in threadpool_info()][: len(before)] == before
