"""Planning: the least budget for an error, the error of a budget, and what nobody could better."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import (
    Guarantee,
    Information,
    Prior,
    TotalVariationAmbiguity,
    TradeOff,
    Variance,
    WorstCase,
    design,
)
from optldp.designer.planning import plan_epsilon, plan_error
from optldp.designer.planning.mean import PRECISION
from optldp.estimators import count, estimate_mean
from optldp.mechanisms import InputError
from optldp.mechanisms.budget import MAX_EPSILON

KNOTS = np.linspace(0, 50, 9)
PRIOR = Prior.on_knots(KNOTS, [1, 4, 9, 4, 1, 1, 0, 0, 0], source="public")
PAIR = Prior.on_knots([-1, 1], [1, 1], source="public")

METHODS = ("optimal", "laplace", "duchi", "piecewise", "square-wave")


def refusal(*arguments, **options) -> str:
    with pytest.raises(InputError) as caught:
        plan_epsilon(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestError:
    """What a budget buys."""

    @pytest.mark.slow
    @pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
    def test_on_two_knots_it_is_the_closed_form_of_duchi(self, epsilon):
        plan = plan_error(PAIR, 400, epsilon)
        reach = (math.exp(epsilon) + 1) / (math.exp(epsilon) - 1)
        assert plan.predicted_error == pytest.approx(math.sqrt((reach**2 - 1) / 400), rel=1e-6)
        assert plan.least_error == pytest.approx(plan.predicted_error, rel=1e-6)
        population = plan_error(PAIR, 400, epsilon, of="population")
        assert population.predicted_error == pytest.approx(reach / 20, rel=1e-6)
        assert population.least_error == pytest.approx(reach / 20, rel=1e-6)

    @pytest.mark.slow
    def test_the_spread_of_values_between_knots_is_that_of_the_values_not_of_their_rounding(self):
        values = np.random.default_rng(3).uniform(0, 50, 500)
        prior = Prior.from_data(values, knots=3, domain=(0, 50), source="public")
        users, population = (plan_error(prior, 100, 2.0, of=of) for of in ("users", "population"))
        extra = population.predicted_error**2 - users.predicted_error**2
        assert extra == pytest.approx(values.var() / 100, rel=1e-9)

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("method", METHODS)
    def test_it_is_that_of_the_design_and_no_less_than_what_is_certified(self, method):
        plan = plan_error(PRIOR, 1000, 1.0, method=method)
        made = design(PRIOR, 1.0, method=method)
        assert plan.predicted_error == math.sqrt(made.expected_variance / 1000)
        assert plan.design.mechanism.provenance.method == method
        assert (plan.epsilon, plan.users, plan.of, plan.least_epsilon) == (1.0, 1000, "users", None)
        assert plan.least_error <= plan.predicted_error * (1 + 1e-12)
        assert plan.least_error == pytest.approx(plan_error(PRIOR, 1000, 1.0).predicted_error, rel=1e-4)

    @pytest.mark.slow
    def test_what_is_certified_is_for_the_prior_as_given_whatever_the_floor(self):
        floored = plan_error(PRIOR, 1000, 1.0, uniform_share=0.5)
        assert floored.least_error == plan_error(PRIOR, 1000, 1.0, uniform_share=0.0).least_error
        assert floored.predicted_error > 1.001 * floored.least_error

    @pytest.mark.nightly
    def test_simulated_means_err_by_it(self):
        rng = np.random.default_rng(11)
        users, repetitions = 500, 2000
        plans = {of: plan_error(PRIOR, users, 1.0, of=of) for of in ("users", "population")}
        fixed = np.repeat(KNOTS, np.round(PRIOR.weights * users).astype(int))
        assert fixed.size == users
        table = plans["users"].design.mechanism
        same = table.sample(np.tile(fixed, repetitions), rng).reshape(repetitions, users).mean(axis=1)
        drawn = rng.choice(KNOTS, p=PRIOR.weights, size=(repetitions, users))
        anew = table.sample(drawn.ravel(), rng).reshape(repetitions, users).mean(axis=1)
        for means, plan in ((same, plans["users"]), (anew, plans["population"])):
            mse = np.mean((means - PRIOR.mean) ** 2)
            assert abs(mse / plan.predicted_error**2 - 1) < 4 * math.sqrt(2 / repetitions)

    def test_it_is_what_estimate_mean_says_of_reports_of_the_population(self):
        rng = np.random.default_rng(5)
        plan = plan_error(PRIOR, 200_000, 1.0, of="population")
        values = rng.choice(KNOTS, p=PRIOR.weights, size=plan.users)
        found = estimate_mean(count(plan.design.mechanism, plan.design.mechanism.sample(values, rng)))
        assert found.std_error == pytest.approx(plan.predicted_error, rel=0.02)


class TestObjectives:
    """Which variance of a report is meant."""

    @pytest.mark.nightly
    def test_on_two_knots_the_worst_case_is_that_of_duchi_between_them(self):
        """It is largest in the middle, where a report of +-reach is all noise; the bound is that of the knots."""
        plan = plan_epsilon(PAIR, 400, 0.1, objective=WorstCase())
        assert math.log(3) * (1 - 1e-6) <= plan.epsilon <= math.log(3) * (1 + 1.01 * PRECISION)
        at_knots = math.log((math.sqrt(5) + 1) / (math.sqrt(5) - 1))
        assert plan.least_epsilon == pytest.approx(at_knots, rel=1.01 * PRECISION)
        assert plan.design.objective == WorstCase()

    @pytest.mark.nightly
    @pytest.mark.parametrize("method", ["optimal", "duchi"])
    def test_the_more_priors_the_larger_the_error_to_expect(self, method):
        asked = Variance(), Guarantee(TotalVariationAmbiguity(0.1)), WorstCase()
        plans = [plan_error(PRIOR, 1000, 1.0, objective=objective, method=method) for objective in asked]
        made = [plan.design for plan in plans]
        largest = [made[0].expected_variance, made[1].value, made[2].worst_case_variance]
        assert [plan.predicted_error for plan in plans] == [math.sqrt(variance / 1000) for variance in largest]
        assert largest == sorted(largest)
        for plan, objective in zip(plans, asked, strict=True):
            best = design(PRIOR, 1.0, objective=objective, uniform_share=0.0)
            assert plan.least_error == pytest.approx(math.sqrt(best.bound / 1000), rel=1e-5)

    @pytest.mark.parametrize("objective", [Information(), TradeOff(0.5), "minimax"])
    def test_what_is_no_variance_of_a_report_is_refused(self, objective):
        assert "needs an objective that is one variance of a report" in refusal(PAIR, 10, 1.0, objective=objective)


class TestEpsilon:
    """What an error costs."""

    @pytest.mark.nightly
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("target", [0.25, 0.5, 5.0])
    def test_the_budget_meets_the_target_and_a_slightly_smaller_one_does_not(self, method, target):
        plan = plan_epsilon(PRIOR, 10_000, target, method=method)
        assert plan.predicted_error <= target
        assert plan.predicted_error == plan_error(PRIOR, 10_000, plan.epsilon, method=method).predicted_error
        smaller = plan_error(PRIOR, 10_000, plan.epsilon * (1 - 1.01 * PRECISION), method=method)
        assert smaller.predicted_error > target

    @pytest.mark.nightly
    @pytest.mark.parametrize("of", ["users", "population"])
    def test_it_is_where_brute_force_finds_it(self, of):
        grid = np.geomspace(0.5, 2.0, 30)
        spread = PRIOR.second_moment - PRIOR.mean**2 if of == "population" else 0.0
        errors = [
            math.sqrt((design(PRIOR, epsilon, exact=False).expected_variance + spread) / 1000) for epsilon in grid
        ]
        target = 0.5 * (errors[10] + errors[20])
        first = int(np.argmax(np.array(errors) <= target))
        plan = plan_epsilon(PRIOR, 1000, target, of=of)
        assert grid[first - 1] < plan.epsilon < grid[first] * (1 + PRECISION)

    @pytest.mark.nightly
    @pytest.mark.parametrize("of", ["users", "population"])
    def test_on_two_knots_it_is_the_closed_form_of_duchi(self, of):
        target = 0.1
        reach = math.sqrt(400 * target**2 + (of == "users"))
        exact = math.log((reach + 1) / (reach - 1))
        plan = plan_epsilon(PAIR, 400, target, of=of)
        assert exact * (1 - 1e-6) <= plan.epsilon <= exact * (1 + 1.01 * PRECISION)
        assert plan.least_epsilon is not None
        assert exact * (1 - 1.01 * PRECISION) <= plan.least_epsilon <= exact * (1 + 1e-9)

    @pytest.mark.nightly
    @pytest.mark.parametrize("method", METHODS)
    def test_with_the_budget_ruled_out_no_method_meets_the_target(self, method):
        least = plan_epsilon(PRIOR, 10_000, 0.3, method=method, uniform_share=0.1).least_epsilon
        assert least is not None
        assert design(PRIOR, least, uniform_share=0.0).bound / 10_000 > 0.3**2
        for other in METHODS:
            assert plan_error(PRIOR, 10_000, least, method=other, uniform_share=0.0).predicted_error > 0.3

    @pytest.mark.slow
    def test_for_the_optimum_what_is_ruled_out_is_just_below_what_is_enough(self):
        plan = plan_epsilon(PRIOR, 10_000, 0.3)
        assert plan.least_epsilon is not None
        assert 1 - 2.1 * PRECISION < plan.least_epsilon / plan.epsilon < 1

    @pytest.mark.nightly
    def test_a_target_that_is_hit_exactly_is_met_by_that_budget_or_a_hair_less(self):
        target = plan_error(PRIOR, 1000, 1.0).predicted_error
        plan = plan_epsilon(PRIOR, 1000, target)
        assert 1 - PRECISION <= plan.epsilon <= 1.0
        assert plan.least_epsilon is not None
        assert plan.least_epsilon > 1 - 2.1 * PRECISION

    @pytest.mark.nightly
    @given(st.floats(0.02, 20.0), st.integers(1, 10**6))
    @settings(max_examples=8)
    def test_only_the_variance_per_report_counts(self, variance, users):
        one = plan_epsilon(PAIR, 1, math.sqrt(variance))
        many = plan_epsilon(PAIR, users, math.sqrt(variance / users))
        assert many.epsilon == pytest.approx(one.epsilon, rel=2 * PRECISION)

    @pytest.mark.nightly
    def test_it_does_not_depend_on_the_unit(self):
        scaled = Prior.on_knots(1000 * KNOTS - 7, PRIOR.weights, source="public")
        plan = plan_epsilon(PRIOR, 1000, 1.0)
        assert plan_epsilon(scaled, 1000, 1000.0).epsilon == pytest.approx(plan.epsilon, rel=2 * PRECISION)

    @pytest.mark.nightly
    def test_a_target_that_anything_meets_gets_the_least_budget_there_is(self):
        plan = plan_epsilon(PAIR, 10, 1e9)
        assert plan.epsilon == pytest.approx(1e-6, rel=1e-9)
        assert plan.least_epsilon == 0.0

    @pytest.mark.nightly
    def test_progress_tells_every_trial_and_they_are_few(self):
        told = []
        plan = plan_epsilon(PRIOR, 10_000, 0.3, progress=lambda *event: told.append(event))
        assert (plan.epsilon, plan.predicted_error) in told
        assert all(b[1] <= a[1] * (1 + 1e-5) for a, b in itertools.pairwise(sorted(told)))
        assert len(told) <= 20


class TestRefusals:
    """One line that says what can be had."""

    @pytest.mark.nightly
    def test_a_target_beyond_every_mechanism_says_the_best_there_is_and_that_can_be_had(self):
        said = refusal(PRIOR, 10, 1e-6)
        assert "any unbiased mechanism on these knots" in said
        best = float(said.split("at least ")[1].split(",")[0])
        assert best == pytest.approx(plan_error(PRIOR, 10, MAX_EPSILON).least_error, rel=2e-5)
        assert plan_epsilon(PRIOR, 10, 1.001 * best, uniform_share=0.0).epsilon <= MAX_EPSILON

    @pytest.mark.nightly
    def test_a_target_beyond_the_method_names_the_method_and_its_best(self):
        said = refusal(PRIOR, 10, 0.05, method="laplace")
        assert "the best of laplace with 10 users" in said
        best = float(said.split("at least ")[1].split(",")[0])
        assert best == pytest.approx(plan_error(PRIOR, 10, MAX_EPSILON, method="laplace").predicted_error, rel=2e-5)
        assert plan_epsilon(PRIOR, 10, best, method="laplace").predicted_error <= best

    def test_a_target_below_the_sampling_error_says_so_before_anything_is_solved(self):
        said = refusal(PAIR, 100, 0.1, of="population", progress=lambda *_: pytest.fail("solved"))
        assert "must exceed 0.100001, about what 100 users err by without any privacy" in said

    @pytest.mark.parametrize(
        ("arguments", "options", "says"),
        [
            ((PAIR, 0, 0.1), {}, "users must be a whole number of at least 1, got 0"),
            ((PAIR, 2.5, 0.1), {}, "got 2.5"),
            ((PAIR, True, 0.1), {}, "got True"),
            ((PAIR, 10, 0.0), {}, "target_error must be positive and finite, got 0.0"),
            ((PAIR, 10, math.nan), {}, "got nan"),
            ((PAIR, 10, math.inf), {}, "got inf"),
            ((PAIR, 10, "1"), {}, "got '1'"),
            ((PAIR, 10, 0.1), {"of": "median"}, "of must be one of users, population, got 'median'"),
            ((PAIR, 10, 1.0), {"method": "magic"}, "got 'magic'"),
            ((PAIR, 10, 1.0), {"uniform_share": 2.0}, "uniform share must lie in"),
            ((PAIR, 10, 1.0), {"tolerance": 2.0}, "tolerance must lie strictly between 0 and 1"),
        ],
    )
    def test_what_is_not_usable_is_refused(self, arguments, options, says):
        assert says in refusal(*arguments, **options)

    def test_an_error_cannot_be_planned_for_a_budget_that_is_none(self):
        with pytest.raises(InputError, match="epsilon must be positive"):
            plan_error(PAIR, 10, -1.0)
