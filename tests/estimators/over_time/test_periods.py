"""Series of periods: averages, changes and smoothed levels against plain linear algebra."""

import numpy as np
import pytest
from optldp.estimators.over_time import PeriodMeans, estimate_periods
from optldp.mechanisms import InputError

ERRORS = np.array([0.2, 0.1, 0.3, 0.1])
SERIES = PeriodMeans(np.array([1, 2, 4, 5]), np.array([1.0, 2.0, 2.0, 4.0]), np.diag(ERRORS**2), np.array([9, 8, 7, 6]))


def test_the_average_and_the_changes_have_the_variances_of_sums_of_independent_numbers():
    average, changes = SERIES.average(), SERIES.changes()
    assert (average.value, average.n) == (2.25, 30)
    assert average.std_error == pytest.approx(np.sqrt((ERRORS**2).sum()) / 4)
    assert changes.value.tolist() == [1.0, 0.0, 2.0]
    assert changes.std_error == pytest.approx(np.sqrt(ERRORS[1:] ** 2 + ERRORS[:-1] ** 2))


def test_smoothing_is_the_filter_and_smoother_of_a_local_level():
    """Kalman's recursions with a diffuse start, written out."""
    step, y, s2 = 0.15, SERIES.value, ERRORS**2
    apart = np.diff(SERIES.periods)
    level, spread, ahead = [y[0]], [s2[0]], []
    for t in range(1, 4):
        ahead.append(spread[-1] + step**2 * apart[t - 1])
        gain = ahead[-1] / (ahead[-1] + s2[t])
        level.append(level[-1] + gain * (y[t] - level[-1]))
        spread.append((1 - gain) * ahead[-1])
    for t in (2, 1, 0):
        back = spread[t] / ahead[t]
        level[t] += back * (level[t + 1] - level[t])
        spread[t] += back**2 * (spread[t + 1] - ahead[t])
    found = SERIES.smoothed(step)
    assert found.value == pytest.approx(level)
    assert found.std_error == pytest.approx(np.sqrt(spread))


def test_a_large_step_smooths_nothing_and_a_small_one_to_the_weighted_average():
    assert SERIES.smoothed(1e6).value == pytest.approx(SERIES.value)
    assert SERIES.smoothed(1e-4).value == pytest.approx(np.average(SERIES.value, weights=ERRORS**-2.0), abs=1e-3)


def test_what_is_no_series_is_refused():
    with pytest.raises(InputError, match="at least one period"):
        estimate_periods({})
    with pytest.raises(InputError, match="a change is between two periods"):
        SERIES.average().changes()
    with pytest.raises(InputError, match="must be positive and finite, got 0"):
        SERIES.smoothed(0)
