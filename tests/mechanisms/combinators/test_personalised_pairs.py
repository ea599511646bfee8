"""Pairs of a key and a value at levels: what is promised, and what reports tell of the level."""

# Tests know which kind of mechanism they made; the types say only that it may be one of several.
# pyright: reportArgumentType=false

import copy
import json
import math
import pickle

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError, duchi, grr, load_mechanism, piecewise, save_bundle
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.combinators.level_leakage import report_leakage
from optldp.mechanisms.combinators.personalised import PersonalisedMechanism
from optldp.mechanisms.key_value import best_key_value, key_value_response, key_value_unary

from ..key_value_laws import all_sets, set_law, three_outputs

EPSILONS = (0.5, 1.0, 2.0)
MADE = {True: key_value_unary, False: key_value_response}
FORMS = [(unary, padding) for unary in (True, False) for padding in (0, 1, 2)]


def level(epsilon, unary=True, padding=1, keys="ab", family=duchi, knots=(0.0, 1.0), **options):
    return MADE[unary](keys, family(knots, epsilon), epsilon, padding=padding, **options)


def made(level_epsilon=None, **options):
    own = {name: options.pop(name) for name in ("level_mechanism",) if name in options}
    return PersonalisedMechanism([level(epsilon, **options) for epsilon in EPSILONS], level_epsilon, **own)


def laws(mechanism, unary):
    """For every set of pairs, probabilities (t, reports) of what is shown, by enumeration in fractions."""
    kept = [{} for _ in mechanism.levels]
    for pairs in all_sets(len(mechanism.levels[0].keys), mechanism.levels[0].value.knots.size):
        if mechanism.levels[0].padding or len(pairs) == 1:
            yield [set_law(one, unary, pairs, seen) for one, seen in zip(mechanism.levels, kept, strict=True)]


@pytest.mark.parametrize(("unary", "padding"), FORMS)
def test_level_leakage_is_the_largest_log_ratio_of_two_levels_reports(unary, padding):
    """Of any set of pairs, enumerated; a bound where a place stands for each key and users hold several pairs."""
    mechanism = made(0.3, unary=unary, padding=padding)
    largest = max(
        max(a / b for a, b in zip(law[i], law[k], strict=True))
        for law in laws(mechanism, unary)
        for i in range(3)
        for k in range(3)
    )
    said = report_leakage(mechanism.levels)
    assert mechanism.level_leakage == pytest.approx(said + 0.3)
    if unary and padding > 1:
        assert math.log(largest) <= said <= 1.5 * math.log(largest)
    else:
        assert said == pytest.approx(math.log(largest), rel=1e-12)


@pytest.mark.parametrize("unary", [True, False])
def test_leakage_is_that_of_an_uneven_table_too(unary):
    """Three outputs of different weights, in the same two budgets; dummies of randomised response show outputs too."""
    tables = [three_outputs(0.9), grr([0.0, 1.0, 3.0], 0.3)]
    levels = [MADE[unary](["a", "b"], table, e, padding=1) for table, e in zip(tables, (1.0, 0.5), strict=True)]
    mechanism = PersonalisedMechanism(levels[::-1])
    enumerated = max(
        max(a / b for a, b in zip(law[i], law[1 - i], strict=True)) for law in laws(mechanism, unary) for i in (0, 1)
    )
    assert report_leakage(mechanism.levels) == pytest.approx(math.log(enumerated), rel=1e-12)
    assert mechanism.level_leakage == math.inf  # in the clear


@pytest.mark.parametrize("unary", [True, False])
def test_duchis_outputs_do_not_give_the_level_away_but_many_places_do(unary):
    """Outputs are told by numbers; one place of many tells no more than of few, a place for each key ever more."""
    few, many = (report_leakage(made(unary=unary, keys=range(size)).levels) for size in (2, 40))
    assert few < 2.5
    assert many > 10 if unary else many < 2.0


@pytest.mark.nightly
@pytest.mark.parametrize(("unary", "expected"), [(True, (2.56, 8.89, 25.83, 85.12)), (False, (0.99, 1.27, 1.41, 1.47))])
def test_the_best_mechanism_of_each_level_leaks_as_the_page_says(unary, expected):
    """Of 3, 10, 30 and 100 keys, each level designed by itself."""
    for keys, leakage in zip((3, 10, 30, 100), expected, strict=True):
        levels = [best_key_value(range(keys), lambda e: duchi([0.0, 1.0], e), e, unary=unary) for e in EPSILONS]
        assert report_leakage(PersonalisedMechanism(levels).levels) == pytest.approx(leakage, abs=0.006)


@pytest.mark.parametrize("unary", [True, False])
def test_reports_tell_of_the_pairs_no_more_than_the_levels_budget(unary):
    """Given the level, the largest ratio over any two sets is at most e^epsilon, and nearly that."""
    mechanism = made(unary=unary)
    every = list(laws(mechanism, unary))
    for i, epsilon in enumerate(EPSILONS):
        ratio = max(max(a / b for a, b in zip(one[i], other[i], strict=True)) for one in every for other in every)
        assert ratio == pytest.approx(math.exp(epsilon), rel=1e-9)
        assert ratio <= (mechanism.levels[i].largest_ratio or 0) <= math.exp(epsilon) * (1 + 1e-12)
    assert mechanism.failures() == ()


def test_all_pairs_of_a_user_are_as_likely_at_every_level():
    """Users of two pairs: each key is shown as often as enumerated, within five standard deviations."""
    n, mechanism = 20_000, made(0.5, unary=False, padding=2)
    users = np.repeat(np.arange(n), 2)
    keys, values = np.tile(["a", "b"], n), np.tile([0.0, 1.0], n)
    for i in range(3):
        sets = mechanism.levels[i].inputs.of_sets(users, keys, values, n)
        sent = mechanism.sample(sets, np.full(n, i), np.random.default_rng(i))
        law = np.array(set_law(mechanism.levels[i], False, [(0, 0), (1, 1)], {}), dtype=float)
        seen = np.bincount(sent.reports, minlength=law.size) / n
        assert (np.abs(seen - law) <= 5 * np.sqrt(law * (1 - law) / n)).all()
        told = np.bincount(sent.levels, minlength=3) / n
        assert (np.abs(told - mechanism.level_response[i]) < 5 * 0.5 / math.sqrt(n)).all()


def test_a_saved_mechanism_comes_back_and_is_proved(tmp_path):
    """As it was, with a copy and a pickle; a file that was altered is refused."""
    for mechanism in (made(0.3), made(unary=False, level_mechanism=optimised_unary("abc", 1.0))):
        save_bundle(mechanism, tmp_path / "made.json")
        for again in (
            load_mechanism(tmp_path / "made.json"),
            copy.copy(mechanism),
            pickle.loads(pickle.dumps(mechanism)),
        ):
            assert isinstance(again, PersonalisedMechanism)
            assert again.failures() == ()
            first = again.levels[0]
            assert (again.epsilons, first.keys.labels, first.padding) == (EPSILONS, ("a", "b"), 1)
            assert again.level_leakage == mechanism.level_leakage
    document = json.loads((tmp_path / "made.json").read_text())
    document["levels"] = document["levels"][::-1]
    (tmp_path / "made.json").write_text(json.dumps(document))
    with pytest.raises(TableError, match="in the order of their budgets"):
        load_mechanism(tmp_path / "made.json")


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([level(0.5)], "2 to 256 levels, got 1"),
        ([level(1.0), level(0.5)], "in the order of their budgets"),
        ([level(0.5), level(1.0, unary=False)], "kinds 'KeyValueUnary' and 'KeyValueResponse'"),
        ([level(0.5), level(1.0, keys="ac")], "keys .* make them alike"),
        ([level(0.5), level(1.0, padding=2)], "paddings 1 and 2"),
        ([level(0.5), level(1.0, knots=(0.0, 2.0))], "knots"),
        ([level(0.5), level(1.0, family=piecewise)], "numbers of outputs"),
        ([level(0.5), categorical_grr("ab", 1.0)], "levels must match, got kinds"),
    ],
)
def test_levels_that_do_not_match_are_refused_in_one_line(levels, message):
    """Each with what does not match."""
    with pytest.raises(InputError, match=message):
        PersonalisedMechanism(levels)


def test_pairs_and_levels_that_are_none_are_refused():
    """Half a pair, another key, a value outside, a level that there is not, too few of them."""
    mechanism = made()
    for keys, values, levels, message in (
        (["a"], [math.nan], [0], "must have a value"),
        (["c"], [0.5], [0], "'c'"),
        (["a"], [1.5], [0], r"\[0, 1\]"),
        (["a"], [0.5], [3], "levels must be among the 3 declared"),
        (["a"], [0.5], [0, 1], "as many, got 1 and 2"),
    ):
        with pytest.raises(InputError, match=message):
            mechanism.sample((keys, values), levels)
    with pytest.raises(InputError, match="users must lie in "):
        mechanism.levels[0].inputs.of_sets([1], ["a"], [0.5], 1)
    with pytest.raises(InputError, match="must hold a pair where padding is 0"):
        made(padding=0).sample(([""], [math.nan]), [0])
