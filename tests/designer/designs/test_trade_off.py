"""Between the expected and the worst-case variance: a front, its ends known, every point certified."""

import numpy as np
import pytest
from optldp.designer import Prior, TradeOff, WorstCase, design, trade_off_curve
from optldp.designer.designs.trade_off import DEFAULT_WEIGHTS
from optldp.mechanisms import InputError, verify

VALUES = np.random.default_rng(3).gamma(2.0, 3.0, 400).clip(0, 30)
DATA = Prior.from_data(VALUES, knots=11, domain=(0, 30))


@pytest.mark.nightly
def test_the_front_falls_in_the_worst_case_rises_in_the_expected_and_is_convex():
    front = trade_off_curve(DATA, 2.0)
    assert [point.objective.worst for point in front] == list(DEFAULT_WEIGHTS)
    expected = np.array([point.expected_variance for point in front])
    worst = np.array([point.evidence.worst_knot_variance for point in front])
    assert np.all(np.diff(expected) > 0)
    assert np.all(np.diff(worst) < 0)
    for point in front:
        others = (1 - point.objective.worst) * expected + point.objective.worst * worst
        assert np.all(others >= point.bound)
        assert point.value == pytest.approx(others.min(), rel=2e-6)
        assert 0 <= point.gap <= 2e-6
        assert not verify(point.mechanism).failures


@pytest.mark.nightly
def test_its_ends_are_the_optimum_for_the_prior_and_the_minimax_design():
    front = trade_off_curve(DATA, 2.0, weights=[1.0, 1e-6])
    assert front[0].expected_variance == pytest.approx(design(DATA, 2.0, uniform_share=0.0).expected_variance, rel=1e-5)
    minimax = design(Prior.even(DATA.knots), 2.0, objective=WorstCase())
    assert front[1].evidence.worst_knot_variance == pytest.approx(minimax.evidence.worst_knot_variance, rel=2e-6)
    assert front[1].bound == pytest.approx(minimax.bound, rel=2e-6)


def test_the_expected_variance_is_the_mean_over_the_data_rounding_included():
    made = design(DATA, 1.0, objective=TradeOff(0.3))
    assert made.expected_variance is not None
    assert made.expected_variance == pytest.approx(made.mechanism.var(VALUES).mean(), rel=1e-12)
    assert made.value == pytest.approx(
        0.7 * made.expected_variance + 0.3 * made.evidence.worst_knot_variance, rel=1e-14
    )
    assert made.mechanism.prior is not None
    assert made.mechanism.prior.source == "sensitive"
    assert verify(made.mechanism).expected_variance == pytest.approx(made.expected_variance, rel=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", ["duchi", "hybrid", "optimal"])
@pytest.mark.parametrize("weight", [0.01, 0.5, 1.0])
def test_no_other_mechanism_has_a_lower_objective(name, weight):
    made = design(DATA, 1.0, objective=TradeOff(weight))
    rival = design(DATA, 1.0, method=name).mechanism
    value = (1 - weight) * rival.expected_variance(DATA.knot_prior) + weight * rival.knot_variances.max()
    assert made.bound <= value
    assert made.value <= value * (1 + 2e-6)


@pytest.mark.parametrize("weight", [0.0, 1.5, float("nan")])
def test_a_weight_is_a_positive_share(weight):
    with pytest.raises(InputError, match="worst case"):
        design(DATA, 1.0, objective=TradeOff(weight))
