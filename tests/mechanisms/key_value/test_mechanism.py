"""Key-value mechanisms: the law and the budget by enumeration of all sets and reports, draws, files, text, refusals."""

import math
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import (
    Categories,
    InputError,
    Provenance,
    TableError,
    TabulatedMechanism,
    duchi,
    load_mechanism,
    piecewise,
    save_bundle,
)
from optldp.mechanisms.integers.exponential import exponential_below
from optldp.mechanisms.key_value import key_value_response, key_value_unary
from optldp.mechanisms.key_value.fakes import exact_table, fake_numerators, largest_odds
from optldp.mechanisms.key_value.response import KeyValueResponse
from optldp.mechanisms.key_value.unary import KeyValueUnary
from optldp.mechanisms.sampling.random_words import random_words
from optldp.mechanisms.spaces.pairs import sampled_pairs
from scipy import stats

from ..key_value_laws import D, all_reports, all_sets, pair_law, set_law, three_outputs

MADE = {True: key_value_unary, False: key_value_response}

SWAP = np.eye(3)[[1, 2, 0]]
"""Turns the outputs round, so that a law fits badly."""

RARE = 1e-6
"""Of a true claim's chi-square tests, so many fail."""

VALUES = {"duchi": duchi([-1.0, 1.0], 0.8), "three": three_outputs(), "piecewise": piecewise([0.0, 1.0], 0.7)}


def pckv_budget(unary, eps_key, eps_value, padding):
    """PCKV's closed forms of the budget."""
    if unary:
        return max(eps_value, eps_key + math.log(2 / (1 + math.exp(-eps_value))))
    lam = (padding - 1) * (math.exp(eps_value) + 1) / 2
    top, bottom = math.exp(eps_key + eps_value) + lam, min(math.exp(eps_key), (math.exp(eps_value) + 1) / 2) + lam
    return math.log(top / bottom)


def report_codes(mechanism, unary, reports):
    """The position of each report among all reports."""
    index = {report: i for i, report in enumerate(all_reports(mechanism, unary))}
    pairs = reports if unary else np.stack(np.divmod(reports, mechanism.value.low.size), axis=1)
    return np.array([index[tuple(row)] for row in pairs.tolist()])


class TestBudget:
    @pytest.mark.sampled(5)
    @pytest.mark.parametrize("name", VALUES)
    @pytest.mark.parametrize("unary", [True, False])
    @pytest.mark.parametrize(("n_keys", "padding"), [(2, 0), (2, 1), (4, 2), (3, 3)])
    def test_all_sets_and_reports_attain_the_stated_ratio_and_no_more(self, name, unary, n_keys, padding):
        """Fractions throughout; fewer keys than twice the padding leave the unary form's bound unattained."""
        table = VALUES[name]
        if unary and table.low.size > 3 and n_keys > 3:
            table = VALUES["duchi"]
        made = MADE[unary](range(n_keys), table, 1.0, padding=padding)
        laws, sets = {}, list(all_sets(n_keys, min(made.value.knots.size, 2)))
        if padding == 0:
            sets = [pairs for pairs in sets if pairs]
        probabilities = [set_law(made, unary, pairs, laws) for pairs in sets]
        assert all(sum(law) == 1 for law in probabilities)
        columns = list(zip(*probabilities, strict=True))
        largest = max(max(column) / min(column) for column in columns)
        if not unary or n_keys >= 2 * max(padding, 1):
            # sampling among three is uneven by 2^-53, which is in the bound and not in the enumeration
            assert largest <= made.largest_ratio <= largest * (1 + Fraction(1, 10**14))
        assert largest <= made.largest_ratio <= exponential_below(1.0)
        assert 1.0 - made.max_log_ratio < 1e-12 * made.value.low.size

    @pytest.mark.slow
    @pytest.mark.parametrize("unary", [pytest.param(True, marks=pytest.mark.nightly), False])
    @given(seed=st.integers(0, 2**32 - 1), padding=st.integers(0, 2))
    @settings(max_examples=40, deadline=None)
    def test_any_numbers_have_the_ratio_that_all_sets_show(self, unary, seed, padding):
        """Random value tables, fake laws and probabilities, however badly they fit together."""
        rng = np.random.default_rng(seed)
        matrix = rng.dirichlet(np.full(3, 0.7), 2) * 0.98 + 0.02 / 3
        value = exact_table(TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0, 2.0], matrix, 8.0))
        fake = exact_table(TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0, 2.0], matrix[::-1] @ SWAP, 8.0))
        n_keys = 4 if unary and padding == 2 else 2
        if unary:
            own = int(rng.uniform(0.2, 0.95) * D)
            other = int(own * rng.uniform(0.1, 0.99))
        else:
            other = int(rng.uniform(0.05, 0.99) * D) // (n_keys + padding)
            own = D - (n_keys + padding - 1) * other
        kind = KeyValueUnary if unary else KeyValueResponse
        keys = Categories(range(n_keys))
        made = kind(keys, 1.0, Provenance(), value, padding, fake.numerators[0], own, other)
        laws = {}
        sets = [pairs for pairs in all_sets(n_keys, 2) if pairs or padding]
        columns = zip(*(set_law(made, unary, pairs, laws) for pairs in sets), strict=True)
        assert made.largest_ratio == max(max(column) / min(column) for column in columns)

    @pytest.mark.parametrize("unary", [True, False])
    @pytest.mark.parametrize("padding", [1, 2, 5])
    @given(own=st.floats(0.05, 0.95), share=st.floats(0.05, 0.95), eps_value=st.floats(0.1, 4.0))
    @settings(max_examples=20, deadline=None)
    def test_stochastic_rounding_has_the_published_budget(self, unary, padding, own, share, eps_value):
        """Any a and b, good or bad, against PCKV's closed forms; fewer keys than padding change nothing."""
        table, n_keys = exact_table(duchi([-1.0, 1.0], eps_value)), 3
        fake = fake_numerators(table)
        if unary:
            a, b = round(own * D), round(own * share * D)
            made = KeyValueUnary(Categories(range(n_keys)), 16.0, Provenance(), table, padding, fake, a, b)
            eps_key = math.log(a * (D - b) / (b * (D - a)))
        else:
            b = round(share * D) // (n_keys + padding)
            a = D - (n_keys + padding - 1) * b
            made = KeyValueResponse(Categories(range(n_keys)), 16.0, Provenance(), table, padding, fake, a, b)
            eps_key = math.log(a / b)
        expected = pckv_budget(unary, eps_key, eps_value, padding)
        # the published form leaves out the dummy keys, whose ratio is below that of keys here
        assert made.max_log_ratio == pytest.approx(expected, abs=1e-9)

    @pytest.mark.parametrize("epsilon", [0.01, 0.25, 1.0, 2.0, 5.0])
    def test_the_published_optimum_comes_out_and_spends_the_budget(self, epsilon):
        """a = 1/2, b = 2 / (E + 3); and the odds l (E - 1) / 2 + 1 of randomised response."""
        unary = key_value_unary("abc", duchi([0.0, 1.0], epsilon), epsilon)
        assert unary.own_shown == 0.5
        assert unary.other_shown == pytest.approx(2 / (math.exp(epsilon) + 3), rel=1e-10)
        assert unary.failures() == ()
        for padding in (1, 4):
            eps_value = math.log1p(padding * math.expm1(epsilon))
            response = key_value_response("abc", duchi([0.0, 1.0], eps_value), epsilon, padding=padding)
            odds = padding * math.expm1(epsilon) / 2 + 1
            assert response.own / response.other == pytest.approx(odds, rel=1e-10)
            assert 0 <= epsilon - response.max_log_ratio < 1e-10

    @pytest.mark.parametrize("unary", [True, False])
    def test_a_value_table_beyond_the_budget_is_refused(self, unary):
        """Also where sampling would amplify it, if not enough."""
        with pytest.raises(TableError, match=r"must be at most 1, got 1\.4999.*the value table spends too much"):
            MADE[unary]("abc", duchi([0.0, 1.0], 1.5), 1.0)
        assert MADE[False]("abc", duchi([0.0, 1.0], 1.5), 1.0, padding=3).failures() == ()

    @pytest.mark.parametrize("unary", [True, False])
    def test_one_unit_less_of_noise_is_found(self, unary):
        """The numerators are the tightest there are: one unit to the wrong side fails."""
        made = MADE[unary]("abc", VALUES["three"], 1.0)
        places = 3  # besides the own one, of three keys and a dummy
        changed = (made.own, made.other - 1) if unary else (made.own + places, made.other - 1)
        worse = type(made)(made.keys, 1.0, made.provenance, made.value, 1, made.fake, *changed)
        assert made.failures() == ()
        assert worse.failures()[0].startswith("the log-ratio must be at most 1, got 1.0")
        with pytest.raises(TableError, match="log-ratio must be at most 1"):
            worse.require_private()

    @pytest.mark.parametrize("unary", [True, False])
    def test_a_fake_law_without_an_output_of_the_table_has_no_finite_ratio(self, unary):
        made = MADE[unary]("abc", VALUES["duchi"], 1.0)
        fake = np.array([0, D])
        broken = type(made)(made.keys, 1.0, made.provenance, made.value, 1, fake, made.own, made.other)
        assert broken.largest_ratio is None
        assert broken.failures() == ("the log-ratio must be at most 1, got inf",)

    def test_no_fake_law_has_a_smaller_largest_ratio(self):
        """c = sum of the columns' largest, which D proportional to them attains."""
        table = VALUES["piecewise"] if VALUES["piecewise"].exact else exact_table(VALUES["piecewise"])
        largest = table.probabilities.max(axis=0)
        found = float(largest_odds(table, fake_numerators(table)))
        assert found == pytest.approx(largest.sum(), rel=1e-13)
        rng = np.random.default_rng(1)
        others = rng.dirichlet(np.ones(largest.size), 1000)
        assert (found < (largest / others).max(axis=1)).all()


class TestDraws:
    @pytest.mark.slow
    @pytest.mark.parametrize("unary", [True, False])
    @pytest.mark.parametrize("pairs", [[], [(1, 0)], [(0, 2), (2, 1)], [(0, 0), (1, 2), (2, 2)]])
    def test_reports_are_as_frequent_as_the_law_says(self, unary, pairs):
        """Sets of none to three pairs at knots, padded to two; chi-square over all reports."""
        made = MADE[unary](["x", "y", "z"], three_outputs(), 1.0, padding=2)
        n = 60_000
        users = np.repeat(np.arange(n), len(pairs))
        keys = np.tile([made.keys.labels[key] for key, _ in pairs], n)
        values = np.tile([made.value.knots[row] for _, row in pairs], n)
        reports = made.sample_sets(users, keys, values, n, np.random.default_rng(5))
        seen = np.bincount(report_codes(made, unary, reports), minlength=len(all_reports(made, unary)))
        law = np.array(list(map(float, set_law(made, unary, pairs, {}))))
        assert stats.chisquare(seen, n * law / law.sum()).pvalue > RARE

    @pytest.mark.parametrize("unary", [True, False])
    def test_a_value_between_knots_is_a_mixture_of_their_rows(self, unary):
        """1.5 lies a quarter of the way from 1 to 3; one pair a user, no padding, the secure generator."""
        made = MADE[unary](["x", "y"], three_outputs(), 1.0, padding=0)
        n = 60_000
        reports = made.sample(np.full(n, "y"), np.full(n, 1.5))
        assert len(reports) == n
        seen = np.bincount(report_codes(made, unary, reports), minlength=len(all_reports(made, unary)))
        laws = [np.array(list(map(float, pair_law(made, unary, 1, row)))) for row in (1, 2)]
        law = 0.75 * laws[0] + 0.25 * laws[1]
        assert stats.chisquare(seen, n * law / law.sum()).pvalue > RARE

    @pytest.mark.slow
    @pytest.mark.parametrize("unary", [True, False])
    def test_blocks_do_not_change_the_law(self, unary, monkeypatch):
        """Three reports at a time: each user's own place is shown as often as it should be."""
        monkeypatch.setattr(sys.modules[KeyValueUnary.__module__], "PLACES_AT_ONCE", 9)
        made = MADE[unary](["x", "y", "z"], three_outputs(), 1.0, padding=1)
        keys = np.array(["x", "y", "z", ""] * 1000)
        values = np.array([0.0, 1.0, 3.0, np.nan] * 1000)
        reports = made.sample(keys, values, np.random.default_rng(2))
        report, place, _ = made.shown(reports)
        hits = np.count_nonzero(place == report % 4) - np.count_nonzero((place == 3) & (report % 4 == 3))
        a = made.own_shown
        assert abs(hits - 3000 * a) < 4 * math.sqrt(3000 * a * (1 - a))

    def test_each_pair_of_a_set_is_sampled_as_often_as_the_others(self):
        """Users of 0, 1, 2 and 5 pairs, padded to 3."""
        n = 40_000
        held = np.array([0, 1, 2, 5] * (n // 4))
        users = np.repeat(np.arange(n), held)
        pair, dummy = sampled_pairs(users, n, 3, random_words(np.random.default_rng(3)))
        number = pair - (np.cumsum(held) - held)
        for size in (0, 1, 2, 5):
            mine, places = held == size, max(size, 3)
            where = np.where(pair[mine] >= 0, number[mine], dummy[mine])
            assert ((pair[mine] >= 0) == (where < size)).all()
            seen = np.bincount(where, minlength=places)
            assert seen.size == places
            assert stats.chisquare(seen).pvalue > RARE
        assert (users[pair[pair >= 0]] == np.flatnonzero(pair >= 0)).all()

    @pytest.mark.parametrize("unary", [True, False])
    def test_rows_of_a_set_may_stand_in_any_order(self, unary):
        """At epsilon 14 hardly any report lies: each user's key and end of the domain are those of a pair they hold."""
        made = MADE[unary](["x", "y", "z"], duchi([0.0, 1.0], 14.0), 14.0, padding=0)
        rng = np.random.default_rng(1)
        users = rng.permutation(np.repeat(np.arange(900), 2))
        first = np.argsort(np.argsort(users, kind="stable")) % 2  # 0 for the first row of a user, 1 for the second
        keys = np.where(first == 0, np.array(["x", "y", "z"])[users % 3], np.array(["y", "z", "x"])[users % 3])
        reports = made.sample_sets(users, keys, (keys == "y").astype(float), 900, rng)
        report, place, output = made.shown(reports)
        right = ((place == report % 3) | (place == (report + 1) % 3)) & (output == (place == 1))
        assert np.count_nonzero(~right) < 5
        assert np.unique(report[right]).size > (400 if unary else 890)

    @pytest.mark.parametrize("unary", [True, False])
    def test_nobody_and_people_with_nothing(self, unary):
        """No users give no reports; None and NaN are no pair."""
        made = MADE[unary](["x", "y"], VALUES["duchi"], 1.0, padding=2)
        assert len(made.sample([], [])) == len(made.sample_sets([], [], [], 0)) == 0
        assert len(made.sample(["x", None], [1.0, float("nan")])) == 2
        assert len(made.sample_sets([], [], [], 3)) == 3


class TestRefusals:
    @pytest.mark.parametrize(
        ("keys", "values", "message"),
        [
            (["x", ""], [0.0, 0.5], "value must have a key, got 1 without, first in row 2: add it, or drop the value"),
            ([None, "x"], [0.0, 0.5], "value must have a key, got 1 without, first in row 1"),
            (
                ["x", "y"],
                [0.0, np.nan],
                "key must have a value, got 1 without, first in row 2: add it, or drop the key",
            ),
            (["x", "q", "q"], [0.0] * 3, "got 2 that are not, the first 'q' in row 2"),
            (["x"], [1.5], r"values must lie in \[-1, 1\], got 1 of 1 outside"),
            (["x"], [np.inf], "values must lie in"),
            (["x"], ["much"], "values must be numbers, NaN where there is none"),
            (["x"], [0.1, 0.2], r"lists of one length, got shapes \(1,\) and \(2,\)"),
            ([""], [np.nan], "every user must hold a pair where padding is 0, got 1 without, first in row 1"),
        ],
    )
    def test_what_is_no_pair_is_refused_in_one_line(self, keys, values, message):
        made = key_value_unary(["x", "y"], VALUES["duchi"], 1.0, padding=0)
        with pytest.raises(InputError, match=message) as caught:
            made.sample(keys, values)
        assert "\n" not in str(caught.value)

    @pytest.mark.parametrize(
        ("users", "keys", "values", "message"),
        [
            ([0, 0], ["x", "x"], [0.0, 0.5], "a user must hold a key once at most, got 1 repeated"),
            ([0, 2], ["x", "x"], [0.0, 0.5], r"users must lie in 0\.\.1, got 0 to 2"),
            ([-1], ["x"], [0.0], r"users must lie in 0\.\.1"),
            ([0.5], ["x"], [0.0], "users must be one-dimensional integers"),
            ([0], ["x", "y"], [0.0, 0.5], "users must be as many as keys, got 1 and 2"),
            ([0, 1], ["x", ""], [0.0, np.nan], "a row of a set must have a pair, got 1 without"),
        ],
    )
    def test_what_is_no_set_is_refused(self, users, keys, values, message):
        made = key_value_unary(["x", "y"], VALUES["duchi"], 1.0)
        with pytest.raises(InputError, match=message):
            made.sample_sets(users, keys, values, 2)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"value": duchi([0.0, 1.0], 1.0)}, "the value table must be exact"),
            ({"padding": -1}, "padding must be a whole number"),
            ({"padding": 1.0}, "padding must be a whole number"),
            ({"fake": np.array([0.5, 0.5])}, "fake must be whole numbers"),
            ({"fake": np.array([D])}, "fake must be whole numbers"),
            ({"fake": np.array([D, 1])}, "must sum to 2"),
            ({"own": 0}, "0 < other < own"),
            ({"other": D // 2}, "0 < other < own"),
            ({"epsilon": -1.0}, "epsilon must be positive"),
        ],
    )
    def test_what_is_no_mechanism_is_refused(self, change, message):
        made = key_value_unary(["x", "y"], VALUES["duchi"], 1.0)
        fields = ("keys", "epsilon", "provenance", "value", "padding", "fake", "own", "other")
        given = {name: getattr(made, name) for name in fields} | change
        with pytest.raises((InputError, TableError), match=message):
            KeyValueUnary(**given)

    def test_unequal_shares_and_odd_probabilities_are_refused(self):
        made = key_value_response(["x", "y"], VALUES["duchi"], 1.0)
        with pytest.raises(TableError, match="equal shares"):
            KeyValueResponse(made.keys, 1.0, made.provenance, made.value, 1, made.fake, made.own - 1, made.other)
        with pytest.raises(InputError, match="own_shown must lie strictly"):
            key_value_unary(["x", "y"], VALUES["duchi"], 1.0, own_shown=1.0)


class TestFilesAndText:
    @pytest.mark.parametrize("unary", [True, False])
    def test_a_file_holds_the_whole_mechanism(self, unary, tmp_path):
        """The one that comes back draws the same reports."""
        made = MADE[unary](["x", "y, z"], VALUES["three"], 1.0, padding=2)
        save_bundle(made, tmp_path / "pairs.json")
        back = load_mechanism(tmp_path / "pairs.json")
        assert isinstance(back, KeyValueUnary | KeyValueResponse)
        assert type(back) is type(made)
        assert repr(back) == repr(made)
        assert (back.own, back.other, back.padding, back.keys) == (made.own, made.other, made.padding, made.keys)
        assert back.largest_ratio == made.largest_ratio
        mine, theirs = (one.sample(["x"] * 99, np.linspace(0, 3, 99), np.random.default_rng(1)) for one in (made, back))
        np.testing.assert_array_equal(mine, theirs)

    def test_damaged_members_are_refused(self):
        made = key_value_unary(["x", "y"], VALUES["duchi"], 1.0)
        whole = {**made.members(), "fake": made.fake[None].tolist()}
        damages = [
            ({"keys": ["x", 3]}, "keys must be a list of texts"),
            ({"fake": [[D // 2, D // 2]] * 2}, "fake must be one row"),
            ({"own": 0.5}, "own must be a whole number"),
            ({"denominator": 10}, "denominator must be"),
            ({"surplus": 1}, "only, got 'surplus'"),
            ({"value": None}, "the value table must be a TabulatedMechanism"),
            ({"value": duchi([0.0, 1.0], 0.5)}, "the value table must be exact, got .* in doubles"),
        ]
        for change, message in damages:
            with pytest.raises(TableError, match=message):
                KeyValueUnary.from_members(whole | change, lambda value: value)

    @pytest.mark.parametrize("unary", [True, False])
    def test_text_comes_back(self, unary):
        """Reports that show nothing at all among them."""
        made = MADE[unary](["x", "y", "z"], VALUES["three"], 1.0, padding=2)
        reports = made.sample(["x", "y", ""] * 50, [0.0, 2.0, np.nan] * 50, np.random.default_rng(4))
        texts = made.to_text(reports)
        assert not any(set(text) & set(",'\" \n") or not text for text in texts)
        back = made.from_text(texts)
        assert back.dtype == reports.dtype
        np.testing.assert_array_equal(back, reports)
        assert ("-" in texts) is unary

    @pytest.mark.parametrize(
        ("unary", "text", "message"),
        [
            (True, "0:1;", 'must be "place:output" joined by ";", or "-", got \'0:1;\' in row 2'),
            (True, "", "in row 2"),
            (True, "0:x", "in row 2"),
            (True, "0:1:1", "in row 2"),
            (True, "0:-1", "in row 2"),
            (True, "0:1;0:2", "a place once at most"),
            (True, "3:0", r"must lie in 0\.\.2, got 3"),
            (True, "0:3", r"must lie in 0\.\.2, got 3"),
            (False, "-", "must show one place"),
            (False, "0:1;1:1", "must show one place"),
            (False, "4:0", r"must lie in 0\.\.3, got 4"),
        ],
    )
    def test_text_that_is_no_report_is_refused(self, unary, text, message):
        made = MADE[unary](["x", "y", "z"], VALUES["three"], 1.0)
        with pytest.raises(InputError, match=message):
            made.from_text(["0:1", text])

    def test_reports_of_another_mechanism_are_refused(self):
        unary, response = (MADE[kind](["x", "y"], VALUES["duchi"], 1.0) for kind in (True, False))
        for reports in ([[0, 3]], [[-1, 0]], [[0]], [0, 1], [[0.0, 1.0]]):
            with pytest.raises(InputError, match="reports must"):
                unary.checked_reports(reports)
        for reports in ([6], [-1], [[0]], [0.5]):
            with pytest.raises(InputError, match="reports must"):
                response.checked_reports(reports)


def test_a_value_table_that_spends_more_than_it_claims_is_refused_though_the_sets_are_private(tmp_path):
    made = key_value_unary(["a", "b"], exact_table(duchi([0.0, 1.0], 1.0)), 1.5)
    lower = replace(made, value=replace(made.value, epsilon=0.9))
    assert made.largest_ratio == lower.largest_ratio
    with pytest.raises(TableError, match=r"value table: .*0\.9"):
        save_bundle(lower, tmp_path / "lower.json")
