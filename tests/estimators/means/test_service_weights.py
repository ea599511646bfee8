"""Weights of services: those of least variance, under a prior that finds the bulk of the inputs."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service
from optldp.estimators.means.service_weights import population_weights, rough_prior
from optldp.mechanisms import duchi, piecewise, square_wave


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_no_other_weights_that_sum_to_one_vary_less(seed, n_services):
    """Expected variance sum_j w_j^2 E_p[var_j] against random competitors, negative weights included."""
    rng = np.random.default_rng(seed)
    variances, prior = rng.uniform(0.1, 9, (n_services, 7)), rng.dirichlet(np.ones(7))
    best = population_weights(variances, prior)
    others = best + rng.normal(size=(50, n_services)) * rng.uniform(0, 1, (50, 1))
    others += (1 - others.sum(axis=1, keepdims=True)) / n_services
    assert abs(best.sum() - 1) < 1e-12
    assert best**2 @ (variances @ prior) <= (others**2 @ (variances @ prior)).min() * (1 + 1e-12)


def counts_of(x: np.ndarray, rng: np.random.Generator) -> ReportCounts:
    knots = np.linspace(-1, 1, 17)
    services = [Service(f.__name__, f(knots, 3.0)) for f in (duchi, piecewise, square_wave)]
    outputs = [s.mechanism.output_index(s.mechanism.sample(x, rng)) for s in services]
    matrix = np.stack(outputs, axis=1)
    matrix[::3, 1] = -1
    return ReportCounts.from_outputs(services, matrix)


def test_the_rough_prior_is_em_on_single_reports():
    """Against a hundred steps written out report by report."""
    counts = counts_of(np.random.default_rng(1).uniform(-1, 1, 60), np.random.default_rng(2))
    grid = InputGrid.equal_cells(-1, 1, 6)
    likelihoods = [
        grid.rows(counts.mechanisms[j])[:, output]
        for group in counts.groups
        for row, count in zip(group.outputs, group.counts, strict=True)
        for j, output in zip(group.services, row, strict=True)
        for _ in range(count)
    ]
    weights = np.full(6, 1 / 6)
    for _ in range(100):
        weights = np.mean([weights * row / (weights @ row) for row in likelihoods], axis=0)
    np.testing.assert_allclose(rough_prior(counts, grid), 0.99 * weights + 0.01 / 6, atol=1e-12)


def test_the_rough_prior_finds_where_the_inputs_are():
    x = np.random.default_rng(3).normal(0.5, 0.1, 20_000).clip(-1, 1)
    grid = InputGrid.equal_cells(-1, 1, 8)
    prior = rough_prior(counts_of(x, np.random.default_rng(4)), grid)
    assert abs(prior.sum() - 1) < 1e-12
    assert (prior > 0.001).all()
    assert abs(prior @ grid.points - 0.5) < 0.03
    assert prior[grid.points > 0].sum() > 0.95
