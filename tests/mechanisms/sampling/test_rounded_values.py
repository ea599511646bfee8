"""What is promised of values that are rounded to knots, against the laws of values drawn one by one."""

import numpy as np
import pytest
from optldp import Prior, design
from optldp.designer.objectives import Loss
from optldp.mechanisms import InputError, Metric
from optldp.mechanisms.promise import Blocks, ByValue, Pure, Ratios, Sensitive
from optldp.mechanisms.sampling.rounded_values import limits_of_rounded, rounded_values, said_of_rounded

KNOTS = np.array([0.0, 1.0, 1.5, 4.0, 5.0])
VALUES = np.unique(np.r_[np.linspace(0, 5, 101), KNOTS, (KNOTS[1:] + KNOTS[:-1]) / 2])
PROMISES = {
    "line": Metric(0.5),
    "circle": Metric(0.5, period=6.0),
    "sensitive": Sensitive(1.0, [True, False, False, True, False]),
    "by value": ByValue([0.5, 1.0, 2.0, 3.0, 1.0]),
    "smaller budget": ByValue([0.5, 1.0, 2.0, 3.0, 1.0], "min"),
    "blocks": Blocks(["a", "a", "b", "b", "c"], 0.5, 2.0),
}


def law(promise):
    """A table that uses its promise up: of the least absolute error."""
    prior = Prior.on_knots(KNOTS, np.ones(5), source="public")
    return design(prior, promise, objective=Loss("absolute"), outputs=KNOTS).mechanism


@pytest.mark.parametrize("kind", PROMISES)
def test_no_two_values_are_told_apart_by_more(kind):
    """All pairs of a hundred values and all reports, by the row of the knot that each is rounded to."""
    promise = PROMISES[kind]
    made = law(promise)
    rounded = rounded_values(promise, VALUES, KNOTS)
    assert np.isin(rounded, KNOTS).all()
    rows = made.pmf(rounded)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(rows[:, None, :]) - np.log(rows[None, :, :])
    told = np.where(np.isnan(logs), -np.inf, logs).max(2)  # of reports that neither makes
    limits = limits_of_rounded(promise, VALUES, KNOTS)
    assert (told <= limits + 1e-9).all()
    largest = promise.limits(KNOTS).max()
    assert told.max() <= largest + 1e-9  # what a ledger books


def test_the_spacing_is_needed():
    """Two values as near as one likes, on both sides of a middle, are told apart by a whole spacing."""
    promise = PROMISES["line"]
    made, near = law(promise), np.array([2.75, 2.75 + 1e-9])
    assert rounded_values(promise, near, KNOTS).tolist() == [1.5, 4.0]
    rows = made.pmf(np.array([1.5, 4.0]))
    told = np.abs(np.log(rows[0]) - np.log(rows[1])).max()
    assert told > 0.9 * 0.5 * 2.5
    assert told <= limits_of_rounded(promise, near, KNOTS)[0, 1] == pytest.approx(0.5 * 2.5)


def test_whatever_lies_beside_a_sensitive_knot_can_be_denied():
    """Its limits are finite against every value; those of the others are not."""
    promise = PROMISES["sensitive"]
    limits = limits_of_rounded(promise, VALUES, KNOTS)
    beside = (VALUES < 1) | ((VALUES > 1.5) & (VALUES < 5))
    assert np.isfinite(limits[beside]).all()
    assert rounded_values(promise, VALUES, KNOTS)[~beside].tolist() == [
        1.0 if value <= 1.25 else 5.0 if value == 5 else 1.5 for value in VALUES[~beside]
    ]
    assert np.isinf(limits[~beside]).any(1).all()


@pytest.mark.parametrize(
    ("promise", "says"),
    [
        (Ratios(np.ones((5, 5)) - np.eye(5)), "where these alone are promised of, got log-ratios of a matrix"),
        (Metric(1.0, distance=np.ones((5, 5)) - np.eye(5)), "by distances of a matrix, which are of knots alone"),
        (Pure(1.0), "which holds for all values: leave it out"),
    ],
)
def test_where_nothing_can_be_promised_of_values_between_they_are_refused(promise, says):
    with pytest.raises(InputError, match=says):
        said_of_rounded(promise, KNOTS)
    with pytest.raises(InputError, match=says):
        rounded_values(promise, VALUES, KNOTS)
