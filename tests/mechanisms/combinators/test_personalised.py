"""Personalised budgets: two reports for each user, and what they tell."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from optldp.mechanisms import (
    Categories,
    InputError,
    PersonalisedMechanism,
    Provenance,
    TableError,
    TabulatedMechanism,
    grr,
    laplace,
    load_mechanism,
    piecewise,
    save_bundle,
)
from optldp.mechanisms.categorical import CategoricalTable, basic_rappor, categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.combinators.level_leakage import report_leakage
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.mechanisms.integers.numerators import DENOMINATOR

EPSILONS = (0.1, 0.5, 1.0)


def hashing(categories, epsilon):
    return local_hashing(categories, epsilon, n_values=3)


def subsets(categories, epsilon):
    return subset_selection(categories, epsilon, n_chosen=2)


FAMILIES = (categorical_grr, basic_rappor, optimised_unary, hashing, subsets)


def personalised(family, level_epsilon: float | None = 0.3, categories="abcd"):
    return PersonalisedMechanism([family(categories, epsilon) for epsilon in EPSILONS], level_epsilon)


def pair_law(mechanism):
    """(t, K, t, D) probability of each reported level and report under each level and category, enumerated."""
    values = np.array([level.pmf(level.all_reports()).T for level in mechanism.levels])
    return mechanism.level_response[:, None, :, None] * values[:, :, None, :]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_pair_of_reports_tells_of_the_value_no_more_than_the_levels_budget(family):
    """Given the level, the largest log-ratio of two values' pairs is at most its epsilon."""
    law = pair_law(personalised(family))
    np.testing.assert_allclose(law.sum(axis=(2, 3)), 1.0, atol=1e-12)
    for epsilon, rows in zip(EPSILONS, law, strict=True):
        assert np.log(rows.max(axis=0) / rows.min(axis=0)).max() <= epsilon + 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_the_levels_own_report_keeps_its_budget(family):
    """The reported level, alone, tells of the level at most level_epsilon, and nearly that."""
    response = personalised(family).level_response
    leaked = np.log(response.max(axis=0) / response.min(axis=0)).max()
    assert 0.3 - 1e-9 < leaked <= 0.3


@pytest.mark.parametrize("family", FAMILIES)
def test_level_leakage_is_the_largest_log_ratio_of_two_levels_pairs(family):
    """The closed form equals the maximum over all pairs of reports, which is above the level's own budget."""
    mechanism = personalised(family)
    law = pair_law(mechanism)
    enumerated = float(np.log(law.max(axis=0) / law.min(axis=0)).max())
    assert mechanism.level_leakage == pytest.approx(enumerated, rel=1e-12)
    assert mechanism.level_leakage > 1.5 * 0.3


def test_tables_of_numbers_with_the_same_outputs_leak_what_their_entries_do():
    """GRR on numbers leaks what GRR on categories does; families whose outputs move with epsilon leak all."""
    knots = [0.0, 1.0, 2.0, 3.0]
    leaked = report_leakage([exact(grr(knots, epsilon)) for epsilon in EPSILONS])
    assert leaked == pytest.approx(report_leakage([categorical_grr("abcd", epsilon) for epsilon in EPSILONS]), rel=1e-9)
    for family in (piecewise, laplace):
        assert report_leakage([family(knots, epsilon) for epsilon in EPSILONS]) == math.inf
    assert PersonalisedMechanism([exact(piecewise(knots, e)) for e in EPSILONS], 0.1).level_leakage == math.inf


def test_a_report_that_one_level_cannot_make_leaks_the_level():
    """A zero in one level's table where another has none makes the leakage infinite."""
    half = DENOMINATOR // 2
    sure = CategoricalTable(Categories("ab"), 0.5, Provenance(), [[half, half, 0], [half, half, 0]])
    wide = CategoricalTable(Categories("ab"), 1.0, Provenance(), [[half, half // 2, half // 2]] * 2)
    assert report_leakage([sure, wide]) == math.inf


def test_levels_in_the_clear_leak_without_bound():
    """Without a budget for the level, the reported levels are the true ones."""
    mechanism = personalised(basic_rappor, None)
    sent = mechanism.sample(list("abcab"), [0, 2, 1, 1, 0], np.random.default_rng(1))
    assert sent.levels.tolist() == [0, 2, 1, 1, 0]
    assert mechanism.level_leakage == math.inf


@pytest.mark.parametrize("family", FAMILIES)
def test_reports_are_drawn_from_the_enumerated_law(family):
    """Counts of all pairs, in a simulation, lie within five standard errors of the law of their users."""
    mechanism, rng = personalised(family), np.random.default_rng(2)
    codes, levels = rng.integers(0, 4, 60_000), rng.integers(0, 3, 60_000)
    sent = mechanism.sample(np.array(list("abcd"))[codes], levels, rng)
    listed = mechanism.levels[0].all_reports()
    same = (sent.reports[:, None] == listed).reshape(60_000, len(listed), -1).all(axis=2)
    law = pair_law(mechanism)[levels, codes]
    for level in range(3):
        seen, expected = (same & (sent.levels == level)[:, None]).sum(axis=0), law[:, level].sum(axis=0)
        spread = np.sqrt((law[:, level] * (1 - law[:, level])).sum(axis=0))
        assert (np.abs(seen - expected) < 5 * spread).all()


def test_every_user_gets_the_report_of_their_own_value_and_level():
    """At large budgets reports are the values and the levels, in the order of the users."""
    mechanism = PersonalisedMechanism([categorical_grr("abcdefgh", epsilon) for epsilon in (15.0, 16.0)], 16.0)
    values, levels = np.tile(np.arange(8), 5), np.arange(40) % 2
    sent = mechanism.sample(np.array(list("abcdefgh"))[values], levels, np.random.default_rng(3))
    np.testing.assert_array_equal(sent.reports, values)
    np.testing.assert_array_equal(sent.levels, levels)


def test_real_reports_come_from_the_operating_system():
    """Without an rng, reports have the kind and number that a simulation has, for no users too."""
    tables = PersonalisedMechanism([exact(grr([0, 1], epsilon)) for epsilon in EPSILONS], 0.3)
    for mechanism, values in ((personalised(basic_rappor), ["a", "b"]), (tables, [0.5, 1.0])):
        sent, none = mechanism.sample(values, [0, 2]), mechanism.sample([], np.zeros(0, dtype=int))
        assert sent.levels.shape == (2,)
        assert len(sent.reports) == 2
        assert len(none.reports) == len(none.levels) == 0


def test_budgets_are_turned_into_levels():
    """A budget written with other last digits is the level's; one that is no level's is refused with its row."""
    mechanism = PersonalisedMechanism([exact(grr([0, 1], 0.1 * k)) for k in range(1, 11)])
    np.testing.assert_array_equal(mechanism.level_numbers([0.3, 1.0, 0.1, 0.7]), [2, 9, 0, 6])
    with pytest.raises(InputError, match=r"got 2 that are not, the first 0\.35 in row 2$"):
        mechanism.level_numbers([0.3, 0.35, 7.0])


def refused():
    rappor = [basic_rappor("ab", epsilon) for epsilon in EPSILONS]
    made = PersonalisedMechanism(rappor, 0.3)
    tables = PersonalisedMechanism([exact(grr([0, 1], epsilon)) for epsilon in EPSILONS], 0.3)
    return {
        r"2 to 256 levels, got 1": lambda: PersonalisedMechanism(rappor[:1]),
        r"epsilon 0.1 twice": lambda: PersonalisedMechanism([rappor[0], rappor[0]]),
        r"epsilon 0.1 after 1: sort": lambda: PersonalisedMechanism(rappor[::-2]),
        r"level_epsilon must be positive and finite, got 0$": lambda: PersonalisedMechanism(rappor, 0),
        r"level_epsilon must be positive and finite, got -1$": lambda: PersonalisedMechanism(rappor, -1),
        r"categories, pairs or attributes, got 'rappor'": lambda: PersonalisedMechanism(["rappor"] * 2),
        r"got categories": lambda: PersonalisedMechanism([rappor[0], basic_rappor("ac", 0.5)]),
        r"got kinds": lambda: PersonalisedMechanism([rappor[0], categorical_grr("ab", 0.5)]),
        r"got domains": lambda: PersonalisedMechanism([exact(grr([0, 1], 0.1)), exact(grr([0, 2], 0.5))]),
        r"got numbers of outputs": lambda: PersonalisedMechanism(
            [local_hashing("abcd", e, n_values=g) for e, g in ((0.1, 2), (0.5, 3))]
        ),
        r"got numbers of outputs 2 and 1": lambda: PersonalisedMechanism(
            [subset_selection("abcd", e, n_chosen=d) for e, d in ((0.1, 2), (0.5, 1))]
        ),
        r"got 2 that are not, the first 3 in row 2": lambda: made.sample(["a"] * 3, [0, 3, -1]),
        r"levels must be one-dimensional integers": lambda: made.sample(["a"], [0.5]),
        r"values and levels must be as many, got 2 and 1": lambda: made.sample(["a", "b"], [0]),
        r"got 1 that are not, the first 'c' in row 2": lambda: made.sample(["a", "c"], [0, 0]),
        r"values must lie in \[0, 1\], got 1 of 2": lambda: tables.sample([0.5, 1.5], [0, 0]),
        r"rng must be a numpy.random.Generator": lambda: made.sample(["a"], [0], 7),
    }


@pytest.mark.parametrize("message", refused())
def test_what_does_not_fit_is_refused_in_one_line(message):
    """Every fault has a message of its own."""
    with pytest.raises(InputError, match=message) as caught:
        refused()[message]()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("level_epsilon", [0.3, None])
@pytest.mark.parametrize(
    "levels",
    [
        [basic_rappor("abc", e) for e in EPSILONS],
        [categorical_grr("abc", e) for e in EPSILONS],
        [exact(piecewise([0.0, 0.5, 1.0], e)) for e in EPSILONS],
    ],
)
def test_a_bundle_comes_back_as_it_was(tmp_path, levels, level_epsilon):
    """What is read draws the same reports from the same random numbers."""
    mechanism = PersonalisedMechanism(levels, level_epsilon)
    save_bundle(mechanism, tmp_path / "levels.json")
    again = load_mechanism(tmp_path / "levels.json")
    assert isinstance(again, PersonalisedMechanism)
    assert repr(again) == repr(mechanism)
    assert again.level_leakage == mechanism.level_leakage
    values = ["a", "b", "c"] if not isinstance(levels[0], TabulatedMechanism) else [0.1, 0.5, 0.9]
    first, second = (made.sample(values, [0, 1, 2], np.random.default_rng(4)) for made in (mechanism, again))
    np.testing.assert_array_equal(first.levels, second.levels)
    np.testing.assert_array_equal(first.reports, second.reports)


def test_a_level_that_claims_too_little_is_never_written(tmp_path):
    """A table of epsilon 1 that claims 0.5 fails, with its level named; nothing is written."""
    honest = categorical_grr("ab", 1.0)
    liar = CategoricalTable(honest.categories, 0.5, honest.provenance, honest.numerators)
    mechanism = PersonalisedMechanism([categorical_grr("ab", 0.1), liar], 0.3)
    assert mechanism.failures()[0].startswith("level of epsilon 0.5: the log-ratio must be at most 0.5, got")
    with pytest.raises(TableError, match=r"level of epsilon 0\.5"):
        save_bundle(mechanism, tmp_path / "liar.json")
    assert not list(tmp_path.iterdir())


def test_a_report_of_the_level_that_tells_too_much_fails(monkeypatch):
    """The response of the levels is verified as the levels are."""

    def loose(categories, epsilon):
        return CategoricalTable(
            Categories(categories), epsilon, Provenance(), categorical_grr(categories, 2.0).numerators
        )

    monkeypatch.setattr("optldp.mechanisms.combinators.personalised.categorical_grr", loose)
    assert personalised(basic_rappor).failures()[0].startswith("report of the level: the log-ratio must be at most 0.3")


def test_a_table_of_numbers_that_claims_too_little_fails():
    """Levels of tables are verified as tables are."""
    ends, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
    table = TabulatedMechanism(ends, ends, ends, matrix, 0.5, exact=True)
    assert "log-ratio" in PersonalisedMechanism([exact(grr([0, 1], 0.1)), table]).failures()[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"levels": 3}, "levels must be a list"),
        ({"level_epsilon": "much"}, "level_epsilon must be a number"),
        ({"extra": 1}, "keys"),
    ],
)
def test_a_document_of_another_shape_is_refused(tmp_path, change, message):
    """Members of another kind are named."""
    save_bundle(personalised(basic_rappor), tmp_path / "levels.json")
    document = json.loads((tmp_path / "levels.json").read_text()) | change
    (tmp_path / "levels.json").write_text(json.dumps(document))
    with pytest.raises(TableError, match=message):
        load_mechanism(tmp_path / "levels.json")


class TestLevelMechanism:
    LEVELS = tuple(categorical_grr("abc", epsilon) for epsilon in (0.5, 1.0))

    def test_it_is_saved_and_comes_back_and_its_budget_is_the_levels(self, tmp_path):
        """The same reports with the same probabilities; leakage counts its largest ratio."""
        made = PersonalisedMechanism(self.LEVELS, level_mechanism=optimised_unary(range(2), 0.7))
        save_bundle(made, tmp_path / "made.json")
        back = load_mechanism(tmp_path / "made.json")
        assert isinstance(back, PersonalisedMechanism)
        assert np.array_equal(back.level_response, made.level_response)
        assert back.level_epsilon == 0.7
        assert made.level_leakage == pytest.approx(0.7 + report_leakage(self.LEVELS))

    def test_a_file_whose_budget_is_not_its_protocols_is_refused(self, tmp_path):
        """Said twice, and once wrong."""
        made = PersonalisedMechanism(self.LEVELS, level_mechanism=optimised_unary(range(2), 0.7))
        members = made.members() | {"level_epsilon": 0.1}
        with pytest.raises(TableError, match=r"must be that of level_mechanism, 0\.7, got 0\.1"):
            PersonalisedMechanism.from_members(members, lambda document: document)

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            ({"level_epsilon": 1.0, "level_mechanism": optimised_unary(range(2), 0.7)}, "and not both"),
            ({"level_mechanism": "oue"}, "a mechanism for categories"),
        ],
        ids=str,
    )
    def test_a_budget_and_a_protocol_or_no_protocol_are_refused(self, arguments, says):
        """One of the two."""
        with pytest.raises(InputError, match=says):
            PersonalisedMechanism(self.LEVELS, **arguments)

    def test_a_broken_protocol_breaks_the_mechanism(self):
        """What it spends too much is said to be the level's."""
        honest = optimised_unary(range(2), 2.0)
        leaky = replace(honest, epsilon=0.1)
        failures = PersonalisedMechanism(self.LEVELS, level_mechanism=leaky).failures()
        assert failures[0].startswith("report of the level: ")
