"""Reports as text and back; the first that is none is named with its row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.mechanisms.report_text import bits_of_text, integers_of_text, report_numbers


@given(st.lists(st.integers(-(2**63), 2**63 - 1)))
def test_whole_numbers_are_read_as_written(numbers):
    assert integers_of_text([str(number) for number in numbers]).tolist() == numbers


@pytest.mark.parametrize("text", ["x", "", "1.0", "1e3", "0x10", str(2**63), "9" * 30, "9" * 5000, "--1", "1,2"])
def test_what_is_no_whole_number_is_named_with_its_row(text):
    with pytest.raises(InputError) as caught:
        integers_of_text(["4", text, "y"])
    assert str(caught.value).startswith(f"reports must be whole numbers, got {text!r:.40} in row 2"[:70])
    assert "\n" not in str(caught.value)


@given(st.integers(1, 5), st.lists(st.binary(min_size=5, max_size=5)))
def test_bytes_are_read_as_written(width, rows):
    cut = [row[:width] for row in rows]
    read = bits_of_text([row.hex() for row in cut], width)
    assert read.shape == (len(rows), width)
    assert read.dtype == np.uint8
    assert [bytes(row) for row in read] == cut
    assert np.array_equal(bits_of_text([row.hex().upper() for row in cut], width), read)


@pytest.mark.parametrize("text", ["0af", "0aff0", "", "0agf", "0a f", " 0aff", "0a\nf", "\u0660\u0660\u0660\u0660"])
def test_what_is_no_such_row_of_digits_is_named_with_its_row(text):
    """Too short, too long, other letters, and white space, which Python's own reader would skip."""
    with pytest.raises(InputError, match=r"reports must be 4 hexadecimal digits, got .* in row 2"):
        bits_of_text(["0aff", text, "zz"], 2)


def test_lengths_that_make_up_for_each_other_are_refused():
    """Six digits and two are eight, like four and four."""
    with pytest.raises(InputError, match="got '0aff00' in row 1"):
        bits_of_text(["0aff00", "0a"], 2)


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        ([0, 5], r"must lie in 0..4, got 5 in row 2: another mechanism made it"),
        ([-1, 0], "got -1 in row 1"),
        ([0.0], "one-dimensional integers, got shape .* of float64"),
        ([[0]], r"got shape \(1, 1\)"),
        (["0"], "one-dimensional integers"),
        (3, r"got shape \(\)"),
    ],
)
def test_numbers_that_are_no_reports_are_refused(reports, message):
    with pytest.raises(InputError, match=message):
        report_numbers(reports, 5)


def test_numbers_that_are_reports_come_as_64_bits():
    """Whatever integers they were, and none at all."""
    assert report_numbers(np.array([4, 0], dtype=np.uint8), 5).dtype == np.int64
    assert report_numbers([], 5).shape == (0,)
