"""Counts of pairs of reports, the shares of the levels, and AUEM."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportOperatorIssue=false

import numpy as np
import pytest
from optldp.estimators import PersonalisedCounts, auem
from optldp.estimators.personalised.auem import clipped, invert_supports
from optldp.estimators.personalised.counts import require_pure
from optldp.estimators.personalised.estimate import level_shares
from optldp.mechanisms import InputError, PersonalisedMechanism, grr, piecewise
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.combinators.personalised import PersonalisedReports
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact

from ..personalised_cases import PURE, any_table, counts_of, drawn_counts, expected_counts, pair_law, personalised

SHARES, FREQUENCIES = np.array([0.7, 0.3]), np.array([0.6, 0.3, 0.1])


def sampled(family, n=3000, seed=1, **settings):
    mechanism, rng = personalised(family, **settings), np.random.default_rng(seed)
    values = rng.choice(list("abc"), n, p=FREQUENCIES)
    return mechanism, mechanism.sample(values, rng.choice(2, n, p=SHARES), rng)


@pytest.mark.parametrize("family", PURE)
def test_pairs_are_counted_as_a_loop_counts_them(family):
    """Distinct pairs and their counts equal those of a dictionary of users."""
    mechanism, sent = sampled(family)
    counts, loop = PersonalisedCounts.from_reports(mechanism, sent), {}
    for level, report in zip(sent.levels, sent.reports, strict=True):
        loop[level, bytes(report)] = loop.get((level, bytes(report)), 0) + 1
    found = zip(counts.levels, counts.reports, counts.counts, strict=True)
    assert {(level, bytes(report)): n for level, report, n in found} == loop
    assert counts.n_users == 3000
    np.testing.assert_array_equal(counts.level_counts, np.bincount(sent.levels))


@pytest.mark.nightly
@pytest.mark.parametrize("family", PURE)
def test_supports_are_counted_as_a_loop_counts_them(family):
    """Users per reported level and supported category equal a loop over the users' supports."""
    mechanism, sent = sampled(family)
    first = mechanism.levels[0]
    loop = np.zeros((2, 3), dtype=int)
    for level, report in zip(sent.levels, sent.reports, strict=True):
        law = first.pmf(np.asarray(report)[None])[0]
        loop[level] += law > law.min() if law.max() > law.min() else np.unpackbits(report, count=3).astype(bool)
    np.testing.assert_allclose(PersonalisedCounts.from_reports(mechanism, sent).support_counts(), loop)


@pytest.mark.parametrize("family", PURE)
def test_counts_of_shards_add_up(family):
    """Counting two halves and adding equals counting all; adding nothing changes nothing."""
    mechanism, sent = sampled(family)
    whole = PersonalisedCounts.from_reports(mechanism, sent)
    parts = [
        PersonalisedCounts.from_reports(mechanism, PersonalisedReports(sent.levels[part], sent.reports[part]))
        for part in (slice(1000), slice(1000, None), slice(0))
    ]
    together = parts[0] + parts[1] + parts[2]
    for name in ("levels", "reports", "counts"):
        np.testing.assert_array_equal(getattr(together, name), getattr(whole, name))


def test_counts_add_for_the_same_law_only():
    """Another level's budget is refused; the same mechanism made twice is not."""
    mechanism, sent = sampled(basic_rappor)
    counts = PersonalisedCounts.from_reports(mechanism, sent)
    assert (counts + PersonalisedCounts.from_reports(personalised(basic_rappor), sent)).n_users == 6000
    with pytest.raises(InputError, match="same mechanism"):
        _ = counts + PersonalisedCounts.from_reports(personalised(basic_rappor, level_epsilon=0.9), sent)
    assert counts.__add__(3) is NotImplemented


def test_numbers_are_told_apart_by_the_outputs_of_every_table():
    """Reports in the same cell of both levels' tables are one; each cell is where its report lies."""
    mechanism = PersonalisedMechanism([exact(piecewise([0.0, 0.5, 1.0], e)) for e in (1.0, 2.0)], 0.5)
    rng = np.random.default_rng(2)
    sent = mechanism.sample(rng.random(2000), rng.integers(0, 2, 2000), rng)
    counts = PersonalisedCounts.from_reports(mechanism, sent)
    assert counts.n_users == 2000
    inside = np.ones((2000, len(counts.counts)), dtype=bool)
    for table, outputs in zip(mechanism.levels, counts.reports.T, strict=True):
        own = (sent.reports[:, None] >= table.low[outputs]) & (sent.reports[:, None] <= table.high[outputs])
        beyond = (sent.reports < table.low[0]) | (sent.reports > table.high[-1])
        inside &= np.where(outputs >= 0, own, beyond[:, None])
    seen = (inside & (sent.levels[:, None] == counts.levels)).sum(axis=0)
    np.testing.assert_array_equal(seen, counts.counts)


def refused():
    rappor, numeric = personalised(basic_rappor), [exact(grr([0.0, 1.0], e)) for e in (0.5, 1.0)]
    clear = PersonalisedMechanism([exact(piecewise([0.0, 1.0], e)) for e in (1.0, 2.0)])
    bits, none = np.array([[128]], dtype=np.uint8), np.zeros(0, dtype=int)
    empty = PersonalisedCounts.from_reports(rappor, PersonalisedReports(none, np.zeros((0, 1), dtype=np.uint8)))
    some = PersonalisedCounts.from_reports(rappor, PersonalisedReports(np.array([0]), bits))

    def count(mechanism, levels, reports):
        return PersonalisedCounts.from_reports(mechanism, PersonalisedReports(np.array(levels), np.array(reports)))

    return {
        r"got 1 that are not, the first 2 in row 1": lambda: count(rappor, [2], bits),
        r"as many, got 2 and 1": lambda: count(rappor, [0, 1], bits),
        r"reports must have 3 bits": lambda: count(rappor, [0], bits + np.uint8(1)),
        r"an output of some level's table, got 1 that cannot be, the first in row 2": lambda: count(
            PersonalisedMechanism(numeric, 0.5), [0, 0], [1.0, 0.5]
        ),
        r"an output of its level's table, got 1": lambda: count(clear, [0, 1], [-1.5, -1.5]),
        r"there must be at least one report": lambda: auem(empty),
        r"shares must be 2 numbers": lambda: invert_supports(some, [1.0]),
        r"shares must leave reports some meaning": lambda: invert_supports(some, [0.0, 0.0]),
        r"must be pure protocols or randomised response": lambda: require_pure(personalised(any_table)),
        r"values must be categories, got levels": lambda: require_pure(PersonalisedMechanism(numeric)),
    }


@pytest.mark.parametrize("message", refused())
def test_what_cannot_be_counted_or_inverted_is_refused(message):
    """Every fault has a message of its own, of one line."""
    with pytest.raises(InputError, match=message) as caught:
        refused()[message]()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("family", PURE)
@pytest.mark.parametrize("level_epsilon", [0.8, None])
def test_expected_counts_give_back_what_they_were_made_of(family, level_epsilon):
    """With the average counts of many users, shares and frequencies are exact."""
    mechanism = personalised(family, level_epsilon=level_epsilon)
    counts = expected_counts(mechanism, SHARES, FREQUENCIES)
    np.testing.assert_allclose(level_shares(counts).value, SHARES, atol=1e-8)
    np.testing.assert_allclose(auem(counts).value, FREQUENCIES, atol=1e-8)
    np.testing.assert_allclose(invert_supports(counts, SHARES), FREQUENCIES, atol=1e-8)


@pytest.mark.nightly
@pytest.mark.parametrize("family", PURE)
@pytest.mark.parametrize("target", ["population", "users"])
def test_auem_is_unbiased_and_scatters_as_it_says(family, target):
    """In a Monte Carlo its mean is right within 4 standard errors, and its covariance is the delta method's."""
    mechanism, rng, n, repetitions = personalised(family, level_epsilon=2.0), np.random.default_rng(3), 20_000, 600
    law = np.einsum("i,ijo->jo", SHARES, pair_law(mechanism))
    law /= law.sum(axis=1, keepdims=True)
    estimates = []
    for _ in range(repetitions):
        own = rng.multinomial(n, FREQUENCIES) if target == "population" else np.rint(n * FREQUENCIES).astype(int)
        counts = counts_of(mechanism, rng.multinomial(own, law).sum(axis=0))
        estimates.append(auem(counts, target=target))
    found, last = [estimate.value for estimate in estimates], estimates[-1]
    scatter = np.cov(found, rowvar=False)
    mean_claim = np.mean([estimate.covariance for estimate in estimates], axis=0)
    errors = np.sqrt(np.diag(scatter) / repetitions)
    assert (np.abs(np.mean(found, axis=0) - FREQUENCIES) < 4 * errors).all()
    sds = np.sqrt(np.diag(scatter))
    # An empirical covariance of 600 normal vectors errs by up to sqrt(2 / 600) of the product of the deviations.
    assert (np.abs(scatter - mean_claim) < 4 * np.sqrt(2 / repetitions) * np.outer(sds, sds)).all()
    np.testing.assert_allclose(last.std_error**2, np.diag(last.covariance))
    spread = np.std([estimate.level_shares.value for estimate in estimates], axis=0, ddof=1)
    np.testing.assert_allclose(last.level_shares.std_error, spread, rtol=4 / np.sqrt(2 * repetitions))


@pytest.mark.parametrize("family", PURE)
def test_auems_covariance_is_that_of_its_derivative_in_the_counts(family):
    """The delta method by finite differences in the count of every pair gives the same covariance, to six digits."""
    mechanism, n = personalised(family, level_epsilon=0.5), 10**12
    law = np.einsum("i,j,ijo->o", SHARES, FREQUENCIES, pair_law(mechanism))
    seen, step = np.rint(n * law).astype(np.int64), 10**7

    def estimate(counts):
        return auem(counts_of(mechanism, counts)).value

    moves = step * np.eye(law.size, dtype=np.int64)
    slopes = np.array([(estimate(seen + move) - estimate(seen - move)) / (2 * step) for move in moves])
    expected = (slopes.T * seen) @ slopes  # the estimate is homogeneous in the counts: slopes @ counts is zero
    found = auem(counts_of(mechanism, seen), target="population").covariance
    np.testing.assert_allclose(n * found, n * expected, rtol=1e-6, atol=1e-6 * n * np.abs(expected).max())


def test_the_users_own_shares_are_known_better_than_the_populations():
    """The two targets' variances differ by f (1 - f) / n."""
    counts = drawn_counts(personalised(categorical_grr), SHARES, FREQUENCIES, 10**6, np.random.default_rng(4))
    more, less = (auem(counts, target=target).std_error for target in ("population", "users"))
    np.testing.assert_allclose(more**2 - less**2, FREQUENCIES * (1 - FREQUENCIES) / 10**6, rtol=0.05)


def test_clipping_leaves_a_distribution():
    """Negative estimates become zero and the others keep their ratios; where there are none, all are alike."""
    np.testing.assert_allclose(clipped([-0.9, 0.0, -0.2, -0.1]), 0.25)
    np.testing.assert_allclose(clipped([0.9, 0.3, -0.2]), [0.75, 0.25, 0.0])
