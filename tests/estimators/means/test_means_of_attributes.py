"""Means of sampled attributes: unbiased, with intervals that cover, for the users asked and for their population."""

import math

import numpy as np
import pytest
from optldp.estimators import count, estimate_attribute_means, estimate_mean, optimal_decoder
from optldp.estimators.means.decoder import mean_decoder
from optldp.estimators.means.noise import MechanismNoise
from optldp.mechanisms import (
    FAMILIES,
    AttributeSampling,
    InputError,
    TabulatedMechanism,
    duchi,
    piecewise,
    ptt2,
    square_wave,
    three_outputs,
    verify,
)
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

from .test_unbiasing import random_table

KNOTS = np.linspace(0, 1, 21)


def people(n: int, seed: int) -> np.ndarray:
    """Three attributes far from the middle of [0, 1], dependent on each other."""
    rng = np.random.default_rng(seed)
    first = rng.beta(2, 6, n)
    return np.stack([first, (first + rng.random(n)) / 2, rng.integers(0, 2, n) * 0.9], axis=1)


def mixed(epsilon: float, sampled: int) -> AttributeSampling:
    """Tables that are decoded as they are, by scale and shift, and as they are again."""
    makers = {"a": piecewise, "b": square_wave, "c": ptt2}
    tables = {name: exact(make(KNOTS, epsilon)) for name, make in makers.items()}
    return AttributeSampling.of(tables, sampled, epsilon * sampled)


class TestEstimate:
    @pytest.mark.nightly
    @pytest.mark.sampled(5)
    @pytest.mark.parametrize(
        ("epsilon", "sampled", "runs"),
        [
            (1.0, 1, 120),
            (5.0, 3, 800),
            *(pytest.param(*one, 800, marks=pytest.mark.nightly) for one in ((1.0, 1), (3.0, 2))),
        ],
    )
    def test_means_are_unbiased_and_intervals_cover_the_users_asked(self, epsilon, sampled, runs):
        """Collections of 600 users: bias within four standard errors, coverage of 95% within three of its own."""
        made, x = mixed(epsilon, sampled), people(600, 1)
        rng = np.random.default_rng(2)
        found = [estimate_attribute_means(count(made, made.sample(x, rng)), target="users") for _ in range(runs)]
        means, errors = (np.array([getattr(run, part) for run in found]) for part in ("value", "std_error"))
        truth = x.mean(axis=0)
        assert (np.abs(means.mean(axis=0) - truth) < 4 * means.std(axis=0) / math.sqrt(runs)).all()
        ends = [run.interval() for run in found]
        covered = np.mean([(one.low <= truth) & (truth <= one.high) for one in ends], axis=0)
        assert (np.abs(covered - 0.95) < 3 * math.sqrt(0.95 * 0.05 / runs)).all(), covered
        np.testing.assert_allclose(np.sqrt((errors**2).mean(axis=0)), means.std(axis=0), rtol=3.4 / math.sqrt(runs))

    @pytest.mark.nightly
    def test_intervals_for_the_population_cover_its_mean(self):
        """New users every time; the means of each attribute are known."""
        made, rng, runs = mixed(5.0, 3), np.random.default_rng(3), 1500
        truth = np.array([0.25, 0.375, 0.45])
        covered = np.zeros(3)
        for seed in range(runs):
            found = estimate_attribute_means(count(made, made.sample(people(400, seed), rng)))
            covered += (found.interval().low <= truth) & (truth <= found.interval().high)
        assert ((covered / runs > 0.925) & (covered / runs < 0.975)).all()

    def test_for_the_population_it_is_the_mean_of_the_reports_alone(self):
        made = mixed(1.0, 2)
        reports = made.sample(people(300, 4), np.random.default_rng(5))
        found = estimate_attribute_means(count(made, reports))
        for name, table in zip(made.attributes, made.mechanisms, strict=True):
            own = reports[name][~np.isnan(reports[name])]
            assert found[name] == estimate_mean(count(table, own))

    def test_for_the_users_only_the_uncertainty_changes_and_only_down(self):
        made = mixed(4.0, 2)
        reports = made.sample(people(3000, 6), np.random.default_rng(7))
        ours, theirs = (estimate_attribute_means(count(made, reports), target=t) for t in ("users", "population"))
        for name in made.attributes:
            mine, other = ours[name], theirs[name]
            assert (mine.value, mine.n, mine.method) == (other.value, other.n, other.method)
            assert 0 < mine.std_error < 0.97 * other.std_error
            np.testing.assert_allclose(mine.interval().high - mine.value, 1.959964 * mine.std_error, rtol=1e-6)
            np.testing.assert_allclose(mine.value - mine.interval().low, 1.959964 * mine.std_error, rtol=1e-6)

    def test_another_origin_changes_nothing(self):
        """Which the sum of reports times d / (n k) could not say of itself."""
        shifted = AttributeSampling.of(
            {"a": exact(piecewise(KNOTS + 1000, 1.0)), "b": exact(piecewise(KNOTS, 1.0))}, 1, 1.0
        )
        plain = AttributeSampling.of({"a": exact(piecewise(KNOTS, 1.0)), "b": exact(piecewise(KNOTS, 1.0))}, 1, 1.0)
        x = people(500, 8)[:, :2]
        here = plain.sample(x, np.random.default_rng(9))
        there = here | {"a": here["a"] + 1000}
        found, known = (
            estimate_attribute_means(count(shifted, there))["a"],
            estimate_attribute_means(count(plain, here))["a"],
        )
        assert found.value - 1000 == pytest.approx(known.value, abs=1e-9)
        assert found.std_error == pytest.approx(known.std_error, rel=1e-6)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"c": None}, "column for each attribute, got none for 'c'"),
            ({"z": np.zeros(4)}, "must be among a, b, c, got 'z'"),
            ({"c": [np.nan]}, "of equal length, got 1 for 'c'"),
            ({"a": [1.0, 1.0, 1.0, np.nan]}, "must have 1 reports, got 1 who have not, the first in row 3"),
            ({"a": [1.0, 1.0, np.nan, 99.0], "c": [np.nan] * 4}, "attribute 'a': report"),
            ({"a": [1.0] * 4, "b": [np.nan] * 4, "c": [np.nan] * 4}, "attribute 'b': reports must be at least 2"),
        ],
    )
    def test_reports_that_do_not_match_are_refused(self, change, message):
        reports = {"a": [1.0, 1.0, np.nan, np.nan], "b": [np.nan, np.nan, 0.5, np.nan], "c": [np.nan] * 3 + [0.9]}
        merged = {name: column for name, column in (reports | change).items() if column is not None}
        with pytest.raises(InputError, match=message):
            estimate_attribute_means(count(mixed(1.0, 1), merged))

    def test_what_there_is_not_is_refused(self):
        made = mixed(1.0, 1)
        reports = made.sample(people(50, 1), np.random.default_rng(1))
        with pytest.raises(InputError, match="one of users, population"):
            estimate_attribute_means(count(made, reports), target="all")  # pyright: ignore[reportArgumentType] -- what is tested
        with pytest.raises(InputError, match="attributes are a, b, c, got 'd'"):
            estimate_attribute_means(count(made, reports))["d"]
        with pytest.raises(InputError, match="confidence must lie"):
            estimate_attribute_means(count(made, reports)).interval(1.0)


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_noise_is_never_estimated_too_low_at_any_value(name, epsilon):
    """Between knots too, where rounding adds to it; the mean of the estimates is linear there."""
    table = FAMILIES[name](np.array([-1.0, -0.3, 0.1, 1.0]), epsilon)
    _, of_output = MechanismNoise(table).of_decoder()
    x = np.linspace(-1, 1, 301)
    decoder = mean_decoder(table)
    values, laws = decoder.values, table.pmf(x)
    noise = table.var(x) / decoder.scale**2 if values is None else laws @ values**2 - x**2
    assert (laws @ of_output >= noise - 1e-9).all()


def test_noise_of_a_table_that_needs_a_decoder_is_that_of_the_decoder():
    """Against sums over its outputs; on two knots as many outputs fit exactly."""
    table = random_table(11, 4, 7)
    least, of_output = MechanismNoise(table).of_decoder()
    decoder = optimal_decoder(table)
    variances = table.probabilities @ decoder**2 - table.knots**2
    excess = table.probabilities @ of_output - variances
    np.testing.assert_allclose(excess, np.diff(table.knots).max() ** 2 / 4, rtol=1e-6)
    assert least == pytest.approx(variances.min())


@pytest.mark.parametrize("name", ["piecewise", "ptt", "square-wave", "grr"])
def test_noise_is_estimated_closely_where_the_outputs_tell_enough(name):
    """The mean of its estimates under a skewed prior is the expected variance but for a hundredth of it."""
    table = FAMILIES[name](np.linspace(-1, 1, 41), 3.0)
    _, of_output = MechanismNoise(table).of_decoder()
    weights = np.exp(-3 * np.linspace(-1, 1, 41))
    weights /= weights.sum()
    expected = weights @ mean_decoder(table).knot_variances
    assert 0 <= weights @ table.probabilities @ of_output - expected < 0.01 * expected + 0.01


@pytest.mark.nightly
def test_few_outputs_tell_little_and_leave_intervals_that_are_too_wide():
    """Three outputs do not show how far values lie from them; 400 collections of reports of everything."""
    made = AttributeSampling.of({"a": exact(three_outputs(KNOTS, 5.0))}, 1, 5.0)
    x, rng = people(600, 1)[:, 2:], np.random.default_rng(10)
    found = [estimate_attribute_means(count(made, made.sample(x, rng)))["a"] for _ in range(400)]
    assert np.mean([one.interval().low <= x.mean() <= one.interval().high for one in found]) > 0.97


def test_two_outputs_tell_nothing_of_the_spread_and_leave_the_interval_as_it_was():
    """Noise is then at most what the reports show in all, so the users' interval is the population's."""
    made = AttributeSampling.of({"a": exact(duchi([-1, 1], 2.0)), "b": exact(duchi([-1, 1], 2.0))}, 2, 4.0)
    assert all(verify(table).ok for table in made.mechanisms)
    reports = made.sample(np.random.default_rng(1).uniform(0.5, 1, (500, 2)), np.random.default_rng(2))
    ours, theirs = (estimate_attribute_means(count(made, reports), target=t) for t in ("users", "population"))
    assert ours["a"].std_error == pytest.approx(theirs["a"].std_error, rel=1e-12)


def test_nothing_but_a_share_of_the_users_is_uncertain_where_there_is_no_noise():
    """A table that reports the value itself with next to no noise: sampling without replacement, S^2 (1 - f) / n_j."""
    table = exact(TabulatedMechanism.from_points([0, 1], [0, 1], [[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]], 14.0))
    made = AttributeSampling.of({"a": table, "b": table}, 1, 14.0)
    x = np.random.default_rng(3).integers(0, 2, (4000, 2)).astype(float)
    found = estimate_attribute_means(count(made, made.sample(x, np.random.default_rng(4))), target="population")["a"]
    own = x[:, 0].var(ddof=1) / found.n
    assert found.std_error**2 == pytest.approx(own, rel=0.01)
