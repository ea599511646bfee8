"""The error of a smooth estimate: that of Bayes in a linear model, the trace for many users, less of it for few."""

import numpy as np
import pytest
from optldp.designer import Prior
from optldp.designer.objectives.information import table_trace
from optldp.designer.objectives.smooth_error import smooth_trace
from optldp.mechanisms import InputError, square_wave

KNOTS = np.array([0.0, 10.0, 20.0, 35.0, 50.0, 60.0, 70.0, 85.0, 100.0])
PRIOR = Prior.on_knots(KNOTS, np.exp(-(((KNOTS - 30) / 25) ** 2)) + 0.02, source="public")
TABLE = square_wave(KNOTS, 1.0).probabilities


@pytest.mark.parametrize("users", [200.0, 20_000.0])
def test_it_is_the_posterior_of_a_linear_model(users):
    """By the gain of what was seen on a proper prior that is nearly as wide, instead of by added precisions."""
    x, p = KNOTS / 100, PRIOR.weights
    second = np.zeros((7, 9))
    for k in range(7):  # the second derivative of the parabola through three points, over its stretch
        a, b = x[k + 1] - x[k], x[k + 2] - x[k + 1]
        second[k, k : k + 3] = np.array([1 / a, -1 / a - 1 / b, 1 / b]) / np.sqrt((a + b) / 2)
    spread = np.linalg.inv(7 / np.sum((second @ np.log(p)) ** 2) * second.T @ second + 1e-7 * np.eye(9))
    tangent = np.diag(p) - np.outer(p, p)
    seen, noise = users * TABLE.T @ tangent, users * np.diag(p @ TABLE)
    left = spread - spread @ seen.T @ np.linalg.solve(seen @ spread @ seen.T + noise, seen @ spread)
    sums = np.cumsum(tangent, axis=0)[:-1]
    expected = users * np.diff(KNOTS) @ np.einsum("ij,jk,ik->i", sums, left, sums)
    assert smooth_trace(TABLE, PRIOR, users) == pytest.approx(expected, rel=1e-4)


def test_it_rises_to_the_trace_as_users_become_more():
    found = [smooth_trace(TABLE, PRIOR, users) for users in (1e2, 1e4, 1e6, 1e12)]
    assert found == sorted(found)
    assert found[0] < 0.5 * found[-1]
    assert found[-1] == pytest.approx(table_trace(TABLE, PRIOR, "cumulative"), rel=1e-4)


def test_an_even_prior_and_one_with_gaps_have_one_and_what_is_none_is_refused():
    for weights in (np.ones(9), [1, 0, 0, 2, 3, 2, 1, 0, 0]):
        prior = Prior.on_knots(KNOTS, weights, source="public")
        assert 0 < smooth_trace(TABLE, prior, 1e4) < table_trace(TABLE, prior.mixed(), "cumulative")
    with pytest.raises(InputError, match="users must be a positive number, got 0"):
        smooth_trace(TABLE, PRIOR, 0)
    with pytest.raises(InputError, match="at least 3 knots, got 2"):
        smooth_trace(np.eye(2), Prior.on_knots([0, 1], [1, 1], source="public"), 10)
