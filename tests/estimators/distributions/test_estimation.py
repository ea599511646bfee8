"""The one call from counts to a distribution: methods, equivariances, coverage, evidence and refusals."""

import numpy as np
import pytest
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_distribution, likelihood_of, mixture_reduction
from optldp.estimators.distributions.covariance import maximum_covariance
from optldp.estimators.distributions.metrics import wasserstein_1
from optldp.estimators.distributions.smooth import smooth_likelihood
from optldp.estimators.distributions.smoothed_em import ems
from optldp.estimators.methods import DISTRIBUTION_METHODS
from optldp.mechanisms import InputError, duchi, grr, piecewise, square_wave
from optldp.solvers import fit_mixture

KNOTS = np.linspace(0.0, 10.0, 17)


def services(knots=KNOTS) -> list[Service]:
    tables = {"sw": square_wave(knots, 1.0), "pm": piecewise(knots, 2.0), "sr": duchi(knots, 1.0)}
    return [Service(name, table) for name, table in tables.items()]


def outputs_of(chosen: list[Service], n: int, seed: int) -> np.ndarray:
    """Reports of n users to these services, a third of them missing."""
    rng = np.random.default_rng(seed)
    low, high = chosen[0].mechanism.domain
    values = low + (high - low) * rng.beta(2, 5, n)
    columns = [s.mechanism.output_index(s.mechanism.sample(values, rng)) for s in chosen]
    return np.where(rng.random((n, len(chosen))) < 1 / 3, -1, np.stack(columns, axis=1))


COUNTS = ReportCounts.from_outputs(services(), outputs_of(services(), 700, 1))
GRID = InputGrid.common(COUNTS.mechanisms)


@pytest.mark.nightly
def test_every_method_is_the_function_of_its_name():
    """The exact maximum, EMS, mixture reduction and averaged log densities of the same likelihood."""
    likelihood = likelihood_of(COUNTS, GRID)
    expected = {
        "smooth": smooth_likelihood(COUNTS, GRID).fit,
        "em": fit_mixture(likelihood),
        "ule": fit_mixture(likelihood),
        "ems": ems(likelihood),
        "mr": mixture_reduction(likelihood).fit,
    }
    for method in DISTRIBUTION_METHODS:
        found = estimate_distribution(COUNTS, method=method)
        assert np.array_equal(found.value, expected[method].weights)
        assert found.method == ("em" if method == "ule" else method)
        assert (found.n, found.grid.size) == (COUNTS.n_users, 17)


@pytest.mark.slow
@pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
def test_the_certificate_is_that_of_the_weights(method):
    """Recomputed user by user group from the weights returned, the largest gradient less one."""
    found = estimate_distribution(COUNTS, method=method)
    gradient, loglik = np.zeros(17), 0.0
    for group in COUNTS.groups:
        for row, count in zip(group.outputs, group.counts, strict=True):
            reported = zip(group.services, row, strict=True)
            chances = np.prod([GRID.rows(COUNTS.mechanisms[j])[:, o] for j, o in reported], axis=0)
            gradient += count * chances / (chances @ found.value) / COUNTS.n_users
            loglik += count * np.log(chances @ found.value)
    if method == "mr":
        reduced = mixture_reduction(likelihood_of(COUNTS, GRID))
        gradient = np.bincount(reduced.member, gradient) / np.bincount(reduced.member)
    assert found.fit.certificate == pytest.approx(gradient.max() - 1, abs=1e-9)
    assert found.fit.loglik == pytest.approx(loglik, rel=1e-12)
    assert found.fit.gap_bound <= COUNTS.n_users * max(found.fit.certificate, 0) + 1e-9


@pytest.mark.sampled(3)
@pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
def test_one_services_ule_is_em(method):
    """Users of one service enter with their report's probability, whatever the method's name."""
    chosen = services(KNOTS[::2])
    alone = ReportCounts.from_outputs(chosen, outputs_of(chosen, 300, 1)).only([0])
    outputs = np.repeat(alone.groups[0].outputs, alone.groups[0].counts, axis=0)
    direct = ReportCounts.from_outputs([alone.services[0]], outputs)
    found, again = (estimate_distribution(counts, method=method) for counts in (alone, direct))
    assert np.array_equal(found.value, again.value)
    ule, em = (estimate_distribution(alone, method=name) for name in ("ule", "em"))
    assert np.array_equal(ule.value, em.value)
    assert ule.method == em.method == "em"


@pytest.mark.nightly
@pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
def test_units_do_not_matter(method):
    """Knots 3 x - 7 give the same weights, and a mean and quantiles that moved along."""
    knots, outputs = KNOTS[::2], outputs_of(services(KNOTS[::2]), 300, 1)
    here, moved = (ReportCounts.from_outputs(services(at), outputs) for at in (knots, 3 * knots - 7))
    found, other = (estimate_distribution(counts, method=method) for counts in (here, moved))
    assert other.value == pytest.approx(found.value, abs=1e-5)
    assert other.mean().value == pytest.approx(3 * found.mean().value - 7, abs=1e-3)
    assert other.mean().std_error == pytest.approx(3 * found.mean().std_error, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["em", "ems", "mr"])
def test_the_order_of_the_services_does_not_matter(method):
    """Columns and services permuted together."""
    order = [2, 0, 1]
    chosen = services()
    permuted = ReportCounts.from_outputs([chosen[j] for j in order], outputs_of(chosen, 700, 1)[:, order])
    found, other = (estimate_distribution(counts, method=method) for counts in (COUNTS, permuted))
    assert other.value == pytest.approx(found.value, abs=1e-6)
    assert other.fit.loglik == pytest.approx(found.fit.loglik, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
def test_a_mirrored_domain_gives_a_mirrored_estimate(method):
    """The square wave is symmetric: reports mirrored at the domain's middle mirror the weights."""
    table = square_wave(KNOTS, 1.0)
    outputs = outputs_of([Service("sw", table)], 3000, 4)
    outputs = outputs[outputs >= 0][:, None]
    mirrored = table.low.size - 1 - outputs
    assert table.probabilities == pytest.approx(table.probabilities[::-1, ::-1], abs=1e-12)
    found, other = (
        estimate_distribution(ReportCounts.from_outputs([Service("sw", table)], some), method=method)
        for some in (outputs, mirrored)
    )
    # The windows of mixture reduction are mirrored too, as no two of them are equally light; draws are not.
    drawn = 0.0 if found.smooth is None else 5 * float(found.std_error.max()) * np.sqrt(2 / len(found.smooth.draws))
    assert other.value == pytest.approx(found.value[::-1], abs=max(1e-4, drawn))


USERS, REPETITIONS = 4000, 300
FIVE_CELLS = InputGrid.equal_cells(0.0, 10.0, 5)
TRUTH = np.array([0.1, 0.3, 0.25, 0.2, 0.15])


@pytest.fixture(scope="module")
def repeated():
    """Exact maxima from clear reports of 4,000 users on five cells, 300 times."""
    service = Service("sw", square_wave(KNOTS, 5.0))
    law = TRUTH @ FIVE_CELLS.rows(service.mechanism)
    estimates = []
    for counts in np.random.default_rng(8).multinomial(USERS, law, size=REPETITIONS):
        reports = ReportCounts.from_outputs([service], np.repeat(np.arange(law.size), counts)[:, None])
        estimates.append(estimate_distribution(reports, method="em", grid=FIVE_CELLS))
    return estimates


@pytest.mark.slow
class TestCoverage:
    """95% intervals, and all of what was seen within 4 standard errors of what was said."""

    @pytest.mark.nightly
    @pytest.mark.parametrize("what", ["mean", "probability", "variance", "median", "tenth", "weight"])
    def test_intervals_hold_the_truth_as_often_as_they_say(self, repeated, what):
        """A binomial share of 300 has a standard error of 1.26%; the truth is computed from the weights."""
        points = FIVE_CELLS.points
        centre = TRUTH @ points
        ends = {
            "mean": (centre, lambda e: _ends(e.mean())),
            "probability": (0.1 + 0.15, lambda e: _ends(e.probability(0.0, 3.0))),
            "variance": (TRUTH @ (points - centre) ** 2 + 2.0**2 / 12, lambda e: _ends(e.variance())),
            "median": (4 + 2 * 0.1 / 0.25, lambda e: _ends(e.quantile(0.5))),
            "tenth": (2.0, lambda e: _ends(e.quantile(0.1))),
            "weight": (0.15, lambda e: (e.interval().low[4], e.interval().high[4])),
        }
        truth, interval = ends[what]
        held = [low <= truth <= high for low, high in map(interval, repeated)]
        assert abs(np.mean(held) - 0.95) < 4 * np.sqrt(0.95 * 0.05 / REPETITIONS)

    @pytest.mark.nightly
    def test_a_quantiles_standard_error_is_its_scatter(self, repeated):
        """The standard deviation over the repetitions, to 4 of its own standard errors."""
        medians = [estimate.quantile(0.5) for estimate in repeated]
        ratio = np.std([m.value for m in medians]) / np.mean([m.std_error for m in medians])
        assert abs(ratio - 1) < 4 / np.sqrt(2 * REPETITIONS)


def _ends(estimate):
    return estimate.interval().low, estimate.interval().high


@pytest.mark.parametrize("method", DISTRIBUTION_METHODS)
class TestDegenerate:
    @pytest.mark.slow
    def test_one_cell_has_all_the_mass(self, method):
        """There is nothing to estimate, and no scatter."""
        found = estimate_distribution(COUNTS, method=method, grid=InputGrid.equal_cells(0.0, 10.0, 1))
        assert found.value == pytest.approx([1.0])
        assert found.mean().value == 5.0
        assert found.mean().std_error == pytest.approx(0.0, abs=1e-7)

    @pytest.mark.slow
    def test_one_user_is_enough(self, method):
        """The estimate is a distribution, and its bands say how little it is worth."""
        one = ReportCounts.from_outputs(services(), [[3, -1, 1]][:1]).only([0])
        found = estimate_distribution(one, method=method)
        assert found.value.sum() == pytest.approx(1.0)
        assert np.isfinite(found.covariance).all()
        assert found.n == 1

    def test_two_knots_are_estimated(self, method):
        """Stochastic rounding on its own two knots: the unbiased mean, clipped to the domain."""
        table = duchi([0.0, 10.0], 2.0)
        counts = ReportCounts.from_outputs([Service("sr", table)], [[0]] * 600 + [[1]] * 400)
        found = estimate_distribution(counts, method=method)
        share = (0.4 - table.probabilities[0, 1]) / (table.probabilities[1, 1] - table.probabilities[0, 1])
        # EMS averages the two ends 2 to 1 after every step.
        reach = 2.0 if method == "ems" else 0.05
        assert found.mean().value == pytest.approx(10 * share, abs=reach)

    @pytest.mark.slow
    def test_all_mass_in_one_cell_is_found(self, method):
        """Where all values are the same, near all of the weight is within a cell of it."""
        table = square_wave(KNOTS, 6.0)
        reports = table.sample(np.full(20_000, KNOTS[5]), np.random.default_rng(1))
        found = estimate_distribution(ReportCounts.from_reports(table, reports), method=method)
        assert found.value[4:7].sum() > 0.97
        assert found.value.argmax() == 5
        assert found.mean().value == pytest.approx(KNOTS[5], abs=0.1)


def test_a_discrete_table_is_estimated_by_category():
    """GRR with the categorical rule: groups of small categories, the large ones close to the truth."""
    table = grr(np.arange(12.0), 3.0)
    shares = np.array([40, 25, 10] + [1] * 9) / 84
    rng = np.random.default_rng(2)
    reports = table.sample(rng.choice(np.arange(12.0), 5000, p=shares), rng)
    found = estimate_distribution(ReportCounts.from_reports(table, reports), method="mr", rule="categorical")
    assert found.components < 12
    assert found.value[:3] == pytest.approx(shares[:3], abs=0.03)


def test_cells_are_estimated_with_the_bodies_of_their_number():
    """Any grid within the domain, with as many weights as it has cells."""
    found = estimate_distribution(COUNTS, method="ems", grid=InputGrid.equal_cells(0.0, 10.0, 40))
    assert found.value.shape == found.interval().low.shape == found.interval().high.shape == (40,)
    assert found.components == 40


@pytest.mark.nightly
def test_the_papers_stop_is_reported():
    """Plain EM stopped by the change of the log-likelihood says so, and its bands are narrower than the maximum's."""
    early = estimate_distribution(COUNTS, method="em", solver="em", loglik_change=1e-1)
    exact = estimate_distribution(COUNTS, method="em")
    assert (str(early.fit.stop), early.fit.method) == ("loglik-change", "em")
    assert exact.fit.certificate <= 1e-8 < early.fit.certificate
    assert early.fit.loglik < exact.fit.loglik <= early.fit.loglik + early.fit.gap_bound


@pytest.mark.nightly
def test_em_that_stopped_early_has_the_scatter_of_its_steps():
    """So has mixture reduction, which is the same without merges: less than a maximum of so little information has."""
    early = estimate_distribution(COUNTS, method="em", solver="em", loglik_change=1e-3)
    reduced = estimate_distribution(COUNTS, method="mr", threshold=0.0)
    likelihood = likelihood_of(COUNTS, GRID)
    expected = maximum_covariance(likelihood, early.value, em_steps=early.fit.iterations)
    assert np.array_equal(early.covariance, expected)
    assert reduced.covariance == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert np.trace(expected) < 0.9 * np.trace(maximum_covariance(likelihood, early.value))


@pytest.mark.nightly
def test_progress_is_shown():
    """Steps of iterations, sets of masses tried for the smooth fit."""
    seen, dealt = [], []
    estimate_distribution(COUNTS, method="ems", progress=seen.append)
    few = ReportCounts.from_outputs(services(KNOTS[::4]), outputs_of(services(KNOTS[::4]), 100, 1))
    estimate_distribution(few, method="smooth", split_progress=lambda done, of: dealt.append((done, of)))
    assert len(seen) > 3
    assert dealt[0] == (1, 9)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"method": "mle"}, f"method must be one of {', '.join(DISTRIBUTION_METHODS)}, got 'mle'"),
        (
            {"method": "penalised"},
            "method penalised is gone: smooth, the default of distributions, takes its place and errs less",
        ),
        ({"solver": "em"}, "solver is for em, ule, got method 'smooth': leave it out"),
        ({"method": "mr", "certificate": 1e-3}, "certificate is for em, ule, got method 'mr': leave it out"),
        ({"loglik_change": 1e-3}, "loglik_change is for em, ule, ems, mr, got method 'smooth': leave it out"),
        ({"method": "ems", "threshold": 0.1}, "threshold is for mr, got method 'ems': leave it out"),
        ({"method": "em", "rule": "numeric"}, "rule is for mr, got method 'em': leave it out"),
        (
            {"grid": InputGrid.equal_cells(0.0, 11.0, 5)},
            "the cells must lie in the table's domain [0, 10], got [0, 11]",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(options, says):
    """Each names what was got and, where there is one, the cure."""
    with pytest.raises(InputError) as caught:
        estimate_distribution(COUNTS, **options)
    assert str(caught.value) == says


def test_a_service_without_reports_is_refused():
    """Its table would say nothing."""
    counts = ReportCounts.from_outputs(services(), [[1, 2, -1]])
    with pytest.raises(InputError, match="every service must have reports, got none for 'sr': leave it out"):
        estimate_distribution(counts)


@pytest.mark.slow
def test_grids_that_disagree_are_refused_unless_cells_are_given():
    """Knots of one table that the finest lacks."""
    chosen = [Service("a", square_wave(KNOTS, 1.0)), Service("b", square_wave(np.linspace(0, 10, 8), 1.0))]
    counts = ReportCounts.from_outputs(chosen, [[0, 1], [2, 3]])
    with pytest.raises(InputError, match="cell grids must agree, but one of 8 knots has"):
        estimate_distribution(counts)
    found = estimate_distribution(counts, grid=InputGrid.equal_cells(0.0, 10.0, 6))
    assert found.value.size == 6


@pytest.mark.nightly
def test_the_default_errs_less_than_the_others():
    """Wasserstein-1, one mode, two modes and a spike, two collections each; geometric means of the ratios."""
    edges, ratios = np.linspace(0.0, 1.0, 129), []
    table, grid = square_wave(edges, 1.0), InputGrid.cells(edges)
    for seed in range(2):
        rng = np.random.default_rng([19, seed])
        half = rng.random(10_000) < 0.5
        shapes = [
            rng.beta(2, 5, 10_000),
            np.where(half, rng.normal(0.25, 0.05, 10_000), rng.normal(0.7, 0.07, 10_000)).clip(0, 1),
            np.where(half, 0.5, rng.beta(2, 2, 10_000)),
        ]
        for values in shapes:
            truth = np.histogram(values, edges)[0] / values.size
            counts = ReportCounts.from_reports(table, table.sample(values, rng))
            fits = [estimate_distribution(counts, grid=grid, method=method) for method in ("smooth", "ems", "em")]
            assert estimate_distribution(counts, grid=grid).method == "smooth"
            mine, *others = (wasserstein_1(grid.points, fit.value, truth) for fit in fits)
            ratios.append([np.log(other / mine) for other in others])
    assert np.exp(np.mean(ratios, axis=0)).min() > 1.1
