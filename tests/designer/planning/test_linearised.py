"""Linear estimates about the truth: what they err by on average is what draws of reports show."""

import numpy as np
import pytest
from optldp.designer import Prior, design
from optldp.designer.planning.linearised import rough_and_smoothed

PRIOR = Prior.on_knots(np.linspace(0, 8, 9), [1, 4, 8, 6, 4, 3, 2, 1, 0.5], source="public")


@pytest.mark.parametrize(("method", "n"), [("optimal", 500), ("square-wave", 20_000)])
def test_what_is_known_of_them_on_average_is_what_reports_show(method, n):
    """Both control variates are 0 on average, of the distance and of the mean: within four standard errors."""
    rows = design(PRIOR, 1.0, method=method).mechanism.pmf(PRIOR.knots)
    linear = rough_and_smoothed(PRIOR.knots, PRIOR.weights, rows, n)
    drawn = np.random.default_rng(1).multinomial(n, PRIOR.weights @ rows, size=4000)
    beside = np.array([[one.beside(counts) for one in linear] for counts in drawn]).reshape(4000, -1)
    off = np.abs(beside.mean(axis=0)) / (beside.std(axis=0) / np.sqrt(4000))
    assert (off < 5).all()  # the averages of distances are known to 4096 draws themselves


def test_the_smoothed_one_errs_least_and_outputs_that_no_value_gives_change_nothing():
    rows = design(PRIOR, 1.0, method="square-wave").mechanism.pmf(PRIOR.knots)
    rough, smoothed = rough_and_smoothed(PRIOR.knots, PRIOR.weights, rows, 1000)
    assert smoothed.average < rough.average
    wider = np.hstack([rows, np.zeros((9, 2))])
    again, _ = rough_and_smoothed(PRIOR.knots, PRIOR.weights, wider, 1000)
    assert again.average == pytest.approx(rough.average, rel=1e-12)
    assert not again.gain[:, -2:].any()


def test_no_reports_to_learn_from_leave_the_error_of_the_flattest():
    """Rows that are all alike say nothing: the estimate does not move, and its error in each draw is the average."""
    rows = np.full((9, 3), 1 / 3)
    _, smoothed = rough_and_smoothed(PRIOR.knots, PRIOR.weights, rows, 1000)
    assert smoothed.beside(np.array([300.0, 400.0, 300.0])) == pytest.approx((0.0, 0.0), abs=1e-6)
