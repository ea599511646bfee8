"""The fit and its evidence: no other solver finds more than the certificate allows."""

import dataclasses
import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import MixtureLikelihood, Stop, fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.em import em
from optldp.solvers.likelihood.fit import climb, start_weights
from threadpoolctl import threadpool_info, threadpool_limits

from .test_mixture import all_outcomes, bodies, plain_matrix, windows

METHODS = ["em", "squarem", "interior-point"]

CLARABEL = 1e-7
"""Relative error that Clarabel's optimum of an exponential cone program can have at its own default tolerances."""


def random_matrix(seed: int, *, determined: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities (R, K) of outcomes and their counts, blunt or sharp, with unseen outcomes.

    With as many outcomes as components or more there is one best set of weights, not a face of them.
    """
    rng = np.random.default_rng(seed)
    n_components, n_outcomes = (int(size) for size in rng.integers(2, 12, 2))
    if determined:
        n_outcomes += n_components
    view = rng.dirichlet(np.full(n_outcomes, rng.choice([0.3, 3.0])), n_components) + 1e-4
    view /= view.sum(axis=1, keepdims=True)
    counts = rng.multinomial(10 ** rng.integers(1, 6), rng.dirichlet(np.ones(n_outcomes)))
    return view.T, counts.astype(float)


def likelihood_of(matrix: np.ndarray, counts: np.ndarray) -> DenseLikelihood:
    return DenseLikelihood([matrix.T], counts)


def clarabel_optimum(matrix: np.ndarray, counts: np.ndarray) -> float:
    """Return the largest sum_o c_o log (L w)_o, by another method and another program."""
    n, weights = counts.sum(), cp.Variable(matrix.shape[1], nonneg=True)
    gain = (counts / n) @ cp.log(matrix @ weights)
    problem = cp.Problem(cp.Maximize(gain), [cp.Zero(cp.sum(weights) - 1)])
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == cp.OPTIMAL
    assert isinstance(problem.value, float)
    return n * problem.value


@pytest.mark.sampled(4)
@pytest.mark.parametrize("seed", range(8))
def test_clarabel_finds_no_more_than_the_certificate_allows_and_no_less_than_the_fit(seed):
    """At rough certificates and at a tight one."""
    matrix, counts = random_matrix(seed)
    likelihood, best, n = likelihood_of(matrix, counts), clarabel_optimum(matrix, counts), counts.sum()
    error = CLARABEL * max(abs(best), n)
    for certificate in (10.0, 0.3, 1e-2, 1e-10):
        fit = fit_mixture(likelihood, certificate=certificate)
        assert fit.certificate <= certificate
        assert fit.gap_bound <= n * fit.certificate + 1e-12 * n
        assert best <= fit.loglik + fit.gap_bound + error
        assert fit.loglik <= best + error
    assert fit.loglik == pytest.approx(best, abs=error)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_the_certificate_holds_on_the_whole_way(method, seed):
    """Every iterate's bound is above what the interior point ends at."""
    likelihood = likelihood_of(*random_matrix(seed))
    best = fit_mixture(likelihood, certificate=1e-12).loglik
    seen = []
    fit_mixture(likelihood, method=method, max_iterations=30, progress=seen.append)
    assert len(seen) > 2
    for step in seen:
        assert step.value <= step.bound
        assert step.bound >= best - 1e-12 * abs(best)
        assert step.columns == likelihood.n_components


@pytest.mark.parametrize("seed", range(6))
def test_the_body_does_not_change_the_fit(seed):
    """Two views of windows in every body, to the same weights wherever the data determine them."""
    rng = np.random.default_rng(seed)
    views = [windows(rng, 5, 4), windows(rng, 5, 6)]
    outcomes = all_outcomes(views)
    truth = plain_matrix(views, outcomes) @ rng.dirichlet(np.ones(5))
    counts = rng.multinomial(10_000, truth / truth.sum()).astype(float)
    fits = [fit_mixture(body, certificate=1e-11) for body in bodies(views, outcomes, counts).values()]
    assert len(fits) == 6
    for fit in fits:
        assert fit.loglik == pytest.approx(fits[0].loglik, rel=1e-11)
        np.testing.assert_allclose(fit.weights, fits[0].weights, atol=1e-4)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(4))
def test_components_and_outcomes_in_another_order_give_the_same_fit_in_that_order(method, seed):
    matrix, counts = random_matrix(seed, determined=True)
    rng = np.random.default_rng(seed)
    components, outcomes = rng.permutation(matrix.shape[1]), rng.permutation(matrix.shape[0])
    plain = fit_mixture(likelihood_of(matrix, counts), method=method, max_iterations=10)
    moved = fit_mixture(
        likelihood_of(matrix[outcomes][:, components], counts[outcomes]), method=method, max_iterations=10
    )
    np.testing.assert_allclose(moved.weights, plain.weights[components], atol=1e-9)
    assert moved.loglik == pytest.approx(plain.loglik, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e7])
def test_counts_times_a_constant_change_the_log_likelihood_alone(method, factor):
    """So the certificate is per observation, and the bound in all grows with their number."""
    matrix, counts = random_matrix(3, determined=True)
    plain, scaled = (
        fit_mixture(likelihood_of(matrix, c), method=method, max_iterations=8) for c in (counts, factor * counts)
    )
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-9, atol=1e-12)
    assert scaled.certificate == pytest.approx(plain.certificate, rel=1e-9, abs=1e-12)
    assert scaled.loglik == pytest.approx(factor * plain.loglik, rel=1e-12)
    assert scaled.gap_bound == pytest.approx(factor * plain.gap_bound, rel=1e-9, abs=1e-12 * factor * counts.sum())


@pytest.mark.parametrize("method", METHODS)
def test_the_methods_agree(method):
    """Two coins in closed form: the weight that reproduces the observed share."""
    likelihood = DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40])
    fit = fit_mixture(likelihood, method=method, certificate=1e-9)
    np.testing.assert_allclose(fit.weights, [0.7, 0.3], atol=1e-4)
    assert fit.loglik == pytest.approx(60 * math.log(0.6) + 40 * math.log(0.4), rel=1e-9)
    assert (fit.method, fit.stop) == (method, Stop.CERTIFICATE)


@pytest.mark.parametrize("method", METHODS)
def test_one_component_takes_all(method):
    fit = fit_mixture(DenseLikelihood([[[0.25, 0.75]]], [3, 1]), method=method)
    assert fit.weights.tolist() == [1.0]
    assert fit.loglik == pytest.approx(3 * math.log(0.25) + math.log(0.75))
    assert (fit.certificate, fit.gap_bound, fit.iterations) == (0.0, 0.0, 1)


@pytest.mark.parametrize("method", ["em", "squarem"])
def test_the_papers_rule_stops_at_the_first_small_change(method):
    """The certificate then is whatever it is, and says so."""
    likelihood, seen = likelihood_of(*random_matrix(1)), []
    fit = fit_mixture(likelihood, method=method, loglik_change=1e-2, progress=seen.append)
    changes = np.abs(np.diff([step.value for step in seen]))
    assert fit.stop is Stop.LOGLIK_CHANGE
    assert changes[-1] < 1e-2 <= changes[:-1].min()
    assert (fit.loglik, fit.loglik + fit.gap_bound) == (seen[-1].value, seen[-1].bound)
    assert fit.certificate > 1e-8


def test_a_certificate_and_the_papers_rule_together_stop_at_the_first_of_them():
    likelihood = likelihood_of(*random_matrix(1))
    either = [
        fit_mixture(likelihood, method="em", certificate=certificate, loglik_change=change).stop
        for certificate, change in ((1e-2, 1e-9), (1e-9, 1e-2))
    ]
    assert either == [Stop.CERTIFICATE, Stop.LOGLIK_CHANGE]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_limit_is_kept_and_every_place_is_shown(method, limit):
    """The start is no step; the last place shown is the one returned."""
    seen = []
    fit = fit_mixture(
        likelihood_of(*random_matrix(2)), method=method, certificate=1e-12, max_iterations=limit, progress=seen.append
    )
    assert fit.stop is Stop.ITERATION_LIMIT
    assert len(seen) == limit + 1
    assert (fit.iterations, fit.loglik) == (seen[-1].step, seen[-1].value)


def test_an_iteration_that_ends_by_itself_ends_by_rounding():
    likelihood, seen = likelihood_of(*random_matrix(2)), []
    three = itertools.islice(em(likelihood, start_weights(None, likelihood.n_components)), 3)
    place, stop = climb(three, lambda _: False, None, 100, seen.append)
    assert [one.steps for one in seen] == [1, 2, 3]
    assert place is seen[-1]
    assert stop is Stop.ROUNDING


def test_the_interior_point_runs_on_one_thread_and_gives_the_others_back():
    """Threads of a busy machine wait for each other a hundred times longer than small factors take."""

    def threads() -> list[int]:
        return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]

    during = {}
    with threadpool_limits(2, user_api="blas"):
        before = threads()
        for method in ("interior-point", "em"):
            fit_mixture(
                likelihood_of(*random_matrix(2)),
                method=method,
                max_iterations=1,
                progress=lambda _, method=method: during.update({method: threads()}),
            )
        assert threads() == before
    assert set(during["interior-point"]) == {1}
    assert during["em"] == before
    assert max(before) == 2


def test_beyond_the_components_that_a_square_matrix_is_afforded_for_auto_takes_squarem(monkeypatch):
    monkeypatch.setattr("optldp.solvers.likelihood.fit.MOST_COMPONENTS", 2)
    fits = [fit_mixture(DenseLikelihood([np.full((size, 2), 0.5)], [1, 1])) for size in (2, 3)]
    assert [fit.method for fit in fits] == ["interior-point", "squarem"]


def test_a_start_need_not_be_normalised():
    likelihood = likelihood_of(*random_matrix(4))
    ramp = np.arange(1.0, likelihood.n_components + 1)
    first, second = (fit_mixture(likelihood, method="em", start=s, max_iterations=3) for s in (ramp, 5 * ramp))
    np.testing.assert_allclose(first.weights, second.weights, rtol=1e-12)
    assert abs(first.weights - fit_mixture(likelihood, method="em", max_iterations=3).weights).max() > 1e-3


@pytest.mark.parametrize("method", METHODS)
def test_an_impossible_observation_is_an_error_in_one_line(method):
    likelihood: MixtureLikelihood = DenseLikelihood([[[1.0, 0.0], [1.0, 0.0]]], [5, 1])
    with pytest.raises(SolverError, match="every observation must be possible") as caught:
        fit_mixture(likelihood, method=method)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"method": "newton"},
            "method must be one of auto, em, squarem, interior-point, projected-gradient, got 'newton'",
        ),
        ({"certificate": 0.0}, "certificate must be positive and finite, got 0.0"),
        ({"certificate": math.nan}, "certificate must be positive and finite, got nan"),
        ({"loglik_change": -1.0}, "loglik_change must be positive and finite, got -1.0"),
        ({"loglik_change": math.inf}, "loglik_change must be positive and finite, got inf"),
        ({"max_iterations": -1}, "max_iterations must be at least 0, got -1"),
        ({"start": [1.0]}, "start must be 2 non-negative numbers with a positive sum"),
        ({"start": [0.0, 0.0]}, "start must be 2 non-negative"),
        ({"start": [2.0, -1.0]}, "start must be 2 non-negative"),
        ({"start": [math.nan, 1.0]}, "start must be 2 non-negative"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_one_line(options, message):
    likelihood = DenseLikelihood([[[0.75, 0.25], [0.25, 0.75]]], [60, 40])
    with pytest.raises(InputError, match=message) as caught:
        fit_mixture(likelihood, **options)
    assert "\n" not in str(caught.value)


def test_a_fit_cannot_be_changed():
    fit = fit_mixture(DenseLikelihood([[[0.25, 0.75]]], [3, 1]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        fit.loglik = 0.0  # pyright: ignore[reportAttributeAccessIssue] -- the point of the test
