"""The interior point: on the simplex, certified, and home from any start, on problems from plain to hostile."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import FAMILIES, SolverError
from optldp.solvers import Stop, fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.newton import interior_point

TIGHT = 1e-9
"""Certificate asked for: a tenth of the default."""

MOST_STEPS = 60
"""Over 40,000 random problems, the worst took about forty steps."""


def hostile_matrix(rng: np.random.Generator) -> np.ndarray:
    """Return probabilities (K, R) of a kind that has broken solvers."""
    n_components, n_rows = (int(rng.choice([1, 2, 3, 5, 10, 30])) for _ in range(2))
    kind = rng.choice(["sharp", "copies", "near copies", "low rank", "nearly flat", "sparse", "family"])
    if kind == "family":
        name, epsilon = rng.choice(list(FAMILIES)), 10 ** rng.uniform(-4, 1.2)
        return FAMILIES[str(name)](np.linspace(-1, 1, n_components + 1), epsilon).probabilities
    few = rng.dirichlet(np.ones(n_rows), max(1, n_components // 3))
    copied = few[rng.integers(len(few), size=n_components)]
    shape = n_components, n_rows
    matrix = {
        "sharp": 10.0 ** -rng.integers(1, 16) + np.eye(n_rows)[rng.integers(n_rows, size=n_components)],
        "copies": copied,
        "near copies": copied * (1 + 10.0 ** -rng.integers(3, 15) * rng.random(shape)),
        "low rank": rng.dirichlet(np.ones(2), n_components) @ rng.dirichlet(np.ones(n_rows), 2),
        "nearly flat": few[:1] * (1 + 10.0 ** -rng.integers(1, 9) * rng.random(shape)),
        "sparse": rng.random(shape) * (rng.random(shape) < 0.3) + 1e-3 * np.eye(n_rows)[0],
    }[str(kind)]
    return matrix / matrix.sum(axis=1, keepdims=True)


def hostile_counts(rng: np.random.Generator, matrix: np.ndarray) -> np.ndarray:
    """From a truth, from elsewhere, all in one cell, or of every size; zero for what is impossible."""
    users, n_rows = int(10 ** rng.integers(0, 8)), matrix.shape[1]
    truth = rng.dirichlet(np.full(len(matrix), 0.3)) @ matrix
    counts = [
        lambda: rng.multinomial(users, truth / truth.sum()),
        lambda: rng.multinomial(users, rng.dirichlet(np.full(n_rows, 0.5))),
        lambda: users * np.eye(n_rows)[rng.integers(n_rows)],
        lambda: 10.0 ** rng.uniform(-3, 7, n_rows),
    ][rng.integers(4)]()
    possible = np.asarray(matrix.any(axis=0), dtype=float)
    return counts * possible if counts @ possible > 0 else possible


def hostile_start(rng: np.random.Generator, n_components: int) -> np.ndarray | None:
    kind = rng.integers(4)
    return [None, None, rng.dirichlet(np.full(n_components, 0.05)), np.eye(n_components)[rng.integers(n_components)]][
        kind
    ]


@pytest.mark.nightly
@given(seed=st.integers(0, 2**32 - 1))
def test_hostile_problems_are_solved_to_a_tight_certificate(seed):
    rng = np.random.default_rng(seed)
    matrix = hostile_matrix(rng)
    likelihood = DenseLikelihood([matrix], hostile_counts(rng, matrix))
    start = hostile_start(rng, len(matrix))
    fit = fit_mixture(likelihood, method="interior-point", start=start, certificate=TIGHT)
    assert fit.certificate <= 2e-7
    assert fit.stop is Stop.CERTIFICATE or fit.stop is Stop.ROUNDING
    assert fit.iterations <= MOST_STEPS
    assert (fit.weights > 0).all()
    assert fit.weights.sum() == pytest.approx(1.0, abs=1e-14)
    recomputed = likelihood.gradient(likelihood.mix(fit.weights)).max() - 1
    assert fit.certificate == pytest.approx(recomputed, abs=1e-15)


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("epsilon", [1e-4, 1.0, 16.0])
@pytest.mark.parametrize("point", [False, True])
def test_one_report_is_explained_by_what_makes_it_likeliest(name, epsilon, point):
    """The best log-likelihood of a single observation is that of its likeliest component, from any start."""
    matrix = FAMILIES[name](np.linspace(-1, 1, 40), epsilon).probabilities
    seen = np.eye(matrix.shape[1])[matrix.shape[1] // 3]
    start = np.eye(40)[39] if point else None
    fit = fit_mixture(DenseLikelihood([matrix], seen), method="interior-point", start=start, certificate=TIGHT)
    assert fit.certificate <= TIGHT
    assert 0 <= np.log((matrix @ seen).max()) - fit.loglik <= TIGHT


def test_a_step_that_would_climb_the_wrong_way_is_replaced():
    """All reports the same, and all but certain: Mehrotra's steps alone go round in circles here."""
    likelihood = DenseLikelihood([FAMILIES["grr"](np.linspace(-1, 1, 100), 16.0).probabilities], 1e7 * np.eye(100)[50])
    path = list(islice(interior_point(likelihood, np.full(100, 0.01)), 40))
    assert path[-1].certificate < TIGHT


@pytest.mark.parametrize("seed", [0, 41])
def test_iteration_ends_by_itself_with_the_best_place(seed):
    """Nothing asks it to stop: rounding errors do, of the second seed at a worse place than the best."""
    rng = np.random.default_rng(seed)
    likelihood = DenseLikelihood([rng.dirichlet(np.ones(3), 3)], rng.integers(1, 100, 3))
    path = list(islice(interior_point(likelihood, rng.dirichlet(np.full(3, 0.3))), 100))
    assert len(path) < MOST_STEPS
    assert path[-1].certificate == min(place.certificate for place in path)
    assert all(np.isfinite(place.gradient).all() for place in path)


@pytest.mark.nightly
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ["piecewise", "laplace"])
def test_a_thousand_components_take_as_few_steps_as_ten(name):
    table = FAMILIES[name](np.linspace(-1, 1, 1024), 0.5).probabilities
    rng = np.random.default_rng(0)
    likelihood = DenseLikelihood([table], rng.multinomial(300_000, rng.dirichlet(np.ones(1024)) @ table))
    fit = fit_mixture(likelihood, method="interior-point", certificate=1e-6, max_iterations=15)
    assert fit.stop is Stop.CERTIFICATE


def test_from_the_solution_there_is_nothing_to_do():
    table = FAMILIES["square-wave"](np.linspace(-1, 1, 50), 1.0).probabilities
    likelihood = DenseLikelihood([table], np.random.default_rng(0).multinomial(10**5, table.mean(axis=0)))
    fit = fit_mixture(likelihood)
    assert fit.iterations > 1
    assert fit_mixture(likelihood, start=fit.weights, certificate=1.1e-8).iterations == 1


def test_probabilities_too_small_to_square_are_refused_not_misfitted():
    likelihood = DenseLikelihood([[[1e-200, 0.5], [1e-201, 0.25]]], [1, 1])
    with pytest.raises(SolverError, match="use method em"):
        fit_mixture(likelihood)
    assert fit_mixture(likelihood, method="em").weights == pytest.approx([1.0, 0.0], abs=1e-7)
