"""Bounds as sentences say them: on the side on which they stay true, and no further than the last digit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer.report.number_format import NO_BREAK, percent_up, short_down, short_up


@given(st.floats(1e-3, 9.99e6))
def test_a_bound_is_said_on_its_safe_side_to_four_digits(value):
    low, high = (float(said(value).replace(",", "")) for said in (short_down, short_up))
    assert low <= value <= high
    assert high - low <= 1.001e-3 * value


@given(st.floats(0.0, 1.0), st.integers(0, 5))
def test_a_share_is_said_rounded_up(share, digits):
    said = float(percent_up(share, digits).removesuffix(f"{NO_BREAK}%"))
    assert 0 <= said - 100 * share + 1e-12 <= 10.0**-digits + 2e-12


@pytest.mark.parametrize("share", [0.07, 0.1, 0.29])
def test_what_is_short_already_stays_as_it_is(share):
    """A hundredfold in doubles is a little more: 100 * 0.07 is 7.000000000000001."""
    assert percent_up(share, 2) == f"{100 * share:.2f}{NO_BREAK}%"
    assert short_down(share) == short_up(share) == str(share)
