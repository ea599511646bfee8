"""Slopes by a score feature: what the pilot lacks is found, and what cannot be told apart is refused."""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

import numpy as np
import pytest
from optldp.designer.features import Pilot, design_regression
from optldp.estimators.features import estimate_features
from optldp.mechanisms import InputError

BOX: dict[str, tuple[float, float]] = dict.fromkeys(("a", "y", "b"), (-5.0, 5.0))


def records(slopes, n, seed):
    rng = np.random.default_rng(seed)
    a, b, e = rng.standard_normal((3, n)).clip(-2, 2)
    return np.column_stack([a, slopes[0] * a + slopes[1] * b + e, b])


def test_slopes_that_are_not_the_pilots_are_found():
    made = design_regression("y", BOX, 4.0, Pilot(tuple(BOX), records((0.4, -0.2), 2000, 1)))
    held = records((0.5, -0.3), 30_000, 2)
    given = held[:, [0, 2, 1]]  # the response is the last column of the mechanism
    found = estimate_features(made.mechanism, made.mechanism.sample(given, np.random.default_rng(3)))
    assert found.names == ("a", "b")
    assert (found.low < [0.5, -0.3]).all()
    assert (found.high > [0.5, -0.3]).all()
    assert (found.high - found.low < 0.15).all()
    assert found.std_error == pytest.approx(made.std_errors(30_000), rel=0.25)


@pytest.mark.parametrize("d", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_slopes_are_found_without_a_pilot(d):
    names = ("a", "b")[:d]
    made = design_regression("y", dict.fromkeys((*names, "y"), (-5.0, 5.0)), 4.0)
    held = records((0.5, -0.3), 40_000, 2)
    given = held[:, [0, 2, 1]] if d == 2 else held[:, :2]
    found = estimate_features(made.mechanism, made.mechanism.sample(given, np.random.default_rng(3)))
    truth = np.array([0.5, -0.3])[:d]
    assert ((found.low < truth) & (truth < found.high)).all()
    assert (found.high - found.low < 0.6).all()
    assert found.method == ("moments, fieller" if d == 1 else "moments")


@pytest.mark.slow
def test_covariates_that_so_few_reports_do_not_tell_apart_are_refused():
    made = design_regression("y", dict.fromkeys(("a", "b", "y"), (-5.0, 5.0)), 1.0)
    given = records((0.5, -0.3), 300, 2)[:, [0, 2, 1]]
    with pytest.raises(InputError, match="the variance of a, b must be told from zero"):
        estimate_features(made.mechanism, made.mechanism.sample(given, np.random.default_rng(3)))


def test_a_clipped_influence_function_of_a_slope_costs_less_than_a_clipped_residual():
    rng = np.random.default_rng(5)
    x, e = rng.standard_normal((2, 2000)).clip(-3, 3)
    pilot = Pilot(("x", "y"), np.column_stack([x, 0.5 * x + 0.87 * e]))
    box = {"x": (-3.0, 3.0), "y": (-4.5, 4.5)}
    # 52 of x times the residual cut at two of its standard deviations; .74 of open records.
    assert 0.74 < design_regression("y", box, 1.0, pilot).variances[0] < 52 / 2


@pytest.mark.parametrize(
    ("response", "box", "held", "says"),
    [
        ("z", BOX, None, "the response must be one of the columns a, y, b, got 'z'"),
        ("y", {"y": (0, 1)}, None, "is on 1 to 8 other columns, got 0"),
        ("y", BOX, np.array([1.0, 0.3, 1.0]) * np.arange(-2.0, 3.0)[:, None], "collinear, got a, b with condition"),
    ],
)
def test_bad_input_is_one_line(response, box, held, says):
    if held is not None:
        held = held + [[0, 1e-3 * i * i, 1e-6 * i] for i in range(len(held))]
    pilot = None if held is None else Pilot(tuple(box), held)
    with pytest.raises(InputError, match=says):
        design_regression(response, box, 1.0, pilot)
