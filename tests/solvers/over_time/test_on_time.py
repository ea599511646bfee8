"""Shares of levels and changes on time: the filter by a brute-force inverse, and the certificate of its shares."""

import numpy as np
import pytest
from optldp.solvers.over_time.on_time import _variances, best_on_time


def test_what_is_known_of_each_period_is_that_of_least_squares_on_all_that_came_before():
    shares, level, step = np.random.default_rng(1).random(9), 2.0, 3.0
    each, change = [], []
    for period in range(1, 6):
        rows = np.concatenate([np.eye(period), np.diff(np.eye(period), axis=0)])
        weights = np.r_[shares[:period] / level, shares[5 : 4 + period] / step]
        covariance = np.linalg.inv((rows * weights[:, None]).T @ rows)
        each.append(covariance[-1, -1])
        if period > 1:
            change.append(covariance[-1, -1] + covariance[-2, -2] - 2 * covariance[-1, -2])
    (mean, _), (moved, _) = _variances(shares, level, step)
    assert (mean, moved) == pytest.approx((np.mean(each), np.mean(change)))


@pytest.mark.parametrize("of", ["each", "change"])
def test_no_row_gains_more_than_the_cost_at_the_best_shares(of):
    """The equivalence theorem, by finite differences."""
    made = best_on_time(6, 1.0, 0.7, of)
    shares, place = np.r_[made.levels, made.steps[1:]], {"each": 0, "change": 1}[of]
    cost = _variances(shares, 1.0, 0.7)[place][0]
    for row in range(shares.size):
        more = shares.copy()
        more[row] += 1e-6
        assert (cost - _variances(more, 1.0, 0.7)[place][0]) / 1e-6 < 1.01 * cost
