"""The log-linear mode against an optimiser, its curvature against differences, its evidence against integrals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError
from optldp.solvers.likelihood import log_linear
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.expansion import expanded_loglik
from optldp.solvers.likelihood.log_draws import log_linear_draws
from optldp.solvers.likelihood.log_linear import LogLinear, exact_loglik, fit_log_linear
from scipy.optimize import minimize


def problem(seed: int, size: int = 8, parameters: int = 5) -> tuple[DenseLikelihood, LogLinear]:
    """Random components, sharp or blunt, from one user to a million, and a random model of their weights."""
    rng = np.random.default_rng(seed)
    view = rng.dirichlet(np.full(10, rng.choice([0.3, 1.0, 5.0])), size) + 1e-4
    view /= view.sum(axis=1, keepdims=True)
    truth = rng.dirichlet(np.full(size, 0.7))
    likelihood = DenseLikelihood([view], rng.multinomial(int(10 ** rng.integers(0, 7)), truth @ view))
    return likelihood, LogLinear(rng.normal(size=size), 2.0 * rng.normal(size=(size, parameters)))


def objective(likelihood: DenseLikelihood, model: LogLinear, z: np.ndarray) -> float:
    return likelihood.loglik(likelihood.mix(model.weights(z))) - float(z @ z) / 2


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_no_optimiser_gains_on_the_mode(seed):
    """BFGS from the mode finds nothing higher, the decrement is what it says, and the mode is a strict maximum."""
    likelihood, model = problem(seed)
    fit = fit_log_linear(exact_loglik(likelihood), likelihood.total, model)
    here = objective(likelihood, model, fit.z)
    assert fit.objective == pytest.approx(here, rel=1e-12)
    found = minimize(lambda z: -objective(likelihood, model, z), fit.z, method="BFGS")
    assert -found.fun <= here + 1e-5 + 1e-12 * abs(here)
    assert 0 <= fit.decrement <= 1e-6 + 1e-12 * abs(here)
    assert (np.diag(fit.factor) >= 0).all()


@pytest.mark.parametrize("seed", range(6))
def test_the_factor_is_of_the_second_derivative(seed):
    """Central differences of the objective in every pair of directions."""
    likelihood, model = problem(seed)
    fit = fit_log_linear(exact_loglik(likelihood), likelihood.total, model)
    curvature = fit.factor @ fit.factor.T
    step = 1e-3 / np.sqrt(np.diag(curvature))
    moves = np.diag(step)
    for a in moves:
        for b in moves:
            corners = [(a + b, 1), (a - b, -1), (b - a, -1), (-a - b, 1)]
            change = sum(sign * (objective(likelihood, model, fit.z + move) - fit.objective) for move, sign in corners)
            noise = 1e-13 * abs(fit.objective) / (a.max() * b.max())
            expected = -change / (4 * a.max() * b.max())
            scale = np.sqrt(curvature[np.argmax(a), np.argmax(a)] * curvature[np.argmax(b), np.argmax(b)])
            assert curvature[np.argmax(a), np.argmax(b)] == pytest.approx(expected, abs=1e-4 * scale + 10 * noise)


@pytest.mark.parametrize(("users", "within"), [(100, 0.2), (1000, 0.02), (10_000, 0.002)])
def test_evidence_is_the_integral_of_the_likelihood(users, within):
    """Two parameters, integrated over a fine square; Laplace's error falls as one over the users."""
    view = np.array([[0.7, 0.15, 0.15], [0.15, 0.7, 0.15], [0.15, 0.15, 0.7]])
    likelihood = DenseLikelihood([view], users * (np.array([0.5, 0.2, 0.3]) @ view))
    model = LogLinear(np.zeros(3), np.array([[0.0, 0.0], [1.0, 0.3], [0.0, 1.0]]))
    fit = fit_log_linear(exact_loglik(likelihood), likelihood.total, model)
    line = np.linspace(-6.0, 6.0, 301)
    spread = np.linalg.inv(fit.factor).T
    square = fit.z + np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2) @ spread.T
    values = np.log(model.weights(square) @ view) @ likelihood.counts - (square**2).sum(axis=1) / 2
    cell = (line[1] - line[0]) ** 2 * abs(np.linalg.det(spread))
    integral = fit.objective + np.log(np.exp(values - fit.objective).sum() * cell / (2 * np.pi))
    assert fit.evidence == pytest.approx(integral, abs=within)


def test_where_the_objective_is_not_concave_the_safe_step_climbs(monkeypatch):
    """A start far off, where the exact second derivative is indefinite, still ends at the mode."""
    safe = []
    positive = log_linear._positive

    def watched(curved, always):
        found = positive(curved, always)
        safe.append(not found[1])
        return found

    monkeypatch.setattr(log_linear, "_positive", watched)
    likelihood = DenseLikelihood([[[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]]], [450, 250, 300])
    model = LogLinear(np.zeros(3), 3.0 * np.eye(3))
    far = fit_log_linear(exact_loglik(likelihood), 1000, model, np.array([-1.5, 1.5, -1.5]))
    near = fit_log_linear(exact_loglik(likelihood), 1000, model)
    assert any(safe)
    assert far.objective == pytest.approx(near.objective, abs=1e-5)


def test_draws_have_the_posteriors_moments():
    """A skew posterior of two parameters, integrated over a fine square; the normal law at the mode is far off."""
    likelihood = DenseLikelihood([np.array([[0.6, 0.2, 0.2], [0.2, 0.6, 0.2], [0.2, 0.2, 0.6]])], [40, 10, 10])
    model = LogLinear(np.zeros(3), 2.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    loglik = exact_loglik(likelihood)
    fit = fit_log_linear(loglik, 60, model)
    about = expanded_loglik(loglik(fit.weights), fit.weights, 60)
    line = np.linspace(-9.0, 9.0, 361)
    square = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
    weights = model.weights(square)
    step = weights - fit.weights
    place = loglik(fit.weights)
    logs = 60 * (step @ place.gradient - np.einsum("sk,kl,sl->s", step, place.information, step) / 2)
    chance = np.exp(logs - (square**2).sum(axis=1) / 2)
    chance /= chance.sum()
    drawn = model.weights(log_linear_draws(fit, about(fit.weights), 60, 8000, np.random.default_rng(1)))
    mean = chance @ weights
    sd = np.sqrt(chance @ (weights - mean) ** 2)
    assert np.abs(drawn.mean(axis=0) - mean).max() < 0.08 * sd.min()
    assert drawn.std(axis=0) == pytest.approx(sd, rel=0.06)


def nearly_normal() -> tuple[log_linear.LogLinearFit, log_linear.WeightPlace]:
    """Of ten thousand users and three weights: the posterior is all but normal."""
    likelihood = DenseLikelihood([np.eye(3)], [4000, 3500, 2500])
    fit = fit_log_linear(exact_loglik(likelihood), 10_000, LogLinear(np.zeros(3), 2.0 * np.eye(3)[:, 1:]))
    return fit, exact_loglik(likelihood)(fit.weights)


def test_draws_in_pairs_average_to_the_middle():
    """Forty draws one by one would be off by 0.16 of a standard deviation."""
    fit, place = nearly_normal()
    for seed in range(5):
        drawn = log_linear_draws(fit, place, 10_000, 40, np.random.default_rng(seed))
        assert (np.abs(drawn.mean(axis=0) - fit.z) < 0.04 * drawn.std(axis=0)).all()


def test_fewer_draws_are_the_first_of_more():
    """So that estimates that draw one time more from a fit differ by that one draw."""
    fit, place = nearly_normal()
    fewer, more = (log_linear_draws(fit, place, 10_000, size, np.random.default_rng(1)) for size in (11, 40))
    assert fewer == pytest.approx(more[:11], rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_an_expansion_errs_by_the_third_order(seed):
    """Half the step, an eighth of the error; exact about its own centre, derivatives too."""
    likelihood, model = problem(seed)
    exact, centre = exact_loglik(likelihood), model.weights(np.zeros(5))
    about = expanded_loglik(exact(centre), centre, likelihood.total)
    toward = np.eye(8)[seed] - centre
    errors = [about(centre + e * toward).loglik - exact(centre + e * toward).loglik for e in (0.02, 0.01)]
    assert errors[0] / errors[1] == pytest.approx(8.0, rel=0.2)
    np.testing.assert_allclose(about(centre).gradient, exact(centre).gradient, rtol=1e-13)


def test_what_cannot_be_fitted_is_refused():
    """A model of another length, and an observation that is impossible under its start."""
    likelihood = exact_loglik(DenseLikelihood([np.eye(2)], [70, 30]))
    with pytest.raises(InputError, match="an offset must have as many entries as a basis rows"):
        fit_log_linear(likelihood, 100, LogLinear(np.zeros(3), np.zeros((2, 1))))
    with pytest.raises(SolverError, match="every observation must be possible under the start"):
        fit_log_linear(likelihood, 100, LogLinear(np.array([0.0, -np.inf]), np.ones((2, 1))))
