"""Counts and means of several attributes at levels."""

import math

import numpy as np
import pytest
from optldp.estimators import PersonalisedCounts, count
from optldp.estimators.personalised import PersonalisedAttributeCounts, personalised_attribute_means
from optldp.mechanisms import AttributeSampling, InputError, PersonalisedMechanism, duchi, grr, make_exact
from optldp.mechanisms.combinators.personalised import PersonalisedReports

EPSILONS = (0.5, 1.0, 2.0)
ENDS = {"age": (20.0, 60.0), "pay": (-1.0, 1.0), "hours": (0.0, 40.0)}


def made(family, level_epsilon=None, sampled=1, knots=2):
    def level(epsilon):
        share = epsilon / sampled
        tables = {n: make_exact(family(np.linspace(*ends, knots), share)).mechanism for n, ends in ENDS.items()}
        return AttributeSampling.of(tables, sampled, epsilon)

    return PersonalisedMechanism([level(epsilon) for epsilon in EPSILONS], level_epsilon)


def expected_counts(mechanism, shares, weights, n=10**10):
    """Counts of one attribute's levels as they are on average, to the nearest whole number."""
    sizes = [table.low.size for table in mechanism.levels]
    levels, reports, often = [], [], []
    for i, (table, share) in enumerate(zip(mechanism.levels, shares, strict=True)):
        for told, chance in enumerate(mechanism.level_response[i]):
            for output in range(sizes[i] if chance else 0):
                levels.append(told)
                reports.append(table.low[output])
                often.append(n * share * chance * float(weights @ table.probabilities[:, output]))
    total = PersonalisedCounts.from_reports(mechanism, PersonalisedReports(np.array(levels), np.array(reports)))
    order = {}
    for row, report, many in zip(levels, reports, often, strict=True):
        outputs = tuple(int(table.locate(np.array([report]))[0]) for table in mechanism.levels)
        order[row, outputs] = order.get((row, outputs), 0.0) + many
    found = [order[row, tuple(out)] for row, out in zip(total.levels.tolist(), total.reports.tolist(), strict=True)]
    return PersonalisedCounts(mechanism, total.levels, total.reports, np.rint(found).astype(np.int64))


@pytest.mark.parametrize(("family", "level_epsilon"), [(duchi, None), (grr, None), (grr, 1.0), (duchi, 1.0)])
def test_expected_counts_give_the_true_means(family, level_epsilon):
    """In the clear by weighing levels, protected by the joint likelihood; shares of the levels are far from even."""
    mechanism, weights = made(family, level_epsilon, knots=3), np.array([0.5, 0.3, 0.2])
    counts = PersonalisedAttributeCounts(
        {n: expected_counts(alone, (0.6, 0.3, 0.1), weights) for n, alone in mechanism.by_column.items()}, 4 * 10**10
    )
    truth = [weights @ np.linspace(*ends, 3) for ends in ENDS.values()]
    found = personalised_attribute_means(counts)
    np.testing.assert_allclose(found.value, truth, atol=2e-3)
    assert found.attributes == tuple(ENDS)


def test_levels_in_the_clear_are_weighed_as_the_closed_form_says():
    """Duchi's report of x on [-1, 1] has variance c^2 - x^2, c = 1 / tanh(eps / 2), and the weight n / (c^2 - 1)."""
    n, x = 60_000, 0.25
    mechanism, levels = made(duchi), np.resize([0, 0, 0, 1, 1, 2], n)
    values = {name: np.full(n, (low + high) / 2 + x * (high - low) / 2) for name, (low, high) in ENDS.items()}
    counts = count(mechanism, mechanism.sample(values, levels, np.random.default_rng(3)))
    found = personalised_attribute_means(counts)
    far = np.array([1 / math.tanh(e / 2) ** 2 for e in EPSILONS])
    for name, (low, high) in ENDS.items():
        many = np.bincount(counts[name].levels, counts[name].counts)
        weights = many / (far - 1) / (many / (far - 1)).sum()
        expected = math.sqrt(weights**2 @ ((far - x**2) / many)) * (high - low) / 2
        assert found[name].std_error == pytest.approx(expected, rel=0.05)
        assert abs(found[name].value - values[name][0]) < 4 * expected
        assert found[name].n == many.sum()


@pytest.mark.nightly
def test_means_over_many_collections_are_unbiased_and_scatter_as_they_say():
    """Four hundred collections of values and levels from a population, two of three attributes drawn."""
    mechanism, rng, found = made(duchi, sampled=2), np.random.default_rng(8), []
    for _ in range(400):
        values = {name: rng.uniform(*ends, 3000) for name, ends in ENDS.items()}
        sent = mechanism.sample(values, rng.integers(0, 3, 3000), rng)
        found.append(personalised_attribute_means(count(mechanism, sent)))
    errors = np.array([each.value for each in found]) - [sum(ends) / 2 for ends in ENDS.values()]
    said = np.mean([each.std_error for each in found], axis=0)
    assert (abs(errors.mean(axis=0)) < 4 * said / 20).all()
    np.testing.assert_allclose(errors.std(axis=0), said, rtol=0.12)


def test_counts_are_those_of_one_attribute_alone_and_add_up():
    """Reports of those who have drawn it; shards of different users."""
    mechanism, n = made(grr, 0.8, sampled=2), 500
    values = {name: np.linspace(*ends, n) for name, ends in ENDS.items()}
    sent = mechanism.sample(values, np.arange(n) % 3, np.random.default_rng(2))
    whole = count(mechanism, sent)
    parts = [
        count(mechanism, PersonalisedReports(sent.levels[p], sent.reports[p])) for p in (slice(200), slice(200, n))
    ]
    both = parts[0] + parts[1]
    assert isinstance(whole, PersonalisedAttributeCounts)
    assert both.n_users == whole.n_users == n
    assert sum(whole[name].n_users for name in ENDS) == 2 * n
    for place, name in enumerate(ENDS):
        mine = ~np.isnan(sent.reports[:, place])
        alone = count(mechanism.of_column(name), PersonalisedReports(sent.levels[mine], sent.reports[mine, place]))
        assert isinstance(whole[name].mechanism, PersonalisedMechanism)
        for counts in (whole[name], both[name]):
            np.testing.assert_array_equal(counts.counts, alone.counts)
            np.testing.assert_array_equal(counts.levels, alone.levels)


def test_reports_that_the_mechanism_cannot_make_are_refused():
    """Each in one line that names the attribute or the row."""
    mechanism, none = made(grr), np.nan
    for reports, levels, message in (
        ([[20.0, none, none]], [3], "levels must be among the 3 declared"),
        ([[20.0, 1.0, none]], [0], "every user must have 1 reports, got 1 who have not, the first in row 1"),
        ([[none, 0.5, none]], [0], "attribute 'pay': every report must be an output of its level's table"),
        ([[20.0, none, none]], [0, 1], "as many, got 2 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            count(mechanism, PersonalisedReports(np.array(levels), np.array(reports)))
