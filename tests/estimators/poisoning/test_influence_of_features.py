"""What one report of a feature moves: no report moves an estimate farther, and one moves it as far."""

import numpy as np
import pytest
from optldp.designer.features import Pilot, design_association, design_regression
from optldp.estimators import influence
from optldp.estimators.features import estimate_features
from optldp.mechanisms import InputError
from optldp.mechanisms.features import Features

BOX = {"x": (-3.0, 3.0), "y": (-3.0, 3.0)}
USERS = 400


@pytest.fixture(scope="module")
def pilot():
    rng = np.random.default_rng(1)
    x, e = rng.normal(size=(2, USERS)).clip(-1.9, 1.9)
    return Pilot(("x", "y"), np.column_stack([x, 0.8 * e - 0.2 * x]))


@pytest.mark.parametrize(
    "target", ["covariance", *(pytest.param(each, marks=pytest.mark.slow) for each in ("correlation", "regression"))]
)
def test_one_report_moves_an_estimate_as_far_as_is_told_and_no_farther(pilot, target):
    made = (
        design_regression("y", BOX, 2.0, pilot)
        if target == "regression"
        else design_association(target, BOX, 2.0, pilot)
    ).mechanism
    assert isinstance(made, Features)
    reports = made.sample(pilot.records, np.random.default_rng(2))
    ends = np.array([made.features[0].mechanism.low.min(), made.features[0].mechanism.high.max()])
    found = []
    for end in ends:
        moved = reports.copy()
        moved[0, 1] = end
        found.append(estimate_features(made, moved).value[0])
    told = influence(made)
    assert not told.first_order
    assert abs(found[1] - found[0]) == pytest.approx(told.times_n[0] / USERS, rel=1e-6)


def test_features_without_a_pilot_tell_what_moves_the_mean_of_each():
    made = design_association("covariance", BOX, 2.0).mechanism
    assert isinstance(made, Features)
    assert influence(made).of == ("x", "y", "xy")
    with pytest.raises(InputError, match="takes no estimator"):
        influence(made, "mean")
