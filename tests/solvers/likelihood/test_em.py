"""EM and its acceleration: the textbook step, always uphill."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import SolverError
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.em import em, squarem
from optldp.solvers.likelihood.tuples import TupleLikelihood

from .test_mixture import windows

ROUNDING = 1e-13
"""Error of a mean of logarithms, relative to one or to the mean itself, whichever is larger."""


def random_problem(seed: int) -> DenseLikelihood:
    """Few or many components and outcomes, sharp or blunt, with counts from one user to ten million."""
    rng = np.random.default_rng(seed)
    n_components, n_outcomes = (int(size) for size in rng.integers(1, 15, 2))
    view = rng.dirichlet(np.full(n_outcomes, rng.choice([0.05, 1.0, 20.0])), n_components) + 1e-6
    view /= view.sum(axis=1, keepdims=True)
    users = int(10 ** rng.integers(0, 8))
    return DenseLikelihood([view], rng.multinomial(users, rng.dirichlet(np.ones(n_outcomes))))


def per_user_em(views: list[np.ndarray], reports: np.ndarray, weights: np.ndarray, steps: int) -> np.ndarray:
    """Textbook EM: each user's posterior over the components, then their average."""
    for _ in range(steps):
        posteriors = []
        for user in reports:
            joint = weights.copy()
            for view, report in zip(views, user, strict=True):
                joint *= view[:, report]
            posteriors.append(joint / joint.sum())
        weights = np.mean(posteriors, axis=0)
    return weights


@pytest.mark.parametrize("seed", range(5))
def test_grouped_steps_are_per_user_steps(seed):
    """Three views, 200 users, 25 steps."""
    rng = np.random.default_rng(seed)
    views = [windows(rng, 6, size) for size in (2, 4, 3)]
    reports = np.stack([rng.integers(0, size, 200) for size in (2, 4, 3)], axis=1)
    distinct, counts = np.unique(reports, axis=0, return_counts=True)
    start = rng.dirichlet(np.ones(6))
    steps = list(islice(em(TupleLikelihood(views, distinct, counts), start), 26))
    np.testing.assert_allclose(steps[-1].weights, per_user_em(views, reports, start, 25), rtol=1e-10, atol=1e-10)
    assert [step.steps for step in steps] == list(range(1, 27))


@pytest.mark.nightly
@pytest.mark.parametrize("method", [em, squarem])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_log_likelihood_never_falls(method, seed):
    likelihood = random_problem(seed)
    n_components = likelihood.n_components
    start = np.random.default_rng(seed).dirichlet(np.full(n_components, 0.5)) + 1e-9
    path = list(islice(method(likelihood, start / start.sum()), 40))
    logliks = np.array([place.loglik for place in path])
    assert (np.diff(logliks) >= -ROUNDING * (likelihood.total + np.abs(logliks[1:]))).all()
    for place in path:
        assert place.weights.sum() == pytest.approx(1.0, abs=1e-14)
        assert (place.weights >= 0).all()
        assert place.gradient @ place.weights == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("method", [em, squarem])
def test_each_place_has_the_gradient_and_likelihood_of_its_weights(method):
    likelihood = random_problem(5)
    start = np.full(likelihood.n_components, 1 / likelihood.n_components)
    for place in islice(method(likelihood, start), 20):
        mixed = likelihood.mix(place.weights)
        np.testing.assert_allclose(place.gradient, likelihood.gradient(mixed), rtol=1e-14)
        assert place.loglik == pytest.approx(likelihood.loglik(mixed), rel=1e-14)


@pytest.mark.parametrize("method", [em, squarem])
def test_a_weight_that_starts_at_zero_stays_there(method):
    likelihood = DenseLikelihood([np.random.default_rng(1).dirichlet(np.ones(6), 4)], [5, 1, 4, 1, 5, 9])
    for place in islice(method(likelihood, np.array([0.5, 0.0, 0.25, 0.25])), 50):
        assert place.weights[1] == 0.0


@pytest.mark.nightly
def test_acceleration_is_worth_its_name():
    """A blunt view, to a certificate of 1e-6: a tenth of the gradients that EM spends."""
    rng = np.random.default_rng(7)
    view = 1.0 + windows(rng, 12, 20)
    view /= view.sum(axis=1, keepdims=True)
    likelihood = DenseLikelihood([view], rng.multinomial(10**6, view[3]))
    start = np.full(12, 1 / 12)
    spent = [next(p for p in method(likelihood, start) if p.certificate < 1e-6).steps for method in (em, squarem)]
    assert spent[1] < spent[0] / 10


@pytest.mark.parametrize("method", [em, squarem])
def test_an_observation_impossible_under_the_start_is_refused(method):
    """The second component alone cannot make the second outcome."""
    likelihood = DenseLikelihood([[[0.5, 0.5], [1.0, 0.0]]], [1, 1])
    with pytest.raises(SolverError, match="every observation must be possible under the start"):
        next(method(likelihood, np.array([0.0, 1.0])))


@pytest.mark.parametrize("seed", [0, 2, 3, 7])
def test_extrapolation_does_not_stall(seed):
    """Cases in which weights that were thrown to nothing took more than three thousand evaluations to come back."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 12))
    view = rng.dirichlet(np.ones(size), size) / 2 + np.eye(size) / 2
    counts = rng.multinomial(10 ** int(rng.integers(2, 6)), rng.dirichlet(np.full(size, 0.3)) @ view)
    path = squarem(DenseLikelihood([view], counts), np.full(size, 1 / size))
    found = next(place for place in path if place.certificate < 1e-6 or place.steps > 400)
    assert found.certificate < 1e-6
