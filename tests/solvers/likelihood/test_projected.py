"""The projected gradient: the interior point's maximum, zeros that are zero, and few steps for many categories."""

import numpy as np
import pytest
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.solvers import Stop, fit_mixture
from optldp.solvers.likelihood.bits import BitLikelihood
from optldp.solvers.likelihood.dense import DenseLikelihood


@pytest.mark.parametrize("seed", range(10))
def test_it_finds_the_interior_points_maximum(seed):
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(12), 6)
    likelihood = DenseLikelihood([rows], rng.poisson(20, 12))
    projected, interior = (fit_mixture(likelihood, method=m) for m in ("projected-gradient", "interior-point"))
    assert projected.stop is Stop.CERTIFICATE
    assert projected.certificate <= 1e-8
    assert projected.loglik == pytest.approx(interior.loglik, abs=1e-6 * likelihood.total)
    np.testing.assert_allclose(projected.weights, interior.weights, atol=1e-3)


def test_the_log_likelihood_never_falls():
    rng = np.random.default_rng(3)
    likelihood = DenseLikelihood([rng.dirichlet(np.ones(30), 20)], rng.poisson(5, 30))
    seen = []
    fit_mixture(likelihood, method="projected-gradient", progress=lambda now: seen.append(now.value))
    assert len(seen) > 3
    assert (np.diff(seen) >= -1e-9 * abs(seen[0])).all()


def test_a_start_at_a_corner_that_forbids_a_report_leaves_it():
    """Reports that only the other component makes pull away from it; the corner itself is refused as impossible."""
    likelihood = DenseLikelihood([[[0.9, 0.1], [0.2, 0.8]]], [50, 50])
    fit = fit_mixture(likelihood, method="projected-gradient", start=[1.0, 0.0])
    assert fit.weights[1] == pytest.approx(4 / 7, abs=1e-6)


def test_categories_of_hashing_take_few_steps_and_those_of_nobody_get_zero():
    mechanism, rng = local_hashing(range(200), 1.0), np.random.default_rng(4)
    reports = mechanism.sample_codes(rng.choice(200, 5000, p=np.array([0.5, 0.5, *np.zeros(198)])), rng)
    distinct, counts = np.unique(reports, return_counts=True)
    likelihood = BitLikelihood(mechanism.support(distinct), counts, 200, low=1.0, high=mechanism.support_ratio)
    fit = fit_mixture(likelihood, method="projected-gradient")
    assert fit.certificate <= 1e-8
    assert fit.iterations < 100
    assert (fit.weights == 0).sum() > 100
