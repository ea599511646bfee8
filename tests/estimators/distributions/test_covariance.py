"""Estimated covariances of weights against closed forms and against the scatter of many repetitions."""

import numpy as np
import pytest
from optldp.estimators import InputGrid
from optldp.estimators.distributions.covariance import ems_covariance, maximum_covariance
from optldp.estimators.distributions.smoothed_em import ems
from optldp.mechanisms import square_wave
from optldp.solvers import fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood

SIZE = 9
GRID = InputGrid.equal_cells(0.0, 1.0, SIZE)
CLEAR = GRID.rows(square_wave(np.linspace(0.0, 1.0, 33), 5.0))
TRUTH = np.array([4.0, 7, 10, 13, 12, 10, 8, 6, 5]) / 75
FUNCTIONALS = np.stack([GRID.points, GRID.points**2, GRID.points < 0.3, GRID.points < 0.6])

REPETITIONS = 600
LARGEST_RATIO = 1 + 4.5 / np.sqrt(2 * REPETITIONS)
"""A standard deviation from R draws has itself a relative one of 1 / sqrt(2 R); 4.5 of them for 13 at once."""


def scatter_ratios(fit, covariance, table, n, truth=TRUTH):
    """Standard deviations over repetitions, relative to the estimated ones averaged over ten of them."""
    rng = np.random.default_rng(11)
    found, estimated = [], []
    for repetition in range(REPETITIONS):
        likelihood = DenseLikelihood([table], rng.multinomial(n, truth @ table))
        found.append(fit(likelihood))
        if repetition < 10:
            estimated.append(covariance(likelihood, found[-1]))
    seen = np.cov(np.array(found).T)
    mean = np.mean(estimated, axis=0)
    looked_at = np.vstack([np.eye(SIZE), FUNCTIONALS])
    return np.sqrt(np.einsum("ik,kl,il->i", looked_at, seen, looked_at)) / np.sqrt(
        np.einsum("ik,kl,il->i", looked_at, mean, looked_at)
    )


def assert_close(ratios):
    assert ratios.max() < LARGEST_RATIO
    assert ratios.min() > 1 / LARGEST_RATIO


@pytest.mark.nightly
def test_the_exact_maximum_scatters_as_said():
    """Where all weights are well inside the simplex."""
    assert_close(
        scatter_ratios(lambda seen: fit_mixture(seen, certificate=1e-10).weights, maximum_covariance, CLEAR, 100_000)
    )


@pytest.mark.nightly
def test_ems_scatters_as_said():
    """A fixed point of EMS is no maximum, least of all for a spiky truth: its scatter is that of the fixed point."""
    spiky = np.array([1.0, 1, 20, 1, 1, 15, 1, 1, 4]) / 45

    def fit(likelihood):
        return ems(likelihood, loglik_change=1e-7).weights

    assert_close(scatter_ratios(fit, ems_covariance, CLEAR, 100_000, spiky))


@pytest.mark.nightly
def test_em_that_is_stopped_early_scatters_less():
    """With little information forty steps have not followed most directions."""
    table = GRID.rows(square_wave(np.linspace(0.0, 1.0, 33), 1.0))

    def fit(likelihood):
        return fit_mixture(likelihood, method="em", start=TRUTH, certificate=1e-15, max_iterations=40).weights

    ratios = scatter_ratios(fit, lambda seen, w: maximum_covariance(seen, w, em_steps=40), table, 100_000)
    assert_close(ratios)


def test_many_em_steps_are_the_maximum():
    """The limit of more and more steps is the formula without them."""
    likelihood = DenseLikelihood([CLEAR], 1000 * TRUTH @ CLEAR)
    whole = maximum_covariance(likelihood, TRUTH)
    assert maximum_covariance(likelihood, TRUTH, em_steps=10**6) == pytest.approx(whole, rel=1e-9)
    few = maximum_covariance(likelihood, TRUTH, em_steps=3)
    assert (np.diag(few) < np.diag(whole)).all()


def test_without_noise_it_is_the_multinomials():
    """A table that tells the truth gives (diag(w) - w w^T) / n, and a probability of zero no variance."""
    weights = np.array([0.5, 0.3, 0.2, 0.0])
    likelihood = DenseLikelihood([0.999 * np.eye(4) + 0.001 * 0.25], np.array([500, 300, 200, 0]))
    expected = (np.diag(weights) - np.outer(weights, weights)) / 1000
    fit = fit_mixture(likelihood, certificate=1e-12)
    assert maximum_covariance(likelihood, fit.weights) == pytest.approx(expected, abs=1e-6)


def test_inside_the_simplex_it_is_the_inverse_information():
    """On the directions that keep the sum, for a table of full rank."""
    likelihood = DenseLikelihood([CLEAR], 1000 * TRUTH @ CLEAR)
    information = CLEAR / (TRUTH @ CLEAR) @ CLEAR.T * 1000
    expected = np.linalg.inv(information) - np.outer(TRUTH, TRUTH) / 1000
    assert maximum_covariance(likelihood, TRUTH) == pytest.approx(expected, rel=1e-7, abs=1e-12)


@pytest.mark.parametrize("kind", ["maximum", "ems", "early"])
def test_the_sum_of_the_weights_does_not_scatter(kind):
    """It is one, whatever was reported."""
    likelihood = DenseLikelihood([CLEAR], np.random.default_rng(1).multinomial(2000, TRUTH @ CLEAR))
    covariance = {
        "maximum": lambda: maximum_covariance(likelihood, fit_mixture(likelihood).weights),
        "ems": lambda: ems_covariance(likelihood, ems(likelihood).weights),
        "early": lambda: maximum_covariance(likelihood, TRUTH, em_steps=5),
    }[kind]()
    assert np.abs(covariance.sum(axis=0)).max() < 1e-9 * np.abs(covariance).max()
    assert np.abs(covariance - covariance.T).max() < 1e-12 * np.abs(covariance).max()
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * np.abs(covariance).max()


def test_one_component_has_no_variance():
    """Its weight is one."""
    likelihood = DenseLikelihood([[[0.5, 0.5]]], [3, 4])
    assert maximum_covariance(likelihood, np.ones(1)) == pytest.approx(np.zeros((1, 1)), abs=1e-15)
    assert ems_covariance(likelihood, np.ones(1)) == pytest.approx(np.zeros((1, 1)), abs=1e-15)
