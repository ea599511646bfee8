"""Linear reports of histories: least squares by hand, and the covariance by simulation."""

import numpy as np
import pytest
from optldp.estimators.over_time.linear import estimate_rows, grouped
from optldp.mechanisms import InputError

ROWS = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]])
VARIANCES = np.array([1.0, 2.0, 0.5, 1.5])


def test_means_are_weighted_least_squares_over_all_reports():
    rng = np.random.default_rng(1)
    which, reports = rng.integers(0, 4, 50), rng.standard_normal(50)
    found = estimate_rows(grouped(ROWS, VARIANCES, which, reports), "each")
    root = 1 / np.sqrt(VARIANCES[which])
    assert found.value == pytest.approx(np.linalg.lstsq(ROWS[which] * root[:, None], reports * root)[0])
    assert found.n.tolist() == [(ROWS[which][:, period] != 0).sum() for period in range(3)]


def test_the_covariance_is_that_of_many_repetitions_though_variances_were_assumed_wrong():
    rng = np.random.default_rng(2)
    which = np.arange(120) % 4
    told = [estimate_rows(grouped(ROWS, VARIANCES, which, 3.0 * rng.standard_normal(120)), "each") for _ in range(600)]
    spread = np.cov(np.array([one.value for one in told]).T)
    mean = np.mean([one.covariance for one in told], axis=0)
    assert abs(mean - spread).max() < 0.2 * spread.max()


def test_what_rows_do_not_tell_is_left_out_or_refused():
    which = np.array([1, 1, 2, 2, 0, 0])
    assert estimate_rows(grouped(ROWS, VARIANCES, which, np.ones(6)), "each").periods.tolist() == [1, 2, 3]
    few = grouped(ROWS, VARIANCES, which[:2], np.ones(2))
    with pytest.raises(InputError, match="must tell the mean of a period"):
        estimate_rows(few, "each")
    mean = grouped(np.full((1, 3), 1 / 3), np.ones(1), np.zeros(2, int), np.array([1.0, 3.0]))
    found = estimate_rows(mean, "average")
    assert (found.value.tolist(), found.covariance.tolist(), found.periods.tolist()) == ([2.0], [[1.0]], [3])


def test_changes_are_told_by_rows_of_changes_alone_and_what_stays_by_any_row():
    rows = np.array([[1.0, 0.0, 0.0], [-0.5, 0.5, 0.0]])
    found = grouped(rows, np.ones(2), np.array([1, 1, 1]), np.array([0.1, 0.2, 0.3]))
    steps = estimate_rows(found, "change")
    assert (steps.periods.tolist(), steps.value.round(9).tolist()) == ([2], [0.4])
    first = grouped(rows, np.ones(2), np.array([0, 0]), np.array([1.0, 3.0]))
    whole = estimate_rows(first, "each", stays=True)
    assert (whole.value.tolist(), whole.n.tolist()) == ([2.0] * 3, [2] * 3)
    assert estimate_rows(first, "average", stays=True).value.tolist() == [2.0]
    assert estimate_rows(first, "change", stays=True).value.tolist() == [0.0, 0.0]


def test_single_reports_of_each_row_have_no_spread():
    with pytest.raises(InputError, match="two reports at least"):
        grouped(ROWS, VARIANCES, np.arange(4), np.ones(4))
