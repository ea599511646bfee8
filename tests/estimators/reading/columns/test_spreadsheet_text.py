"""Cells of text in a CSV for people: none is a formula, and numbers stay numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.reading.columns.spreadsheet_text import spreadsheet_columns

INVISIBLE = [
    "\u200b", "\ufeff", "\u00a0", "\u200e", "\u2060", "\u202e", "\u00ad", "\u3000", "\u2028", "\x00", "\x1f", "\x7f",
    "\x85", "\u034f", "\ufe0f", "\u180e", "\u115f", "\u3164", "\uffa0", "\u2065", "\ue000", "\U000e0041",
]  # fmt: skip


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "-", "-1,5", "+1 2"],
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe(cell):
    assert spreadsheet_columns({"c": ["cook", cell]}) == ({"c": ["cook", f"'{cell}"]}, 1)


@pytest.mark.parametrize("before", ["", "cell;"], ids=["first", "behind a separator"])
@pytest.mark.parametrize("hidden", INVISIBLE, ids=lambda letter: f"U+{ord(letter):04X}")
def test_what_cannot_be_seen_hides_no_formula(hidden, before):
    """Also several of them in a row, and before the forms that other alphabets have of the signs."""
    for sign in "=+-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b\u2212":
        cell = f"{before}{hidden} {hidden}{sign}1"
        assert spreadsheet_columns({"c": [cell]}) == ({"c": [f"'{cell}"]}, 1)
    assert spreadsheet_columns({"c": [f"{before}{hidden}cook"]})[1] == 0


@pytest.mark.parametrize("cell", ["-5", "+1.5e3", "-.5", "cook", "a=b", "", "'x", "3-4"])
def test_numbers_and_other_text_stay(cell):
    assert spreadsheet_columns({"c": [cell]}) == ({"c": [cell]}, 0)


@given(st.lists(st.floats()))
def test_numbers_are_not_touched(values):
    safe, changed = spreadsheet_columns({"v": values})
    assert safe["v"] is values
    assert changed == 0
