"""Weights between users of different services: unbiased where chance decides who reports to which, and far better."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from optldp.estimators import (
    InputGrid,
    ReportCounts,
    Service,
    count,
    estimate_attribute_means,
    estimate_combined_mean,
    plain_decoder,
)
from optldp.estimators.means.between_users import user_precision, weighed_sample
from optldp.mechanisms import (
    AttributeSampling,
    InputError,
    TabulatedMechanism,
    duchi,
    make_exact,
    piecewise,
    square_wave,
)
from scipy import stats

KNOTS = np.linspace(0.0, 1.0, 9)
POOR, GOOD = (make_exact(duchi(KNOTS, epsilon)).mechanism for epsilon in (0.3, 2.0))
TABLES = (POOR, GOOD)
SERVICES = [Service("poor", POOR), Service("good", GOOD)]


def drawn(values: np.ndarray, shares: tuple[float, float], rng: np.random.Generator) -> ReportCounts:
    """Each user reports to each service with a chance of its own."""
    outputs = np.stack([table.output_index(table.sample(values, rng)) for table in TABLES], axis=1)
    outputs[rng.random(outputs.shape) > shares] = -1
    return ReportCounts.from_outputs(SERVICES, outputs)


class TestAlike:
    @pytest.mark.nightly
    @pytest.mark.parametrize(
        ("method", "runs"),
        [("population", 80), ("population", 300), pytest.param("decoder", 300, marks=pytest.mark.nightly)],
    )
    def test_means_are_unbiased_and_standard_errors_true(self, method, runs):
        """Collections of 300 users: bias within four standard errors, spread and coverage as stated."""
        rng = np.random.default_rng(1)
        found, equal = [], []
        for _ in range(runs):
            counts = drawn(rng.beta(2, 5, 300), (0.5, 0.5), rng)
            found.append(estimate_combined_mean(counts, method=method, alike=True))
            equal.append(estimate_combined_mean(counts, method=method).value)
        values, errors = (np.array([getattr(one, name) for one in found]) for name in ("value", "std_error"))
        assert abs(values.mean() - 2 / 7) < 4 * values.std() / np.sqrt(runs)
        assert np.sqrt((errors**2).mean()) == pytest.approx(values.std(), rel=2.6 / np.sqrt(runs))
        covered = np.mean([one.interval().low < 2 / 7 < one.interval().high for one in found])
        assert covered > 0.95 - 3 * np.sqrt(0.95 * 0.05 / runs)
        assert values.std() < 0.5 * np.std(equal)

    def test_the_precision_is_one_over_the_variance_that_the_law_gives(self):
        """By enumeration of both reports of a user and of the knots."""
        rng = np.random.default_rng(2)
        grid, prior = InputGrid.knots(KNOTS), rng.dirichlet(np.ones(KNOTS.size))
        tables = [make_exact(piecewise(KNOTS, 1.0)).mechanism, GOOD]
        values = [0.3 * plain_decoder(tables[0]), 0.7 * plain_decoder(tables[1])]
        first, second = (table.probabilities for table in tables)
        chance = np.einsum("k,ka,kb->ab", prior, first, second)
        number = values[0][:, None] + values[1]
        mean = (chance * number).sum()
        variance = (chance * (number - mean) ** 2).sum()
        assert user_precision(tables, values, grid, prior) == pytest.approx(1 / variance, rel=1e-9)

    def test_a_weighed_mean_and_its_error_are_those_of_a_loop_over_users(self):
        counts = drawn(np.random.default_rng(3).random(200), (0.6, 0.4), np.random.default_rng(4))
        precisions = [1.0, 5.0, 6.0]
        totals = [np.random.default_rng(5).normal(size=len(group.counts)) for group in counts.groups]
        users = [
            (number, weight)
            for group, numbers, weight in zip(counts.groups, totals, precisions, strict=True)
            for number, times in zip(numbers, group.counts, strict=True)
            for _ in range(times)
        ]
        numbers, weights = np.array(users).T
        mean = (weights @ numbers) / weights.sum()
        spread = weights**2 @ (numbers - mean) ** 2 / weights.sum() ** 2
        sample = weighed_sample(counts, totals, precisions)
        assert sample.mean == pytest.approx(mean)
        assert sample.variance / sample.n == pytest.approx(spread * sample.n / (sample.n - 1))

    def test_users_of_the_same_services_count_the_same(self):
        counts = drawn(np.random.default_rng(6).random(500), (1.0, 1.0), np.random.default_rng(7))
        one, other = (estimate_combined_mean(counts, alike=alike) for alike in (True, False))
        assert (one.value, one.std_error) == pytest.approx((other.value, other.std_error), rel=1e-12)
        assert one.one_report == pytest.approx(other.one_report)

    def test_a_report_that_weighs_more_moves_more(self):
        """A user of the good service moves the mean by at most what is stated, and by more than without weights."""
        counts = drawn(np.random.default_rng(8).random(2000), (0.9, 0.2), np.random.default_rng(9))
        prior = np.full(KNOTS.size, 1 / KNOTS.size)
        stated = estimate_combined_mean(counts, prior=prior, alike=True)
        plain = estimate_combined_mean(counts, prior=prior)
        ends = [counts + ReportCounts.from_outputs(SERVICES, [[-1, output]]) for output in range(GOOD.low.size)]
        moved = np.ptp([estimate_combined_mean(each, prior=prior, alike=True).value for each in ends])
        assert stated.one_report is not None
        assert plain.one_report is not None
        assert stated.one_report > plain.one_report
        assert 0 < moved <= stated.one_report

    @pytest.mark.parametrize("options", [{"method": "ua"}, {"method": "uwa"}, {"interval": "bernstein"}])
    def test_it_is_for_weights_and_normal_intervals(self, options):
        counts = drawn(np.full(50, 0.5), (1.0, 0.5), np.random.default_rng(10))
        with pytest.raises(InputError, match="alike is for population and decoder with normal intervals"):
            estimate_combined_mean(counts, alike=True, **options)


class TestParticipation:
    def test_means_of_sets_are_those_of_their_users_and_the_test_is_welchs(self):
        """Against the numbers one by one, and against F of two sets, whose square root is Welch's t."""
        rng = np.random.default_rng(21)
        counts = drawn(rng.random(2000), (0.5, 0.4), rng)
        prior = np.full(KNOTS.size, 1 / KNOTS.size)
        found = estimate_combined_mean(counts, prior=prior).participation
        assert found is not None
        assert found.services == (("poor",), ("poor", "good"), ("good",))
        numbers = []
        for group in counts.groups:
            decoders = [plain_decoder(TABLES[j]) for j in group.services]
            weights = [
                1 / (prior @ (TABLES[j].probabilities @ d**2 - KNOTS**2))
                for j, d in zip(group.services, decoders, strict=True)
            ]
            own = sum(w * d[o] for w, d, o in zip(weights, decoders, group.outputs.T, strict=True)) / sum(weights)
            numbers.append(np.repeat(own, group.counts))
        assert found.value == pytest.approx([one.mean() for one in numbers])
        assert found.std_error == pytest.approx([stats.sem(one) for one in numbers])
        two = replace(found, n=np.where([True, False, True], found.n, 0))
        welch: Any = stats.ttest_ind(numbers[0], numbers[2], equal_var=False)
        assert two.chi_square == pytest.approx(welch.statistic**2)
        assert two.p == pytest.approx(stats.chi2.sf(two.chi_square, 1))

    @pytest.mark.nightly
    def test_alike_users_are_seldom_doubted_and_unlike_ones_are(self):
        """Of 100 collections of 400 users some 5%; where only high values go to the good service all of 5."""
        rng = np.random.default_rng(22)
        prior = np.full(KNOTS.size, 1 / KNOTS.size)
        alike = [estimate_combined_mean(drawn(rng.random(400), (0.5, 0.5), rng), prior=prior) for _ in range(100)]
        doubted = sum(one.participation is not None and one.participation.doubtful for one in alike)
        assert 0 < doubted <= 14  # binomial at 0.05: less likely than one in a hundred, or one in a thousand
        for _ in range(5):
            values = np.sort(rng.random(4000))
            outputs = np.stack([table.output_index(table.sample(values, rng)) for table in TABLES], axis=1)
            outputs[:2000, 1] = -1
            outputs[2000:, 0] = -1
            found = estimate_combined_mean(ReportCounts.from_outputs(SERVICES, outputs), prior=prior)
            assert found.participation is not None
            assert found.participation.p < 1e-3

    def test_the_gain_is_that_of_the_standard_errors(self):
        rng = np.random.default_rng(23)
        counts = drawn(rng.beta(2, 5, 20_000), (0.5, 0.5), rng)
        equal, weighed = (estimate_combined_mean(counts, alike=alike) for alike in (False, True))
        assert equal.participation is not None
        assert equal.participation.gain == pytest.approx(equal.std_error / weighed.std_error, rel=0.03)

    def test_users_of_the_same_services_have_nothing_to_compare(self):
        rng = np.random.default_rng(24)
        assert estimate_combined_mean(drawn(rng.random(100), (1.0, 1.0), rng)).participation is None
        few = estimate_combined_mean(drawn(rng.random(40), (0.5, 0.5), rng)).participation
        assert few is not None
        assert (few.degrees, np.isnan(few.p), few.doubtful) == (0, True, False)


class TestUsers:
    @pytest.mark.slow
    @pytest.mark.parametrize(("method", "alike"), [("ua", False), ("population", False), ("population", True)])
    def test_the_error_is_that_about_the_mean_of_fixed_users(self, method, alike):
        """Budgets at which the values scatter as much as the noise: half the population's error would show."""
        rng, good = np.random.default_rng(25), make_exact(piecewise(KNOTS, 6.0)).mechanism
        tables = make_exact(piecewise(KNOTS, 3.0)).mechanism, good
        services = [Service("fair", tables[0]), Service("fine", good)]
        values = np.where(rng.random(200) < 0.5, 0.1, 0.9)
        value, errors, runs = [], [], 80
        prior, found, counts = np.full(KNOTS.size, 1 / KNOTS.size), None, None
        for _ in range(runs):
            outputs = np.stack([table.output_index(table.sample(values, rng)) for table in tables], axis=1)
            outputs[rng.random(200) < 0.5, 1] = -1
            counts = ReportCounts.from_outputs(services, outputs)
            found = estimate_combined_mean(counts, method=method, alike=alike, prior=prior, target="users")
            value.append(found.value)
            errors.append(found.std_error)
        assert found is not None
        assert counts is not None
        wide = estimate_combined_mean(counts, method=method, alike=alike, prior=prior).std_error
        spread, stated = np.std(value), np.sqrt(np.mean(np.square(errors)))
        assert found.target == "users"
        assert abs(np.mean(value) - values.mean()) < 4 * spread / np.sqrt(runs)
        assert 0.8 < stated / spread < 1.35  # three standard errors of a standard deviation, and a cautious bound
        assert wide > 1.5 * stated


class TestAttributesOfSeveralServices:
    KINDS = (duchi, piecewise, square_wave)

    def services(self, epsilons):
        names = ["age", "pay", "size"]
        return [
            AttributeSampling.of(
                dict.fromkeys(names[: 3 - j % 2], make_exact(make(KNOTS, epsilon)).mechanism), 1, epsilon
            )
            for j, (make, epsilon) in enumerate(zip(self.KINDS, epsilons, strict=True))
        ]

    def people(self, n, rng):
        values = rng.beta(2, 5, n)
        return {"age": values, "pay": (values + rng.random(n)) / 2, "size": rng.random(n) ** 2}

    def sources(self, made, values, rng):
        return [(one, one.sample({name: values[name] for name in one.attributes}, rng)) for one in made]

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("method", "runs"), [("ua", 60), ("ua", 200), pytest.param("population", 200, marks=pytest.mark.nightly)]
    )
    def test_means_are_unbiased_and_intervals_cover(self, method, runs):
        """Three services draw by themselves, one of them without the third attribute."""
        rng, made = np.random.default_rng(11), self.services((0.5, 1.0, 2.0))
        truth = np.array([2 / 7, 2 / 7 / 2 + 0.25, 1 / 3])
        found = []
        for _ in range(runs):
            counts = count(self.sources(made, self.people(300, rng), rng))
            found.append(estimate_attribute_means(counts, method=method))
        values = np.array([one.value for one in found])
        assert (np.abs(values.mean(axis=0) - truth) < 4 * values.std(axis=0) / np.sqrt(runs)).all()
        covered = np.mean([(f.interval().low < truth) & (truth < f.interval().high) for f in found], axis=0)
        assert (covered > 0.95 - 3.2 * np.sqrt(0.95 * 0.05 / runs)).all()
        assert found[0].method == method

    def test_each_is_that_of_a_collection_of_the_attribute_alone(self):
        """A partition: what estimators say of the attribute's users, service by service."""
        rng, made = np.random.default_rng(12), self.services((0.5, 1.0, 2.0))
        values, dealt = self.people(900, rng), rng.integers(3, size=900)
        sources: list[tuple[AttributeSampling, Any]] = []
        alone: list[tuple[TabulatedMechanism, Any]] = []
        for one in made:
            columns = {}
            for part, name in enumerate(one.attributes):
                reports = one.mechanisms[0].sample(values[name], rng)
                columns[name] = np.where(dealt == part, reports, np.nan)
            sources.append((one, columns))
            alone.append((one.mechanisms[0], columns["age"]))
        found = estimate_attribute_means(count(sources), method="uwa")
        assert found["age"] == estimate_combined_mean(count(alone), method="uwa")
        assert found.n.tolist() == [int((dealt == part).sum()) for part in range(3)]

    def test_what_does_not_go_together_is_refused(self):
        rng, made = np.random.default_rng(13), self.services((0.5, 1.0, 2.0))
        (one, reports), *_ = self.sources(made, self.people(60, rng), rng)
        counts = count(one, reports)
        with pytest.raises(InputError, match="target users is for ua, population and decoder with normal intervals"):
            estimate_attribute_means(counts, method="uwa", target="users")
        few = count([(one, {name: column[:3] for name, column in reports.items()})])
        with pytest.raises(InputError, match=r"attribute '(age|pay|size)': "):
            estimate_attribute_means(few)
