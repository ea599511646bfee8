"""Pooled reports of files of one table, and how many of them are worth an independent one."""

from dataclasses import replace

import numpy as np
import pytest
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_distribution, likelihood_of
from optldp.estimators.rounds.pooled import pooled, reports_worth_one
from optldp.mechanisms import InputError, grr, square_wave

KNOTS = np.linspace(0, 1, 17)
TABLE = square_wave(KNOTS, 2.0)


def outputs_of(values: np.ndarray, rng: np.random.Generator, table=TABLE) -> np.ndarray:
    return table.output_index(table.sample(values, rng))


def rounds_of(*weeks: np.ndarray, tables=None) -> ReportCounts:
    services = [Service(f"week {j}", (tables or [TABLE] * len(weeks))[j]) for j in range(len(weeks))]
    return replace(ReportCounts.from_outputs(services, np.stack(weeks, axis=1)), rounds=True)


@pytest.mark.parametrize("times", [1, 2, 4])
def test_reports_that_are_the_same_are_worth_one_together(times):
    rng = np.random.default_rng(1)
    first = outputs_of(rng.beta(2, 5, 1_000), rng)
    assert reports_worth_one(rounds_of(*[first] * times)) == pytest.approx(times, rel=0.002)


def test_reports_of_independent_values_are_worth_nearly_one_each():
    rng = np.random.default_rng(2)
    weeks = [outputs_of(rng.beta(2, 5, 5_000), rng) for _ in range(2)]
    assert 1.0 <= reports_worth_one(rounds_of(*weeks)) < 1.12


def test_fresh_reports_of_the_same_values_lie_between():
    rng = np.random.default_rng(3)
    values = rng.beta(2, 5, 5_000)
    assert 1.2 < reports_worth_one(rounds_of(*(outputs_of(values, rng) for _ in range(2)))) < 1.9


def test_users_of_one_week_alone_count_as_such():
    """A half of 2,000 users repeats the report: its 2,000 reports have the variance of 4,000 of the 3,000."""
    rng = np.random.default_rng(4)
    first = outputs_of(rng.beta(2, 5, 2_000), rng)
    again = np.where(np.arange(2_000) < 1_000, first, -1)
    assert reports_worth_one(rounds_of(first, again)) == pytest.approx(5 / 3, rel=0.05)


def test_the_likelihood_is_that_of_pooled_reports_divided_by_their_worth():
    rng = np.random.default_rng(5)
    first, second = (outputs_of(rng.beta(2, 5, 500), rng) for _ in range(2))
    counts, grid = rounds_of(first, second), InputGrid.knots(KNOTS)
    whole, even = likelihood_of(pooled(counts), grid), np.full(KNOTS.size, 1 / KNOTS.size)
    found = likelihood_of(counts, grid)
    worth = reports_worth_one(counts)
    assert found.total == pytest.approx(1_000 / worth)
    assert found.loglik(found.mix(even)) == pytest.approx(whole.loglik(whole.mix(even)) / worth)


@pytest.mark.nightly
def test_a_week_that_is_sent_four_times_says_what_it_says_once():
    rng = np.random.default_rng(6)
    first = outputs_of(rng.beta(2, 5, 2_000), rng)
    alone = estimate_distribution(rounds_of(first), method="em")
    found = estimate_distribution(rounds_of(*[first] * 4), method="em")
    assert found.n == 2_000
    assert found.value == pytest.approx(alone.value, abs=1e-3)
    for ends, own in ((found.mean(), alone.mean()), (found.quantile(0.5), alone.quantile(0.5))):
        assert (ends.low, ends.high) == pytest.approx((own.low, own.high), abs=0.01)
    assert list(found.rounds) == ["week 0", "week 1", "week 2", "week 3"]
    assert found.rounds["week 2"].value == pytest.approx(alone.value)


def test_the_estimate_is_the_average_of_the_files_distributions_weighed_by_reports():
    """Two weeks of values that have nothing in common, the second of half as many users."""
    rng = np.random.default_rng(7)
    first = outputs_of(np.full(20_000, 0.25), rng, table := square_wave(KNOTS, 4.0))
    second = np.where(np.arange(20_000) < 10_000, outputs_of(np.full(20_000, 0.75), rng, table), -1)
    found = estimate_distribution(rounds_of(first, second, tables=[table] * 2), method="em")
    assert found.probability(0.0, 0.5).value == pytest.approx(2 / 3, abs=0.02)
    assert found.rounds["week 1"].mean().value == pytest.approx(0.75, abs=0.01)


@pytest.mark.nightly
def test_tables_of_two_versions_are_averaged_not_multiplied():
    rng = np.random.default_rng(8)
    tables = [square_wave(KNOTS, 4.0), square_wave(KNOTS, 3.0)]
    weeks = [outputs_of(np.full(10_000, at), rng, table) for at, table in zip((0.25, 0.75), tables, strict=True)]
    found = estimate_distribution(rounds_of(*weeks, tables=tables), method="em")
    assert found.mean().value == pytest.approx(0.5, abs=0.01)
    assert found.mean().low < 0.5 < found.mean().high
    share = found.probability(0.0, 0.5)
    assert share.value == pytest.approx(0.5, abs=0.02)
    assert share.low < 0.5 < share.high
    own = [one.mean() for one in found.rounds.values()]
    reach = np.mean([one.high - one.low for one in own])
    assert found.mean().high - found.mean().low == pytest.approx(reach, rel=0.2)
    assert found.ranges().edges.size > 2
    assert found.variance().value == pytest.approx(1 / 16, abs=0.01)
    with pytest.raises(InputError, match="rounds must have one table for a likelihood"):
        likelihood_of(rounds_of(*weeks, tables=tables), InputGrid.knots(KNOTS))


def test_a_likelihood_of_many_rows_starts_from_some_of_the_users():
    """Beyond FEW_ROWS outputs: the pilot's scale is that of users, too."""
    from optldp.estimators.distributions.likelihood import thinned_likelihood

    table = grr(np.linspace(0, 1, 5), 2.0)
    first = np.random.default_rng(9).integers(0, 5, 4_000)
    thinned = thinned_likelihood(rounds_of(first, first, tables=[table] * 2), InputGrid.common([table]), (), 1_000)
    assert thinned.total == pytest.approx(1_000, rel=0.1)
