"""Raw reports of several services: averages from sums are those of lists of users, with known variances."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.estimators import InputGrid, ReportCounts, Service, count, estimate_combined_mean, estimate_mean
from optldp.estimators.means.decoder import mean_decoder
from optldp.estimators.means.raw_reports import raw_variances
from optldp.estimators.means.unbiasing import affine_unbiasing
from optldp.estimators.methods import MeanMethod
from optldp.estimators.reading.columns.number_cells import write_columns
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, laplace, piecewise, square_wave
from scipy import stats

KNOTS = np.linspace(-2.0, 6.0, 9)
TABLES = (laplace(KNOTS, 1.0), duchi(KNOTS, 1.0), square_wave(KNOTS, 1.5))
BENT = TabulatedMechanism.from_points(
    KNOTS[[0, 4, 8]], [0.0, 1.0, 2.0], [[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.3, 0.2, 0.5]], 1.0
)


def unbiased(table: TabulatedMechanism, reports: np.ndarray) -> np.ndarray:
    """Reports whose mean is the input, from the means at the ends (theorem 4.1)."""
    low, high = table.mean(np.array(table.domain))
    return table.domain[0] + (reports - low) / (high - low) * (table.domain[1] - table.domain[0])


def known_variance(table: TabulatedMechanism, values: np.ndarray) -> np.ndarray:
    """Variance of such a number at each value."""
    low, high = table.mean(np.array(table.domain))
    return table.var(values) * ((table.domain[1] - table.domain[0]) / (high - low)) ** 2


def drawn(values: np.ndarray, rng: np.random.Generator, missing: float = 0.3) -> list[np.ndarray]:
    reports = np.stack([table.sample(values, rng) for table in TABLES], axis=1)
    absent = rng.random(reports.shape) < missing
    absent[np.arange(values.size), rng.integers(0, len(TABLES), values.size)] = False
    return list(np.where(absent, np.nan, reports).T)


def by_users(columns: list[np.ndarray], *, weighted: bool) -> list[float]:
    """Each user's number: a plain average, or one weighted by a posterior over the knots (algorithms 1 and 2)."""
    numbers = []
    for row in zip(*columns, strict=True):
        mine = [(table, y) for table, y in zip(TABLES, row, strict=True) if not np.isnan(y)]
        posterior = np.full(KNOTS.size, 1 / KNOTS.size)
        for table, y in mine:
            posterior = posterior * table.probabilities[:, table.output_index([y])[0]]
            posterior = posterior / posterior.sum()
        precision = [1 / float(posterior @ known_variance(t, KNOTS)) if weighted else 1.0 for t, _ in mine]
        own = [float(unbiased(t, np.array(y))) for t, y in mine]
        numbers.append(float(np.dot(precision, own)) / sum(precision))
    return numbers


@pytest.mark.nightly
@settings(max_examples=20)
@given(seed=st.integers(0, 10_000))
@pytest.mark.parametrize("method", ["ua", "uwa"])
def test_sums_give_the_mean_and_the_standard_error_of_a_loop_over_users(method, seed):
    rng = np.random.default_rng(seed)
    columns = drawn(rng.uniform(-2, 6, 30), rng)
    counts = count(list(zip(TABLES, columns, strict=True)), raw=True, allow_disjoint=True)
    found, numbers = (
        estimate_combined_mean(counts, method=method, raw=True),
        by_users(columns, weighted=method == "uwa"),
    )
    assert (found.method, found.n) == (method, 30)
    assert found.value == pytest.approx(np.mean(numbers), rel=1e-9, abs=1e-9)
    assert found.std_error == pytest.approx(np.std(numbers, ddof=1) / math.sqrt(30), rel=1e-9)


def test_tables_of_points_need_no_sums_and_their_decoded_reports_are_the_raw_ones():
    """Exactly: every pair of outputs of Duchi's, as often as its probability at a value says in 2^20 users."""
    tables = [duchi(KNOTS, 1.0), duchi(KNOTS, 2.0)]
    law = np.outer(*(table.pmf([3.25])[0] for table in tables)).ravel()
    outputs = np.repeat(np.indices((2, 2)).reshape(2, -1).T, np.round(law * 2**20).astype(int), axis=0)
    counts = ReportCounts.from_outputs([Service(str(t.epsilon), t) for t in tables], outputs)
    found, decoded = (estimate_combined_mean(counts, method="ua", raw=raw) for raw in (True, False))
    assert (found.value, found.std_error) == pytest.approx((decoded.value, decoded.std_error), rel=1e-9)
    assert found.value == pytest.approx(3.25, abs=1e-4)
    known = sum(float(table.var([3.25])[0]) for table in tables) / 4
    assert found.std_error**2 * counts.n_users == pytest.approx(known, rel=1e-4)


@pytest.mark.parametrize("value", [-2.0, 0.5, 2.0])
def test_the_variance_is_the_known_one_of_raw_reports(value):
    """Of UA: the sum of the services' variances over J^2, here of Laplace and the square wave; 4 standard errors."""
    tables, n = (laplace(KNOTS, 1.0), square_wave(KNOTS, 1.5)), 40_000
    rng = np.random.default_rng(7)
    reports = [table.sample(np.full(n, value), rng) for table in tables]
    found = estimate_combined_mean(count(list(zip(tables, reports, strict=True)), raw=True), method="ua", raw=True)
    known = sum(float(known_variance(table, np.array([value]))[0]) for table in tables) / 4
    assert found.std_error**2 * n == pytest.approx(known, rel=4 * math.sqrt(6 / n))  # kurtosis of Laplace: 6
    assert abs(found.value - value) < 4 * math.sqrt(known / n)


def test_the_variance_of_laplace_is_known_and_does_not_depend_on_the_input():
    """2 (width / epsilon)^2 at every knot; between knots up to a quarter of the squared gap is added."""
    decoder = mean_decoder(laplace(KNOTS, 0.5), raw=True)
    np.testing.assert_allclose(raw_variances(decoder, InputGrid.knots(KNOTS)), 2 * 16.0**2, rtol=1e-4)
    between = raw_variances(decoder, InputGrid.knots((KNOTS[1:] + KNOTS[:-1]) / 2))
    np.testing.assert_allclose(between, raw_variances(decoder, InputGrid.knots(KNOTS))[0] + 0.25, rtol=1e-9)


@pytest.mark.parametrize("table", TABLES, ids=["laplace", "duchi", "square-wave"])
def test_variances_of_cells_are_averages_over_them(table):
    edges = np.array([-2.0, -1.7, 0.4, 3.1, 6.0])
    found = raw_variances(mean_decoder(table, raw=True), InputGrid.cells(edges))
    for low, high, one in zip(edges[:-1], edges[1:], found, strict=True):
        points = low + (high - low) * (np.arange(200_000) + 0.5) / 200_000
        assert one == pytest.approx(known_variance(table, points).mean(), rel=1e-6)


@pytest.mark.slow
def test_a_file_of_one_service_has_the_raw_mean_of_its_reports(tmp_path):
    for table in TABLES:
        reports = table.sample(np.linspace(-2, 6, 300), np.random.default_rng(3))
        write_columns(tmp_path / "r.parquet", {"report": reports})
        array, file = (
            estimate_mean(counts, raw=True)
            for counts in (count(table, reports), count(table, tmp_path / "r.parquet", raw=True))
        )
        assert (file.n, file.method) == (array.n, array.method)
        for name in ("value", "std_error", "one_report"):
            assert getattr(file, name) == pytest.approx(getattr(array, name), rel=1e-10)


def test_raw_reports_of_laplace_are_worse_than_decoded_ones_and_uwa_repairs_some_of_it():
    """At small budgets, where most of the variance is in the tails; the same reports."""
    rng, tables = np.random.default_rng(4), (laplace(KNOTS, 0.1), piecewise(KNOTS, 0.1))
    reports = [table.sample(rng.uniform(-2, 6, 20_000), rng) for table in tables]
    counts = count(list(zip(tables, reports, strict=True)), raw=True)
    cases: list[tuple[MeanMethod, bool]] = [("ua", False), ("ua", True), ("uwa", True)]
    decoded, raw, weighted = (
        estimate_combined_mean(counts, method=method, raw=asked).std_error for method, asked in cases
    )
    assert decoded < weighted < raw


def test_one_user_moves_a_raw_mean_as_far_as_the_farthest_report_reaches():
    counts = count([(table, table.sample(np.zeros(9), np.random.default_rng(1))) for table in TABLES], raw=True)
    ends = [extreme.value for extreme in mean_decoder(TABLES[0], raw=True).extremes]
    assert estimate_combined_mean(counts, method="ua", raw=True).one_report == pytest.approx((ends[1] - ends[0]) / 9)


def test_what_cannot_be_averaged_raw_is_refused():
    rng = np.random.default_rng(1)
    columns = [table.sample(np.zeros(9), rng) for table in TABLES]
    plain, summed = (count(list(zip(TABLES, columns, strict=True)), raw=raw) for raw in (False, True))
    with pytest.raises(InputError, match=r"raw reports need sums .* outputs alone: count\(\.\.\., raw=True\)"):
        estimate_combined_mean(plain, method="ua", raw=True)
    for method in ("population", "decoder"):
        with pytest.raises(InputError, match=f"raw reports are averaged by ua and uwa, got {method}: choose one"):
            estimate_combined_mean(summed, method=method, raw=True)
    assert affine_unbiasing(BENT) is None
    pair = [("fine", TABLES[1], columns[1]), ("bent", BENT, BENT.sample(np.zeros(9), rng))]
    with pytest.raises(InputError, match="service 'bent': raw reports must have a mean that is affine in the input"):
        estimate_combined_mean(count(pair, raw=True), method="ua", raw=True)


REPETITIONS = 150


@functools.cache
def covered(method: MeanMethod) -> int:
    """How many of 150 nominal 95% intervals hold the mean; of UWA at small budgets, where its bias is nothing."""
    hits, tables = 0, (laplace(KNOTS, 0.4), square_wave(KNOTS, 0.4), duchi(KNOTS, 0.3))
    for i in range(REPETITIONS):
        rng = np.random.default_rng([17, i])
        values = -2 + 8 * rng.beta(2, 5, 1_500)
        sources = [(table, np.where(rng.random(1_500) < 0.2, np.nan, table.sample(values, rng))) for table in tables]
        found = estimate_combined_mean(count(sources, raw=True), method=method, raw=True).interval()
        hits += found.low < -2 + 8 * 2 / 7 < found.high
    return hits


@pytest.mark.nightly
@pytest.mark.parametrize("method", [pytest.param("ua", marks=pytest.mark.nightly), "uwa"])
def test_intervals_of_raw_reports_cover(method):
    """Within what 150 tosses of a 95% coin give, but for one time in 10,000 on each side; the seed is fixed."""
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], REPETITIONS, 0.95)
    assert low <= covered(method) <= high
