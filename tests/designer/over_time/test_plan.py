"""Plans over time: the cells of the table of docs/theory/asking-again.md, and which way is chosen."""

# pyright: reportOperatorIssue=false, reportOptionalOperand=false

import math

import numpy as np
import pytest
from optldp.designer import CategoricalPrior, Prior
from optldp.designer.over_time import Repeated, panel_shares, plan_over_time
from optldp.estimators import count, estimate_frequencies
from optldp.mechanisms import InputError, frequency_oracle

PRIOR = Prior.even(np.linspace(-1, 1, 17))


@pytest.fixture(scope="module")
def ways():
    return {way.way: way for way in plan_over_time(PRIOR, 1.0, 1, Repeated(12, 1, answers="at-end"))}


@pytest.mark.slow
def test_cells_of_the_finding_are_met(ways):
    """Variances times n at T = 12, one change, E = 1."""
    assert ways["panel"].error_per_period ** 2 == pytest.approx(51.04, abs=0.02)
    assert ways["rows"].error_per_period ** 2 == pytest.approx(35.7, abs=0.1)
    assert ways["directions"].error_per_period ** 2 == pytest.approx(6.5 * 6.476, rel=0.01)
    assert ways["fresh"].error_per_period ** 2 == pytest.approx(4.0 * 144, rel=0.01)


def test_no_way_that_promises_a_life_is_below_the_lower_bound(ways):
    for way in ways.values():
        assert way.floor is None if way.way == "memoised" else way.floor < way.error_per_period


def test_memoising_has_no_promise_of_a_life_and_is_not_chosen_unless_patterns_may_be_seen(ways):
    assert ways["memoised"].life_epsilon is None
    assert next(iter(ways)) == "tree"
    assert plan_over_time(PRIOR, 1.0, 1, Repeated(12, 1, protects="pattern"))[0].way == "memoised"


def test_one_period_is_protected_best_by_fresh_reports_whose_life_is_said():
    best, *_ = plan_over_time(PRIOR, 1.0, 100, Repeated(12, protects="event"))
    assert (best.way, best.life_epsilon) == ("fresh", 12.0)


@pytest.mark.nightly
def test_on_time_nothing_that_answers_at_the_end_is_named():
    ways = plan_over_time(PRIOR, 1.0, 100, Repeated(12, 1))
    assert {way.way for way in ways} == {"panel", "fresh", "memoised", "rows", "tree"}
    assert ways[0].way == "tree"
    assert plan_over_time(PRIOR, 1.0, 100, Repeated(12))[0].way == "panel", "the simplest of those that err alike"


@pytest.mark.parametrize(
    ("asked", "cell"),
    [(Repeated(12, 0), 0.108), (Repeated(12, 1), 5.04)],
)
def test_on_time_one_report_tells_what_stays_and_rows_of_changes_gain_at_larger_budgets(asked, cell):
    """Cells of section 3 at E = 4; there levels and changes have a table each, which gains up to 4% more."""
    best, *others = plan_over_time(PRIOR, 4.0, 1, asked)
    panel = next(way for way in others if way.way == "panel")
    assert best.way == "rows"
    assert best.error(asked.of) ** 2 == pytest.approx(cell, rel=0.04)
    assert best.error(asked.of) < 0.98 * panel.error(asked.of)


@pytest.mark.nightly
def test_a_tree_errs_less_than_any_way_of_the_finding_on_time():
    """Its cells of section 3 at T = 52, one change: panels 222 and 60, for the change 446."""
    found = [plan_over_time(PRIOR, epsilon, 1, Repeated(52, 1))[0] for epsilon in (1.0, 2.0)]
    assert [way.way for way in found] == ["tree", "tree"]
    assert [way.error_per_period**2 for way in found] == pytest.approx([109.5, 33.7], rel=0.01)
    change = plan_over_time(PRIOR, 1.0, 1, Repeated(52, 1, of="change"))[0]
    assert change.error_of_change**2 == pytest.approx(4 / np.tanh(0.5) ** 2, rel=0.01)


def test_an_average_is_told_best_by_each_users_own_and_is_answered_at_the_end_whatever_is_asked():
    best, *_ = plan_over_time(PRIOR, 4.0, 1, Repeated(52, 4, of="average"))
    assert best.way == "rows"
    assert best.error_of_average**2 == pytest.approx(0.081, rel=0.05)


def test_shares_of_prefix_averages_are_those_of_the_theorem():
    """(sum sqrt((W'W)_tt))^2, less than what even shares give."""
    averages = np.tril(np.ones((12, 12))) / np.arange(1, 13)[:, None]
    lengths = (averages**2).sum(axis=0)
    shares = panel_shares(averages)
    assert (lengths / shares).sum() == pytest.approx(np.sqrt(lengths).sum() ** 2)
    assert (lengths / shares).sum() < 12 * lengths.sum()


def test_a_workload_that_asks_nothing_has_no_shares():
    with pytest.raises(InputError, match="the workload must be"):
        panel_shares(np.zeros((2, 3)))


@pytest.mark.parametrize("arguments", [(1,), (12, 12), (12, -1), (12, 1, "week"), (12, 1, "life", "delay:12")])
def test_a_problem_that_there_is_not_is_refused(arguments):
    with pytest.raises(InputError, match="must be"):
        Repeated(*arguments)


@pytest.mark.parametrize(
    ("periods", "budget", "epsilon", "share"), [(2, 1.0, 0.868, 0.52), (10, 1.0, 4.619, 0.31), (3, 2.0, 3.201, 1.22)]
)
def test_a_panel_of_the_life_epsilon_of_two_remembered_rounds_errs_less_at_small_budgets(
    periods, budget, epsilon, share
):
    """Signs; these epsilons of a life are enumerated in tests/mechanisms/over_time/test_life_ratios.py."""
    rounds = 1 / math.tanh(budget / 2) ** 4 - 1  # each round leaves so much of a sign
    panel = plan_over_time(Prior.even([-1.0, 1.0]), epsilon, 1, Repeated(periods), only="panel")[0]
    assert panel.error_per_period is not None
    assert panel.error_per_period**2 / rounds == pytest.approx(share, abs=0.005)


@pytest.mark.nightly
def test_more_users_err_less_by_the_root():
    few, many = (plan_over_time(PRIOR, 1.0, n, Repeated(12))[0].error_per_period for n in (100, 10_000))
    assert few / many == pytest.approx(math.sqrt(100))


def test_frequencies_are_planned_as_a_panel_simulated_errs_and_rivals_say_what_they_promise():
    prior = CategoricalPrior("abcd", [5, 3, 2, 1])
    best, *others = plan_over_time(prior, 2.0, 1, Repeated(3, 1))
    assert (best.way, best.life_epsilon) == ("panel", 2.0)
    mechanism, rng, errors = frequency_oracle(prior.categories, 2.0), np.random.default_rng(1), []
    for _ in range(200):
        values = rng.choice(4, (900, 3), p=prior.weights)
        turns = rng.permutation(np.arange(900) % 3)
        labels = np.array(list("abcd"))[values[turns == 0, 0]]
        found = estimate_frequencies(count(mechanism, mechanism.sample(labels, rng))).value
        errors.append(900 * np.mean((found - np.bincount(values[:, 0], minlength=4) / 900) ** 2))
    assert abs(np.mean(errors) - best.error_per_period**2) < 3 * np.std(errors) / math.sqrt(200)
    rivals = {way.way: way for way in others if not way.made}
    assert set(rivals) == {"L-GRR", "L-OSUE", "LOLOHA", "dBitFlipPM"}
    assert all(way.life_epsilon is None and "not hidden" in way.promise for way in rivals.values())
