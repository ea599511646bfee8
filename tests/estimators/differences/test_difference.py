"""Differences of two periods: against a list of users, and by how often intervals cover where values persist."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators.differences import estimate_difference, match_users
from optldp.estimators.means.decoder import mean_decoder
from optldp.mechanisms import InputError, duchi, piecewise
from optldp.mechanisms.categorical import categorical_grr, optimised_unary

from .tallies import matched

KNOTS, JOBS = np.linspace(0.0, 1.0, 6), list("abc")


def rows(mechanism, values, users, rng) -> dict:
    """Reports beside keys; of categories as they are written."""
    reports = mechanism.sample(values, rng)
    if not np.issubdtype(reports.dtype, np.floating):
        reports = np.array(mechanism.to_text(reports), dtype=object)
    return {"user": users, "report": reports}


def test_the_standard_error_is_that_of_a_list_of_users():
    """Each user's share of the difference, squared and added up; user by user, in plain Python."""
    rng, tables = np.random.default_rng(1), (duchi(KNOTS, 3.0), piecewise(KNOTS, 3.0))
    keys = [rng.permutation(60)[:40], rng.permutation(60)[:50]]
    made = [rows(table, rng.random(k.size), k, rng) for table, k in zip(tables, keys, strict=True)]
    first, second = zip(tables, made, strict=True)
    found = estimate_difference(match_users(first, second, key="user"))
    means = [found.first.value, found.second.value]
    parts: dict[int, float] = {}
    for i, sign in ((0, 1), (1, -1)):
        decoded, n = mean_decoder(tables[i]).decode(made[i]["report"]), keys[i].size
        for user, number in zip(keys[i].tolist(), decoded.tolist(), strict=True):
            parts[user] = parts.get(user, 0.0) + sign * (number - means[i]) / n
    # Squares of users in one period have the n / (n - 1) of a sample, products of users in both the mean of the two.
    squares = [found.first.std_error**2 / (40 / 39), found.second.std_error**2 / (50 / 49)]
    products = 0.5 * (sum(squares) - sum(part**2 for part in parts.values())) * np.sqrt(40 / 39 * 50 / 49)
    assert found.std_error**2 == pytest.approx(found.first.std_error**2 + found.second.std_error**2 - 2 * products)
    assert found.matched == len(set(keys[0]) & set(keys[1])) == 90 - found.n
    assert found.value == pytest.approx(means[0] - means[1])


def test_the_same_reports_twice_differ_by_nothing_for_certain():
    """Noise that was used twice is seen by the products, too."""
    rng, table = np.random.default_rng(2), duchi(KNOTS, 1.0)
    day = rows(table, rng.random(50), np.arange(50), rng)
    found = estimate_difference(match_users((table, day), (table, day), key="user"))
    assert found.value == 0
    assert found.std_error == pytest.approx(0, abs=1e-6 * float(found.first.std_error))


def test_users_of_whom_none_is_in_both_are_independent():
    rng, made = np.random.default_rng(3), categorical_grr(JOBS, 1.0)
    days = [rows(made, np.repeat(JOBS, 20), np.arange(60) + shift, rng) for shift in (0, 60)]
    found = estimate_difference(match_users((made, days[0]), (made, days[1]), key="user"))
    assert (found.matched, found.n) == (0, 120)
    np.testing.assert_allclose(found.std_error, np.hypot(found.first.std_error, found.second.std_error))
    assert list(found.labels["category"]) == JOBS


def test_the_covariance_of_frequencies_is_that_of_a_loop_over_users():
    """Of two mechanisms, of which one writes bits."""
    rng, made = np.random.default_rng(4), (categorical_grr(JOBS, 3.0), optimised_unary(JOBS, 3.0))
    values, users = rng.choice(JOBS, 80, p=[0.5, 0.3, 0.2]), np.arange(80).astype(str)
    days = [rows(one, values, users, rng) for one in made]
    found = estimate_difference(match_users((made[0], days[0]), (made[1], days[1]), key="user"))
    p, q = made[1].own_support, made[1].other_support
    keep = made[0].probabilities
    decoder = np.linalg.inv(keep)  # of randomised response, whose table is square
    own = [decoder[int(text)] for text in days[0]["report"]]
    bits = np.unpackbits(made[1].support(made[1].from_text(list(days[1]["report"]))), axis=1, count=3)
    other = (bits - q) / (p - q)
    products = sum(np.outer(a - found.first.value, b - found.second.value) for a, b in zip(own, other, strict=True))
    expected = found.first.std_error**2 + found.second.std_error**2 - 2 * np.diag(products) / 80**2
    np.testing.assert_allclose(found.std_error**2, expected)


@pytest.mark.nightly
@pytest.mark.parametrize(("both", "persist"), [(400, 1.0), (250, 0.8)])
def test_intervals_of_means_cover_where_values_persist(both, persist):
    rng, table, hits, alone = np.random.default_rng(5), duchi(KNOTS, 5.0), 0, 0
    n = 800 - both
    for _ in range(400):
        values = rng.beta(0.5, 0.5, n)
        later = np.where(rng.random(n) < persist, values, rng.beta(1, 3, n))
        first, second = table.sample_index(values[:400], rng), table.sample_index(later[n - 400 :], rng)
        found, truth = estimate_difference(matched(table, first, second, both)), (1 - persist) * 0.25
        ends, apart = found.interval(), np.hypot(found.first.std_error, found.second.std_error)
        hits += ends.low <= truth <= ends.high
        alone += abs(found.value - truth) <= 1.96 * apart
    assert 0.92 <= hits / 400 <= 0.98
    assert alone > hits + 8  # as independent the interval is longer than need be


@pytest.mark.nightly
def test_intervals_of_frequencies_cover_each_and_at_once():
    rng, made, shares = np.random.default_rng(6), categorical_grr(JOBS, 4.0), [0.6, 0.3, 0.1]
    each, at_once = np.zeros(3), 0
    for _ in range(400):
        values = rng.choice(JOBS, 450, p=shares)
        later = np.where(rng.random(450) < 0.9, values, rng.choice(JOBS, 450, p=shares))
        told = matched(made, made.sample(values[:400], rng), made.sample(later[50:], rng), 350)
        ends, all_of = (estimate_difference(told, simultaneous=many).interval() for many in (False, True))
        each += (ends.low <= 0) & (ends.high >= 0)
        at_once += ((all_of.low <= 0) & (all_of.high >= 0)).all()
    assert ((each / 400 >= 0.92) & (each / 400 <= 0.98)).all()
    assert 0.92 <= at_once / 400 <= 0.98


@pytest.mark.slow
def test_what_cannot_be_compared_is_refused():
    rng, table, made = np.random.default_rng(7), duchi(KNOTS, 1.0), categorical_grr(JOBS, 1.0)
    day, jobs = rows(table, rng.random(9), np.arange(9), rng), rows(made, JOBS * 3, np.arange(9), rng)
    others = categorical_grr(["a", "b", "d"], 1.0)
    for second, says in (((made, jobs), "one of each"), ((replace(table, units="EUR"), day), "same units")):
        with pytest.raises(InputError, match=says):
            estimate_difference(match_users((table, day), second, key="user"))
    with pytest.raises(InputError, match="same categories"):
        estimate_difference(match_users((made, jobs), (others, jobs), key="user"))
    twice = {"user": np.zeros(9, dtype=int), "report": day["report"]}
    with pytest.raises(InputError, match="report once to each of the two, got 1 users"):
        match_users((table, day), (table, twice), key="user")
    assert match_users((table, day), (table, twice), key="user", keep_first=True).matched == 1


@pytest.mark.nightly
@pytest.mark.parametrize("made", [piecewise(KNOTS, 4.0), categorical_grr(JOBS, 4.0)])
def test_intervals_about_these_very_users_cover_and_are_shorter(made):
    """Fixed users whose values changed a little, at a budget where who they are weighs as much as the noise."""
    rng, n, held, lengths = np.random.default_rng(6), 1500, [], []
    before = rng.beta(2, 5, n) if not hasattr(made, "categories") else rng.choice(JOBS, n, p=[0.6, 0.35, 0.05])
    after = np.where(rng.random(n) < 0.8, before, rng.permutation(before))
    after[: n // 10] = before[0]
    true = np.array([np.mean(before == job) - np.mean(after == job) for job in JOBS])
    if not hasattr(made, "categories"):
        true = np.mean(before) - np.mean(after)
    for _ in range(300):
        days = [(made, rows(made, values, np.arange(n), rng)) for values in (before, after)]
        found = [estimate_difference(match_users(*days, key="user"), target=t) for t in ("users", "population")]
        ends = found[0].interval()
        held.append((np.asarray(ends.low) <= true) & (true <= np.asarray(ends.high)))
        lengths.append([np.sum(one.std_error) for one in found])
    assert np.mean(held, axis=0).min() > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)
    users, population = np.mean(lengths, axis=0)
    assert users < 0.97 * population
