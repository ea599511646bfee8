"""Estimated frequencies: intervals that cover, fits with their evidence, and what must not matter."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false, reportOptionalMemberAccess=false, reportOptionalOperand=false

import importlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import CategoryCounts, estimate_frequencies, mixture_reduction
from optldp.estimators.frequencies import base_cut, decoded, fitted, frequency_decoder, iiw, norm_sub
from optldp.estimators.frequencies.likelihood import category_likelihood
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.methods import FREQUENCY_METHODS
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import CategoricalTable, categorical_grr, optimised_unary
from optldp.solvers import fit_mixture

from ..categorical_mechanisms import FAMILIES, any_mechanism

# The package offers the function under a module's name.
locally_best = importlib.import_module("optldp.estimators.frequencies.locally_best")
seeds = st.integers(0, 2**32 - 1)
TRUTH = np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])
REPETITIONS = 250


def drawn(mechanism, n: int, rng: np.random.Generator, truth: np.ndarray = TRUTH) -> CategoryCounts:
    """Reports of n users whose categories are drawn from these frequencies."""
    return CategoryCounts.from_reports(mechanism, mechanism.sample_codes(rng.choice(truth.size, n, p=truth), rng))


def coverage(mechanism, method: str, target: str) -> tuple[float, np.ndarray]:
    """Share of intervals that hold the truth, and means of errors in their standard errors, over repetitions."""
    rng, n = np.random.default_rng(6), 3000
    fixed = np.repeat(np.arange(6), (n * TRUTH).round().astype(int))
    inside, errors = [], []
    for _ in range(REPETITIONS):
        codes = fixed if target == "users" else rng.choice(6, n, p=TRUTH)
        counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes(codes, rng))
        found = estimate_frequencies(counts, method=method, target=target)
        ends = found.interval()
        inside.append((ends.low <= TRUTH) & (ends.high >= TRUTH))
        errors.append(found.value - TRUTH)
    return float(np.mean(inside)), np.mean(errors, axis=0) / (np.std(errors, axis=0) / np.sqrt(REPETITIONS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    ["grr", "olh", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("rappor", "oue", "subset", "table"))],
)
@pytest.mark.parametrize("target", ["users", "population"])
def test_intervals_of_the_unbiased_estimate_cover_as_often_as_they_say(name, target):
    """95% of 250 x 6 intervals, and no bias: for fixed users, and for users drawn anew each time."""
    share, bias = coverage(FAMILIES[name](range(6), 1.5), "unbiased", target)
    assert 0.93 < share < 0.97
    assert np.abs(bias).max() < 4


@pytest.mark.nightly
@pytest.mark.parametrize(
    "name", ["grr", "subset", *(pytest.param(each, marks=pytest.mark.nightly) for each in ("oue", "olh", "table"))]
)
@pytest.mark.parametrize("method", ["norm-sub", "shrunk", "em", "mle", "mr"])
def test_intervals_of_every_method_cover_rare_and_frequent_categories(name, method):
    """Forty categories, thirty-seven of them rare; each group by itself, within four standard errors of 95%."""
    truth = np.concatenate([[0.5, 0.3, 0.1], np.full(37, 0.1 / 37)])
    mechanism, inside = FAMILIES[name](range(40), 1.0), []
    for repetition in range(25):
        counts = drawn(mechanism, 5000, np.random.default_rng([40, repetition]), truth)
        found = estimate_frequencies(counts, method=method)
        ends = found.interval()
        inside.append((ends.low <= truth) & (truth <= ends.high))
        assert ((ends.low <= found.value.clip(0.0, 1.0)) & (found.value.clip(0.0, 1.0) <= ends.high)).all()
    rare, frequent = np.mean(inside, axis=0)[3:], np.mean(inside, axis=0)[:3]
    assert rare.mean() > 0.95 - 4 * np.sqrt(0.05 * 0.95 / (25 * 37))
    assert frequent.mean() > 0.95 - 4 * np.sqrt(0.05 * 0.95 / (25 * 3))


def test_intervals_near_zero_hold_what_was_fitted_as_zero():
    """Nobody has the last of three categories, whose fit is zero; its interval says how many there may be."""
    counts = CategoryCounts.from_reports(categorical_grr("abc", 1.0), np.repeat([0, 1, 2], [560, 250, 190]))
    found = estimate_frequencies(counts, method="mle")
    assert found.value[2] == pytest.approx(0.0, abs=1e-6)
    assert found.std_error[2] > 0.02
    assert found["c"].interval().low == 0.0
    assert 0.01 < found["c"].interval().high == pytest.approx(found.interval().high[2])


def test_support_counts_are_enough_for_empirical_bayes():
    """And near what whole reports give."""
    mechanism = FAMILIES["olh"](range(30), 1.0)
    truth = np.concatenate([[0.6, 0.3], np.full(28, 0.1 / 28)])
    counts = drawn(mechanism, 20_000, np.random.default_rng(22), truth)
    short = SupportCounts(mechanism, counts.support_counts(), counts.n_users)
    whole, found = (estimate_frequencies(each, method="shrunk") for each in (counts, short))
    np.testing.assert_allclose(found.value, whole.value, atol=0.01)
    assert found.value.sum() == pytest.approx(1.0)
    projected = estimate_frequencies(short, method="norm-sub").value
    assert np.sum((found.value - truth) ** 2) < np.sum((projected - truth) ** 2)


def test_a_table_that_cannot_tell_categories_apart_says_nothing_of_them():
    """The likelihood has a maximum; intervals are all of [0, 1], and there are no standard errors."""
    table = CategoricalTable.from_probabilities("abc", [[0.6, 0.4], [0.4, 0.6], [0.4, 0.6]], 1.0)
    found = estimate_frequencies(CategoryCounts.from_reports(table, [0, 0, 1]), method="mle")
    assert np.isnan(found.std_error).all()
    assert (found.interval().low == 0).all()
    assert (found.interval().high == 1).all()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["grr", "olh"])
def test_intervals_of_the_exact_maximum_cover_a_population(name):
    """At a budget at which no category is near the bound zero."""
    share, _ = coverage(FAMILIES[name](range(6), 3.0), "mle", "population")
    assert 0.93 < share < 0.97


@pytest.mark.nightly
@given(seeds)
def test_adding_counts_commutes_with_estimating(seed):
    """Two shards added, or all reports at once, by any method."""
    rng = np.random.default_rng(seed)
    mechanism = any_mechanism(rng)
    reports = mechanism.sample_codes(rng.integers(0, len(mechanism.categories), 60), rng)
    both = CategoryCounts.from_reports(mechanism, reports[:25]) + CategoryCounts.from_reports(mechanism, reports[25:])
    method = rng.choice(FREQUENCY_METHODS)
    whole = estimate_frequencies(CategoryCounts.from_reports(mechanism, reports), method=method)
    added = estimate_frequencies(both, method=method)
    np.testing.assert_array_equal(added.value, whole.value)
    np.testing.assert_array_equal(added.std_error, whole.std_error)
    assert added.n == whole.n == 60


@pytest.mark.parametrize("method", [m for m in FREQUENCY_METHODS if m != "iiw"])
def test_the_order_of_the_categories_does_not_matter(method):
    """The same bits with the categories in another order; only `iiw` has neighbours."""
    rng, order = np.random.default_rng(7), np.array([3, 0, 5, 1, 4, 2])
    mechanism = optimised_unary("abcdef", 1.0)
    reports = mechanism.sample_codes(rng.choice(6, 800, p=TRUTH), rng)
    moved = np.packbits(mechanism.bits(reports)[:, order], axis=1)
    first = estimate_frequencies(CategoryCounts.from_reports(mechanism, reports), method=method)
    second = estimate_frequencies(CategoryCounts.from_reports(mechanism, moved), method=method)
    np.testing.assert_allclose(second.value, first.value[order], atol=1e-6)
    np.testing.assert_allclose(second.std_error, first.std_error[order], atol=1e-6)


@pytest.mark.parametrize("name", list(FAMILIES))
def test_the_methods_are_what_their_names_say(name):
    """Each by its own parts, for every kind of mechanism; standard errors of what is unbiased are shared."""
    mechanism = FAMILIES[name](range(6), 1.0)
    counts = drawn(mechanism, 2000, np.random.default_rng(8))
    found = {method: estimate_frequencies(counts, method=method) for method in FREQUENCY_METHODS}
    decoder, likelihood = frequency_decoder(mechanism), category_likelihood(counts)
    unbiased = decoder.frequencies(counts)
    variances = decoder.variances(norm_sub(unbiased)) / 2000
    limit = 2 * np.sqrt(decoder.noise() / 2000).mean()
    for method, expected in (
        ("unbiased", unbiased),
        ("norm-sub", norm_sub(unbiased)),
        ("base-cut", base_cut(unbiased)),
        ("iiw", iiw(unbiased, variances.sum())),
        ("em", fit_mixture(likelihood, method="em", loglik_change=1e-3).weights),
        ("mle", fit_mixture(likelihood).weights),
        ("mr", mixture_reduction(likelihood, rule="categorical", threshold=limit).fit.weights),
    ):
        np.testing.assert_allclose(found[method].value, expected, rtol=0, atol=1e-14, err_msg=method)
    for method in ("unbiased", "norm-sub", "base-cut", "iiw"):
        users = estimate_frequencies(counts, method=method, target="users")
        np.testing.assert_allclose(users.std_error, np.sqrt(variances))
        assert users.target == "users"
        assert found[method].fit is None
    assert {estimate.target for estimate in found.values()} == {"population"}
    for method in ("em", "mle", "mr"):
        assert found[method].value.sum() == pytest.approx(1.0, abs=1e-12)
    assert found["mle"].fit.certificate <= 1e-8
    assert found["mle"].components == found["em"].components == 6


def test_a_population_adds_the_scatter_of_its_users():
    """f (1 - f) / n, and the covariance of multinomial shares."""
    counts = drawn(optimised_unary(range(6), 1.0), 900, np.random.default_rng(9))
    users, population = (estimate_frequencies(counts, target=target) for target in ("users", "population"))
    f = norm_sub(users.value)
    np.testing.assert_array_equal(users.value, population.value)
    np.testing.assert_allclose(population.std_error**2 - users.std_error**2, f * (1 - f) / 900, atol=1e-15)
    added = (np.diag(f) - np.outer(f, f)) / 900
    np.testing.assert_allclose(population.covariance - users.covariance, added, atol=1e-15)


@pytest.mark.parametrize("method", FREQUENCY_METHODS)
def test_standard_errors_are_the_roots_of_the_covariances_diagonal(method):
    counts = drawn(FAMILIES["olh"](range(6), 1.0), 900, np.random.default_rng(10))
    found = estimate_frequencies(counts, method=method)
    np.testing.assert_allclose(found.std_error**2, np.diag(found.covariance), rtol=1e-9, atol=1e-18)


def test_maximum_likelihood_and_the_unbiased_estimate_scatter_alike_inside_the_simplex():
    """Randomised response has as many outputs as categories: both invert it, and say the same of a population."""
    counts = drawn(categorical_grr(range(6), 3.0), 50_000, np.random.default_rng(11))
    mle, unbiased = (
        estimate_frequencies(counts, method="mle"),
        estimate_frequencies(counts, method="unbiased", target="population"),
    )
    np.testing.assert_allclose(mle.value, unbiased.value, atol=1e-6)
    np.testing.assert_allclose(mle.covariance, unbiased.covariance, atol=1e-10)


@pytest.mark.slow
def test_merged_categories_share_their_weight():
    """Twenty categories that nobody has come out as groups with one frequency and one standard error."""
    truth = np.concatenate([[0.7, 0.3], np.zeros(20)])
    counts = drawn(optimised_unary(range(22), 1.0), 5000, np.random.default_rng(12), truth)
    found = estimate_frequencies(counts, method="mr")
    assert found.components < 22
    assert np.unique(found.value[2:].round(12)).size <= found.components - 2
    assert np.abs(found.value[:2] - truth[:2]).max() < 4 * found.std_error[:2].max()
    everything = estimate_frequencies(counts, method="mr", threshold=0.0)
    assert everything.components == 22


def test_a_larger_problem_goes_to_another_solver(monkeypatch):
    """The same maximum, by steps that cost less."""
    counts = drawn(optimised_unary(range(6), 2.0), 500, np.random.default_rng(13))
    newton = estimate_frequencies(counts, method="mle")
    monkeypatch.setattr(fitted, "NEWTON_OPERATIONS", 100)
    projected = estimate_frequencies(counts, method="mle")
    assert (newton.fit.method, projected.fit.method) == ("interior-point", "projected-gradient")
    np.testing.assert_allclose(projected.value, newton.value, atol=1e-4)


@pytest.mark.parametrize("method", [m for m in FREQUENCY_METHODS if m != "shrunk"])  # of other numbers: below
def test_more_categories_than_a_covariance_is_formed_for_still_have_standard_errors(monkeypatch, method):
    counts = drawn(optimised_unary(range(6), 1.0), 900, np.random.default_rng(14))
    small = estimate_frequencies(counts, method=method)
    for room in (decoded, locally_best):
        monkeypatch.setattr(room, "MOST_COMPONENTS", 5)
    large = estimate_frequencies(counts, method=method)
    np.testing.assert_array_equal(large.value, small.value)
    assert large.covariance is None
    place = large.value if large.fit else norm_sub(estimate_frequencies(counts).value)
    expected = np.sqrt((counts.mechanism.frequency_variance(place) + place * (1 - place)) / 900)
    np.testing.assert_allclose(large.std_error, expected, rtol=1e-12)
    with pytest.raises(InputError, match="a share needs a covariance"):
        large.share(["0"])


def test_a_prior_changes_the_decoder_of_a_table_with_outputs_to_spare():
    table = FAMILIES["table"](range(6), 1.0)
    counts = drawn(table, 900, np.random.default_rng(15))
    prior = [20, 1, 1, 1, 1, 1]
    found = estimate_frequencies(counts, prior=prior)
    np.testing.assert_array_equal(found.value, frequency_decoder(table, prior).frequencies(counts))
    assert np.abs(found.value - estimate_frequencies(counts).value).max() > 1e-6


def test_settings_reach_the_method_they_are_for():
    counts = drawn(categorical_grr(range(6), 1.0), 3000, np.random.default_rng(16))
    loose = estimate_frequencies(counts, method="em", loglik_change=1.0)
    assert loose.fit.iterations < estimate_frequencies(counts, method="em").fit.iterations
    assert estimate_frequencies(counts, method="mle", certificate=1e-2).fit.iterations < 6
    unbiased = estimate_frequencies(counts).value
    cut = estimate_frequencies(counts, method="base-cut", threshold=0.2)
    np.testing.assert_array_equal(cut.value, np.where(unbiased > 0.2, unbiased, 0.0))
    seen = []
    estimate_frequencies(counts, method="em", progress=seen.append)
    estimate_frequencies(counts, method="mr", progress=seen.append, loglik_change=1.0)
    assert len(seen) > 2


def test_shares_and_single_categories_are_read_off_with_their_intervals():
    """The sum of two bits' estimates has the sum of their variances; all of randomised response's has none."""
    counts = drawn(optimised_unary("abcdef", 1.0), 5000, np.random.default_rng(17))
    found = estimate_frequencies(counts, target="users")
    pair = found.share("ab")
    ends = pair.interval(0.9)
    assert pair.value == pytest.approx(found.value[:2].sum())
    assert pair.std_error == pytest.approx(np.hypot(*found.std_error[:2]))
    assert ends.high - pair.value == pytest.approx(1.6448536 * pair.std_error)
    assert pair.value - ends.low == pytest.approx(1.6448536 * pair.std_error)
    one = found["b"]
    assert (one.value, one.std_error) == (found.value[1], found.std_error[1])
    assert (one.interval().low, one.interval().high) == (found.interval().low[1], found.interval().high[1])
    whole = estimate_frequencies(drawn(categorical_grr("abcdef", 1.0), 900, np.random.default_rng(1))).share("abcdef")
    assert whole.value == pytest.approx(1.0)
    assert whole.std_error < 1e-6


def test_intervals_stay_between_zero_and_one():
    counts = drawn(optimised_unary(range(6), 0.1), 50, np.random.default_rng(18))
    found = estimate_frequencies(counts)
    assert found.value.min() < 0 or found.value.max() > 1
    assert (found.interval().low >= 0).all()
    assert (found.interval().high <= 1).all()


def test_labels_that_there_are_not_or_twice_are_refused():
    found = estimate_frequencies(drawn(optimised_unary("abcdef", 1.0), 50, np.random.default_rng(19)))
    with pytest.raises(InputError, match="labels must differ"):
        found.share(["a", "a"])
    with pytest.raises(InputError, match="'z'"):
        found.share(["a", "z"])
    with pytest.raises(InputError, match="'z'"):
        found["z"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "best"}, f"method must be one of {', '.join(FREQUENCY_METHODS)}, got 'best'"),
        ({"target": "everybody"}, "target must be one of users, population, got 'everybody'"),
        ({"method": "em", "target": "users"}, "target users is for unbiased, .*, got method 'em'"),
        ({"method": "mle", "loglik_change": 1.0}, "loglik_change is for em, mr, got method 'mle'"),
        ({"threshold": 0.1}, "threshold is for base-cut, mr, got method 'unbiased'"),
        ({"method": "mr", "prior": [1] * 6}, "prior is for"),
        ({"certificate": 0.1}, "certificate is for mle"),
        ({"prior": [1] * 6}, "a prior is for tables"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    counts = drawn(optimised_unary(range(6), 1.0), 50, np.random.default_rng(20))
    with pytest.raises(InputError, match=message):
        estimate_frequencies(counts, **arguments)


@pytest.mark.parametrize("method", FREQUENCY_METHODS)
def test_no_reports_are_refused(method):
    mechanism = optimised_unary("ab", 1.0)
    empty = CategoryCounts.from_reports(mechanism, np.zeros((0, 1), dtype=np.uint8))
    with pytest.raises(InputError, match="at least one report, got none"):
        estimate_frequencies(empty, method=method)


@pytest.mark.parametrize("method", FREQUENCY_METHODS)
@pytest.mark.parametrize("family", ["grr", "oue", "olh", "subset"])
def test_one_user_is_enough_for_an_estimate(method, family):
    """Finite numbers, whatever they are worth."""
    mechanism = FAMILIES[family]("abcdef", 1.0)
    counts = CategoryCounts.from_reports(mechanism, mechanism.sample_codes([2], np.random.default_rng(21)))
    found = estimate_frequencies(counts, method=method)
    assert np.isfinite(found.value).all()
    assert np.isfinite(found.std_error).all()


@pytest.mark.parametrize("name", ["grr", "olh"])
@pytest.mark.parametrize("operation", [None, "prune"])
@pytest.mark.parametrize("preselect", [0.0, 2.0])
def test_categories_estimated_as_next_to_nothing_may_be_reduced_first(name, operation, preselect):
    """Those whose unbiased estimates lie so many standard errors from zero or below, at most as many as may go."""
    mechanism = FAMILIES[name](range(22), 1.0)
    counts = drawn(mechanism, 5000, np.random.default_rng(12), np.concatenate([[0.7, 0.3], np.zeros(20)]))
    decoder, chosen = frequency_decoder(mechanism), operation or "merge"
    error = np.sqrt(decoder.noise() / 5000).mean()
    unbiased = decoder.frequencies(counts)
    small = np.flatnonzero(unbiased < preselect * error)
    small = small[np.argsort(unbiased[small].round(12), kind="stable")][: 22 - 6 + (chosen == "merge")]
    expected = mixture_reduction(
        category_likelihood(counts),
        rule="categorical",
        operation=chosen,
        preselected=np.isin(np.arange(22), small),
        threshold=2 * error,
    )
    found = estimate_frequencies(counts, method="mr", preselect=preselect, operation=operation)
    np.testing.assert_allclose(found.value, expected.fit.weights, rtol=0, atol=1e-12)
    assert small.size > 5
    assert found.components == expected.member.max() + 1
    pruned = expected.member == -1
    assert (found.value[pruned] == 0).all()
    assert (found.interval().high[pruned] > 0).all()
    assert np.unique(found.value[small].round(12)).size == 1


def test_reduction_stops_at_the_least_number_of_groups():
    """Of twenty categories that nobody has all may become one group, or a few."""
    counts = drawn(optimised_unary(range(22), 1.0), 5000, np.random.default_rng(12), np.eye(22)[0])
    found = [estimate_frequencies(counts, method="mr", preselect=9.0, least_components=k).components for k in (2, 15)]
    assert found == [2, 15]
