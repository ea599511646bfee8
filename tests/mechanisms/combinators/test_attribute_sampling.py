"""Sampled attributes: every subset alike, budgets added up exactly, reports those of the attribute's table."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import AttributeSampling, InputError, TableError, TabulatedMechanism, duchi, piecewise
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.combinators.attribute_sampling import attribute_budget
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.mechanisms.sampling.domain import ClippingWarning
from optldp.mechanisms.sampling.random_words import random_words
from optldp.mechanisms.sampling.subsets import random_subsets, uniform_below
from scipy import stats

from ..table.test_exact_sampling import Scripted

THREE = AttributeSampling.of(
    {
        "age": exact(piecewise([18, 50, 90], 0.5)),
        "hours": exact(duchi([0, 100], 0.4)),
        "income": exact(piecewise([0, 1e5], 0.3)),
    },
    2,
    1.0,
)
VALUES = {"age": np.full(500, 30.0), "hours": np.full(500, 100.0), "income": np.linspace(0, 1e5, 500)}


class TestSubsets:
    @pytest.mark.parametrize("rng", [None, np.random.default_rng(1)], ids=["system", "simulated"])
    @pytest.mark.parametrize(("size", "sampled"), [(1, 1), (4, 1), (4, 2), (5, 3), (6, 5), (3, 3)])
    def test_every_subset_is_as_likely_as_every_other(self, size, sampled, rng):
        """A chi-square test over all of them at one in ten million."""
        words = random_words(rng)
        chosen = random_subsets(60_000, size, sampled, words)
        assert (chosen.sum(axis=1) == sampled).all()
        every = [sum(2**i for i in subset) for subset in combinations(range(size), sampled)]
        numbers, counts = np.unique(chosen @ 2 ** np.arange(size), return_counts=True)
        assert numbers.tolist() == sorted(every)
        assert len(every) == 1 or stats.chisquare(counts).pvalue > 1e-7

    def test_a_shuffle_is_undone_word_by_word(self):
        """Every pair of words below 4 and 3 once: each ordered pair of things comes once."""
        words = [(a, b) for a in range(4) for b in range(3)]
        script = Scripted([a for a, _ in words] + [b for _, b in words])
        chosen = random_subsets(12, 4, 2, script)
        pairs = [tuple(np.flatnonzero(row)) for row in chosen]
        assert sorted(pairs) == sorted(list(combinations(range(4), 2)) * 2)

    @pytest.mark.parametrize("bound", [1, 2, 3, 5, 7, 256, 1000])
    def test_numbers_below_a_bound_have_whole_shares_of_the_words(self, bound):
        """The words that are left over, up to the last, are drawn again."""
        over = 2**64 % bound
        last = 2**64 - over - 1
        words = Scripted([0, last, 2**64 - 1, bound, last + 1, 1])
        drawn = uniform_below(bound, 4, words)
        assert drawn[[0, 1, 3]].tolist() == [0, bound - 1, 0]
        if over:  # the third word is drawn again, and once more
            assert (words.used, drawn[2]) == (6, 1 % bound)
        else:
            assert (words.used, drawn[2]) == (4, bound - 1)

    def test_words_of_a_source_that_may_not_be_written_to_are_copied(self):
        """The operating system's come as such."""
        words = np.array([2**64 - 1, 5], dtype=np.uint64)
        words.setflags(write=False)
        later = iter([words, np.array([4], dtype=np.uint64)])
        assert uniform_below(3, 2, lambda _: next(later)).tolist() == [1, 2]


class TestSampling:
    @pytest.mark.parametrize("rng", [None, np.random.default_rng(2)], ids=["system", "simulated"])
    def test_every_user_has_k_reports_that_the_tables_can_make(self, rng):
        reports = THREE.sample(VALUES, rng)
        assert list(reports) == ["age", "hours", "income"]
        given_ = ~np.isnan(list(reports.values()))
        assert (given_.sum(axis=0) == 2).all()
        assert (given_.sum(axis=1) > 250).all()
        for table, column, mine in zip(THREE.mechanisms, reports.values(), given_, strict=True):
            table.output_index(column[mine])

    def test_a_report_is_drawn_from_its_own_value(self):
        """Budgets of sixteen leave next to no noise: each report is near its own user's value."""
        tables = {name: exact(piecewise(np.linspace(0, 1, 11), 8.0)) for name in "abc"}
        values = np.random.default_rng(3).random((4000, 3))
        made = AttributeSampling.of(tables, 2, 16.0)
        reports = np.stack(list(made.sample(values, np.random.default_rng(4)).values()), axis=1)
        assert np.isnan(reports).sum() == 4000
        assert np.nanmedian(np.abs(reports - values)) < 0.06

    def test_columns_may_come_as_a_matrix_or_by_name_in_any_order(self):
        matrix = np.stack(list(VALUES.values()), axis=1)
        by_name = THREE.sample(dict(reversed(VALUES.items())), np.random.default_rng(5))
        by_place = THREE.sample(matrix, np.random.default_rng(5))
        for name in VALUES:
            np.testing.assert_array_equal(by_name[name], by_place[name])

    def test_nobody_at_all_is_fine(self):
        assert {name: column.shape for name, column in THREE.sample(np.empty((0, 3))).items()} == dict.fromkeys(
            VALUES, (0,)
        )

    def test_values_outside_are_refused_or_clipped_whether_drawn_or_not(self):
        """An error must not tell what was drawn, so all are looked at."""
        wrong = VALUES | {"hours": np.where(np.arange(500) == 7, 101.0, 50.0)}
        for _ in range(20):
            with pytest.raises(InputError, match=r"attribute 'hours': values must lie in \[0, 100\], got 1 of 500"):
                THREE.sample(wrong)
        with pytest.warns(ClippingWarning, match="1 of 500 values"):
            THREE.sample(wrong, clip=True)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            ({"age": [20.0], "hours": [1.0]}, "column for each attribute, got none for 'income'"),
            (VALUES | {"sex": [1.0]}, "must be among age, hours, income, got 'sex': drop it"),
            (VALUES | {"hours": [1.0, 2.0]}, "of equal length, got 2 for 'hours', not 500"),
            (VALUES | {"hours": [[1.0]]}, r"attribute 'hours' must have 1 dimension, got shape \(1, 1\)"),
            (VALUES | {"hours": ["x"]}, "attribute 'hours' must be numbers"),
            (VALUES | {"age": np.full(500, np.nan)}, "attribute 'age': values must not be missing, got 500 NaN"),
            (np.zeros((5, 2)), "there must be 3 columns, got 2"),
            (np.zeros(5), r"must have 2 dimensions, got shape \(5,\)"),
        ],
    )
    def test_columns_that_do_not_match_are_refused(self, values, message):
        with pytest.raises(InputError, match=message):
            THREE.sample(values)

    def test_a_table_in_doubles_is_refused_by_name(self):
        """Whatever a client may load is proved by whole numbers."""
        with pytest.raises(TableError, match=r"the table of attribute 'b' must be exact, got .* make it exact"):
            AttributeSampling.of({"a": exact(duchi([0, 1], 0.5)), "b": duchi([0, 1], 0.5)}, 1, 0.5)

    def test_another_kind_of_generator_is_refused(self):
        with pytest.raises(InputError, match="rng must be a numpy"):
            THREE.sample(VALUES, 7)  # pyright: ignore[reportArgumentType] -- the fault


class TestBudget:
    @given(st.floats(1e-3, 16.0), st.integers(1, 50))
    def test_shares_add_up_to_the_budget_and_no_more(self, epsilon, sampled):
        """Exactly, as fractions; the next double would be too much."""
        share = attribute_budget(epsilon, sampled)
        assert Fraction(share) * sampled <= Fraction(epsilon) < Fraction(math.nextafter(share, 20.0)) * sampled

    @pytest.mark.parametrize("sampled", range(1, 8))
    def test_tables_of_such_shares_are_taken(self, sampled):
        """At budgets whose shares round up as well as down."""
        for epsilon in np.random.default_rng(6).uniform(0.1, 10, 50).tolist():
            share = attribute_budget(epsilon, sampled)
            made = AttributeSampling(list("abcdefgh"), [exact(duchi([0, 1], share))] * 8, sampled, epsilon)
            assert made.largest_spending <= Fraction(epsilon)

    def test_a_share_rounded_up_is_refused(self):
        """By one unit in the last place of a third."""
        share = math.nextafter(attribute_budget(1.0, 3), 1.0)
        with pytest.raises(InputError, match=r"of any 3 attributes must sum to at most 1, got 1.0.*: give each"):
            AttributeSampling(list("abc"), [exact(duchi([0, 1], share))] * 3, 3, 1.0)

    def test_the_largest_tables_count_wherever_they_stand(self):
        """Of 0.2, 0.6 and 0.5 two spend up to 1.1."""
        tables = [exact(duchi([0, 1], epsilon)) for epsilon in (0.2, 0.6, 0.5)]
        assert AttributeSampling("abc", tables, 2, 1.2).largest_spending == Fraction(0.6) + Fraction(0.5)
        with pytest.raises(InputError, match=r"any 2 attributes must sum to at most 1, got 1\.1"):
            AttributeSampling("abc", tables, 2, 1.0)

    def test_the_report_as_a_whole_keeps_the_budget(self):
        """All subsets and outputs of two users who differ in everything, enumerated."""
        pairs = ((0.625, 0.6), (0.6875, 0.9))
        ends = np.array([0.0, 1.0])
        tables = [TabulatedMechanism(ends, ends, ends, [[p, 1 - p], [1 - p, p]], e, exact=True) for p, e in pairs]  # pyright: ignore[reportArgumentType]
        ratios = [np.log(t.probabilities[0] / t.probabilities[1]) for t in tables]
        whole = AttributeSampling("ab", tables, 2, 1.5)
        assert np.abs(np.add.outer(*ratios)).max() <= float(whole.largest_spending) <= whole.epsilon
        one = AttributeSampling("ab", tables, 1, 0.9)
        assert max(np.abs(r).max() for r in ratios) <= one.epsilon

    def test_a_table_that_breaks_its_promise_is_named(self):
        ends, matrix = np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]])
        leaky = TabulatedMechanism(ends, ends, ends, matrix, 0.5, exact=True)
        made = AttributeSampling.of({"good": exact(duchi([0, 1], 0.5)), "bad": leaky}, 1, 0.5)
        assert len(made.failures()) == 1
        assert made.failures()[0].startswith("attribute 'bad': the log-ratio must be at most 0.5")
        assert THREE.failures() == ()


@pytest.mark.parametrize(
    ("names", "tables", "sampled", "message"),
    [
        ([], [], 1, "every attribute needs one table, got 0 for 0"),
        (["a"], [1, 2], 1, "every attribute needs one table, got 2 for 1"),
        (["a", "a"], [1, 1], 1, "attributes must differ, got 'a' twice"),
        (["a", ""], [1, 1], 1, "attributes must have names, got ''"),
        (["a", 7], [1, 1], 1, "attributes must have names, got 7"),
        (["a", ["b"]], [1, 1], 1, "attributes must have names"),
        (["a", "b"], [1, None], 1, "attribute 'b' must have a table of numbers, got CategoricalTable"),
        (["a", "b"], [1, 1], 0, "sampled must be a whole number from 1 to 2, got 0"),
        (["a", "b"], [1, 1], 3, "sampled must be a whole number from 1 to 2, got 3"),
        (["a", "b"], [1, 1], 1.0, "sampled must be a whole number from 1 to 2, got 1.0"),
        (["a", "b"], [1, 1], True, "sampled must be a whole number from 1 to 2, got True"),
    ],
)
def test_members_that_do_not_match_are_refused(names, tables, sampled, message):
    made = [exact(duchi([0, 1], 0.25)) if table else categorical_grr("ab", 0.25) for table in tables]
    with pytest.raises(InputError, match=message):
        AttributeSampling(names, made, sampled, 1.0)  # pyright: ignore[reportArgumentType] -- the faults


@pytest.mark.parametrize("epsilon", [0.0, -1.0, 17.0, float("nan")])
def test_budgets_that_are_none_are_refused(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        AttributeSampling("a", [exact(duchi([0, 1], 0.25))], 1, epsilon)
    with pytest.raises(InputError, match="epsilon must be"):
        attribute_budget(epsilon, 2)
