"""The penalised likelihood against a conic solver, its roughness, and how its smoothness is chosen."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service, likelihood_of
from optldp.estimators.distributions import smoothness as module
from optldp.estimators.distributions.smoothness import (
    FALLS,
    REPEATS,
    SMOOTHNESSES,
    _is_past,
    _smoothest_of_the_best,
    penalised_likelihood,
    roughness_form,
)
from optldp.mechanisms import InputError, duchi, square_wave
from optldp.solvers.likelihood.fit import fit_mixture

TABLE = square_wave(np.linspace(0.0, 10.0, 17), 1.5)
GRID = InputGrid.common([TABLE])


def counted(n: int, seed: int, mechanism=TABLE) -> ReportCounts:
    rng = np.random.default_rng(seed)
    return ReportCounts.from_reports(mechanism, mechanism.sample(10 * rng.beta(2, 5, n), rng))


@pytest.mark.parametrize("smoothness", [1e-3, 1e-6, 1e-9])
def test_its_objective_is_the_conic_solvers(smoothness):
    """No weights that Clarabel finds have a higher penalised likelihood per user, nor these a lower one."""
    counts = counted(3000, 1)
    found = penalised_likelihood(counts, GRID, smoothness=smoothness)
    seen = counts.reports_of(0)
    shares = seen / seen.sum()
    weights = cp.Variable(GRID.size, nonneg=True)
    values, vectors = np.linalg.eigh(found.penalty)
    half = vectors * np.sqrt(np.maximum(values, 0.0))
    fit = shares @ cp.log(TABLE.probabilities.T @ weights) - cp.sum_squares(half.T @ weights) / 2
    best = cp.Problem(cp.Maximize(fit), [cp.Zero(cp.sum(weights) - 1)]).solve(solver=cp.CLARABEL)
    mixed = found.fit.weights @ TABLE.probabilities
    reached = shares @ np.log(mixed) - found.fit.weights @ found.penalty @ found.fit.weights / 2
    assert reached == pytest.approx(best, abs=1.1e-6)
    assert found.fit.loglik == pytest.approx(seen @ np.log(mixed), rel=1e-12)
    assert found.fit.certificate <= 1e-6
    assert (found.fit.method, found.smoothness, found.held_out) == ("penalised", smoothness, ())


@given(
    st.lists(st.floats(0.2, 1.0), min_size=3, max_size=12),
    st.floats(-1.0, 1.0),
    st.booleans(),
)
@settings(max_examples=40)
def test_linear_densities_are_not_rough(gaps, tilt, flat):
    """On any grid, even or not, a straight line has no second derivative."""
    ends = np.concatenate([[0.0], np.cumsum(gaps)])
    grid = InputGrid.cells(ends) if flat else InputGrid.knots(ends)
    place = (grid.points - ends[0]) / (ends[-1] - ends[0])
    line = (1 + tilt * (place - 0.5)) * np.diff(grid.edges)
    form = roughness_form(grid, np.full(grid.size, 1 / grid.size))
    assert line @ form @ line <= 1e-12 * np.abs(form).max() * (line @ line)
    assert (np.linalg.eigvalsh(form) > -1e-9 * np.abs(form).max()).all()


def test_roughness_is_the_integral_of_the_squared_second_derivative():
    """For the density 6 x (1 - x), bent by -12 everywhere, with pilot q uniform: 144, or 144 / q for another."""
    grid = InputGrid.equal_cells(5.0, 7.0, 400)
    place = (grid.points - 5.0) / 2.0
    weights = 6 * place * (1 - place) / 400
    assert weights @ roughness_form(grid, np.full(400, 1 / 400)) @ weights == pytest.approx(144, rel=0.01)
    tilted = (0.5 + place) / 400
    expected = 144 * np.log(1.5 / 0.5)
    assert weights @ roughness_form(grid, tilted) @ weights == pytest.approx(expected, rel=0.01)
    assert weights @ roughness_form(grid, np.eye(400)[0]) @ weights == pytest.approx(144 / 0.05, rel=0.02)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
@settings(max_examples=20)
def test_units_do_not_matter(shift, scale):
    """Roughness is of the density on the domain scaled to [0, 1]."""
    points = np.array([0.0, 1.0, 2.5, 3.0, 5.0])
    pilot = np.array([0.1, 0.2, 0.4, 0.2, 0.1])
    plain = roughness_form(InputGrid.knots(points), pilot)
    moved = roughness_form(InputGrid.knots(shift + (abs(shift) + scale) * points), pilot)
    assert moved == pytest.approx(plain, rel=1e-6, abs=1e-6 * np.abs(plain).max())


class TestChoice:
    @pytest.mark.slow
    def test_the_smoothness_is_as_good_as_the_best_of_those_tried(self):
        """The held-out log-likelihoods come back with their multipliers; the one used is no rougher than the best."""
        progress = []
        found = penalised_likelihood(counted(3000, 1), GRID, progress=lambda done, of: progress.append((done, of)))
        tried, scores = zip(*found.held_out, strict=True)
        assert tried == tuple(SMOOTHNESSES[: len(tried)])
        best = int(np.argmax(scores))
        assert tried.index(found.smoothness) <= best
        assert scores[best] - scores[tried.index(found.smoothness)] < 1e-3
        assert progress == [*((number + 1, 13) for number in range(len(tried) - 1)), (13, 13)]

    def test_the_smoothest_within_one_standard_error_is_taken(self):
        """Behind by 1, 0.2 and 0 on average, where the standard error of the second is 0.2 or nearly nothing."""
        wavering = np.array([[1.0, 2.0, 2.0], [1.0, 1.6, 2.0]])
        steady = np.array([[1.0, 1.81, 2.0], [1.0, 1.79, 2.0]])
        assert (_smoothest_of_the_best(wavering), _smoothest_of_the_best(steady)) == (1, 2)
        assert _smoothest_of_the_best(np.zeros((1, 3))) == 0

    def test_a_path_ends_once_it_has_surely_fallen_twice(self):
        """Not after one fall, nor where the halves do not agree that the last is worse, nor where it hardly is."""
        falling = np.array([[3.0, 2.0, 1.0], [3.0, 2.1, 1.1]])
        assert _is_past(falling, 1)
        assert not _is_past(falling, 0.5)
        assert not _is_past(falling[:, :2], 1)
        assert not _is_past(np.array([[3.0, 3.0, 1.0], [3.0, 3.2, 1.1]]), 1)
        assert not _is_past(np.array([[3.0, 2.0, 0.0], [3.0, 3.1, 3.2]]), 1)

    @pytest.mark.sampled(6)
    @pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
    @pytest.mark.parametrize("n", [300, 20_000])
    @pytest.mark.parametrize("shape", ["smooth", "spike", "ages"])
    def test_the_whole_path_would_have_chosen_the_same(self, shape, n, epsilon, monkeypatch):
        """And the same estimate to its last digit, as the halves are the same."""
        rng, table = np.random.default_rng(n), square_wave(np.linspace(0.0, 1.0, 25), epsilon)
        smooth = rng.beta(2, 5, n)
        values = {"smooth": smooth, "spike": np.where(rng.random(n) < 0.4, 0.3, smooth), "ages": smooth.round(1)}[shape]
        counts, grid = ReportCounts.from_reports(table, table.sample(values, rng)), InputGrid.common([table])
        found = penalised_likelihood(counts, grid)
        monkeypatch.setattr(module, "FALLS", SMOOTHNESSES.size)
        whole = penalised_likelihood(counts, grid)
        assert whole.held_out[: len(found.held_out)] == found.held_out
        assert len(whole.held_out) == SMOOTHNESSES.size
        assert found.smoothness == whole.smoothness
        assert np.array_equal(found.fit.weights, whole.fit.weights)

    @pytest.mark.slow
    def test_the_scores_are_the_held_out_likelihoods(self):
        """Five times: fit each half for each multiplier, and judge it by the other half."""
        counts = counted(600, 4)
        found = penalised_likelihood(counts, GRID, rng=np.random.default_rng(9))
        form = found.penalty / found.smoothness
        rng, expected = np.random.default_rng(9), np.zeros(len(found.held_out))
        for _ in range(REPEATS):
            halves = counts.split([1, 1], rng)
            for fitted, judge in (halves, halves[::-1]):
                seen = judge.reports_of(0)
                for s, smoothness in enumerate(SMOOTHNESSES[: expected.size]):
                    fit = fit_mixture(likelihood_of(fitted, GRID), penalty=smoothness * form, certificate=1e-6)
                    expected[s] += seen @ np.log(fit.weights @ TABLE.probabilities) / seen.sum()
        # The fits start elsewhere, and stop a millionth below their best.
        assert [score for _, score in found.held_out] == pytest.approx(expected / (2 * REPEATS), abs=1e-4)

    @pytest.mark.slow
    def test_it_is_the_same_every_time(self):
        """By default the halves are dealt by a fixed seed; another generator deals other halves."""
        counts = counted(2000, 2)
        first, again = (penalised_likelihood(counts, GRID) for _ in range(2))
        other = penalised_likelihood(counts, GRID, rng=np.random.default_rng(5))
        assert np.array_equal(first.fit.weights, again.fit.weights)
        assert first.held_out == again.held_out != other.held_out

    def test_users_of_a_rare_service_may_all_be_in_one_half(self):
        """A half without reports to some service is fitted by the others."""
        both = [Service("much", TABLE), Service("little", TABLE)]
        outputs = np.full((401, 2), -1)
        outputs[:400, 0] = np.random.default_rng(3).integers(0, 4, 400)
        outputs[400, 1] = 2
        found = penalised_likelihood(ReportCounts.from_outputs(both, outputs), GRID)
        assert len(found.held_out) > FALLS
        assert np.isfinite([score for _, score in found.held_out]).all()

    def test_one_user_has_no_half_and_gets_the_smoothest(self):
        """Nothing can be judged, so nothing but a smooth density is claimed."""
        found = penalised_likelihood(counted(1, 1), GRID)
        assert found.smoothness == SMOOTHNESSES[0]
        assert found.fit.weights.sum() == pytest.approx(1.0)


def test_no_penalty_is_the_exact_maximum():
    """A multiplier of zero leaves the likelihood alone."""
    counts = counted(3000, 1)
    found = penalised_likelihood(counts, GRID, smoothness=0.0)
    exact = fit_mixture(likelihood_of(counts, GRID), certificate=1e-10)
    assert found.fit.loglik == pytest.approx(exact.loglik, abs=3000 * 1.1e-6)
    assert not found.penalty.any()


def test_more_smoothness_is_smoother():
    """Roughness falls, and so does the likelihood, as the multiplier rises."""
    counts = counted(3000, 1)
    fits = [penalised_likelihood(counts, GRID, smoothness=s) for s in (1e-9, 1e-7, 1e-5, 1e-3)]
    rough = [found.fit.weights @ (fits[0].penalty / 1e-9) @ found.fit.weights for found in fits]
    assert rough == sorted(rough, reverse=True)
    loglik = [found.fit.loglik for found in fits]
    assert loglik == sorted(loglik, reverse=True)


@pytest.mark.parametrize("knots", [[0.0, 10.0], [0.0, 3.0]])
def test_fewer_than_three_components_have_no_roughness(knots):
    """Two knots are the exact maximum, with nothing tried."""
    table = duchi(knots, 1.0)
    counts = ReportCounts.from_outputs([Service("a", table)], [[0]] * 60 + [[1]] * 40)
    found = penalised_likelihood(counts, InputGrid.common([table]))
    slope = table.probabilities[0, 0] - table.probabilities[1, 0]
    assert found.fit.weights[0] == pytest.approx((0.6 - table.probabilities[1, 0]) / slope, abs=1e-6)
    assert (found.smoothness, found.held_out, found.fit.method) == (0.0, (), "penalised")


@pytest.mark.parametrize("smoothness", [-1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("grid", [GRID, InputGrid.knots([0.0, 10.0])], ids=["17", "2"])
def test_a_smoothness_is_finite_and_not_negative(smoothness, grid):
    """One line, whatever the grid."""
    with pytest.raises(InputError) as caught:
        penalised_likelihood(counted(10, 1), grid, smoothness=smoothness)
    assert str(caught.value) == f"smoothness must be finite and not negative, got {smoothness!r}"
