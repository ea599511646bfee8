"""The budget for a distribution: what is predicted happens, the target is met, and what cannot be had is said."""

import numpy as np
import pytest
from optldp.designer import Information, Prior, design
from optldp.designer.planning import plan_distribution_epsilon, plan_distribution_error
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution
from optldp.estimators.distributions.metrics import jensen_shannon_distance, wasserstein_1
from optldp.mechanisms import InputError

KNOTS = np.linspace(0, 100, 11)
PRIOR = Prior.on_knots(KNOTS, np.exp(-(((KNOTS - 40) / 25) ** 2)), source="public")


def rng(seed=3):
    return np.random.default_rng(seed)


@pytest.mark.nightly
@pytest.mark.parametrize("distance", ["wasserstein", "jensen-shannon"])
def test_the_error_predicted_is_the_one_that_users_make(distance):
    """Against reports drawn value by value through the table, within four joint standard errors."""
    plan = plan_distribution_error(PRIOR, 2000, 1.0, rng=rng(), estimator="em", distance=distance, repetitions=40)
    table, source, errors = design(PRIOR, 1.0).mechanism, rng(4), []
    for _ in range(40):
        values = source.choice(KNOTS, 2000, p=PRIOR.weights)
        found = estimate_distribution(
            ReportCounts.from_reports(table, table.sample(values, source)), method="em", grid=InputGrid.knots(KNOTS)
        ).value
        errors.append(
            wasserstein_1(KNOTS, found, PRIOR.weights)
            if distance == "wasserstein"
            else jensen_shannon_distance(found, PRIOR.weights)
        )
    spread = np.hypot(np.std(errors, ddof=1) / np.sqrt(40), plan.predicted_error.error)
    assert abs(np.mean(errors) - plan.predicted_error.value) < 4 * spread
    assert spread < 0.1 * plan.predicted_error.value


@pytest.mark.nightly
def test_more_users_and_larger_budgets_err_less():
    small, many, large = (
        plan_distribution_error(PRIOR, users, epsilon, rng=rng(), repetitions=20).predicted_error.value
        for users, epsilon in ((1000, 0.5), (20_000, 0.5), (1000, 3.0))
    )
    assert many < 0.7 * small
    assert large < 0.7 * small


@pytest.mark.nightly
def test_the_least_budget_meets_the_target_and_a_smaller_one_does_not():
    seen = {}
    plan = plan_distribution_epsilon(
        PRIOR, 5000, 4.0, rng=rng(), repetitions=20, progress=lambda epsilon, error: seen.update({epsilon: error})
    )
    assert plan.surely <= 4.0
    assert seen[plan.epsilon] == plan.surely
    below = max(epsilon for epsilon in seen if epsilon < plan.epsilon)
    assert seen[below] > 4.0
    assert below > 0.97 * plan.epsilon
    again = plan_distribution_error(PRIOR, 5000, plan.epsilon, rng=rng(), repetitions=20)
    assert again.predicted_error == plan.predicted_error


def test_the_plan_names_its_choices():
    plan = plan_distribution_error(
        PRIOR, 500, 2.0, rng=rng(), method="square-wave", estimator="em", distance="jensen-shannon", repetitions=2
    )
    assert (plan.design.method, plan.epsilon, plan.users) == ("square-wave", 2.0, 500)
    assert (plan.estimator, plan.distance) == ("em", "jensen-shannon")


def test_the_mechanism_is_that_of_the_objective():
    asked = Information("cumulative")
    plan = plan_distribution_error(PRIOR, 500, 2.0, rng=rng(), objective=asked, repetitions=2)
    assert plan.design.objective == asked
    assert plan.design.value == design(PRIOR, 2.0, objective=asked).value


def test_a_target_below_the_sampling_error_is_refused_with_that_error():
    drawn = np.random.default_rng(5)
    errors = [wasserstein_1(KNOTS, drawn.multinomial(100, PRIOR.weights), PRIOR.weights) for _ in range(400)]
    with pytest.raises(InputError, match=r"must exceed \d.* without any privacy, got 0\.5: ask more users") as caught:
        plan_distribution_epsilon(PRIOR, 100, 0.5, rng=rng())
    told = float(str(caught.value).split("exceed ")[1].split(",")[0])
    assert abs(told - np.mean(errors)) < 0.25 * np.mean(errors)


@pytest.mark.nightly
def test_a_target_that_no_budget_meets_is_refused_with_the_best():
    """Two outputs cannot tell the shape of a distribution, however large the budget."""
    with pytest.raises(InputError, match=r"at least \d.*, what duchi and em reach .* largest epsilon, 16"):
        plan_distribution_epsilon(PRIOR, 100_000, 1.0, rng=rng(), method="duchi", estimator="em", repetitions=3)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"users": 0}, "users must be a whole number of at least 1, got 0"),
        ({"users": 2.5}, "users must be a whole number"),
        ({"target_error": -1.0}, "target_error must be positive and finite, got -1"),
        ({"rng": 7}, "rng must be a numpy.random.Generator, got 7"),
        ({"method": "magic"}, "method must be one of optimal, .*got 'magic'"),
        ({"estimator": "ua"}, "estimator must be one of smooth, em, .*got 'ua'"),
        ({"distance": "far"}, "distance must be one of wasserstein, jensen-shannon, got 'far'"),
        ({"repetitions": 1}, "repetitions must be a whole number of at least 2, got 1"),
    ],
)
def test_what_is_not_usable_is_said(change, says):
    given = {"users": 100, "target_error": 20.0, "rng": rng()} | change
    with pytest.raises(InputError, match=says):
        plan_distribution_epsilon(PRIOR, given.pop("users"), given.pop("target_error"), **given)
