"""Each kind of mechanism under audit: what goes in, what comes back as columns, and which reports are none of its."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false

import json
import math

import numpy as np
import pytest
from optldp.designer.auditing.subjects.registry import kind_of, sampler_of
from optldp.mechanisms import InputError, Metric, PersonalisedMechanism, geometric
from optldp.mechanisms.categorical import basic_rappor, categorical_grr
from optldp.mechanisms.categorical.local_hashing import local_hashing
from optldp.mechanisms.categorical.subset_selection import subset_selection
from optldp.mechanisms.key_value.unary import KeyValueUnary

from ...honest_samplers import HONEST

MANY = 500
KINDS = [
    "piecewise", "duchi", "categories", "rappor", "oue", "olh", "subset", "projective-geometry", "levels of categories",
    "levels of bits, in the clear", "levels of numbers", "pairs, unary", "pairs, one place", "levels of pairs",
    "attributes", "levels of attributes",
]  # fmt: skip


def drawn(name):
    """A kind of this name, inputs of it, and what its own sampler made of them."""
    mechanism, rng = HONEST[name](1.0, 5), np.random.default_rng(1)
    kind = kind_of(mechanism, None, rng)
    inputs = rng.integers(kind.weights.size, size=MANY)
    return kind, inputs, sampler_of(mechanism, rng)(*kind.arguments(inputs))


def texts_of(mechanism, reports):
    """A line for each report, as a sampler behind a pipe prints it."""
    if isinstance(mechanism, PersonalisedMechanism):
        told, names = reports.reports, tuple(mechanism.levels[0].by_column)
        if names:
            told = dict(zip(names, told.T, strict=True))
        values = texts_of(mechanism.levels[0], told)
        return [f"{level},{text}" for level, text in zip(reports.levels.tolist(), values, strict=True)]
    if mechanism.by_column:
        rows = zip(*(reports[name].tolist() for name in mechanism.by_column), strict=True)
        return [",".join("" if math.isnan(number) else repr(number) for number in row) for row in rows]
    return mechanism.to_text(reports)


@pytest.mark.parametrize("name", KINDS)
def test_reports_as_text_are_the_reports_themselves(name):
    """Column by column, but for those that only text has; all are reports, none is foreign."""
    kind, _, reports = drawn(name)
    columns = kind.columns(reports, MANY)
    read = kind.columns_of_text(texts_of(HONEST[name](1.0, 5), reports))
    for column, values in columns.items():
        np.testing.assert_array_equal(read[column], values)
    assert {values.shape for values in read.values()} == {(MANY,)}
    assert not kind.foreign(columns).any()
    assert not kind.foreign(read).any()
    assert kind.readable(read)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("line", ["banana", "0,banana", "99999999999", "", "-1e300"])
def test_a_line_that_is_no_report_is_a_report_of_its_own_and_foreign(name, line):
    """Between real ones, which stay what they were."""
    kind, _, reports = drawn(name)
    texts = texts_of(HONEST[name](1.0, 5), reports)
    read, foreign = kind.columns_of_text(texts), np.insert(np.zeros(MANY, dtype=bool), 7, True)
    mixed = kind.columns_of_text([*texts[:7], line, *texts[7:]])
    np.testing.assert_array_equal(kind.foreign(mixed), foreign)
    for column, values in read.items():
        np.testing.assert_array_equal(mixed[column][~foreign], values)
    assert not np.isin(mixed["the text"][7], read["the text"])
    assert not kind.readable(kind.columns_of_text(["banana"]))


@pytest.mark.parametrize("name", KINDS)
def test_what_the_library_writes_is_the_published_spelling(name):
    """Of every kind, and no report has another."""
    kind, _, reports = drawn(name)
    texts = texts_of(HONEST[name](1.0, 5), reports)
    assert kind.published(texts) == texts
    assert kind.published([texts[0], "banana", texts[1]]) == [texts[0], None, texts[1]]


@pytest.mark.parametrize(
    ("name", "text", "published"),
    [
        ("piecewise", "4", "4.0"),
        ("piecewise", "1e-5", "1e-05"),
        ("piecewise", "-0.0", "0.0"),
        ("piecewise", "0.1000000000000000055511151231257827", "0.1"),
        ("piecewise", " 0.25", "0.25"),
        ("piecewise", "0.25\r", "0.25"),
        ("piecewise", "\uff11.0", "1.0"),
        ("piecewise", "inf", None),
        ("categories", "00", "0"),
        ("categories", "-0", "0"),
        ("categories", "0\r", None),
        ("olh", "01", "1"),
        ("rappor", "A8", "a8"),
        ("levels of categories", "01,2", "1,2"),
        ("levels of categories", "+1,02", "1,2"),
        ("levels of numbers", "1,.5", "1,0.5"),
        ("pairs, unary", "4:0;0:1", "0:1;4:0"),
        ("pairs, unary", "0:01", "0:1"),
        ("pairs, one place", "00:0", "0:0"),
        ("levels of pairs", "0,1:0;0:0", "0,0:0;1:0"),
        ("attributes", "nan,1,2.50", None),
        ("attributes", ",1,2.50", ",1.0,2.5"),
        ("attributes", "1.0,2.0", None),
        ("levels of attributes", "00,,1,2.50", "0,,1.0,2.5"),
    ],
)
def test_any_other_spelling_is_told_from_the_published_one(name, text, published):
    """And what is read as a report at all is the same one."""
    kind, _, _ = drawn(name)
    assert kind.published([text]) == [published]
    if published is not None:
        assert published != text
        assert kind.published([published]) == [published]


@pytest.mark.parametrize("name", KINDS)
def test_each_input_has_a_line_a_weight_words_and_claims(name):
    """Lines are JSON, of one input if they are alike; claims are symmetric, and made of every pair likely to differ."""
    kind, _, _ = drawn(name)
    lines = [spelled[0] for spelled in kind.lines()]
    assert len({json.dumps(json.loads(line)) for line in lines}) == len(set(lines))
    assert all(json.loads(line) == json.loads(spelled[0]) for spelled in kind.lines() for line in spelled)
    assert len(set(lines)) >= len({kind.words(i) for i in range(len(lines))}) > 2
    assert kind.weights.shape == (len(lines),)
    np.testing.assert_array_equal(kind.claims, kind.claims.T)
    assert kind.claims.shape == (len(lines), len(lines))
    pairs = kind.likely_pairs(1000)
    assert pairs
    assert all(a != b and kind.claims[a, b] > 0 for a, b in pairs)


def test_levels_claim_their_budgets_within_and_what_leaks_across():
    """Of two values at one level its epsilon, of one value at two levels the leakage, of two at two nothing."""
    mechanism = PersonalisedMechanism([categorical_grr("abc", 0.5), categorical_grr("abc", 1.0)], 0.25)
    claims = kind_of(mechanism, None, np.random.default_rng(1)).claims
    leak = mechanism.level_leakage
    assert math.isfinite(leak)
    within, across = np.ones((3, 3)), np.where(np.eye(3), leak, np.nan)
    np.testing.assert_array_equal(claims, np.block([[0.5 * within, across], [across, 1.0 * within]]))
    in_clear = PersonalisedMechanism(mechanism.levels)
    assert np.isnan(kind_of(in_clear, None, np.random.default_rng(1)).claims[:3, 3:]).all()


def test_a_budget_per_unit_is_claimed_by_distance():
    table = geometric(np.arange(4.0), Metric(0.5))
    kind = kind_of(table, None, np.random.default_rng(1))
    apart = np.abs(np.subtract.outer(kind.values, kind.values))
    np.testing.assert_allclose(kind.claims, 0.5 * apart, rtol=1e-12)


def test_users_of_pairs_hold_what_was_asked_for():
    """Users, keys and values that `sample_sets` takes, grouped by user; some hold nothing."""
    kind, inputs, _ = drawn("pairs, one place")
    users, keys, values, many = kind.arguments(inputs)
    held = [[] for _ in range(many)]
    for user, key, value in zip(users.tolist(), keys.tolist(), values.tolist(), strict=True):
        held[user].append((key, value))
    assert held == [list(kind.sets[number]) for number in inputs]
    assert () in kind.sets


def test_the_mechanisms_own_ratio_sorts_reports():
    """For a table of categories, of the two inputs' own probabilities, in thousandths."""
    mechanism = categorical_grr("abcd", 1.0)
    kind = kind_of(mechanism, None, np.random.default_rng(1))
    (family,) = kind.pair_families(0, 3)
    codes = family.codes(kind.columns(np.arange(4), 4))
    np.testing.assert_array_equal(
        codes, np.rint(1000 * np.log(mechanism.probabilities[0] / mechanism.probabilities[3]))
    )


@pytest.mark.parametrize("make", [basic_rappor, local_hashing, subset_selection])
def test_reports_are_sorted_by_which_of_the_two_inputs_they_support(make):
    mechanism = make("abcdefgh", 1.0)
    kind = kind_of(mechanism, None, np.random.default_rng(1))
    reports = mechanism.sample(list("abcdefgh") * 50, np.random.default_rng(1))
    support = np.unpackbits(mechanism.support(reports), axis=1, count=8).astype(int)
    (family,) = kind.pair_families(2, 5)
    np.testing.assert_array_equal(family.codes(kind.columns(reports, 400)), 2 * support[:, 2] + support[:, 5])


def test_what_is_shown_at_the_own_places_sorts_reports_of_pairs():
    """Of the unary protocol, the digits to the base of the outputs, nothing among them."""
    kind, _, reports = drawn("pairs, unary")
    assert isinstance(kind.mechanism, KeyValueUnary)
    one, other = (next(i for i, held in enumerate(kind.sets) if held[0][0] == key) for key in ("job 1", "job 4"))
    (family,) = kind.pair_families(one, other)
    shown = np.asarray(reports).astype(int)
    outputs = kind.mechanism.value.low.size + 1
    np.testing.assert_array_equal(family.codes(kind.columns(reports, MANY)), shown[:, 1] * outputs + shown[:, 4])


def test_attributes_that_were_not_drawn_or_too_many_are_foreign():
    """Two of three are reported: one, three, or a number that is no output are none of the mechanism's reports."""
    kind, _, reports = drawn("attributes")
    changed = {name: np.array(column) for name, column in reports.items()}
    for name, column in changed.items():
        column[0] = kind.tables()[f"the report of {name!r}"].low[0]
        column[1] = math.nan
        column[2] = math.nan if math.isnan(column[2]) else 1e6
    assert np.flatnonzero(kind.foreign(kind.columns(changed, MANY))).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("mechanism", "options", "says"),
    [
        (categorical_grr("ab", 1.0), {"outside": True}, "for tables of numbers alone: leave them out"),
        (HONEST["levels of categories"](1.0, 3), {"epsilon": 1.0}, "a claim of its own: leave epsilon out"),
        ("piecewise", {}, "a table or a bundle is needed to audit"),
    ],
)
def test_what_cannot_be_audited_so_is_refused(mechanism, options, says):
    with pytest.raises(InputError, match=says):
        kind_of(mechanism, **{"epsilon": None, "rng": np.random.default_rng(1)} | options)


@pytest.mark.parametrize(
    ("name", "reports", "says"),
    [
        ("piecewise", np.zeros((3, 2)), "one report for each of 3 values, got shape"),
        ("categories", np.zeros(3), "whole numbers, got shape"),
        ("rappor", np.zeros((3, 9), dtype=np.uint8), "whole numbers, got shape"),
        ("levels of categories", np.zeros(3, dtype=int), "must return PersonalisedReports, got ndarray"),
        ("pairs, unary", np.zeros(3, dtype=int), "whole numbers, got shape"),
        ("attributes", {"age": np.zeros(3)}, "a column for each of age, pay, hours"),
    ],
)
def test_a_sampler_that_returns_something_else_is_told_what_it_must_return(name, reports, says):
    kind = kind_of(HONEST[name](1.0, 5), None, np.random.default_rng(1))
    with pytest.raises(InputError, match=says):
        kind.columns(reports, 3)
