"""Counts that another engine has made: taken over as they are, or refused in one line."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from optldp.estimators import CategoryCounts, KeyValueCounts, PersonalisedCounts, ReportCounts, Service
from optldp.estimators.attributes import AttributeCounts
from optldp.estimators.counting.drawn_outputs import answer_of
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import AttributeSampling, InputError, PersonalisedMechanism, duchi, grr, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.key_value import key_value_unary

THREE = make_exact(grr([0.0, 1.0, 2.0], 1.0)).mechanism
TWO = make_exact(duchi([0.0, 2.0], 1.0)).mechanism
BOTH = [Service("web", THREE), Service("app", TWO)]


def rows(outputs: object, n: object) -> dict[str, np.ndarray]:
    return {"output": np.asarray(outputs), "n": np.asarray(n)}


def test_the_rows_may_come_from_anywhere(tmp_path):
    """A file, a frame, columns; shuffled, in parts, in capitals, as doubles or as text."""
    expected = [4, 9, 2]
    given = rows([2, 1, 0, 1], [2, 5, 4, 4])
    (tmp_path / "a.csv").write_text("n,output\n2,2\n5,1\n4,0\n4,1\n0,2\n")
    pd.DataFrame(given).to_parquet(tmp_path / "a.parquet")
    doubles = rows([2.0, 1.0, 0.0, 1.0], [2.0, 5.0, 4.0, 4.0])
    texts = rows(["2", "1", "0", "1"], ["2", "5", "4", "4"])
    capitals = {"OUTPUT": given["output"], "N": given["n"]}
    sources = [given, doubles, texts, capitals, pd.DataFrame(given), pa.table(given)]
    for source in [*sources, tmp_path / "a.csv", str(tmp_path / "a.parquet")]:
        assert ReportCounts.from_counts(THREE, source).reports_of(0).tolist() == expected


def test_what_was_answered_is_taken_over_again():
    outputs = np.array([[0, 1], [2, -1], [-1, 0], [2, 1]])
    counts = ReportCounts.from_outputs(BOTH, outputs, np.array([3, 4, 5, 6]))
    named = {"web": np.array([0.0, 2.0, np.nan, 2.0]), "app": np.array([1, None, 0, 1], dtype=object)}
    for source in (answer_of(counts), named | {"n": np.array([3, 4, 5, 6])}):
        again = ReportCounts.from_counts(BOTH, source)
        assert [(g.services, g.outputs.tolist(), g.counts.tolist()) for g in again.groups] == [
            (g.services, g.outputs.tolist(), g.counts.tolist()) for g in counts.groups
        ]


@pytest.mark.parametrize("services", [None, [], [THREE], categorical_grr("ab", 1.0), "m.json"])
def test_what_are_no_services(services):
    with pytest.raises(InputError, match="service"):
        ReportCounts.from_counts(services, rows([1], [2]))


def test_counts_of_simulated_reports_keep_their_mark():
    assert ReportCounts.from_counts(THREE, {"simulated_output": np.array([1]), "n": np.array([2])}).n_users == 2


HOSTILE = [
    (rows([1, 3], [5, 7]), "got 7 of what is none, the first in row 2: 3 is no output"),
    (rows([1, -4], [5, 7]), "-4 is no output"),
    (rows([1.0, np.nan], [5, 7]), "got 7 of what is none, the first in row 2: no output"),
    (rows([1.5, 1], [5, 7]), "'1.5' is no whole number"),
    (rows([1e17, 1], [5, 7]), "'1e.17' is no whole number"),
    (rows(["one", "1"], [5, 7]), "'one' is no whole number"),
    (rows([1, 2], [5, -7]), "whole numbers of users from 0 on, got '-7' in row 2"),
    (rows([1, 2], [5, 7.5]), "got '7.5' in row 2"),
    (rows([1, 2], [5, np.nan]), "got none in row 2"),
    (rows([1, 2], [5, np.inf]), "got 'inf' in row 2"),
    (rows([1, 2], [1e16, 7]), "got '1e.16' in row 1"),
    (rows([1, 2], ["5", "9" * 30]), "in row 2"),
    (rows([1, 2], [2**62, 2**62]), "at most 2.53 users together"),
    ({"output": np.array([1])}, "among them 'n': it has 'output'"),
    ({"n": np.array([1])}, "among them 'output': it has 'n'"),
    ({"output": np.array([1]), "simulated_output": np.array([1]), "n": np.array([1])}, "drop one of them"),
    ("none.csv", "must exist"),
    (np.array([1, 2]), "."),
]


@pytest.mark.parametrize(("source", "says"), HOSTILE)
def test_hostile_rows_are_refused_in_one_line(source, says):
    with pytest.raises(InputError, match=says) as caught:
        ReportCounts.from_counts(THREE, source)
    assert "\n" not in str(caught.value)


def test_an_output_that_no_input_gives_is_none():
    table = make_exact(grr([0.0, 1.0], 1.0)).mechanism
    never = type(table)(
        table.knots, np.arange(3.0), np.arange(3.0), np.column_stack([table.probabilities, [0, 0]]), 1.0
    )
    with pytest.raises(InputError, match="2 is no output"):
        ReportCounts.from_counts(never, rows([0, 2], [5, 7]))


def test_what_is_left_out_is_counted_by_users():
    account = SkippedRows()
    counts = ReportCounts.from_counts(THREE, rows([1.0, 9.0, np.nan], [5, 7, 20]), skip_invalid=account)
    assert (counts.n_users, account.count) == (5, 27)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (-1, "users with several reports to a service"),
        (-2, "users with a report that is no output of its table"),
        (-3, "reports without a key"),
        (-9, "-9 is no code"),
        (1, "1 is no code of these services"),
        (2**62 + 2**61 + 2**60 + 2**59, "2 and 2 is no output of its table"),
    ],
)
def test_codes_that_stand_for_no_user_are_refused(code, says):
    with pytest.raises(InputError, match=says):
        ReportCounts.from_counts(BOTH, rows([code], [3]))


ORACLES = [
    categorical_grr("abc", 1.0),
    optimised_unary("abc", 1.0),
    local_hashing("abcde", 1.0),
    subset_selection("abcde", 0.5),
]


@pytest.mark.parametrize("mechanism", ORACLES, ids=lambda made: made.kind)
def test_reports_of_categories_are_counted_by_their_text(mechanism):
    reports = mechanism.sample(["a", "b", "a", "c"] * 20, np.random.default_rng(2))
    expected = CategoryCounts.from_reports(mechanism, reports)
    texts, n = np.unique(mechanism.to_text(reports), return_counts=True)
    found = CategoryCounts.from_counts(mechanism, rows(texts, n))
    assert np.array_equal(found.reports, expected.reports)
    assert np.array_equal(found.counts, expected.counts)
    with pytest.raises(InputError, match="'zebra' is no report of this mechanism"):
        CategoryCounts.from_counts(mechanism, rows([texts[0], "zebra"], [3, 4]))
    account = SkippedRows()
    found = CategoryCounts.from_counts(mechanism, rows([texts[0], "zebra"], [3, 4]), skip_invalid=account)
    assert (found.n_users, account.count) == (3, 4)
    with pytest.raises(InputError, match="at least one report"):
        CategoryCounts.from_counts(mechanism, rows(["zebra"], [4]), skip_invalid=SkippedRows())


def test_supports_of_bits_are_taken_over_and_bounded_by_the_reports():
    made = ORACLES[1]
    reports = made.sample(["a", "b"] * 50, np.random.default_rng(2))
    expected = SupportCounts.from_reports(made, reports)
    given = rows(list("abc"), expected.supports)
    assert np.array_equal(SupportCounts.from_counts(made, given, n_users=100).supports, expected.supports)
    with pytest.raises(InputError, match="from 0 to 3"):
        SupportCounts.from_counts(made, given, n_users=3)
    with pytest.raises(InputError, match="'z' is no report"):
        SupportCounts.from_counts(made, rows(["z"], [4]), n_users=9)


def test_pairs_levels_and_attributes_are_taken_over():
    rng = np.random.default_rng(3)
    pairs = key_value_unary(["a", "b"], TWO, 1.0)
    reports = pairs.sample(["a", "b"] * 30, [0.5, 1.5] * 30, rng)
    texts, n = np.unique(pairs.to_text(reports), return_counts=True)
    assert np.array_equal(
        KeyValueCounts.from_counts(pairs, rows(texts, n)).shown, KeyValueCounts.from_reports(pairs, reports).shown
    )

    numbers = PersonalisedMechanism([make_exact(duchi([0.0, 2.0], e)).mechanism for e in (0.5, 1.0)])
    sent = numbers.sample([0.5, 1.5] * 30, [0, 1] * 30, rng)
    told, n = np.unique(np.stack([sent.levels, sent.reports]), axis=1, return_counts=True)
    found = PersonalisedCounts.from_counts(numbers, {"level": told[0].astype(int)} | rows(told[1], n))
    expected = PersonalisedCounts.from_reports(numbers, sent)
    assert np.array_equal(found.levels, expected.levels)
    assert np.array_equal(found.reports, expected.reports)
    assert np.array_equal(found.counts, expected.counts)

    attributes = AttributeSampling(["x", "y"], [TWO, TWO], 1, 1.0)
    drawn = {"x": np.array([0.0, 1.0, np.nan]), "y": np.array([np.nan, np.nan, 1.0]), "n": np.array([3, 4, 5])}
    counts = AttributeCounts.from_counts(attributes, drawn)
    assert (counts.n_users, counts["x"].n_users, counts["y"].reports_of(0).tolist()) == (12, 7, [0, 5])
    with pytest.raises(InputError, match="2 attributes and not 1"):
        AttributeCounts.from_counts(attributes, {"x": np.array([0]), "y": np.array([1]), "n": np.array([3])})
