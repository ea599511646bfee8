"""The least budget that meets a target, where the error is a known function of it."""

import math

import pytest
from optldp.designer.planning.search import OutOfReachError, cheapest, checked_target, crossing
from optldp.mechanisms import InputError
from optldp.mechanisms.budget import MAX_EPSILON, MIN_EPSILON

PRECISION = 1e-4


@pytest.mark.parametrize("target", [0.1, 0.3, 1.0, 7.0, 4000.0])
@pytest.mark.parametrize("power", [1.0, 2.5])
def test_the_least_budget_is_where_the_error_meets_the_target(target, power):
    """An error of epsilon^-power: between the last budget that misses and the first that meets, close together."""
    expected = target ** (-1 / power)
    missing, meeting = crossing(lambda epsilon: epsilon**-power, target, 1.0, PRECISION)
    assert missing < expected * (1 + 1e-12)
    assert meeting > expected * (1 - 1e-12)
    assert meeting / missing < 1 + 2 * PRECISION


def test_a_target_that_all_budgets_meet_takes_the_least_and_one_that_none_meets_says_what_can_be_had():
    assert crossing(lambda epsilon: 0.5, 1.0, 1.0, PRECISION) == (0.0, pytest.approx(MIN_EPSILON))
    with pytest.raises(OutOfReachError) as best:
        crossing(lambda epsilon: 1 / epsilon, 0.5 / MAX_EPSILON, 1.0, PRECISION)
    assert best.value.error == 1 / MAX_EPSILON


def test_the_cheapest_plan_is_one_that_was_tried_and_all_that_were_tried_are_told():
    """Each budget is tried once; the plan meets the target, and a slightly smaller budget would not."""
    tried, told = [], []

    def plan_at(epsilon):
        tried.append(epsilon)
        return epsilon, math.exp(-epsilon)

    epsilon, error = cheapest(plan_at, lambda plan: plan[1], 0.2, PRECISION, lambda *one: told.append(one))
    assert error <= 0.2 < math.exp(-epsilon * (1 - 2 * PRECISION))
    assert told == [(each, math.exp(-each)) for each in tried]
    assert len(set(tried)) == len(tried) < 20


@pytest.mark.parametrize("target", [0, -1.0, math.inf, math.nan, True, "1"])
def test_a_target_is_a_number_positive_and_finite(target):
    with pytest.raises(InputError, match="target_error must be positive and finite, got"):
        checked_target("target_error", target)
    assert checked_target("error", 3) == 3.0
