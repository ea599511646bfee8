"""Several attributes at levels: what reports tell of values and of levels, by enumeration."""

import copy
import json
import math
import pickle
from itertools import combinations, product

import numpy as np
import pytest
from optldp.mechanisms import (
    AttributeSampling,
    InputError,
    TableError,
    duchi,
    grr,
    load_mechanism,
    make_exact,
    save_bundle,
)
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.combinators.attribute_sampling import attribute_budget
from optldp.mechanisms.combinators.level_leakage import report_leakage
from optldp.mechanisms.combinators.personalised import PersonalisedMechanism

EPSILONS = (0.5, 1.0, 2.0)
KNOTS = {"age": [20.0, 60.0], "pay": [0.0, 5.0, 10.0], "hours": [0.0, 40.0]}


def level(epsilon, sampled=2, family=grr, knots=KNOTS):
    share = attribute_budget(epsilon, sampled)
    return AttributeSampling.of({n: make_exact(family(k, share)).mechanism for n, k in knots.items()}, sampled, epsilon)


def made(level_epsilon=None, **options):
    return PersonalisedMechanism([level(epsilon) for epsilon in EPSILONS], level_epsilon, **options)


def law(mechanism, values):
    """Probability of every report of the level, drawn set and outputs, for each level and row of knots' numbers."""
    found = {}
    sets = list(combinations(range(len(mechanism.inputs.values.intervals)), mechanism.levels[0].sampled))
    for i, sampling in enumerate(mechanism.levels):
        for drawn in sets:
            tables = [sampling.mechanisms[j].probabilities[values[j]] for j in drawn]
            for outputs in product(*(range(row.size) for row in tables)):
                chance = math.prod(row[o] for row, o in zip(tables, outputs, strict=True)) / len(sets)
                for told, share in enumerate(mechanism.level_response[i]):
                    found.setdefault((told, drawn, outputs), np.zeros(len(EPSILONS)))[i] = share * chance
    return found


def every_value():
    return list(product(*(range(len(knots)) for knots in KNOTS.values())))


def test_reports_tell_of_all_values_together_no_more_than_the_levels_budget():
    """Given the level, the largest log-ratio of two rows' reports is at most its epsilon, and nearly that."""
    mechanism = made(0.3)
    laws = [np.array(list(law(mechanism, values).values())) for values in every_value()]
    largest = np.max([np.log(one / other).max(axis=0) for one in laws for other in laws], axis=0)
    assert (largest <= np.array(EPSILONS) + 1e-12).all()
    np.testing.assert_allclose(largest, EPSILONS, rtol=1e-6)


@pytest.mark.parametrize("protection", [{"level_epsilon": 0.3}, {"level_mechanism": categorical_grr("abc", 0.7)}])
def test_level_leakage_is_the_largest_log_ratio_of_two_levels_whole_reports(protection):
    """Enumerated over all values, sets and outputs; attributes of two and of three values tell different amounts."""
    mechanism = made(**protection)
    laws = np.concatenate([list(law(mechanism, values).values()) for values in every_value()])
    enumerated = max(np.log(laws[:, i] / laws[:, k]).max() for i in range(3) for k in range(3))
    assert mechanism.level_leakage == pytest.approx(enumerated, rel=1e-12)
    assert mechanism.level_leakage > (mechanism.level_epsilon or 0.0) + 0.3


def test_levels_in_the_clear_or_on_outputs_of_their_own_leak_all():
    """Duchi's outputs move with the budget."""
    assert made().level_leakage == math.inf
    assert report_leakage(made().levels) < math.inf
    assert report_leakage([level(epsilon, family=duchi) for epsilon in EPSILONS]) == math.inf


@pytest.mark.parametrize("own", [False, True])
def test_drawn_reports_follow_the_law(own):
    """Frequencies of whole reports are within five standard deviations of the enumerated law, at every level."""
    n, place = 30_000, (1, 2, 0)
    mechanism = made(level_mechanism=optimised_unary("abc", 1.0)) if own else made(0.8)
    values = {name: np.full(n, knots[at]) for (name, knots), at in zip(KNOTS.items(), place, strict=True)}
    expected, knots = law(mechanism, place), list(KNOTS.values())
    for i in range(3):
        sent = mechanism.sample(values, np.full(n, i), np.random.default_rng(5 + i))
        drawn = ~np.isnan(sent.reports)
        assert (drawn.sum(axis=1) == 2).all()
        for (told, chosen, outputs), chances in expected.items():
            same = (sent.levels == told) & drawn[:, chosen].all(axis=1)
            for j, output in zip(chosen, outputs, strict=True):
                same &= sent.reports[:, j] == knots[j][output]
            chance = chances[i]
            assert abs(same.mean() - chance) <= 5 * math.sqrt(chance * (1 - chance) / n) + 1e-12


def test_a_saved_mechanism_comes_back_and_is_proved(tmp_path):
    """As it was, with a copy and a pickle; a file that was altered is refused."""
    for mechanism in (made(0.3), made(level_mechanism=optimised_unary("abc", 1.0))):
        save_bundle(mechanism, tmp_path / "made.json")
        for again in (
            load_mechanism(tmp_path / "made.json"),
            copy.copy(mechanism),
            pickle.loads(pickle.dumps(mechanism)),
        ):
            assert isinstance(again, PersonalisedMechanism)
            assert again.failures() == ()
            first = again.levels[0]
            assert (again.epsilons, first.attributes, first.sampled) == (EPSILONS, tuple(KNOTS), 2)
            assert again.level_leakage == mechanism.level_leakage
    document = json.loads((tmp_path / "made.json").read_text())
    document["levels"] = document["levels"][::-1]
    (tmp_path / "made.json").write_text(json.dumps(document))
    with pytest.raises(TableError, match="in the order of their budgets"):
        load_mechanism(tmp_path / "made.json")


def test_one_attribute_has_the_tables_of_all_levels_and_their_report():
    """Levels of pay alone."""
    mechanism = made(0.3)
    alone = mechanism.of_column("pay")
    assert [table.knots.tolist() for table in alone.levels] == [KNOTS["pay"]] * 3
    np.testing.assert_array_equal(alone.level_response, mechanism.level_response)
    with pytest.raises(InputError, match=r"columns must be among age, pay, hours, got 'wage'"):
        mechanism.of_column("wage")


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ([level(0.5)], "2 to 256 levels, got 1"),
        ([level(1.0), level(0.5)], "in the order of their budgets"),
        ([level(0.5), level(0.5)], "epsilon 0.5 twice"),
        ([level(0.5), level(1.0, sampled=1)], "numbers of sampled attributes 2 and 1"),
        ([level(0.5), level(1.0, knots=dict(reversed(KNOTS.items())))], "attributes .* make them alike"),
        (
            [level(0.5), level(1.0, knots=KNOTS | {"pay": [0.0, 1.0]})],
            "'pay': levels must match, got domains",
        ),
        ([level(0.5), make_exact(grr([0.0, 1.0], 1.0)).mechanism], "levels must match, got kinds"),
        ([level(e, 1, knots={"pay": [0.0, 1.0], "level": [0.0, 1.0]}) for e in EPSILONS], "not be named 'level'"),
    ],
)
def test_levels_that_do_not_match_are_refused_in_one_line(levels, message):
    """Each with what does not match."""
    with pytest.raises(InputError, match=message):
        PersonalisedMechanism(levels)


def test_values_and_levels_that_are_none_are_refused():
    """Also those of attributes that would not have been drawn."""
    mechanism, values = made(), {"age": [30.0], "pay": [3.0], "hours": [10.0]}
    with pytest.raises(InputError, match="as many, got 1 and 2"):
        mechanism.sample(values, [0, 1])
    with pytest.raises(InputError, match="levels must be among the 3 declared"):
        mechanism.sample(values, [3])
    for _ in range(20):
        with pytest.raises(InputError, match="attribute 'hours': "):
            mechanism.sample(values | {"hours": [41.0]}, [0])
