"""Likelihoods of key-value reports against enumeration, and what is fitted to them."""

import math

import numpy as np
import pytest
from optldp.estimators import InputGrid, KeyValueCounts, estimate_key_means, fit_key_values
from optldp.estimators.key_values.counts import ShownCounts
from optldp.estimators.key_values.likelihood import joint_likelihood, key_likelihood
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, make_exact, piecewise
from optldp.mechanisms.key_value import key_value_response, key_value_unary

from ...mechanisms.key_value_laws import all_reports, pair_law, three_outputs

MADE = {True: key_value_unary, False: key_value_response}
LABELS = ["x", "y", "z"]
KEYS = np.array(LABELS)


def component_laws(made, unary):
    """Every component's probability of every report, dummies evenly likely: the places with each row, then none."""
    laws = [
        np.array(list(map(float, pair_law(made, unary, place, row))))
        for place in range(3 + made.padding)
        for row in range(3)
    ]
    real = laws[:9]
    return np.array([*real, np.mean(laws[9:], axis=0)] if made.padding else real)


def as_reports(made, unary):
    """Every report in the mechanism's own type."""
    listed = np.array(all_reports(made, unary))
    return listed if unary else listed[:, 0] * made.value.low.size + listed[:, 1]


@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("padding", [0, 1, 3])
def test_the_joint_likelihood_is_the_law_by_enumeration(unary, padding):
    """Differences of log-likelihoods of two mixtures, for counts of every report; knots are the components."""
    made = MADE[unary](LABELS, three_outputs(), 1.0, padding=padding)
    laws, reports = component_laws(made, unary), as_reports(made, unary)
    rng = np.random.default_rng(padding)
    times = rng.integers(0, 4, len(reports))
    likelihood = joint_likelihood(
        KeyValueCounts.from_reports(made, np.repeat(reports, times, axis=0)), InputGrid.common([made.value])
    )
    assert likelihood.n_components == len(laws)
    assert likelihood.total == times.sum()

    def log_likelihood(weights):
        mixed = weights @ laws
        if not unary:  # which dummy it was is not counted
            dummy = np.array([place >= 3 for place, _ in all_reports(made, False)])
            mixed = np.where(dummy, mixed[dummy].sum(), mixed)
        return times @ np.log(mixed)

    first, second = rng.dirichlet(np.ones(len(laws)), 2)
    mine = likelihood.loglik(likelihood.mix(first)) - likelihood.loglik(likelihood.mix(second))
    assert mine == pytest.approx(log_likelihood(first) - log_likelihood(second), rel=1e-9)


@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("key", [0, 2])
def test_a_keys_own_likelihood_is_the_marginal_law(unary, key):
    """What is shown at one place, summed over all reports, for holders of the key and for others."""
    made = MADE[unary](LABELS, three_outputs(), 1.0, padding=1)
    counts = ShownCounts(made, 10, np.array([[1, 2, 3], [0, 0, 0], [2, 1, 2]]))
    likelihood = key_likelihood(counts, key, InputGrid.common([made.value]))
    listed = all_reports(made, unary)
    symbols = np.array([r[key] if unary else (1 + r[1] if r[0] == key else 0) for r in listed])
    laws = component_laws(made, unary)
    other = laws[3 * ((key + 1) % 3)]
    for number, law in enumerate([*laws[3 * key : 3 * key + 3], other]):
        marginal = np.bincount(symbols, law)
        np.testing.assert_allclose(likelihood.mix(np.eye(4)[number]), marginal, rtol=1e-12)
    np.testing.assert_array_equal(likelihood.counts, [4, 1, 2, 3] if key == 0 else [5, 2, 1, 2])


def test_cells_and_outputs_that_never_occur_have_their_place():
    """Averages over cells, and a table with a column of zeros."""
    matrix = np.array([[0.7, 0.0, 0.3], [0.3, 0.0, 0.7]])
    value = make_exact(TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0, 2.0], matrix, 0.9)).mechanism
    made = key_value_unary(LABELS, value, 1.0, padding=0)
    reports = made.sample(KEYS, [0.2, 0.4, 0.6], np.random.default_rng(1))
    assert 2 not in reports
    likelihood = joint_likelihood(KeyValueCounts.from_reports(made, [[0, 1, 3]]), InputGrid.equal_cells(0.0, 1.0, 2))
    a, b, fake = made.own_shown, made.other_shown, made.fake_law
    hidden = (1 - a) / (1 - b)
    ratio = [a * m / (b * f) for both, f in (((0.6, 0.4), fake[0]), ((0.4, 0.6), fake[2])) for m in both]
    np.testing.assert_allclose(likelihood.mix(np.eye(6)[0]), hidden)
    np.testing.assert_allclose(
        [likelihood.mix(row)[0] for row in np.eye(6)], [hidden, hidden, ratio[0], ratio[1], ratio[2], ratio[3]]
    )


def drawn(made, n, seed, shares=(0.5, 0.3, 0.2), means=(0.2, 0.5, 0.8)):
    rng = np.random.default_rng(seed)
    codes = rng.choice(3, n, p=shares)
    values = rng.beta(6 * np.array(means)[codes], 6 * (1 - np.array(means)[codes]))
    return made.sample(KEYS[codes], values, rng), [values[codes == key].mean() for key in range(3)]


@pytest.mark.parametrize("unary", [True, False])
@pytest.mark.parametrize("method", ["joint", "em", "mr"])
def test_frequencies_and_means_come_back(unary, method):
    """A hundred thousand users at epsilon 3, within four of the unbiased estimate's standard errors."""
    made = MADE[unary](LABELS, piecewise(np.linspace(0, 1, 9), 2.5), 3.0, padding=1)
    reports, truth = drawn(made, 100_000, 2)
    counts = KeyValueCounts.from_reports(made, reports)
    found, plain = fit_key_values(counts, method=method), estimate_key_means(counts)
    assert (np.abs(found.frequencies.value - [0.5, 0.3, 0.2]) < 4 * plain.frequencies.std_error).all()
    assert (np.abs(found.value - truth) < 4 * plain.std_error).all()
    np.testing.assert_allclose(found.distributions.sum(axis=1), 1.0)
    assert found.method == method
    assert found.n == 100_000
    assert len(found.fits) == (1 if method == "joint" else 3)
    if method == "joint":
        assert found.fits[0].certificate < 1e-8


def test_the_joint_maximum_is_the_highest():
    """No other method's shares have a higher likelihood of the whole reports; early stopping costs some."""
    made = key_value_unary(LABELS, piecewise(np.linspace(0, 1, 5), 1.0), 1.0, padding=0)
    counts = KeyValueCounts.from_reports(made, drawn(made, 5000, 3)[0])
    grid = InputGrid.common([made.value])
    likelihood = joint_likelihood(counts, grid)
    exact = fit_key_values(counts)
    for other in (
        fit_key_values(counts, method="em"),
        fit_key_values(counts, method="mr"),
        fit_key_values(counts, loglik_change=0.1),
    ):
        weights = other.shares.reshape(-1) / other.shares.sum()
        assert likelihood.loglik(likelihood.mix(weights)) < exact.fits[0].loglik + 1e-6
    assert other.fits[0].method == "em"
    assert other.fits[0].certificate > exact.fits[0].certificate


def test_padding_scales_what_is_held():
    """Half the users hold x and y both, padded to two: each is sampled by a quarter of all."""
    made = key_value_response(LABELS, duchi([0.0, 1.0], 3.0), 3.0, padding=2)
    n = 100_000
    users = np.repeat(np.arange(0, n, 2), 2)
    keys, values = np.tile(["x", "y"], n // 2), np.tile([0.25, 0.75], n // 2)
    reports = made.sample_sets(users, keys, values, n, np.random.default_rng(4))
    found = fit_key_values(KeyValueCounts.from_reports(made, reports))
    np.testing.assert_allclose(found.frequencies.value, [0.5, 0.5, 0.0], atol=0.03)
    np.testing.assert_allclose(found.shares.sum(axis=1), [0.25, 0.25, 0.0], atol=0.015)
    np.testing.assert_allclose(found.value[:2], [0.25, 0.75], atol=0.05)


@pytest.mark.slow
def test_reduction_merges_values_and_never_the_absence_of_the_key():
    """A rare value among sixteen cells is spread over its neighbours; the share of others stays a component."""
    made = key_value_unary(LABELS, piecewise(np.linspace(0, 1, 17), 1.0), 1.0, padding=0)
    counts = ShownCounts.from_reports(made, drawn(made, 20_000, 5, means=(0.1, 0.5, 0.9))[0])
    plain, reduced = (fit_key_values(counts, method=method) for method in ("em", "mr"))
    even = [np.count_nonzero(np.abs(np.diff(row)) < 1e-12) for row in reduced.shares]
    assert sum(even) > sum(np.count_nonzero(np.abs(np.diff(row)) < 1e-12) for row in plain.shares)
    np.testing.assert_allclose(reduced.frequencies.value, plain.frequencies.value, atol=0.05)


def test_a_key_that_nobody_holds_has_a_distribution_all_the_same():
    made = key_value_response(LABELS, duchi([0.0, 1.0], 4.0), 4.0, padding=0)
    n = 20_000
    found = fit_key_values(
        KeyValueCounts.from_reports(made, made.sample(np.full(n, "x"), np.full(n, 0.3), np.random.default_rng(6)))
    )
    assert np.isfinite(found.value).all()
    np.testing.assert_allclose(found.distributions.sum(axis=1), 1.0)
    assert found.frequencies.value[0] == pytest.approx(1.0, abs=0.02)


@pytest.mark.nightly
def test_the_joint_maximum_errs_less_than_the_published_estimate():
    """PM at epsilon 1, 60 repetitions of 10,000 users: less by more than four standard errors of the difference."""
    made = key_value_unary(LABELS, piecewise(np.linspace(0, 1, 9), 1.0), 1.0, padding=0)
    gain = []
    for seed in range(60):
        reports, truth = drawn(made, 10_000, seed)
        counts = KeyValueCounts.from_reports(made, reports)
        plain = estimate_key_means(counts).value
        gain.append(np.mean((plain - truth) ** 2) - np.mean((fit_key_values(counts).value - truth) ** 2))
    assert np.mean(gain) > 4 * np.std(gain) / math.sqrt(60)


def test_what_cannot_be_fitted_is_refused():
    made = key_value_unary(LABELS, duchi([0.0, 1.0], 1.0), 1.0)
    one = KeyValueCounts.from_reports(made, [[0, 1, 2]])
    with pytest.raises(InputError, match="method must be one of joint, em, mr, got 'ems'"):
        fit_key_values(one, method="ems")  # pyright: ignore[reportArgumentType] -- on purpose
    with pytest.raises(InputError, match="at least one report"):
        fit_key_values(KeyValueCounts.from_reports(made, np.zeros((0, 3), dtype=int)))
    with pytest.raises(InputError, match="at least one report"):
        fit_key_values(ShownCounts.from_reports(made, np.zeros((0, 3), dtype=int)), method="em")
    with pytest.raises(InputError, match="method joint needs whole reports"):
        fit_key_values(ShownCounts.from_reports(made, [[0, 1, 2]]))
    with pytest.raises(InputError, match="cells must lie in the table's domain"):
        fit_key_values(one, grid=InputGrid.equal_cells(0.0, 2.0, 4))
