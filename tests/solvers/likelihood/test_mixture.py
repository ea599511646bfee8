"""One likelihood in several bodies: the same products with L, whatever it is stored as."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError, SolverError
from optldp.solvers import MixtureLikelihood
from optldp.solvers.likelihood.dense import DenseLikelihood
from optldp.solvers.likelihood.mixture import SumLikelihood
from optldp.solvers.likelihood.runs import RunLikelihood, jumps_of
from optldp.solvers.likelihood.tuples import TupleLikelihood

EXACT = 1e-12
"""Agreement, relative to the largest entry, of products summed in another order."""


def windows(rng: np.random.Generator, n_components: int, n_outcomes: int, ratio: float = 5.0) -> np.ndarray:
    """A view (K, m) whose outcomes are each likelier by a factor in one run of components."""
    view = np.ones((n_components, n_outcomes))
    for outcome in range(n_outcomes):
        first, last = np.sort(rng.integers(0, n_components + 1, 2))
        view[first:last, outcome] = ratio
    return view / view[:1].sum() / ratio


def plain_matrix(views: list[np.ndarray], outcomes: np.ndarray) -> np.ndarray:
    """L by its definition."""
    return np.array([np.prod([view[:, o] for view, o in zip(views, row, strict=True)], axis=0) for row in outcomes])


def all_outcomes(views: list[np.ndarray]) -> np.ndarray:
    return np.array(list(itertools.product(*[range(view.shape[1]) for view in views])))


def bodies(views: list[np.ndarray], outcomes: np.ndarray, counts: np.ndarray) -> dict[str, MixtureLikelihood]:
    """Every body for these observations, which are all combinations in order."""
    matrix = plain_matrix(views, outcomes)
    half = len(outcomes) // 2
    scale = views[0][:, 0]
    rest = TupleLikelihood(views, outcomes, counts)
    parts = [part for part in (slice(0, half), slice(half, None)) if counts[part].sum() > 0]
    whole = len(parts) == 2
    found: dict[str, MixtureLikelihood] = {
        "dense": DenseLikelihood(views, counts.reshape([view.shape[1] for view in views])),
        "kept": rest,
        "formed": TupleLikelihood(views, outcomes, counts, kept_bytes=0),
        "runs": RunLikelihood(jumps_of([matrix[:1], matrix[1:]]) if len(matrix) > 1 else jumps_of([matrix]), counts),
        "scaled runs": RunLikelihood(jumps_of([matrix / scale]), counts, scale),
    }
    if whole:
        first = TupleLikelihood(views, outcomes[:half], counts[:half])
        found["sum"] = SumLikelihood([first, RunLikelihood(jumps_of([matrix[half:]]), counts[half:])])
    return found


@pytest.mark.nightly
@given(st.integers(0, 2**32 - 1))
def test_every_body_multiplies_as_the_matrix_does(seed):
    """One to three views of windows, all combinations of outcomes, some unseen."""
    rng = np.random.default_rng(seed)
    n_components = int(rng.integers(1, 12))
    views = [windows(rng, n_components, int(rng.integers(1, 5))) for _ in range(rng.integers(1, 4))]
    outcomes = all_outcomes(views)
    counts = rng.integers(0, 4, len(outcomes)).astype(float)
    counts[0] += 1
    matrix = plain_matrix(views, outcomes)
    weights, values = rng.dirichlet(np.ones(n_components)), rng.random(len(outcomes))
    for name, body in bodies(views, outcomes, counts).items():
        for got, expected in (
            (body.mix(weights), matrix @ weights),
            (body.gather(values), matrix.T @ values),
            (body.curvature(values), (matrix.T * values) @ matrix),
        ):
            np.testing.assert_allclose(got, expected, rtol=0, atol=EXACT * expected.max(), err_msg=name)
        np.testing.assert_allclose(body.mix(weights), matrix @ weights, rtol=EXACT, err_msg=name)
        assert body.total == counts.sum()
        assert body.n_components == n_components


@pytest.mark.parametrize("name", ["dense", "kept", "formed", "runs", "scaled runs", "sum"])
def test_gradient_and_information_are_derivatives_of_the_log_likelihood(name):
    """Central differences along every axis, of a likelihood with unseen combinations."""
    rng = np.random.default_rng(3)
    views = [windows(rng, 4, 3), windows(rng, 4, 2)]
    counts = np.array([3.0, 0.0, 2.0, 7.0, 0.0, 1.0])
    body = bodies(views, all_outcomes(views), counts)[name]
    weights, step = np.array([0.1, 0.2, 0.3, 0.4]), 1e-5
    mixed = body.mix(weights)
    sides = [[body.mix(weights + sign * step * axis) for sign in (1, -1)] for axis in np.eye(4)]
    slope = [(body.loglik(up) - body.loglik(down)) / (2 * step) for up, down in sides]
    bend = [(body.gradient(down) - body.gradient(up)) / (2 * step) for up, down in sides]
    np.testing.assert_allclose(body.gradient(mixed) * counts.sum(), slope, rtol=1e-7)
    np.testing.assert_allclose(body.information(mixed) / counts.sum(), bend, rtol=1e-7)
    assert body.gradient(mixed) @ weights == pytest.approx(1.0, rel=1e-14)


def test_what_was_not_seen_may_be_impossible():
    """A zero probability without a count is no minus infinity and no division by zero."""
    body = DenseLikelihood([[[1.0, 0.0], [1.0, 0.0]]], [3, 0])
    mixed = body.mix(np.array([0.5, 0.5]))
    assert body.loglik(mixed) == 0.0
    np.testing.assert_array_equal(body.gradient(mixed), [1.0, 1.0])
    np.testing.assert_allclose(body.information(mixed), np.full((2, 2), 3.0), rtol=1e-14)


def test_what_was_seen_and_is_impossible_has_no_likelihood():
    body = DenseLikelihood([[[1.0, 0.0]]], [3, 1])
    assert body.loglik(body.mix(np.ones(1))) == -np.inf


def test_a_probability_too_small_to_square_is_refused():
    """Squares below the smallest number would make the information infinite."""
    body = DenseLikelihood([[[1.0, 1e-160]]], [1, 1])
    with pytest.raises(SolverError, match=r"1e-150 or more, got 1e-160: use method em"):
        body.information(body.mix(np.ones(1)))


@pytest.mark.parametrize("counts", [[0, 0], [-1, 3], [np.nan, 1], [np.inf, 1], [1e308, 1e308]])
def test_counts_that_are_none_are_refused(counts):
    with np.errstate(over="ignore"), pytest.raises(InputError, match="counts must be non-negative and finite"):
        DenseLikelihood([[[0.5, 0.5]]], counts)


def test_parts_of_other_components_are_refused():
    parts = [DenseLikelihood([np.full((size, 2), 0.5)], [1, 1]) for size in (2, 3)]
    with pytest.raises(InputError, match=r"same components, got \[2, 3\]"):
        SumLikelihood(parts)


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ([], "views must be tables"),
        ([[0.5, 0.5]], "views must be tables"),
        ([[[0.5, 0.5]], [[1.0], [1.0]]], r"got shapes \[\(1, 2\), \(2, 1\)\]"),
        ([[[1.5, -0.5]]], "finite non-negative"),
        ([[[np.nan, 1.0]]], "finite non-negative"),
    ],
)
@pytest.mark.parametrize("body", [DenseLikelihood, lambda views, counts: TupleLikelihood(views, [[0]], [1])])
def test_views_that_are_no_probabilities_are_refused(body, views, message):
    with pytest.raises(InputError, match=message):
        body(views, [1, 1])
