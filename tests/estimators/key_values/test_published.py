"""PCKV's estimators: the published formulas, no bias, and intervals that cover as often as they say."""

import math

import numpy as np
import pytest
from optldp.estimators import KeyValueCounts, estimate_key_means
from optldp.estimators.key_values.counts import ShownCounts
from optldp.mechanisms import InputError, duchi, grr, piecewise
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.key_value.choice import key_mean_variance
from optldp.mechanisms.table.knot_prior import KnotPrior

from ...mechanisms.key_value_laws import three_outputs

MADE = {True: key_value_unary, False: key_value_response}
LABELS = ["x", "y", "z"]
KEYS = np.array(LABELS)


def drawn(mechanism, n, rng, shares=(0.5, 0.3, 0.2), means=(0.2, 0.5, 0.9)):
    """Users of one pair each, values from a beta law with the mean; their reports counted."""
    codes = rng.choice(3, n, p=shares)
    values = rng.beta(4 * np.array(means)[codes], 4 * (1 - np.array(means)[codes]))
    return KeyValueCounts.from_reports(mechanism, mechanism.sample(KEYS[codes], values, rng)), codes, values


def as_published(counts, epsilon_value):
    """PCKV's aggregation on [-1, 1], with its clipping, key by key."""
    made, n = counts.mechanism, counts.n_users
    a, b, p = made.own_shown, made.other_shown, math.exp(epsilon_value) / (1 + math.exp(epsilon_value))
    frequencies, means = [], []
    for minus, plus in counts.shown:
        f = made.share_scale * ((plus + minus) / n - b) / (a - b)
        f = min(max(f, 1 / n), 1)
        near, far = a * p - b / 2, a * (1 - p) - b / 2
        up, down = np.linalg.inv([[near, far], [far, near]]) @ [plus - n * b / 2, minus - n * b / 2]
        most = n * f / made.share_scale
        up, down = min(max(up, 0), most), min(max(down, 0), most)
        frequencies.append(f)
        means.append(made.share_scale * (up - down) / (n * f))
    return frequencies, means


@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_stochastic_rounding_is_estimated_as_published(unary, seed):
    """Two hundred users of the two ends: frequencies below zero and means beyond the ends are clipped alike."""
    made = MADE[unary](range(4), duchi([-1.0, 1.0], 1.0), 1.0, padding=1)
    rng = np.random.default_rng(seed)
    codes = rng.choice(4, 200, p=[0.7, 0.3, 0.0, 0.0])
    counts = KeyValueCounts.from_reports(made, made.sample(codes, np.where(codes == 0, 0.9, -1.0), rng))
    found = estimate_key_means(counts)
    frequencies, means = as_published(counts, 1.0)
    np.testing.assert_allclose(found.frequencies.value, frequencies, atol=1e-11)
    np.testing.assert_allclose(found.value, means, atol=1e-9)


def test_clipping_does_happen_there():
    """So that the test above is not about the unclipped formulas only."""
    rng = np.random.default_rng(0)
    made = key_value_unary(range(4), duchi([-1.0, 1.0], 1.0), 1.0)
    codes = np.repeat([0, 1], [140, 60])
    found = [
        estimate_key_means(KeyValueCounts.from_reports(made, made.sample(codes, np.where(codes, -1.0, 0.9), rng)))
        for _ in range(20)
    ]
    assert any((one.frequencies.value == 1 / 200).any() for one in found)
    assert any((np.abs(one.value) == 1).any() for one in found)


@pytest.mark.parametrize("unary", [True, False])
def test_expected_counts_give_the_truth_back(unary):
    """A table without any symmetry, padded to two; 1e12 users leave rounding to whole counts."""
    made = MADE[unary](LABELS, three_outputs(), 1.0, padding=2)
    n, a, b = 10**12, made.own_shown, made.other_shown
    sampled = np.array([[0.1, 0.05, 0.15], [0.02, 0.0, 0.08], [0.0, 0.2, 0.0]])  # share of users by key and knot
    others = 1 - sampled.sum(axis=1, keepdims=True)
    shown = a * sampled @ made.value.probabilities + b * others * made.fake_law
    found = estimate_key_means(ShownCounts(made, n, np.rint(n * shown).astype(np.int64)))
    np.testing.assert_allclose(found.frequencies.value, 2 * sampled.sum(axis=1), rtol=1e-9)
    np.testing.assert_allclose(found.value, sampled @ made.value.knots / sampled.sum(axis=1), rtol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("family", [duchi, piecewise, grr])
def test_frequencies_and_means_are_unbiased(unary, family):
    """Two hundred thousand users in sets of one to three pairs, in users' own units, within four standard errors."""
    made = MADE[unary](LABELS, family(np.linspace(20.0, 60.0, 5), 1.5), 2.0, padding=3)
    rng = np.random.default_rng([unary, 3])
    n, sets = 200_000, [["x"], ["x", "y"], ["x", "y", "z"], []]
    users = np.concatenate([np.repeat(np.arange(kind, n, 4), len(keys)) for kind, keys in enumerate(sets)])
    keys = np.concatenate([np.tile(keys, n // 4) for keys in sets if keys])
    centre = {"x": 27.0, "y": 50.0, "z": 33.0}
    values = np.array([centre[key] for key in keys]) + rng.uniform(-7, 7, keys.size)
    found = estimate_key_means(KeyValueCounts.from_reports(made, made.sample_sets(users, keys, values, n, rng)))
    assert (np.abs(found.frequencies.value - [0.75, 0.5, 0.25]) < 4 * found.frequencies.std_error).all()
    truth = np.array([values[keys == key].mean() for key in KEYS])
    assert (np.abs(found.value - truth) < 4 * found.std_error).all()
    assert (found.std_error < 2.0).all()
    assert (found.frequencies.std_error < 0.05).all()


@pytest.mark.nightly
@pytest.mark.parametrize("unary", [True, False])
def test_standard_errors_are_those_that_repetition_shows(unary):
    """Over 300 repetitions, whose own error is 4%; and the designer's variance is the same number."""
    made = MADE[unary](LABELS, piecewise(np.linspace(0, 1, 9), 2.0), 2.0, padding=0)
    rng = np.random.default_rng(4)
    n = 4000
    found = []
    for _ in range(300):
        codes = rng.choice(3, n, p=[0.5, 0.3, 0.2])
        reports = made.sample(KEYS[codes], np.array([0.25, 0.5, 0.875])[codes], rng)
        found.append(estimate_key_means(KeyValueCounts.from_reports(made, reports)))
    for answers in (found, [one.frequencies for one in found]):
        seen = np.std([one.value for one in answers], axis=0)
        stated = np.mean([one.std_error for one in answers], axis=0)
        np.testing.assert_allclose(stated, seen, rtol=0.17)
    assert made.value.knots[2] == 0.25
    prior = KnotPrior(np.eye(9)[2], np.zeros(8), "public")
    same = MADE[unary](LABELS, made.value.with_prior(prior), 2.0, padding=0)
    stated = np.mean([one.std_error[0] for one in found])
    assert stated == pytest.approx(math.sqrt(key_mean_variance(same, 0.5) / n), rel=0.03)


@pytest.mark.nightly
@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(1.0, marks=pytest.mark.nightly), 2.0])
def test_intervals_cover_as_often_as_they_say(unary, epsilon):
    """150 repetitions of three keys; the standard error of a coverage is 1.0% of all, 1.8% of one key."""
    made = MADE[unary](LABELS, duchi([0.0, 1.0], epsilon), epsilon, padding=0)
    rng = np.random.default_rng(5)
    covered = []
    for _ in range(150):
        counts, _, _ = drawn(made, 20_000, rng)
        found = estimate_key_means(counts)
        mean, share = np.array([0.2, 0.5, 0.9]), np.array([0.5, 0.3, 0.2])
        covered.append(
            [
                (found.frequencies.interval().low <= share) & (share <= found.frequencies.interval().high),
                (found.interval().low <= mean) & (mean <= found.interval().high),
            ]
        )
    rates = np.mean(covered, axis=(0, 2))
    assert (np.abs(rates - 0.95) < 4 * 0.0103).all()


def test_a_rare_key_has_an_interval_that_says_nothing_rather_than_something_wrong():
    """Nobody holds z: a normal interval about the ratio would be anywhere."""
    made = key_value_unary(LABELS, duchi([0.0, 1.0], 0.5), 0.5)
    rng = np.random.default_rng(6)
    whole = 0
    for _ in range(50):
        counts, _, _ = drawn(made, 2000, rng, shares=(0.6, 0.4, 0.0))
        found = estimate_key_means(counts)
        assert (found.interval().low <= found.interval().high).all()
        assert (found.interval().low >= 0).all()
        assert (found.interval().high <= 1).all()
        whole += found.interval().low[2] == 0 and found.interval().high[2] == 1
    assert whole >= 40


def test_fieller_holds_what_is_not_contradicted():
    """At both ends |S - m N| is exactly the quantile times its standard error; narrower for a lower confidence."""
    made = key_value_unary(LABELS, duchi([-1.0, 1.0], 2.0), 2.0)
    counts, _, _ = drawn(made, 30_000, np.random.default_rng(7), means=(0.1, 0.3, 0.5))
    estimate = estimate_key_means(counts)
    found, narrow = estimate.interval(), estimate.interval(0.5)
    a, b, n = made.own_shown, made.other_shown, counts.n_users
    decoded = np.array([*made.value.low, 0.0])
    for key in range(3):
        times = np.append(counts.shown[key], counts.hidden[key])
        holds = (np.array([1, 1, 0]) - b) / (a - b)
        for end in (found.low[key], found.high[key]):
            each = decoded / a - end * holds
            mean = times @ each / n
            error = math.sqrt(times @ (each - mean) ** 2 / (n - 1) / n)
            assert abs(mean) == pytest.approx(1.959964 * error, rel=1e-5)
    assert (narrow.low > found.low).all()
    assert (narrow.high < found.high).all()


def test_counts_of_shards_add_up():
    made = key_value_response(LABELS, duchi([0.0, 1.0], 1.0), 1.0)
    reports = made.sample(np.repeat(KEYS, 100), np.full(300, 0.5), np.random.default_rng(8))
    whole = KeyValueCounts.from_reports(made, reports)
    halves = [KeyValueCounts.from_reports(made, part) for part in (reports[:70], reports[70:])]
    both = halves[0] + halves[1]
    assert both.n_users == whole.n_users == 300
    np.testing.assert_array_equal(both.shown, whole.shown)
    place = reports // 2
    np.testing.assert_array_equal(whole.hidden, [(place != key).sum() for key in range(3)])
    same, other = (key_value_response(LABELS, duchi([0.0, 1.0], 1.0), epsilon) for epsilon in (1.0, 1.1))
    assert (whole + KeyValueCounts.from_reports(same, reports)).n_users == 600
    with pytest.raises(InputError, match="for the same mechanism only"):
        _ = whole + KeyValueCounts.from_reports(other, reports)


def test_too_few_users_and_odd_confidences_are_refused():
    made = key_value_unary(LABELS, duchi([0.0, 1.0], 1.0), 1.0)
    one = KeyValueCounts.from_reports(made, [[0, 1, 2]])
    with pytest.raises(InputError, match="users must be at least 2"):
        estimate_key_means(one)
    with pytest.raises(InputError, match="confidence must lie strictly"):
        estimate_key_means(one + one).interval(1.0)
