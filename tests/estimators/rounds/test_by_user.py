"""Averages over files of different times, and their covariance by user."""

import math

import numpy as np
import pytest
from optldp.estimators import ReportCounts, Service, estimate_combined_mean, estimate_mean
from optldp.estimators.rounds.by_user import average_by_user
from optldp.mechanisms import InputError, duchi, piecewise

KNOTS = np.linspace(0, 1, 5)
WEEKS = [Service("one", duchi(KNOTS, 1.0)), Service("two", piecewise(KNOTS, 2.0)), Service("three", duchi(KNOTS, 1.0))]


def weekly(outputs: np.ndarray, services=WEEKS) -> ReportCounts:
    return ReportCounts(tuple(services), ReportCounts.from_outputs(services, outputs).groups, rounds=True)


def some_weeks(rng: np.random.Generator, n: int = 60) -> np.ndarray:
    """Outputs (n, 3), some left out but never all of a user's."""
    outputs = np.stack([rng.integers(0, week.mechanism.low.size, n) for week in WEEKS], axis=1)
    absent = rng.random(outputs.shape) < 0.4
    absent[np.arange(n), rng.integers(0, 3, n)] = False
    return np.where(absent, -1, outputs)


def test_grouped_counts_give_what_a_loop_over_users_gives():
    rng = np.random.default_rng(5)
    outputs = some_weeks(rng)
    numbers = [rng.normal(size=(week.mechanism.low.size, 2)) for week in WEEKS]
    reported = [numbers[j][outputs[outputs[:, j] >= 0, j]] for j in range(3)]
    total = sum(len(one) for one in reported)
    added = np.zeros((len(outputs), 2))
    for user, row in enumerate(outputs):
        for j, output in enumerate(row):
            if output >= 0:
                added[user] += numbers[j][output] - reported[j].mean(axis=0)
    value, covariance = average_by_user(weekly(outputs), numbers)
    assert value == pytest.approx(np.concatenate(reported).mean(axis=0))
    assert covariance == pytest.approx(added.T @ added * 60 / 59 / total**2)


def test_the_mean_of_rounds_weighs_files_by_their_reports_and_has_each_by_itself():
    counts = weekly(some_weeks(np.random.default_rng(6)))
    found = estimate_combined_mean(counts)
    own = [estimate_mean(ReportCounts(counts.only([j]).services, counts.only([j]).groups)) for j in range(3)]
    assert [one.value for one in found.rounds.values()] == [one.value for one in own]
    assert list(found.rounds) == ["one", "two", "three"]
    reports = [one.n for one in own]
    assert found.value == pytest.approx(np.average([one.value for one in own], weights=reports), abs=0.2)
    assert found.n == 60
    assert found.one_report is not None


def test_a_remembered_report_tells_nothing_twice_and_independent_ones_tell_twice():
    rng = np.random.default_rng(7)
    first, other = rng.integers(0, 2, (2, 5_000))
    services = [WEEKS[0], WEEKS[2]]
    alone = estimate_mean(ReportCounts.from_outputs(services[:1], first[:, None])).std_error
    same = estimate_combined_mean(weekly(np.stack([first, first], axis=1), services))
    fresh = estimate_combined_mean(weekly(np.stack([first, other], axis=1), services))
    assert same.std_error == pytest.approx(alone)
    assert fresh.std_error == pytest.approx(alone / math.sqrt(2), rel=0.05)


@pytest.mark.parametrize(
    "option", [{"method": "decoder"}, {"alike": True}, {"interval": "bernstein"}, {"target": "users"}], ids=str
)
def test_options_for_services_that_measured_one_value_are_refused(option):
    with pytest.raises(InputError, match="rounds have the mean of all decoded reports"):
        estimate_combined_mean(weekly(some_weeks(np.random.default_rng(8))), **option)
