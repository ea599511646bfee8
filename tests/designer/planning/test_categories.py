"""Advice on categories: closed forms against textbooks and simulation, the bootstrap against its draws one by one."""

import math
from typing import Any

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, advise
from optldp.designer.planning import plan_frequencies
from optldp.designer.planning.categories import (
    FREQUENCY_ESTIMATORS,
    KNOWN_ORACLES,
    NO_DISTRIBUTIONS,
    category_rows,
    draw_counts,
    oracle,
)
from optldp.designer.planning.frequencies import PRECISION
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.distributions.metrics import jensen_shannon_distance
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr

PRIOR = CategoricalPrior("abcdef", [8, 4, 2, 1, 1, 0])
N = 400


def error_of_grr(epsilon: float, weights: np.ndarray, n: int) -> float:
    """Mean squared error of a frequency: Wang et al. (2017), equation (4), and who the users are."""
    p = math.exp(epsilon) / (math.exp(epsilon) + weights.size - 1)
    q = (1 - p) / (weights.size - 1)
    noise = q * (1 - q) / (p - q) ** 2 + weights * (1 - p - q) / (p - q)
    return float(np.mean(noise + weights * (1 - weights))) / n


def test_the_unbiased_estimate_of_randomised_response_errs_as_in_the_textbook():
    (row,) = category_rows(PRIOR, N, 1.5, ["grr"], ["unbiased"], 2, 1)
    assert row.mse.value == pytest.approx(error_of_grr(1.5, PRIOR.weights, N), rel=1e-5)
    assert (row.mse.error, row.jensen_shannon, row.wasserstein) == (0.0, None, None)


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["grr", "olh"])
def test_what_is_drawn_errs_as_the_closed_form_says(name):
    """The unbiased estimate of 600 simulated collections, within five standard errors."""
    (row,) = category_rows(PRIOR, N, 1.5, [name], ["unbiased"], 2, 1)
    mechanism = oracle(PRIOR, 1.5, name)
    errors = []
    for repetition in range(600):
        found = estimate_frequencies(draw_counts(mechanism, PRIOR.weights, N, (3, repetition, 0))).value
        errors.append(np.mean((found - PRIOR.weights) ** 2))
    assert abs(np.mean(errors) - row.mse.value) < 5 * np.std(errors) / math.sqrt(600)


def test_reports_of_a_table_are_drawn_from_its_rows():
    """All of a category's clients at once; a category that nobody has makes none."""
    table, weights = categorical_grr("abc", 3.0), np.array([0.3, 0.7, 0.0])
    counts = draw_counts(table, weights, 200_000, (5, 0, 0))
    expected = weights @ table.pmf(table.all_reports()).T
    np.testing.assert_allclose(counts.counts / 200_000, expected, atol=5 * 0.5 / math.sqrt(200_000))
    assert draw_counts(table, np.array([0.0, 1.0, 0.0]), 3, (5, 0, 0)).n_users == 3


@pytest.mark.nightly
def test_every_estimator_sees_the_same_reports():
    """Errors and distances are those of estimates from the same draws, one by one."""
    rows = category_rows(PRIOR, N, 1.0, ["olh"], list(FREQUENCY_ESTIMATORS), 3, 11)
    assert [row.estimator for row in rows] == list(FREQUENCY_ESTIMATORS)
    mechanism, place = oracle(PRIOR, 1.0, "olh"), KNOWN_ORACLES.index("olh")
    drawn = [draw_counts(mechanism, PRIOR.weights, N, (11, repetition, place)) for repetition in range(3)]
    for row in rows[1:]:
        found = [estimate_frequencies(counts, **FREQUENCY_ESTIMATORS[row.estimator]).value for counts in drawn]
        errors = [np.mean((one - PRIOR.weights) ** 2) for one in found]
        assert row.mse.value == pytest.approx(np.mean(errors), rel=1e-12)
        assert row.mse.error == pytest.approx(np.std(errors, ddof=1) / math.sqrt(3), rel=1e-12)
        if row.estimator in NO_DISTRIBUTIONS:
            assert row.jensen_shannon is None
        else:
            distances = [jensen_shannon_distance(one, PRIOR.weights) for one in found]
            assert row.jensen_shannon is not None
            assert row.jensen_shannon.value == pytest.approx(np.mean(distances), rel=1e-12)


class TestAdvise:
    @pytest.mark.nightly
    def test_there_is_a_row_for_every_pair_and_the_least_error_comes_first(self):
        told: list[tuple[str, float]] = []
        advice = advise(
            PRIOR, N, 1.0, rng=np.random.default_rng(1), repetitions=2, progress=lambda *now: told.append(now)
        )
        assert {(row.mechanism, row.estimator) for row in advice.rows} == {
            (m, e) for m in ("grr", "olh", "subset") for e in FREQUENCY_ESTIMATORS
        }
        assert [row.standing for row in advice.rows[:2]] == ["first", "next"]
        assert told[-1] == ("done", 1.0)
        assert "with 400 people at epsilon 1 a frequency errs by" in advice.sentence

    @pytest.mark.nightly
    def test_merging_first_is_chosen_where_most_categories_are_noise(self):
        """Zipf's law over 64 categories: EM spreads noise over the rare ones, which reduction merges."""
        prior = CategoricalPrior(range(64), 1 / np.arange(1.0, 65.0))
        names = ["em", "mr-preselect"]
        advice = advise(
            prior,
            20_000,
            2.0,
            rng=np.random.default_rng(2),
            mechanisms=["olh"],
            estimators=names,
            repetitions=4,
            of="distribution",
        )
        found = {row.estimator: row.jensen_shannon for row in advice.rows}
        ours, theirs = found["mr-preselect"], found["em"]
        assert advice.best.estimator == "mr-preselect"
        assert ours is not None
        assert theirs is not None
        assert ours.value + ours.error + theirs.error < theirs.value

    def test_a_first_estimate_stands_for_the_truth(self):
        """As the distribution nearest to it."""
        table = categorical_grr("abc", 1.0)
        estimate = estimate_frequencies(CategoryCounts.from_reports(table, np.repeat([0, 1], [70, 30])))
        options: dict[str, Any] = {"mechanisms": ["grr"], "estimators": ["unbiased"]}
        found = advise(estimate, N, 1.0, rng=np.random.default_rng(1), **options)
        assert estimate.value[2] < 0
        nearest = estimate_frequencies(
            CategoryCounts.from_reports(table, np.repeat([0, 1], [70, 30])), method="norm-sub"
        ).value
        same = advise(CategoricalPrior("abc", nearest), N, 1.0, rng=np.random.default_rng(1), **options)
        assert found.best.mse.value == pytest.approx(same.best.mse.value, rel=1e-12)

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (
                {"mechanisms": ["piecewise"]},
                "mechanisms must be out of optimal, auto, grr, olh, oue, rappor, subset, projective-geometry, got",
            ),
            ({"estimators": ["ua"]}, "estimators must be out of unbiased, norm-sub"),
            ({"repetitions": 1}, "repetitions must be a whole number of at least 2, got 1"),
        ],
        ids=str,
    )
    def test_what_is_for_numbers_is_refused(self, options, says):
        with pytest.raises(InputError, match=says):
            advise(PRIOR, N, 1.0, rng=np.random.default_rng(1), **options)


class TestPlan:
    def test_the_budget_found_meets_the_error_and_little_less_does_not(self):
        plan = plan_frequencies(PRIOR, 5000, error=0.015, method="grr")
        assert plan.predicted_error.value**2 == pytest.approx(error_of_grr(plan.epsilon, PRIOR.weights, 5000), rel=1e-5)
        assert plan.predicted_error.value <= 0.015
        assert error_of_grr(plan.epsilon * (1 - 3 * PRECISION), PRIOR.weights, 5000) > 0.015**2
        assert (plan.method, plan.users, plan.estimator) == ("grr", 5000, "unbiased")
        assert plan.mechanism.same_law(categorical_grr("abcdef", plan.epsilon))

    @pytest.mark.slow
    def test_a_simulated_error_is_the_advised_one(self):
        rng = np.random.default_rng(4)
        plan = plan_frequencies(PRIOR, N, epsilon=1.0, method="olh", estimator="em", rng=rng, repetitions=4)
        seed = int(np.random.default_rng(4).integers(2**63))
        (row,) = category_rows(PRIOR, N, 1.0, ["olh"], ["em"], 4, seed)
        assert plan.predicted_error.value**2 == pytest.approx(row.mse.value, rel=1e-12)
        assert plan.predicted_error.error == pytest.approx(row.mse.error / (2 * math.sqrt(row.mse.value)), rel=1e-12)

    def test_the_designed_table_errs_no_more_than_the_oracles(self):
        errors = [plan_frequencies(PRIOR, N, epsilon=1.0, method=name).predicted_error.value for name in KNOWN_ORACLES]
        assert errors[0] <= min(errors[1:]) * (1 + 1e-2)
        assert errors[1] == min(errors[1:])

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            ({}, "a plan needs either epsilon or error, and not both"),
            ({"epsilon": 1.0, "error": 0.1}, "a plan needs either epsilon or error, and not both"),
            ({"error": 0.001}, r"error must exceed 0\.0\d+, what 400 users err by without any privacy, got 0.001: ask"),
            ({"error": math.nan}, "error must be positive and finite, got nan"),
            ({"epsilon": 1.0, "method": "duchi"}, "mechanisms must be out of optimal, auto"),
            ({"epsilon": 0.0}, "epsilon must be"),
        ],
        ids=str,
    )
    def test_what_makes_no_plan_is_refused(self, options, says):
        with pytest.raises(InputError, match=says):
            plan_frequencies(PRIOR, N, **options)
