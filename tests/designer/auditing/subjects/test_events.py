"""Families of events: the codes that they sort reports by, and how reports in events are counted."""

import struct

import numpy as np
import pytest
from optldp.designer.auditing.subjects.events import (
    CODES,
    MOST_KNOWN,
    OUTPUTS,
    PLACES,
    Event,
    Family,
    counts_inside,
    families_of,
)
from optldp.mechanisms import duchi, piecewise

RNG = np.random.default_rng(1)
NUMBERS = np.r_[RNG.normal(size=400), RNG.normal(size=400).round(1), [0.0, -0.0, np.inf, np.nan]]
SEEN = {"x": NUMBERS}


def family(name, columns=SEEN, tables=None):
    (found,) = [one for one in families_of(columns, tables or {}) if one.name == name]
    return found


def bits(report):
    return int.from_bytes(struct.pack("<d", report), "little")


@pytest.mark.parametrize(("name", "mask"), [("the last bit of x", 1), ("the last 2 bits of x", 3)])
def test_last_bits_are_those_of_the_double(name, mask):
    assert family(name).codes(SEEN).tolist() == [bits(report) & mask for report in NUMBERS.tolist()]


@pytest.mark.parametrize("number", [0, 3, 7])
def test_bytes_are_those_of_the_double_from_the_low_end(number):
    found = family(f"byte {number} of x, from the low end").codes(SEEN)
    assert found.tolist() == [struct.pack("<d", report)[number] for report in NUMBERS.tolist()]


def test_single_reports_are_told_apart_to_the_sign_of_zero():
    """Only those that came more than once are known; all others share the last place."""
    exact = family("x is exactly", {"x": np.array([0.0, 0.0, -0.0, -0.0, 1.5, 2.5, 2.5])})
    places = exact.places({"x": np.array([0.0, -0.0, 2.5, 1.5, 7.0])})
    assert exact.size == 4
    assert len(set(places[:3].tolist())) == 3
    assert places[3:].tolist() == [3, 3]
    assert sorted(map(exact.show, exact.known.tolist())) == ["-0.0", "0.0", "2.5"]


def test_only_the_codes_that_come_most_often_are_known():
    codes = np.repeat(np.arange(MOST_KNOWN + 100) * 3, np.r_[np.full(100, 2), np.full(MOST_KNOWN, 3)])
    found = Family(CODES, "x is", lambda columns: columns["x"]).fitted({"x": codes})
    assert found.known.tolist() == (np.arange(100, MOST_KNOWN + 100) * 3).tolist()


@pytest.mark.parametrize("known", [[0, 2, 5], [-3, 0, 2**40], [MOST_KNOWN, MOST_KNOWN + 2], []])
def test_places_are_those_in_the_list_of_what_is_known(known):
    """By looking up and by searching: a code that is not in the list is in the last place."""
    found = Family(CODES, "x is", lambda columns: columns["x"], known=np.array(known, dtype=np.int64))
    codes = np.array([*known, 1, -1, MOST_KNOWN - 1, 2**50, -(2**50)])
    expected = [known.index(code) if code in known else len(known) for code in codes.tolist()]
    assert found.places({"x": codes}).tolist() == expected


def test_parts_lie_between_quantiles_and_what_is_no_number_is_a_part():
    parts = family("x lies")
    codes = parts.codes(SEEN)
    finite = np.isfinite(NUMBERS)
    order = np.argsort(NUMBERS[finite], kind="stable")
    assert (np.diff(codes[finite][order]) >= 0).all()
    assert codes[~finite].tolist() == [codes.max()] * 2
    assert parts.show(int(codes.max())) == "missing or infinite"
    assert codes.max() > 64


def test_outputs_are_those_of_the_table_and_strangers_are_told():
    table = duchi([0.0, 1.0], 1.0)
    columns = {"x": np.array([*table.low, *table.low, 0.25, np.nan])}
    assert family("x is an output", columns, {"x": table}).codes(columns).tolist() == [0, 1, 0, 1, -1, -1]
    strange = family("x is no output of the table", columns, {"x": table})
    assert strange.group == OUTPUTS
    assert strange.codes(columns).tolist() == [0, 0, 0, 0, 1, 1]


def test_places_in_cells_are_shares_of_their_width():
    table = piecewise(np.linspace(0.0, 1.0, 5), 1.0)
    share = (np.arange(PLACES) + 0.5) / PLACES
    for low, high in zip(table.low, table.high, strict=True):
        columns = {"x": np.repeat(low + share * (high - low), 2)}
        found = family(f"the place of x in its cell, in {PLACES} parts", columns, {"x": table})
        assert found.codes(columns).tolist() == np.repeat(np.arange(PLACES), 2).tolist()


def test_codes_that_are_many_are_sorted_by_their_last_bits_and_parts_too():
    few, many = {"x": np.arange(10)}, {"x": np.arange(1000)}
    assert [one.name for one in families_of(few, {})] == ["x is"]
    assert family("the last byte of x", many).codes(many).tolist() == [code % 256 for code in range(1000)]
    assert (np.diff(family("the part of x", many).codes(many)) >= 0).all()


def test_reports_in_events_are_counted_group_by_group():
    """Against a loop over reports and events, two of one family."""
    columns = {"x": RNG.integers(0, 9, 500), "y": RNG.integers(0, 4, 500)}
    groups = RNG.integers(0, 3, 500)
    first, second = (
        Family(CODES, f"{name} is", lambda seen, name=name: seen[name]).fitted(columns) for name in ("x", "y")
    )
    members = [np.isin(np.arange(first.size), [0, 4]), np.arange(first.size) == 1, np.arange(second.size) > 2]
    events = [Event(one, inside) for one, inside in zip((first, first, second), members, strict=True)]
    expected = np.zeros((3, 3), dtype=int)
    for x, y, group in zip(columns["x"], columns["y"], groups, strict=True):
        for number, holds in enumerate((x in (0, 4), x == 1, y > 2)):
            expected[number, group] += holds
    np.testing.assert_array_equal(counts_inside(events, columns, groups, 3), expected)


def test_an_events_words_name_its_first_codes():
    found = Family(CODES, "x is", lambda columns: columns["x"], known=np.arange(6))
    assert Event(found, np.arange(7) < 2).words == "x is: 0, 1"
    assert Event(found, np.arange(7) < 5).words == "x is: 0, 1, 2 and 2 more"
    assert Event(found, np.arange(7) == 6).words == "x is: any seen at most once before"
