"""The influence function of fits against fits of changed counts."""

import numpy as np
import pytest
from optldp.estimators import InputGrid, ReportCounts, Service, estimate_distribution, fitted_influence
from optldp.mechanisms import InputError, TabulatedMechanism, make_exact, square_wave

KNOTS = np.linspace(0.0, 10.0, 9)
TABLE = make_exact(square_wave(KNOTS, 3.0)).mechanism
USERS = 10**9
OPTIONS = {
    "em": {"certificate": 1e-13},
    "em stopped": {"solver": "em", "loglik_change": 1e3},
    "ems": {"loglik_change": 1e-6},
}


def counted(shares, moved=0, source=0, target=0):
    """Counts of the outputs' expected shares, some moved from one output to another."""
    counts = np.rint(USERS * shares).astype(np.int64)
    counts[source] -= moved
    counts[target] += moved
    outputs = np.flatnonzero(counts)
    return ReportCounts((Service("one", TABLE),), (_group(outputs, counts[outputs]),))


def _group(outputs, counts):
    from optldp.estimators.counting.group import ReportGroup

    return ReportGroup((0,), outputs[:, None].astype(np.int32), counts)


def expected_shares():
    weights = np.array([1.0, 2, 4, 7, 9, 6, 4, 2, 1])
    return weights / weights.sum() @ TABLE.probabilities


@pytest.mark.slow
@pytest.mark.parametrize("name", ["em", "ems"])
def test_the_largest_change_of_the_mean_is_that_of_refits(name):
    """A millionth of the users moved between every pair of some outputs, at a smooth distribution of a billion."""
    shares, moved = expected_shares(), USERS // 10**6
    options = {"method": name} | OPTIONS[name]
    base = counted(shares)
    estimate = estimate_distribution(base, **options)
    found = fitted_influence(base, estimate)
    assert found.first_order
    means = []
    for output in range(TABLE.low.size):
        there = counted(shares, moved, int(np.argmax(shares)), output)
        means.append(estimate_distribution(there, **options).mean().value)
    actual = np.ptp(means) / moved * USERS
    assert found.times_n[0] == pytest.approx(actual, rel=0.02)
    assert found.reports_per_std_error[0] == pytest.approx(estimate.mean().std_error / found.one_report[0])


@pytest.mark.nightly
def test_of_the_smooth_fit_it_is_that_of_refits():
    """Fifty reports added to 20,000, at outputs that are often made: the posterior's covariance, to its draws' noise.

    In the tails fifty are too many for the first order: there they make a part of the density of their own.
    """
    knots = np.linspace(0.0, 10.0, 13)
    table = make_exact(square_wave(knots, 3.0)).mechanism
    weights = np.exp(-((knots - 4.0) ** 2) / 6.0)
    expected = np.rint(20_000 * (weights / weights.sum()) @ table.probabilities).astype(np.int64)

    def counts(add=-1, many=0):
        own = expected.copy()
        own[add] += many
        return ReportCounts((Service("one", table),), (_group(np.flatnonzero(own), own[own > 0]),))

    base = counts()
    estimate = estimate_distribution(base)
    found = fitted_influence(base, estimate)
    means = [estimate_distribution(counts(output, 50)).mean().value for output in range(3, table.low.size - 3)]
    actual = np.ptp(means) / 50 * 20_000
    assert found.times_n[0] == pytest.approx(actual, rel=0.25)


@pytest.mark.nightly
def test_any_functional_has_one():
    base = counted(expected_shares())
    estimate = estimate_distribution(base, method="em", certificate=1e-13)
    below = (KNOTS < 4.0).astype(float)
    found = fitted_influence(base, estimate, below)
    moved = USERS // 10**6
    shares = [
        estimate_distribution(
            counted(expected_shares(), moved, int(np.argmax(expected_shares())), output), method="em", certificate=1e-13
        ).value
        @ below
        for output in range(TABLE.low.size)
    ]
    assert found.times_n[0] == pytest.approx(np.ptp(shares) / moved * USERS, rel=0.02)
    assert found.share(1.0)[0] == 1.0


def test_stopped_em_follows_less():
    base = counted(expected_shares())
    full = estimate_distribution(base, method="em", certificate=1e-13)
    stopped = estimate_distribution(base, method="em", **OPTIONS["em stopped"])
    assert fitted_influence(base, stopped).times_n[0] < fitted_influence(base, full).times_n[0]


def test_of_two_points_it_is_that_of_the_unbiased_share():
    table = TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0], [[0.75, 0.25], [0.25, 0.75]], 1.1)
    counts = ReportCounts.from_reports(table, np.repeat([0.0, 1.0], [600, 400]))
    found = fitted_influence(counts, estimate_distribution(counts, method="em"))
    assert found.times_n[0] == pytest.approx(2.0, rel=1e-6)  # the unbiased decoder's range, -1/2 to 3/2


def test_what_is_not_known_is_refused():
    counts = ReportCounts.from_reports(TABLE, TABLE.sample(np.full(500, 3.0)))
    reduced = estimate_distribution(counts, method="mr")
    with pytest.raises(InputError, match="known for smooth, em and ems, got mr"):
        fitted_influence(counts, reduced)
    fit = estimate_distribution(counts, method="em")
    with pytest.raises(InputError, match="must be of these 1000 reports, got one of 500"):
        fitted_influence(counts + counts, fit)
    with pytest.raises(InputError, match=r"coefficients must be 9 finite numbers, got shape \(2,\)"):
        fitted_influence(counts, fit, [1.0, 2.0])
    two = ReportCounts.from_outputs([Service("a", TABLE), Service("b", TABLE)], [[0, 0], [1, 1]])
    grid = InputGrid.knots(KNOTS)
    with pytest.raises(InputError, match="known for one service, got 2"):
        fitted_influence(two, estimate_distribution(two, method="em", grid=grid))
