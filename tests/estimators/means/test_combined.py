"""The mean over several services: unbiased where promised, biased where said, with intervals that cover."""

import functools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import (
    InputGrid,
    MeanEstimate,
    ReportCounts,
    Service,
    count,
    estimate_combined_mean,
    estimate_mean,
    joint_decoder,
)
from optldp.estimators.intervals import Sample, bernstein_reach
from optldp.estimators.means.decoding import plain_decoders
from optldp.estimators.means.service_weights import rough_prior
from optldp.estimators.methods import MeanMethod
from optldp.mechanisms import InputError, duchi, grr, laplace, piecewise, square_wave
from scipy import stats

from .test_decoding import deficient
from .test_joint_decoder import mirrored
from .test_unbiasing import random_table
from .test_user_weights import by_the_paper

KNOTS = np.linspace(-1, 1, 9)
SERVICES = [
    Service("duchi", duchi(KNOTS, 1.0)),
    Service("laplace", laplace(KNOTS, 2.0)),
    Service("square wave", square_wave(KNOTS, 1.5)),
]
UNBIASED: tuple[MeanMethod, ...] = ("ua", "population", "decoder")
METHODS: tuple[MeanMethod, ...] = (*UNBIASED, "uwa")


def reports(services, x: np.ndarray, rng: np.random.Generator, missing: float = 0.3) -> np.ndarray:
    """Outputs (N, J) for one report to each service, some left out but never all of a user's."""
    tables = [service.mechanism for service in services]
    outputs = np.stack([table.output_index(table.sample(x, rng)) for table in tables], axis=1)
    absent = rng.random(outputs.shape) < missing
    absent[np.arange(x.size), rng.integers(0, len(services), x.size)] = False
    return np.where(absent, -1, outputs)


def some_counts(seed: int = 1, n: int = 300, services=SERVICES) -> ReportCounts:
    rng = np.random.default_rng(seed)
    low, high = services[0].mechanism.domain
    return ReportCounts.from_outputs(services, reports(services, low + (high - low) * rng.beta(2, 5, n), rng))


def listed(values) -> tuple[float, float]:
    """Mean and standard error of one number per user."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) / math.sqrt(len(values))


@pytest.mark.nightly
@settings(max_examples=20)
@given(st.integers(0, 10_000))
def test_grouped_ua_and_uwa_are_those_of_a_loop_over_users(seed):
    """With users of different services: an average of the users' own (weighted) averages."""
    rng = np.random.default_rng(seed)
    outputs = reports(SERVICES, rng.uniform(-1, 1, 12), rng)
    outputs[0] = 0  # every service has a report
    counts, decoders = ReportCounts.from_outputs(SERVICES, outputs), plain_decoders(SERVICES)
    plain, weighted = [], []
    for row in outputs:
        own = [j for j in range(3) if row[j] >= 0]
        plain.append(np.mean([decoders[j][row[j]] for j in own]))
        chosen = [SERVICES[j] for j in own], [decoders[j] for j in own], row[own]
        weighted.append(by_the_paper(*chosen, KNOTS))
    ua, uwa = estimate_combined_mean(counts, method="ua"), estimate_combined_mean(counts, method="uwa")
    np.testing.assert_allclose((ua.value, ua.std_error), listed(plain), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose((uwa.value, uwa.std_error), listed(weighted), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("seed", [1, 2])
def test_ua_per_report_weighs_users_by_their_reports(seed):
    """It is the mean of all decoded reports; where all have the same services it is that of users, with its error."""
    counts = some_counts(seed)
    decoders = plain_decoders(counts.services)
    decoded = [
        np.repeat(decoders[j][column], group.counts)
        for group in counts.groups
        for j, column in zip(group.services, group.outputs.T, strict=True)
    ]
    found = estimate_combined_mean(counts, method="ua", per_report=True)
    assert found.value == pytest.approx(np.concatenate(decoded).mean())
    assert abs(found.value - estimate_combined_mean(counts, method="ua").value) > 1e-3
    x = np.random.default_rng(seed).beta(2, 5, 200)
    whole = ReportCounts.from_outputs(SERVICES, reports(SERVICES, x, np.random.default_rng(seed), missing=0.0))
    each, users = (estimate_combined_mean(whole, method="ua", per_report=told) for told in (True, False))
    assert (each.value, each.std_error) == pytest.approx((users.value, users.std_error), rel=1e-3)
    refused: list[dict[str, Any]] = [
        {"method": "uwa"},
        {"method": "ua", "raw": True},
        {"method": "ua", "target": "users"},
    ]
    for options in refused:
        with pytest.raises(InputError, match="per_report is for ua, population and normal intervals, got"):
            estimate_combined_mean(counts, per_report=True, **options)


def test_the_first_half_is_weighed_by_the_second_and_the_second_by_the_first():
    """The split re-dealt from the same generator; each user's number by weights or decoders made without it."""
    counts, grid = some_counts(), InputGrid.knots(KNOTS)
    halves = counts.split([0.5, 0.5], np.random.default_rng(5))
    decoders = plain_decoders(SERVICES)
    for method in ("population", "decoder"):
        parts = []
        for half, other in (halves, halves[::-1]):
            prior, values = rough_prior(other, grid), []
            for group in half.groups:
                tables = [counts.mechanisms[j] for j in group.services]
                if method == "decoder":
                    added = joint_decoder(tables, KNOTS, prior)
                else:
                    plain = [decoders[j] for j in group.services]
                    precision = [
                        1 / (prior @ (t.probabilities @ d**2 - KNOTS**2)) for t, d in zip(tables, plain, strict=True)
                    ]
                    added = [w * d / sum(precision) for w, d in zip(precision, plain, strict=True)]
                for row, often in zip(group.outputs, group.counts, strict=True):
                    values += [sum(d[o] for d, o in zip(added, row, strict=True))] * often
            parts.append(values)
        got = estimate_combined_mean(counts, method=method, rng=np.random.default_rng(5))
        assert got.value == pytest.approx(np.concatenate(parts).mean(), rel=1e-10)
        variance = sum(len(values) * np.var(values, ddof=1) for values in parts) / counts.n_users**2
        assert got.std_error == pytest.approx(math.sqrt(variance), rel=1e-10)


def test_the_uwa_bias_is_seen_and_the_others_have_none():
    """200,000 users with the value 0.9, one Duchi and one piecewise report each at epsilon 3: -0.021, in standard
    errors about -15."""
    services = [Service(f.__name__, f(np.linspace(-1, 1, 41), 3.0)) for f in (duchi, piecewise)]
    rng = np.random.default_rng(8)
    counts = ReportCounts.from_outputs(services, reports(services, np.full(200_000, 0.9), rng, missing=0.0))
    biased = estimate_combined_mean(counts, method="uwa")
    assert biased.value - 0.9 == pytest.approx(-0.021, abs=0.004)
    assert biased.value - 0.9 < -12 * biased.std_error
    for method in UNBIASED:
        estimate = estimate_combined_mean(counts, method=method)
        assert abs(estimate.value - 0.9) < 4 * estimate.std_error


REPETITIONS = 150


@functools.cache
def simulated(method: MeanMethod) -> tuple[MeanEstimate, ...]:
    """Estimates of 400 samples of 2000 users from one population."""
    rng = np.random.default_rng(11)
    x = 2 * rng.beta(2, 5, (REPETITIONS, 2000)) - 1
    outputs = reports(SERVICES, x.reshape(-1), rng).reshape(REPETITIONS, 2000, 3)
    return tuple(
        estimate_combined_mean(ReportCounts.from_outputs(SERVICES, sample), method=method) for sample in outputs
    )


TRUTH = 2 * stats.beta(2, 5).mean() - 1


@pytest.mark.slow
@pytest.mark.parametrize("method", UNBIASED)
class TestBySimulation:
    """Bounds of four standard errors of 150 repetitions."""

    @pytest.mark.nightly
    def test_intervals_cover_as_often_as_they_say(self, method):
        covered = np.mean([e.interval().low <= TRUTH <= e.interval().high for e in simulated(method)])
        assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / REPETITIONS)

    def test_there_is_no_bias_and_the_standard_error_is_right(self, method):
        scores = np.array([(e.value - TRUTH) / e.std_error for e in simulated(method)])
        assert abs(scores.mean()) < 4 / math.sqrt(REPETITIONS)
        assert abs(scores.var() - 1) < 4 * math.sqrt(2 / REPETITIONS)


@pytest.mark.nightly
def test_weights_pay_and_the_joint_decoder_pays_most():
    """Mean squared errors of the same samples; the services' variances differ by a factor of seven."""
    ua, population, decoder = (np.mean([e.std_error**2 for e in simulated(method)]) for method in UNBIASED)
    assert decoder < 0.99 * population
    assert population < 0.9 * ua


@pytest.mark.nightly
def test_users_are_not_weighed_by_their_own_reports():
    """A prior that cheats, by favouring the service whose reports average higher, leaves the mean unbiased.

    Piecewise reports vary less at 0 and Duchi's less at the ends, so that the prior says which to favour.
    """
    services = [Service("a", piecewise(KNOTS, 3.0)), Service("b", duchi(KNOTS, 3.0))]
    decoders = plain_decoders(services)

    def cheating(counts: ReportCounts, grid: InputGrid) -> np.ndarray:
        first, second = (counts.reports_of(j) @ decoders[j] for j in range(2))
        return np.eye(9)[4] if first > second else np.eye(9)[0]

    rng = np.random.default_rng(12)
    means = []
    for _ in range(300):
        counts = ReportCounts.from_outputs(services, reports(services, np.zeros(40), rng, missing=0.0))
        estimate = estimate_combined_mean(counts, method="population", estimate_prior=cheating, rng=rng)
        means.append(estimate.value)
    assert abs(np.mean(means)) < 4 * np.std(means) / math.sqrt(300)


@pytest.mark.parametrize("method", METHODS)
class TestEveryMethod:
    def test_another_unit_only_rescales(self, method):
        scale, shift = 1e3, 5e4
        families = {"duchi": (duchi, 1.0), "laplace": (laplace, 2.0), "square wave": (square_wave, 1.5)}
        moved = [Service(name, f(shift + scale * KNOTS, epsilon)) for name, (f, epsilon) in families.items()]
        counts = some_counts()
        plain = estimate_combined_mean(counts, method=method)
        got = estimate_combined_mean(ReportCounts(tuple(moved), counts.groups), method=method)
        assert got.value == pytest.approx(shift + scale * plain.value, rel=1e-9)
        assert got.std_error == pytest.approx(scale * plain.std_error, rel=1e-6)

    def test_the_order_of_services_does_not_matter(self, method):
        """With a prior given: a random split deals differently sorted rows differently."""
        rng = np.random.default_rng(2)
        outputs, prior = reports(SERVICES, rng.uniform(-1, 1, 200), rng), rng.dirichlet(np.ones(9))
        forward, backward = (
            estimate_combined_mean(ReportCounts.from_outputs(list(s), o), method=method, prior=prior)
            for s, o in ((SERVICES, outputs), (SERVICES[::-1], outputs[:, ::-1]))
        )
        assert forward.value == pytest.approx(backward.value, abs=1e-9)
        assert forward.std_error == pytest.approx(backward.std_error, rel=1e-9)

    def test_the_same_counts_give_the_same_estimate(self, method):
        assert estimate_combined_mean(some_counts(), method=method) == estimate_combined_mean(
            some_counts(), method=method
        )

    def test_the_interval_is_centred_and_bernsteins_is_the_wider(self, method):
        counts = some_counts()
        normal = estimate_combined_mean(counts, method=method)
        safe = estimate_combined_mean(counts, method=method, interval="bernstein")
        assert (normal.value, normal.std_error, normal.n) == (safe.value, safe.std_error, 300)
        assert normal.method == method
        reach = stats.norm.ppf(0.95) * normal.std_error
        near, wide = normal.interval(0.9), safe.interval(0.9)
        assert (near.low, near.high) == pytest.approx((normal.value - reach, normal.value + reach))
        assert wide.high - safe.value == pytest.approx(safe.value - wide.low)
        assert wide.high > near.high

    def test_one_discrete_service_gives_the_answer_of_estimate_mean(self, method):
        """Affine, and by a decoder: exactly, but for the standard error within halves."""
        for table in (grr(KNOTS, 2.0), duchi(KNOTS, 1.0), random_table(5, 4, 4)):
            rng = np.random.default_rng(3)
            low, high = table.domain
            seen = table.sample(rng.uniform(low, high, 200), rng)
            got = estimate_combined_mean(ReportCounts.from_reports(table, seen), method=method)
            expected = estimate_mean(count(table, seen))
            assert got.value == pytest.approx(expected.value, abs=1e-9)
            assert got.std_error == pytest.approx(expected.std_error, rel=0.02)

    @pytest.mark.parametrize("n", [0, 1])
    def test_fewer_than_two_users_are_refused(self, method, n):
        outputs = np.zeros((n, 3), dtype=int)
        with pytest.raises(InputError, match=f"^users must be at least 2 for a standard error, got {n}$"):
            estimate_combined_mean(ReportCounts.from_outputs(SERVICES, outputs), method=method)

    def test_two_users_are_enough(self, method):
        """Too few for halves, which fall back on a uniform prior."""
        counts = ReportCounts.from_outputs(SERVICES, [[0, 3, 4], [1, 5, 2]])
        estimate = estimate_combined_mean(counts, method=method)
        uniform = estimate_combined_mean(counts, method=method, prior=np.ones(9))
        assert estimate == uniform
        assert estimate.std_error > 0

    def test_a_service_without_reports_is_refused(self, method):
        with pytest.raises(InputError, match="none for 'laplace'"):
            estimate_combined_mean(ReportCounts.from_outputs(SERVICES, [[0, -1, 1], [1, -1, 1]]), method=method)


def test_the_bernstein_interval_knows_the_range_of_the_users_numbers():
    """For plain averages the widest range over sets of services; for UWA, whose weights vary, that of all decoders."""
    outputs = [[0, 3, -1], [1, 4, -1], [0, 2, -1], [1, -1, 5], [0, -1, 6], [0, -1, 2]]
    counts, decoders = ReportCounts.from_outputs(SERVICES, outputs), plain_decoders(SERVICES)
    ends = np.array([[d.min(), d.max()] for d in decoders])
    sums = np.array([(ends[0] + ends[1]) / 2, (ends[0] + ends[2]) / 2])
    widths = {"ua": np.ptp(sums), "uwa": np.ptp(ends)}
    for method in ("ua", "uwa"):
        got = estimate_combined_mean(counts, method=method, interval="bernstein")
        sample = Sample(6, got.value, 6 * got.std_error**2, float(widths[method]))
        assert got.interval().high - got.value == pytest.approx(bernstein_reach([sample], 0.95))
    assert widths["uwa"] > widths["ua"]


@pytest.mark.parametrize("method", ["ua", "uwa", "population"])
def test_methods_of_one_decoder_per_table_refuse_a_deficient_one(method):
    services = [Service("good", duchi([-1.0, 0.0, 1.0], 1.0)), Service("poor", deficient())]
    counts = ReportCounts.from_outputs(services, [[0, 1], [1, 0], [1, 1]])
    with pytest.raises(InputError, match=r"service 'poor': .* rank 2 .* estimate the distribution"):
        estimate_combined_mean(counts, method=method)


def test_the_joint_decoder_needs_only_the_tables_together():
    """Two tables without an unbiased mean of their own, whose curved means cancel."""
    services = [Service("one", deficient()), Service("other", mirrored())]
    rng = np.random.default_rng(4)
    counts = ReportCounts.from_outputs(services, reports(services, np.full(50_000, 0.3), rng, missing=0.0))
    estimate = estimate_combined_mean(counts, method="decoder")
    assert abs(estimate.value - 0.3) < 4 * estimate.std_error
    ragged = ReportCounts.from_outputs(services, [[0, 1], [1, -1], [1, 0]])
    with pytest.raises(InputError, match=r"1 tables at 3 knots have rank 2"):
        estimate_combined_mean(ragged, method="decoder", prior=[1, 1, 1])


def test_a_prior_given_is_used_and_spares_the_split():
    counts = some_counts()
    at_the_left, at_the_right = (
        estimate_combined_mean(counts, method="population", prior=prior) for prior in (np.eye(9)[0], np.eye(9)[4])
    )
    assert at_the_left.value != pytest.approx(at_the_right.value, rel=1e-3)
    scaled = estimate_combined_mean(counts, method="population", prior=7 * np.eye(9)[0])
    assert scaled == at_the_left


@pytest.mark.slow
def test_a_prior_given_to_uwa_is_that_of_every_user():
    """Instead of Algorithm 1's uniform one."""
    counts, decoders, prior = some_counts(), plain_decoders(SERVICES), np.random.default_rng(3).dirichlet(np.ones(9))
    values = []
    for group in counts.groups:
        chosen = [SERVICES[j] for j in group.services], [decoders[j] for j in group.services]
        for row, often in zip(group.outputs, group.counts, strict=True):
            values += [by_the_paper(*chosen, row, KNOTS, prior)] * often
    got = estimate_combined_mean(counts, method="uwa", prior=prior)
    np.testing.assert_allclose((got.value, got.std_error), listed(values), rtol=1e-10)
    assert got != estimate_combined_mean(counts, method="uwa")


def test_cells_serve_as_well_as_knots():
    """A hundred cells over nine knots: nearly the same weights, so nearly the same estimate."""
    counts = some_counts(n=5000)
    for method in METHODS:
        fine = estimate_combined_mean(counts, method=method, grid=InputGrid.equal_cells(-1, 1, 100))
        plain = estimate_combined_mean(counts, method=method)
        assert abs(fine.value - plain.value) < 0.1 * plain.std_error


@pytest.mark.parametrize("prior", [[1, 1], [-1.0] + [1.0] * 8, [0.0] * 9, [math.nan] * 9])
@pytest.mark.parametrize("method", ["uwa", "population", "decoder"])
def test_an_unusable_prior_is_refused(method, prior):
    with pytest.raises(InputError, match="prior must be 9 non-negative numbers"):
        estimate_combined_mean(some_counts(), method=method, prior=prior)


def test_an_estimate_of_the_prior_that_is_unusable_is_refused():
    with pytest.raises(InputError, match=r"estimated prior must be 9 .* got an array of shape") as refused:
        estimate_combined_mean(some_counts(), estimate_prior=lambda counts, grid: np.full(20, np.nan))
    assert "\n" not in str(refused.value)


def test_tables_whose_knots_disagree_need_a_grid():
    services = [Service("a", duchi(KNOTS, 1.0)), Service("b", piecewise(np.linspace(-1, 1, 8), 1.0))]
    counts = some_counts(services=services)
    with pytest.raises(InputError, match="grids must agree"):
        estimate_combined_mean(counts)
    estimate = estimate_combined_mean(counts, grid=InputGrid.equal_cells(-1, 1, 20))
    assert estimate.n == 300


def test_unknown_options_are_refused():
    counts = some_counts()
    with pytest.raises(InputError, match="method must be one of ua, uwa, population, decoder, got 'best'"):
        estimate_combined_mean(counts, method="best")  # pyright: ignore[reportArgumentType] -- what is tested
    with pytest.raises(InputError, match="interval"):
        estimate_combined_mean(counts, interval="wald")  # pyright: ignore[reportArgumentType] -- what is tested
    for interval in ("normal", "bernstein"):
        with pytest.raises(InputError, match="confidence must lie strictly"):
            estimate_combined_mean(counts, interval=interval).interval(1.0)
