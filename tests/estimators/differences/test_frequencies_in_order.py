"""What rises above the noise, and what all others have together, although the reports decided which these are."""

import numpy as np
import pytest
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.differences import Tally, above_noise, estimate_others
from optldp.estimators.differences.significance import tails
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from scipy.stats import binom

JOBS = [f"job {k}" for k in range(12)]
MECHANISMS = {"grr": categorical_grr(JOBS, 2.0), "oue": optimised_unary(JOBS, 2.0)}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_chance_under_noise_alone_is_binomial(name):
    made, rng = MECHANISMS[name], np.random.default_rng(1)
    counts = CategoryCounts.from_reports(made, made.sample(np.repeat(JOBS[:3], [150, 30, 20]), rng))
    if name == "grr":
        spoken, chance = np.bincount(counts.reports, counts.counts, 12), made.probabilities[0, 1]
    else:
        spoken, chance = counts.support_counts(), made.other_support
    found = tails(Tally.of(counts))
    np.testing.assert_allclose(found, binom.sf(spoken - 1, 200, chance), rtol=1e-9)
    order, limits = np.argsort(found), 0.05 / np.arange(12, 0, -1)
    passed = next((j for j in range(12) if found[order[j]] > limits[j]), 12)
    assert set(np.flatnonzero(above_noise(counts))) == set(order[:passed])
    assert above_noise(counts)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_noise_is_seldom_marked_and_what_is_there_is(name):
    """In 300 collections at most so many with any false mark as 5% and three standard errors are."""
    made, rng, false, found = MECHANISMS[name], np.random.default_rng(2), 0, 0
    for _ in range(300):
        marked = above_noise(CategoryCounts.from_reports(made, made.sample(np.repeat(JOBS[:2], [300, 100]), rng)))
        false, found = false + bool(marked[2:].any()), found + bool(marked[0])
    assert false / 300 <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)
    assert found == 300


def test_weights_take_the_normal_law():
    made, rng = MECHANISMS["oue"], np.random.default_rng(3)
    counts = CategoryCounts.from_reports(made, made.sample(np.repeat(JOBS[:2], [900, 300]), rng))
    one = Tally.of(counts)
    heavy = Tally(made, one.reports, one.users, one.weights, 1.5 * one.squares)
    assert tails(heavy)[0] < 1e-6
    near = np.abs(tails(one) - 0.5) < 0.4
    np.testing.assert_allclose(tails(Tally(made, one.reports, one.users, one.weights, 1.00001 * one.squares))[near],
                               tails(one)[near], atol=0.03)  # fmt: skip


@pytest.mark.parametrize("made", [*MECHANISMS.values(), local_hashing(JOBS, 2.0)], ids=["grr", "oue", "olh"])
def test_where_there_is_a_gap_the_rest_is_what_is_left(made):
    """The interval is that of the share of the others; nothing is to be corrected."""
    rng = np.random.default_rng(4)
    counts = CategoryCounts.from_reports(made, made.sample(np.repeat(JOBS[:2], [3000, 2000]), rng))
    shown, whole = np.arange(12) < 2, estimate_frequencies(counts)
    found, share = estimate_others(counts, shown), whole.share(JOBS[2:])
    assert found.value == pytest.approx(float(whole.value[2:].sum()), abs=1e-3)
    assert found.std_error == pytest.approx(share.std_error, rel=0.1)


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_the_rest_covers_though_the_largest_were_chosen(name):
    """All categories alike: the five shown are the luckiest, and the plain sum of the others is far too small."""
    made, rng, hits, plain = MECHANISMS[name], np.random.default_rng(5), 0, 0
    for _ in range(300):
        counts = CategoryCounts.from_reports(made, made.sample(rng.choice(JOBS, 400), rng))
        value = estimate_frequencies(counts).value
        shown = np.isin(np.arange(12), np.argsort(-value)[:5])
        found = estimate_others(counts, shown)
        ends = found.interval()
        hits += ends.low <= 7 / 12 <= ends.high
        plain += abs(value[~shown].sum() - 7 / 12) <= 1.96 * found.std_error
    assert hits / 300 >= 0.91
    assert plain < hits - 30


def test_some_must_be_shown_and_some_not():
    counts = CategoryCounts.from_reports(MECHANISMS["grr"], [0, 1])
    for shown in (np.ones(12, dtype=bool), np.zeros(12, dtype=bool)):
        with pytest.raises(InputError, match="some categories must be shown"):
            estimate_others(counts, shown)
