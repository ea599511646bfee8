"""A race of candidates whose errors are drawn from known laws: what it stops and keeps, and how often it is wrong."""

import math

import numpy as np
import pytest
from optldp.designer.planning import race as race_module
from optldp.designer.planning.race import (
    KEPT,
    LOOKS,
    RISK,
    Errors,
    Place,
    Race,
    controlled,
    is_behind,
    is_decided,
    log_ratio,
    run_race,
)

NAMES = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "y")]


def drawn_by(means, seed, spread=0.3):
    """Errors with these means: a share that all candidates of a draw have in common, and one of their own."""

    def draw(mechanism, estimators, number):
        common = np.random.default_rng([seed, number]).normal(0, spread)
        found = {}
        for estimator in estimators:
            one = (mechanism, estimator)
            own = np.random.default_rng([seed, number, 1 + NAMES.index(one)]).normal(0, spread)
            found[estimator] = Errors(1.0, math.nan, means[one] * math.exp(common + own - spread**2), 0.0, 0.0)
        return found

    return draw


def test_the_clearly_worse_stop_and_the_leaders_get_fresh_draws():
    means = dict(zip(NAMES, [1.0, 1.05, 1.1, 20.0, 20.0, 20.0], strict=True))
    race = run_race(NAMES, {}, drawn_by(means, 1), "wasserstein", 12)
    assert race.worse == {("b", "y"), ("c", "x"), ("c", "y")}
    assert all(len(race.drawn[one]) <= LOOKS[1] for one in race.worse)
    assert set(race.fresh) == set(race.order[:2]) <= {("a", "x"), ("a", "y"), ("b", "x")}
    assert all(len(errors) == 12 for errors in race.fresh.values())
    assert len(race.order) == len(NAMES)


@pytest.mark.nightly
def test_the_best_is_hardly_ever_taken_for_clearly_worse():
    """All alike but one that is a little better: in 100 races it may be stopped so in a twentieth of them."""
    means = dict.fromkeys(NAMES, 1.0) | {("b", "x"): 0.98}
    stopped = sum(("b", "x") in run_race(NAMES, {}, drawn_by(means, k), "wasserstein", 4).worse for k in range(100))
    assert stopped <= 100 * RISK + 2 * math.sqrt(100 * RISK)


@pytest.mark.nightly
def test_what_is_said_of_the_leaders_is_right_on_average_where_the_race_flatters():
    """All alike: the winner's own draws say too little, fresh ones the truth."""
    means = dict.fromkeys(NAMES, 1.0)
    raced, fresh = [], []
    for k in range(100):
        race = run_race(NAMES, {}, drawn_by(means, k, spread=0.5), "wasserstein", 6)
        best = race.order[0]
        raced.append(np.mean([errors.wasserstein for errors in race.drawn[best]]))
        fresh.append(np.mean([errors.wasserstein for errors in race.fresh[best]]))
    truth = math.exp(0.5**2 - 0.5**2)
    assert np.mean(raced) < truth - 4 * np.std(raced) / math.sqrt(100)
    assert np.mean(fresh) == pytest.approx(truth, abs=float(4 * np.std(fresh) / math.sqrt(100)))


def test_what_is_known_costs_nothing_and_is_compared_with_all():
    means = dict(zip(NAMES, [1.0, 1.05, 30.0, 30.0, 30.0, 30.0], strict=True))
    race = run_race(NAMES, {("d", "exact"): 0.5, ("e", "exact"): 40.0}, drawn_by(means, 1), "wasserstein", 4)
    assert race.order[0] == ("d", "exact")
    assert list(race.fresh) == [race.order[1]]
    ratio, error = log_ratio(race, {("d", "exact"): 0.5}, "wasserstein")
    assert ratio == pytest.approx(math.log(2), abs=5 * error)
    alone = run_race([], {("d", "exact"): 0.5}, drawn_by(means, 1), "wasserstein", 4)
    assert (alone.order, alone.fresh, alone.worse) == ((("d", "exact"),), {}, frozenset())


def test_a_control_variate_takes_out_what_is_common_to_it():
    """Errors that follow it closely are known ten times as well."""

    def draw(mechanism, estimators, number):
        rng = np.random.default_rng([3, number])
        control = rng.chisquare(1) - 1
        return {name: Errors(2 + 2 * control + 0.02 * rng.normal(), 0.0, 0.0, control, 0.0) for name in estimators}

    race = run_race([("a", "x")], {("d", "exact"): 2.0}, draw, "squared", 12)
    ratio, error = log_ratio(race, {("d", "exact"): 2.0}, "squared")
    assert abs(ratio) < 0.05
    assert error < 0.05


def test_no_more_than_so_many_go_on():
    means = dict.fromkeys(NAMES, 1.0)
    calls = []

    def noting(mechanism, estimators, number):
        calls.extend((number, mechanism, estimator) for estimator in estimators)
        return drawn_by(means, 1)(mechanism, estimators, number)

    run_race(NAMES, {}, noting, "wasserstein", 12)
    running = [sum(number == at for number, *_ in calls) for at in range(12 + 12)]
    first, then, last = LOOKS
    assert running[:first] == [6] * first
    assert running[then:last] == [KEPT[1]] * (last - then)
    assert running[last:] == [KEPT[2]] * 12 + [0] * (12 - last)


def test_what_a_control_variate_takes_off_never_leaves_less_than_no_error():
    one = ("a", "x")
    errors = [Errors(squared, 0.1, 0.1, control, 0.0) for squared, control in ((1.0, 3.0), (1.2, 4.0))]
    before = [Errors(squared, 0.1, 0.1, 0.0, 0.0) for squared in (1.0, 1.2)]
    race = Race({one: before}, {one: errors}, frozenset(), (one,), {"x": np.array([1.0, 0.0])}, {})
    assert controlled(race, one, "squared") == pytest.approx([1.0, 1.2])


def test_both_control_variates_of_a_distance_are_taken_out():
    """Errors that follow two of them closely are known twenty times as well, without a bias."""

    def draw(mechanism, estimators, number):
        rng = np.random.default_rng([5, number])
        rough, smoothed = rng.uniform(-0.5, 0.5, 2)
        own = 1 + 0.6 * rough + 0.3 * smoothed + 0.005 * rng.normal()
        return {name: Errors(1.0, 0.1, own, 0.0, 0.0, rough, smoothed) for name in estimators}

    race = run_race([("a", "x")], {}, draw, "wasserstein", 12)
    found = controlled(race, ("a", "x"), "wasserstein")
    assert found.mean() == pytest.approx(1.0, abs=0.02)
    assert found.std() < 0.05 * np.std([errors.wasserstein for errors in race.fresh["a", "x"]]) * 4


@pytest.mark.nightly
def test_what_linear_estimates_err_by_finds_the_best_more_often_than_few_draws(monkeypatch):
    """Mechanisms that differ by a tenth, as the linear estimate says, in draws that scatter by half: in the race."""
    monkeypatch.setattr(race_module, "MOST_FRESH", 1)
    monkeypatch.setattr(race_module, "is_behind", lambda ratio, error: False)
    means = dict(zip(NAMES, [1.0, 1.3, 1.1, 1.43, 1.21, 1.573], strict=True))
    linear = {"a": 2.0, "b": 2.2, "c": 2.42}
    right = {None: 0, "linear": 0}
    for k in range(40):
        for name in right:
            told = linear if name else None
            race = run_race(NAMES, {}, drawn_by(means, k, spread=0.5), "wasserstein", 4, linear=told)
            right[name] += race.order[0] == ("a", "x")
    assert right["linear"] >= right[None] + 8


def test_what_linear_estimates_err_by_does_not_hide_a_difference_that_draws_show():
    means = dict(zip(NAMES, [1.0, 1.0, 0.3, 1.0, 1.0, 1.0], strict=True))
    race = run_race(NAMES, {}, drawn_by(means, 1, spread=0.1), "wasserstein", 6, linear={"a": 1.0, "b": 1.5, "c": 1.0})
    assert race.order[0] == ("b", "x")


def test_mean_errors_of_unequal_numbers_of_draws_are_compared_as_independent_ones():
    """The same draws say more: what they have in common cancels."""
    rng = np.random.default_rng(5)
    common = rng.exponential(1.0, 80)
    first, second = Place.of_values(common), Place.of_values(1.1 * common)
    behind, error = second - first
    assert (behind, error) == (pytest.approx(math.log(1.1)), pytest.approx(0.0, abs=1e-12))
    fewer = Place.of_values(common[:30])
    alone = [float(one.pseudo.std(ddof=1)) / math.sqrt(one.pseudo.size) for one in (second, fewer)]
    assert (second - fewer)[1] == pytest.approx(math.hypot(*alone))


@pytest.mark.slow
def test_draws_go_on_until_it_is_decided_which_of_two_errs_less():
    """Two that differ by a third in draws that scatter as much; two that are alike stop at four times as many."""
    far, near = dict.fromkeys(NAMES, 9.0), dict.fromkeys(NAMES, 9.0)
    far |= {("a", "x"): 1.0, ("a", "y"): 1.35}
    near |= {("a", "x"): 1.0, ("a", "y"): 1.0}
    many = []
    for means in (far, near):
        races = [run_race(NAMES, {}, drawn_by(means, k), "wasserstein", 4) for k in range(20)]
        many.append([len(race.fresh["a", "x"]) for race in races])
        for race, fresh in zip(races, many[-1], strict=True):
            assert {len(errors) for errors in race.fresh.values()} == {fresh} <= {4, 8, 16}
            assert fresh == 16 or is_decided(*log_ratio(race, {}, "wasserstein"))
    assert np.mean(many[0]) < np.mean(many[1])


@pytest.mark.nightly
def test_the_first_is_never_clearly_behind_the_second():
    """Whichever the race put first: what is printed of the two does not contradict their order."""
    means = dict(zip(NAMES, [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], strict=True))
    for k in range(40):
        race = run_race(NAMES, {}, drawn_by(means, k, spread=0.5), "wasserstein", 4)
        assert not is_behind(*log_ratio(race, {}, "wasserstein"))


@pytest.mark.slow
def test_what_went_no_further_is_compared_with_the_first_in_the_same_draws():
    """A third that is half as bad again is said to be so, however lucky the draws were that both had in common."""
    means = dict(zip(NAMES, [1.0, 1.02, 1.5, 9.0, 9.0, 9.0], strict=True))
    found = []
    for k in range(40):
        race = run_race(NAMES, {}, drawn_by(means, k, spread=0.1), "wasserstein", 4)
        found.append(race.over_first["b", "x"])
    assert np.mean(found) == pytest.approx(math.log(1.5), abs=0.05)
