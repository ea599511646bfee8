"""Cells of text in a CSV for people: none is a formula, and numbers stay numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.data.spreadsheet_text import spreadsheet_columns


@pytest.mark.parametrize(
    "cell",
    ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "\r=1", "\n=1", " =1", "\uff1d1", "-", "-1,5", "+1 2"],
)
def test_what_a_spreadsheet_would_run_has_an_apostrophe(cell):
    assert spreadsheet_columns({"c": ["cook", cell]}) == ({"c": ["cook", f"'{cell}"]}, 1)


@pytest.mark.parametrize("cell", ["-5", "+1.5e3", "-.5", "cook", "a=b", "", "'x", "3-4"])
def test_numbers_and_other_text_stay(cell):
    assert spreadsheet_columns({"c": [cell]}) == ({"c": [cell]}, 0)


@given(st.lists(st.floats()))
def test_numbers_are_not_touched(values):
    safe, changed = spreadsheet_columns({"v": values})
    assert safe["v"] is values
    assert changed == 0
