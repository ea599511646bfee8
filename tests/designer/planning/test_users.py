"""Plans for the error of a mean with bias allowed, and how many users an error takes."""

import math

import numpy as np
import pytest
from optldp.designer import Error, FactorAmbiguity, Prior, WorstCase, design
from optldp.designer.planning import plan_epsilon, plan_error, plan_users
from optldp.mechanisms import InputError

KNOTS = np.linspace(0, 100, 6)
PRIOR = Prior.on_knots(KNOTS, np.exp(-KNOTS / 12), source="public")


def wanted(users: int) -> Error:
    return Error(users, FactorAmbiguity(2.0))


@pytest.mark.nightly
def test_the_error_of_a_budget_is_that_of_the_design_and_its_bound():
    made = design(PRIOR, 1.0, objective=wanted(5000))
    plan = plan_error(PRIOR, 5000, 1.0, objective=wanted(5000))
    assert plan.predicted_error == pytest.approx(made.value, rel=1e-12)
    assert plan.least_error == pytest.approx(made.bound, rel=1e-12)
    assert plan.predicted_error < 0.7 * plan_error(PRIOR, 5000, 1.0).predicted_error


@pytest.mark.nightly
def test_a_budget_for_an_error_meets_it_and_a_smaller_one_does_not():
    plan = plan_epsilon(PRIOR, 5000, 1.0, objective=wanted(5000))
    assert plan.predicted_error <= 1.0
    assert plan.least_epsilon is not None
    assert 0.99 < plan.least_epsilon / plan.epsilon < 1
    assert design(PRIOR, 0.99 * plan.epsilon, objective=wanted(5000)).bound > 1.0
    assert plan.epsilon < 0.8 * plan_epsilon(PRIOR, 5000, 1.0).epsilon


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "of", "objective"), [("optimal", "users", None), ("duchi", "population", WorstCase())]
)
def test_users_for_an_error_without_bias_are_the_least_that_are_enough(method, of, objective):
    plan = plan_users(PRIOR, 1.0, 1.0, method=method, of=of, objective=objective)
    assert plan.predicted_error <= 1.0
    fewer = plan_error(PRIOR, plan.users - 1, 1.0, method=method, of=of, objective=objective)
    assert fewer.predicted_error > 1.0


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["optimal", "piecewise"])
def test_users_for_an_error_with_bias_are_enough_and_a_thousandth_fewer_are_not(method):
    tried = []
    plan = plan_users(PRIOR, 1.0, 1.0, method=method, objective=wanted(1), progress=lambda n, error: tried.append(n))
    assert plan.users == plan.design.objective.n
    assert plan.predicted_error <= 1.0
    fewer = math.floor(plan.users * (1 - 1.1e-3))
    assert plan_error(PRIOR, fewer, 1.0, method=method, objective=wanted(fewer)).predicted_error > 1.0
    assert plan.users < plan_users(PRIOR, 1.0, 1.0, method=method).users
    assert len(tried) < 30


@pytest.mark.nightly
def test_an_error_that_one_user_keeps_takes_one():
    assert plan_users(PRIOR, 1.0, 1e6, objective=wanted(1)).users == 1
    assert plan_users(PRIOR, 1.0, 1e6).users == 1


@pytest.mark.parametrize(
    ("of", "objective", "says"),
    [
        ("users", wanted(10), "a plan for 5000 users needs the error of their mean"),
        ("population", wanted(5000), "the least error is that of the users' own mean"),
    ],
)
def test_another_number_of_users_and_the_population_are_refused(of, objective, says):
    with pytest.raises(InputError, match=says):
        plan_error(PRIOR, 5000, 1.0, of=of, objective=objective)


def test_an_error_beyond_everybody_is_refused():
    with pytest.raises(InputError, match=r"within reach of 1e\+15 users"):
        plan_users(PRIOR, 1.0, 1e-9)
