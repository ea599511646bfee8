"""The averaged log density: its weights, its independence of the grid, its certificate, and what its bands hold."""

import numpy as np
import pytest
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_distribution, likelihood_of
from optldp.estimators.distributions import smooth as module
from optldp.estimators.distributions.log_density import fit_log_densities, shares
from optldp.estimators.distributions.metrics import wasserstein_1
from optldp.estimators.distributions.smooth import smooth_likelihood
from optldp.mechanisms import SolverError, duchi, piecewise, square_wave
from optldp.solvers import MixtureLikelihood
from optldp.solvers.likelihood.log_linear import exact_loglik

KNOTS = np.linspace(0.0, 1.0, 33)


def counted(n: int, seed: int, epsilon: float = 1.0, knots: np.ndarray = KNOTS) -> ReportCounts:
    rng, table = np.random.default_rng(seed), square_wave(knots, epsilon)
    return ReportCounts.from_reports(table, table.sample(rng.beta(2, 5, n), rng))


def three_services(n: int) -> ReportCounts:
    """Users of one, two or three services each."""
    rng = np.random.default_rng(1)
    services = [
        Service(name, table)
        for name, table in {"sr": duchi(KNOTS, 1.0), "pm": piecewise(KNOTS, 1.0), "sw": square_wave(KNOTS, 1.0)}.items()
    ]
    values = rng.beta(2, 5, n)
    outputs = np.stack([s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in services], axis=1)
    missing = rng.random((n, 3)) < 0.3
    missing[np.arange(n), rng.integers(0, 3, n)] = False
    return ReportCounts.from_outputs(services, np.where(missing, -1, outputs))


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 30, 5000])
def test_weights_are_positive_and_sum_to_one(n):
    """From one user on; so does every draw, and shares of fits too."""
    found = smooth_likelihood(counted(n, 1), InputGrid.knots(KNOTS))
    assert found.fit.weights.sum() == pytest.approx(1.0)
    assert (found.fit.weights > 0).all()
    assert (found.draws >= 0).all()
    assert found.draws.sum(axis=1) == pytest.approx(1.0)
    assert (found.shares.sum(), sum(found.orders)) == pytest.approx((1.0, 1.0))
    assert found.decrement < 1e-5


@pytest.mark.slow
def test_loglik_and_certificate_are_those_of_the_weights():
    """Recomputed; neither has a penalty in it."""
    counts, grid = counted(3000, 2), InputGrid.knots(KNOTS)
    fit, likelihood = smooth_likelihood(counts, grid).fit, likelihood_of(counts, grid)
    mixed = likelihood.mix(fit.weights)
    assert fit.loglik == pytest.approx(likelihood.loglik(mixed), rel=1e-12)
    assert fit.certificate == pytest.approx(likelihood.gradient(mixed).max() - 1.0, abs=1e-3)


@pytest.mark.slow
def test_masses_whose_mode_is_not_found_are_left_out(monkeypatch):
    """Some reports on spiky columns had none at all for all masses at once, and no estimate with it."""

    def lost(*_: object, **__: object) -> None:
        raise SolverError("the log-density fit has not converged")

    monkeypatch.setattr("optldp.estimators.distributions.atoms.fit_log_density", lost)
    found = smooth_likelihood(counted(3000, 2), InputGrid.knots(KNOTS))
    assert found.atoms == {}
    assert found.fit.weights.sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_smooth_sets_show_no_spikes():
    """Beta(2, 5) had a mass at a quarter or a fifth in two of these collections, of little evidence."""
    for seed in (5, 7):
        rng, table = np.random.default_rng(seed), square_wave(KNOTS, 2.0)
        counts = ReportCounts.from_reports(table, table.sample(rng.beta(2, 5, 4000), rng))
        assert smooth_likelihood(counts, InputGrid.knots(KNOTS), draws=50).atoms == {}


def test_two_components_are_a_share():
    """No smoothness, no masses: the average of what the reports leave open, close to the exact share."""
    table = duchi([0.0, 1.0], 1.0)
    counts = ReportCounts.from_outputs([Service("a", table)], [[0]] * 6000 + [[1]] * 4000)
    slope = table.probabilities[0, 0] - table.probabilities[1, 0]
    expected = (0.6 - table.probabilities[1, 0]) / slope
    found = estimate_distribution(counts)
    assert found.value[0] == pytest.approx(expected, abs=0.01)
    assert found.interval().low[0] < expected < found.interval().high[0]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in (1, 2))])
def test_twice_the_cells_change_next_to_nothing(seed):
    """128, 256 and 512 cells, the same reports: the distance moves by less than a fiftieth of itself."""
    rng = np.random.default_rng(seed)
    values = np.where(rng.random(20_000) < 0.5, rng.beta(2, 5, 20_000), rng.normal(0.7, 0.05, 20_000).clip(0, 1))
    edges = np.linspace(0.0, 1.0, 513)
    table = square_wave(edges, 1.0)
    counts = ReportCounts.from_reports(table, table.sample(values, rng))
    truth = np.histogram(values, edges)[0] / values.size
    finest, errors = InputGrid.cells(edges), []
    for cells in (128, 256, 512):
        found = estimate_distribution(counts, grid=InputGrid.equal_cells(0.0, 1.0, cells))
        spread = np.repeat(found.value, 512 // cells) * cells / 512
        errors.append(wasserstein_1(finest.points, spread, truth))
    assert errors[1] == pytest.approx(errors[2], rel=0.02)
    assert errors[0] == pytest.approx(errors[2], rel=0.04)


@pytest.mark.slow
def test_the_estimate_does_not_hang_on_the_number_of_draws():
    """It is the posterior's average: 600 draws or 610 are of the same chains, and it moves by 1% of its own doubt."""
    counts, grid = counted(3000, 2), InputGrid.knots(KNOTS)
    found, more = (smooth_likelihood(counts, grid, draws=draws) for draws in (600, 610))
    moved = np.cumsum(found.fit.weights - more.fit.weights)[:-1]
    assert (np.abs(moved) < 0.01 * np.cumsum(found.draws, axis=1).std(axis=0)[:-1]).all()


@pytest.mark.nightly
def test_many_rows_are_fitted_as_few_are(monkeypatch):
    """Ragged users of three services: the expansion and the held information give what exact steps give."""
    counts, grid = three_services(6000), InputGrid.knots(KNOTS)
    exact = smooth_likelihood(counts, grid)
    monkeypatch.setattr(module, "FEW_ROWS", 0)
    monkeypatch.setattr(module, "PILOT_USERS", 2000)
    held = smooth_likelihood(counts, grid)
    scatter = exact.draws.std(axis=0)
    assert np.abs(held.fit.weights - exact.fit.weights).max() < 0.25 * scatter.max()
    assert held.decrement < 1e-5


@pytest.mark.slow
def test_of_many_rows_second_derivatives_are_taken_a_dozen_times(monkeypatch):
    """They are what takes time with many users; four times as many were, most at the first fit, to a part of them."""
    asked, taken = [], MixtureLikelihood.information
    monkeypatch.setattr(module, "FEW_ROWS", 0)
    monkeypatch.setattr(module, "PILOT_USERS", 500)
    monkeypatch.setattr(MixtureLikelihood, "information", lambda *given: asked.append(1) or taken(*given))
    smooth_likelihood(three_services(2000), InputGrid.knots(KNOTS), draws=20)
    assert len(asked) <= 16


@pytest.mark.slow
def test_the_average_is_by_evidence():
    """Shares are the evidences' exponentials; fits far behind are left out."""
    counts, grid = counted(2000, 3), InputGrid.knots(KNOTS)
    found = smooth_likelihood(counts, grid)
    evidence = np.array([one.evidence for one in found.fits])
    assert found.shares == pytest.approx(np.exp(evidence - evidence.max()) / np.exp(evidence - evidence.max()).sum())
    likelihood = likelihood_of(counts, grid, atoms=found.components.places)
    every = fit_log_densities(exact_loglik(likelihood), likelihood.total, found.components)
    assert max(one.evidence for one in found.fits) == pytest.approx(max(one.evidence for one in every), abs=0.05)
    assert shares(every).sum() == pytest.approx(1.0)


@pytest.mark.slow
def test_the_same_reports_give_the_same_estimate():
    """Draws have a fixed seed."""
    counts, grid = counted(500, 4), InputGrid.knots(KNOTS)
    first, again = smooth_likelihood(counts, grid), smooth_likelihood(counts, grid)
    assert np.array_equal(first.draws, again.draws)


@pytest.mark.slow
def test_progress_counts_sets_of_masses():
    """Without masses first; of at most nine sets."""
    seen = []
    smooth_likelihood(counted(500, 4), InputGrid.knots(KNOTS), progress=lambda done, of: seen.append((done, of)))
    assert seen[0] == (1, 9)
    assert [done for done, _ in seen] == list(range(1, len(seen) + 1))


@pytest.mark.nightly
def test_intervals_cover():
    """Beta(2, 5), 40 collections of 4,000 users: of function, mean and median nine in ten at least hold the truth."""
    truth = {"mean": 2 / 7, "median": 0.26444998, "share": 0.5798, "repeats": 40}
    held = np.zeros(3)
    for seed in range(truth["repeats"]):
        found = estimate_distribution(counted(4000, 100 + seed, 2.0))
        for k, (one, true) in enumerate(
            [
                (found.mean(), truth["mean"]),
                (found.quantile(0.5), truth["median"]),
                (found.probability(0, 0.3), truth["share"]),
            ]
        ):
            held[k] += one.interval().low <= true <= one.interval().high
    assert (held >= 34).all()


def failing(*_: object, **__: object) -> None:
    raise SolverError("the log-density fit has not converged in 102 evaluations: use method em")


@pytest.mark.nightly
def test_unlikely_fits_without_a_mode_are_left_out(monkeypatch):
    """An average of those that are left; none where it is the likeliest that have no mode."""
    fitted, grid = module.refit, InputGrid.knots(KNOTS)
    whole = smooth_likelihood(counted(3000, 2), grid)

    def last_fails(loglik, total, components, found):
        if (found.order, found.length) == (whole.fits[-1].order, whole.fits[-1].length):
            raise SolverError("the log-density fit has not converged in 557 evaluations: use method em")
        return fitted(loglik, total, components, found)

    monkeypatch.setattr(module, "refit", last_fails)
    found = smooth_likelihood(counted(3000, 2), grid)
    assert len(found.fits) == len(whole.fits) - 1
    assert found.fit.weights == pytest.approx(whole.fit.weights, abs=0.02)
    monkeypatch.setattr(module, "refit", failing)
    with pytest.raises(SolverError, match="not converged"):
        smooth_likelihood(counted(3000, 2), grid)


@pytest.mark.nightly
def test_a_collection_that_had_no_fit_has_one():
    """Nearly all at zero: one fit of ten, of 1% of the likeliest's evidence, had no mode, and none was returned."""
    rng, table = np.random.default_rng(32), square_wave(np.linspace(0.0, 1.0, 65), 1.0)
    values = np.where(rng.random(20_000) < 0.99, 0.0, rng.random(20_000))
    found = estimate_distribution(ReportCounts.from_reports(table, table.sample(values, rng)))
    assert (found.method, found.instead_of) == ("smooth", "")
