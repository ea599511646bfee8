"""The joint likelihood of levels and values, its maximum, and how that scatters."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import PersonalisedCounts, auem, personalised_mle
from optldp.estimators.personalised import personalised_shrunk
from optldp.estimators.personalised.auem import clipped
from optldp.estimators.personalised.covariance import joint_covariance
from optldp.estimators.personalised.fit import derivatives, fit_jointly
from optldp.estimators.personalised.likelihood import personalised_likelihood
from optldp.estimators.personalised.mle import relaxation_bound
from optldp.mechanisms import InputError, PersonalisedMechanism, SolverError, grr
from optldp.mechanisms.categorical import basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.solvers import Stop, fit_mixture
from optldp.solvers.likelihood.dense import DenseLikelihood

from ..personalised_cases import ALL, PURE, counts_of, drawn_counts, expected_counts, pair_law, personalised

SHARES, FREQUENCIES = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])
EVEN = np.full(2, 0.5), np.full(3, 1.0 / 3.0)


def drawn(family, n=5000, seed=1, **settings):
    return drawn_counts(personalised(family, **settings), SHARES, FREQUENCIES, n, np.random.default_rng(seed))


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("level_epsilon", [0.8, None])
def test_the_likelihood_is_the_enumerated_law_and_sums_to_one(family, level_epsilon):
    """The probability of every possible pair, alone, is the mixture of the levels' and categories' laws."""
    mechanism = personalised(family, level_epsilon=level_epsilon)
    law = np.einsum("i,j,ijo->o", SHARES, FREQUENCIES, pair_law(mechanism))
    found = np.zeros(law.size)
    for o in np.flatnonzero(law > 0):
        alone = personalised_likelihood(counts_of(mechanism, np.eye(law.size, dtype=int)[o]))
        found[o] = np.exp(alone.loglik(SHARES, FREQUENCIES))
    np.testing.assert_allclose(found, law, rtol=1e-12)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.nightly
@given(st.integers(0, 10**6), st.sampled_from(ALL), st.sampled_from([0.1, 2.0]))
def test_rows_and_sums_are_those_of_the_whole_tensor(seed, family, level_epsilon):
    """Rows by level and by value, their mixture and the joint sums follow from all probabilities at once."""
    rng = np.random.default_rng(seed)
    counts = drawn(family, 50, seed, level_epsilon=level_epsilon)
    likelihood = personalised_likelihood(counts)
    shares, weights, values = rng.dirichlet(np.ones(2)), rng.dirichlet(np.ones(3)), rng.random(counts.counts.size)
    response = counts.mechanism.level_response[:, counts.levels].T
    law = np.stack([level.pmf(counts.reports) for level in counts.mechanism.levels], axis=1)
    tensor = response[:, :, None] * law  # (R, t, K)
    whole = slice(None)
    by_level, by_value = likelihood.rows(whole, shares, weights)
    own = (tensor @ weights) @ shares / (by_level @ shares)  # the factor that each pair lacks
    np.testing.assert_allclose(np.sum(counts.counts * np.log(own)), likelihood.offset, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_level * own[:, None], tensor @ weights, rtol=1e-11)
    np.testing.assert_allclose(by_value * own[:, None], np.einsum("i,oij->oj", shares, tensor), rtol=1e-11)
    np.testing.assert_allclose(
        likelihood.gather(whole, values), np.einsum("o,oij->ij", values / own, tensor), rtol=1e-11
    )
    np.testing.assert_allclose(likelihood.mix(shares, weights), by_level @ shares)


@pytest.mark.parametrize("family", [basic_rappor, categorical_grr])
def test_derivatives_are_those_of_finite_differences(family):
    """Gradient and second derivative of the mean log-likelihood agree with differences of it, block by block."""
    likelihood = personalised_likelihood(drawn(family))
    x, step = np.concatenate([SHARES, FREQUENCIES]), 1e-4

    def mean(place):
        return (likelihood.loglik(place[:2], place[2:]) - likelihood.offset) / likelihood.total

    moves = step * np.eye(5)
    found = derivatives(likelihood, SHARES, FREQUENCIES)
    assert found.mean == pytest.approx(mean(x), rel=1e-12)
    np.testing.assert_allclose(found.gradient, [(mean(x + m) - mean(x - m)) / (2 * step) for m in moves], rtol=1e-6)
    second = [[mean(x + a + b) - mean(x + a - b) - mean(x - a + b) + mean(x - a - b) for a in moves] for b in moves]
    np.testing.assert_allclose(found.information, -np.array(second) / (4 * step**2), rtol=1e-4, atol=1e-4)


def test_work_in_parts_gives_the_same(monkeypatch):
    """Derivatives do not depend on how many pairs are worked on at a time."""
    likelihood = personalised_likelihood(drawn(basic_rappor))
    whole = derivatives(likelihood, *EVEN)
    monkeypatch.setattr("optldp.estimators.personalised.likelihood.BLOCK_NUMBERS", 15)
    assert len(list(likelihood.parts())) > 3
    for left, right in zip(whole, derivatives(likelihood, *EVEN), strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("family", ALL)
@pytest.mark.parametrize("level_epsilon", [0.8, None])
def test_expected_counts_give_back_what_they_were_made_of(family, level_epsilon):
    """With the average counts of many users the maximum is at the truth."""
    mechanism = personalised(family, level_epsilon=level_epsilon)
    found = personalised_mle(expected_counts(mechanism, SHARES, FREQUENCIES))
    np.testing.assert_allclose(found.value, FREQUENCIES, atol=2e-3)
    np.testing.assert_allclose(found.level_shares.value, SHARES, atol=2e-3)


def in_weights(likelihood, shares):
    """The mixture in the weights alone, for fixed shares."""
    return DenseLikelihood([likelihood.rows(slice(None), shares, EVEN[1])[1].T], likelihood.counts)


def in_shares(likelihood, weights):
    """The mixture in the shares alone, for fixed weights."""
    return DenseLikelihood([likelihood.rows(slice(None), EVEN[0], weights)[0].T], likelihood.counts)


def alternating(likelihood, shares, weights):
    """Maximise over one block and then the other until nothing changes: slow, and with another solver."""
    logliks = [-np.inf]
    while True:
        weights = fit_mixture(in_weights(likelihood, shares), start=weights, certificate=1e-12).weights
        shares = fit_mixture(in_shares(likelihood, weights), start=shares, certificate=1e-12).weights
        logliks.append(likelihood.loglik(shares, weights))
        if logliks[-1] - logliks[-2] < 1e-7:
            return weights, logliks[1:]


@pytest.mark.nightly
@pytest.mark.parametrize("family", [basic_rappor, optimised_unary, categorical_grr])
def test_the_joint_fit_is_where_alternating_ends_from_any_start(family):
    """From several starts both ways end at one maximum, and neither ever goes down."""
    likelihood, rng = personalised_likelihood(drawn(family, 20_000)), np.random.default_rng(2)
    best = fit_jointly(likelihood, *EVEN, certificate=1e-11)
    assert best.stop in (Stop.CERTIFICATE, Stop.ROUNDING)
    assert max(best.share_certificate, best.weight_certificate) < 1e-9
    for _ in range(4):
        start = rng.dirichlet(np.full(2, 0.5)), rng.dirichlet(np.full(3, 0.5))
        again = fit_jointly(likelihood, *start, certificate=1e-11)
        assert again.loglik == pytest.approx(best.loglik, abs=1e-4)
        assert again.loglik >= likelihood.loglik(*start) - 1e-6
        np.testing.assert_allclose(again.weights, best.weights, atol=1e-4)
        weights, logliks = alternating(likelihood, *start)
        assert (np.diff(logliks) > -1e-7).all()
        assert best.loglik >= logliks[-1] - 1e-5
        np.testing.assert_allclose(weights, best.weights, atol=5e-3)
        assert logliks[-1] == pytest.approx(best.loglik, abs=1e-3)


def test_no_place_of_a_fine_grid_is_better():
    """For two levels and two categories all shares and frequencies are tried."""
    counts = drawn_counts(
        personalised(basic_rappor, categories="ab"), SHARES, np.array([0.8, 0.2]), 2000, np.random.default_rng(3)
    )
    likelihood = personalised_likelihood(counts)
    found = personalised_mle(counts)
    assert found.joint is not None
    for rho, p in itertools.product(np.linspace(0, 1, 41), repeat=2):
        assert likelihood.loglik(np.array([rho, 1 - rho]), np.array([p, 1 - p])) <= found.joint.loglik + 1e-4


def test_certificates_bound_what_can_be_gained():
    """After two steps, what is still to be gained is within the bounds; the relaxation bounds it from above too."""
    likelihood = personalised_likelihood(drawn(basic_rappor, 20_000))
    best, early = fit_jointly(likelihood, *EVEN), fit_jointly(likelihood, *EVEN, max_iterations=2)
    assert early.stop is Stop.ITERATION_LIMIT
    weights = fit_mixture(in_weights(likelihood, early.shares)).weights
    gained = likelihood.loglik(early.shares, weights) - early.loglik
    assert 0 < gained <= likelihood.total * early.weight_certificate
    shares = fit_mixture(in_shares(likelihood, early.weights)).weights
    gained = likelihood.loglik(shares, early.weights) - early.loglik
    assert 0 < gained <= likelihood.total * early.share_certificate
    assert 0 < best.loglik - early.loglik <= likelihood.total * early.joint_certificate
    bound, relaxed = relaxation_bound(likelihood)
    assert best.loglik <= bound <= best.loglik + likelihood.total * best.joint_certificate + relaxed.gap_bound
    assert bound == pytest.approx(relaxed.loglik + likelihood.offset, abs=0.01)


def test_the_relaxation_is_tight_where_pairs_show_the_level():
    """With one frequency for all levels in the clear, and expected counts, weights of pairs gain nothing."""
    mechanism = personalised(categorical_grr, level_epsilon=None)
    counts = expected_counts(mechanism, SHARES, FREQUENCIES, n=10**6)
    found = personalised_mle(counts)
    bound, _ = relaxation_bound(personalised_likelihood(counts))
    assert found.joint is not None
    assert 0.0 <= bound - found.joint.loglik < 0.05


@pytest.mark.nightly
@pytest.mark.parametrize("family", [basic_rappor, ALL[-1]])
def test_standard_errors_are_the_scatter_of_the_maxima(family):
    """In a Monte Carlo the covariance of shares and frequencies is what the information says, for both targets."""
    mechanism, rng, n, repetitions = personalised(family, level_epsilon=2.0), np.random.default_rng(4), 50_000, 200
    law = np.einsum("i,ijo->jo", SHARES, pair_law(mechanism))
    law /= law.sum(axis=1, keepdims=True)
    for target in ("population", "users"):
        found, claimed = [], []
        for _ in range(repetitions // 2):
            own = rng.multinomial(n, FREQUENCIES) if target == "population" else np.rint(n * FREQUENCIES).astype(int)
            estimate = personalised_mle(counts_of(mechanism, rng.multinomial(own, law).sum(axis=0)), target=target)
            found.append(np.concatenate([estimate.value, estimate.level_shares.value]))
            claimed.append(np.concatenate([estimate.std_error, estimate.level_shares.std_error]))
        spread = np.std(found, axis=0, ddof=1)
        np.testing.assert_allclose(np.mean(claimed, axis=0), spread, rtol=4 / np.sqrt(repetitions))
        away = np.abs(np.mean(found, axis=0) - np.concatenate([FREQUENCIES, SHARES]))
        assert (away < 4.5 * spread / np.sqrt(repetitions // 2)).all()


@pytest.mark.nightly
@pytest.mark.parametrize("family", [basic_rappor, categorical_grr])
def test_the_covariance_is_that_of_the_fits_derivative_in_the_counts(family):
    """The delta method by refitting with a little more or less of every pair gives the same, few users as there are."""
    counts = drawn(family, 600, level_epsilon=2.0, epsilons=(2.0, 3.0))
    best = fit_jointly(personalised_likelihood(counts), *EVEN, certificate=1e-13)
    place = best.shares, best.weights
    assert min(map(np.min, place)) > 0.01
    slopes = []
    for move in 0.01 * np.eye(len(counts.counts)):
        ends = []
        for sign in (1, -1):
            moved = personalised_likelihood(counts)
            moved.counts = moved.counts + sign * move * counts.counts
            moved.total = float(moved.counts.sum())
            fit = fit_jointly(moved, *place, certificate=1e-13)
            ends.append(np.concatenate([fit.shares, fit.weights]))
        slopes.append((ends[0] - ends[1]) / (0.02 * counts.counts @ (move > 0)))
    expected = (np.transpose(slopes) * counts.counts) @ slopes
    found = joint_covariance(personalised_likelihood(counts), *place)
    np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


def test_the_users_own_shares_are_known_better_than_the_populations():
    """The two targets' variances differ by f (1 - f) / n."""
    counts = drawn(basic_rappor, 20_000)
    more, less = (personalised_mle(counts, target=target) for target in ("population", "users"))
    share = more.value * (1 - more.value) / 20_000
    np.testing.assert_allclose(more.std_error**2 - less.std_error**2, share, rtol=1e-6)


def test_a_weight_at_zero_is_known_no_better_than_its_reports_say():
    """A category that the reports exclude is at zero; its interval ends where one that some had would have shown."""
    mechanism = personalised(categorical_grr, level_epsilon=2.0)
    counts = expected_counts(mechanism, SHARES, np.array([0.7, 0.3, 0.0]), n=10**4)
    shifted = PersonalisedCounts(
        mechanism, counts.levels, counts.reports, np.where(counts.reports == 2, 1, counts.counts)
    )
    excluded, expected = personalised_mle(shifted), personalised_mle(counts)
    assert excluded.value[2] < 1e-6
    assert (excluded.std_error > 0.005).all()
    assert excluded.interval().low[2] == 0.0
    assert 0.0 < excluded.interval().high[2] < expected.interval().high[2] < 4 * expected.std_error[2]


@pytest.mark.nightly
@pytest.mark.parametrize("family", [basic_rappor, categorical_grr])
@pytest.mark.parametrize("level_epsilon", [0.5, None])
@pytest.mark.parametrize("estimator", [personalised_mle, personalised_shrunk])
def test_intervals_cover_rare_categories_and_frequent_ones(family, level_epsilon, estimator):
    """Twelve categories, ten of which few have or nobody; each group by itself."""
    truth = np.array([0.6, 0.3, *np.full(5, 0.02), *np.zeros(5)])
    mechanism = PersonalisedMechanism([family(range(12), e) for e in (1.0, 2.0)], level_epsilon)
    inside = []
    for repetition in range(80):
        rng = np.random.default_rng([12, repetition])
        sent = mechanism.sample(rng.choice(12, 6000, p=truth), rng.integers(0, 2, 6000), rng)
        ends = estimator(PersonalisedCounts.from_reports(mechanism, sent)).interval()
        inside.append((ends.low <= truth) & (truth <= ends.high))
    rare, frequent = np.mean(inside, axis=0)[2:].mean(), np.mean(inside, axis=0)[:2].mean()
    assert rare > 0.95 - 4 * np.sqrt(0.05 * 0.95 / (80 * 10))
    assert frequent > 0.95 - 4 * np.sqrt(0.05 * 0.95 / (80 * 2))


@pytest.mark.slow
def test_many_bits_do_not_underflow():
    """With 3000 categories, less probable than the smallest double, logarithms are those of a loop."""
    names = [f"c{k}" for k in range(3000)]
    mechanism, rng = PersonalisedMechanism([basic_rappor(names, e) for e in (1.0, 2.0)], 1.0), np.random.default_rng(5)
    sent = mechanism.sample(["c0", "c1", "c2"], [0, 1, 0], rng)
    likelihood, weights = (
        personalised_likelihood(PersonalisedCounts.from_reports(mechanism, sent)),
        np.full(3000, 1 / 3000),
    )
    loop = 0.0
    for level, bits in zip(sent.levels, np.unpackbits(sent.reports, axis=1, count=3000).astype(bool), strict=True):
        logs = []
        for i, made in enumerate(mechanism.levels):
            p, q = made.own_support, made.other_support
            own, other = np.where(bits, np.log(p), np.log1p(-p)), np.where(bits, np.log(q), np.log1p(-q))
            logs.append(np.log(SHARES[i] * mechanism.level_response[i, level] / 3000) + other.sum() + own - other)
        loop += np.logaddexp.reduce(np.concatenate(logs))
    assert loop / 3 < -1000
    assert likelihood.loglik(SHARES, weights) == pytest.approx(loop, rel=1e-12)
    assert np.isfinite(derivatives(likelihood, SHARES, weights).information).all()


@pytest.mark.nightly
@pytest.mark.parametrize("level_epsilon", [0.1, 0.3])
def test_it_errs_less_than_auem_where_levels_are_well_protected(level_epsilon):
    """Over 20 repetitions with ten levels its mean squared error is below half of clipped AUEM's."""
    epsilons = tuple(0.1 * k for k in range(1, 11))
    mechanism = personalised(basic_rappor, epsilons, level_epsilon, "abcdefgh")
    truth, rng = np.array([0.4, 0.25, 0.15, 0.1, 0.05, 0.03, 0.01, 0.01]), np.random.default_rng(6)
    errors = []
    for _ in range(20):
        values, levels = rng.choice(list("abcdefgh"), 20_000, p=truth), rng.integers(0, 10, 20_000)
        counts = PersonalisedCounts.from_reports(mechanism, mechanism.sample(values, levels, rng))
        found = auem(counts).value, clipped(auem(counts).value), personalised_mle(counts).value
        errors.append([np.mean((one - truth) ** 2) for one in found])
    plain, kept, fitted = np.mean(errors, axis=0)
    assert fitted < 0.5 * kept
    assert fitted < 0.5 * plain


@pytest.mark.parametrize("family", PURE)
def test_all_kinds_of_reports_are_fitted_and_a_start_changes_nothing(family):
    """Every family gives a maximum with small certificates; another start gives the same."""
    counts = drawn(family, 20_000)
    first = personalised_mle(counts)
    second = personalised_mle(counts, start=([0.1, 0.9], [1.0, 2.0, 3.0]))
    assert first.joint is not None
    assert max(first.joint.share_certificate, first.joint.weight_certificate) <= 1e-8
    np.testing.assert_allclose(first.value, second.value, atol=2e-4)


def refused():
    counts = drawn(basic_rappor)
    bits = np.zeros((0, 1), dtype=np.uint8)
    none = PersonalisedCounts.from_reports(counts.mechanism, PersonalisedReports(np.zeros(0, dtype=int), bits))
    numeric = PersonalisedMechanism([exact(grr([0.0, 1.0], e)) for e in (0.5, 1.0)], 0.5)
    numbers = PersonalisedCounts.from_reports(numeric, PersonalisedReports(np.array([0]), np.array([1.0])))
    return {
        r"there must be at least one report": lambda: personalised_mle(none),
        r"values must be categories": lambda: personalised_mle(numbers),
        r"start must be 2 non-negative": lambda: personalised_mle(counts, start=([1.0], [1.0, 1.0, 1.0])),
        r"start must be 3 non-negative": lambda: personalised_mle(counts, start=([1.0, 1.0], [1.0])),
    }


@pytest.mark.parametrize("message", refused())
def test_what_cannot_be_fitted_is_refused(message):
    """Every fault has a message of its own."""
    with pytest.raises(InputError, match=message):
        refused()[message]()


def test_an_impossible_pair_is_a_solver_error():
    """A report that no level can have made, at its weights, is named as such."""
    likelihood = personalised_likelihood(drawn(categorical_grr, level_epsilon=None))
    with pytest.raises(SolverError, match="probability zero"):
        derivatives(likelihood, np.array([1.0, 0.0]), EVEN[1])


def test_covariance_leaves_the_sums_alone():
    """Rows of the covariance add up to zero over the shares and over the weights."""
    found = joint_covariance(personalised_likelihood(drawn(basic_rappor)), SHARES, FREQUENCIES)
    np.testing.assert_allclose(found[:, :2].sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(found[:, 2:].sum(axis=1), 0.0, atol=1e-12)
