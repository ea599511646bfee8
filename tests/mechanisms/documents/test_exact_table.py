"""Numerators of a document: lists of equal length of whole numbers in range, or one line that says where not."""

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.documents.exact_table import numerators_from_document, whole_numbers

D = 2**53


@pytest.mark.parametrize("value", [5, None, "12", {"0": [D]}, [D], [[D], D], [[D], "1"]])
def test_anything_but_a_list_of_lists_is_refused(value):
    """A number, a text, an object, and lists that hold something else than rows."""
    with pytest.raises(TableError, match=r"^numerators must be a list of rows$"):
        numerators_from_document(value)


@pytest.mark.parametrize(
    ("row", "where"), [([0, D, D + 1], f"{D + 1} at row 1, output 2"), ([D, 0, -1], "-1 at row 1, output 2")]
)
def test_the_ends_of_the_range_are_in_it(row, where):
    """The first entry beyond is named, not those at the ends before it."""
    with pytest.raises(TableError, match=rf"^numerators must lie in 0\.\.2\^53, got {where}$"):
        numerators_from_document([[0, D, 0], row])


def test_a_matrix_without_entries_has_as_many_rows_as_it_was_written_with():
    """None at all, and rows that cannot sum to one."""
    assert numerators_from_document([]).shape == (0, 0)
    with pytest.raises(TableError, match=rf"^row 0 must sum to 2\^53 exactly, got {D} less$"):
        numerators_from_document([[], []])


@pytest.mark.parametrize("array", [np.array([[1.0]]), np.array([[1]], dtype=np.int32), np.array([D])])
def test_an_array_must_be_a_matrix_of_int64(array):
    """With its type and shape."""
    with pytest.raises(TableError, match=rf"must be a matrix of int64, got {array.dtype} of shape \({len(array)},"):
        numerators_from_document(array)


def test_whole_numbers_are_taken_with_both_ends_of_their_range_from_lists_and_arrays():
    """As 64-bit integers."""
    for value in ([-3, 0, D], np.array([-3, 0, D])):
        made = whole_numbers("places", value, -3, D)
        assert made.dtype == np.int64
        assert made.tolist() == [-3, 0, D]
    assert whole_numbers("places", [], 0, 1).shape == (0,)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([0, -4], rf"^places must be whole numbers from -3 to {D}, got -4 at place 1$"),
        ([D + 1], rf"from -3 to {D}, got {D + 1} at place 0$"),
        ([0, 1.0], r"got 1\.0 at place 1$"),
        ([True], "got True at place 0$"),
        (["1"], "got '1' at place 0$"),
        ([[1]], r"got \[1\] at place 0$"),
        ([10**400], rf"got 1{'0' * 39} at place 0$"),
        ("12", "^places must be a list of whole numbers$"),
        (None, "^places must be a list of whole numbers$"),
        (np.array([1.0]), r"^places must be a vector of int64, got float64 of shape \(1,\)$"),
        (np.array([[1]]), r"^places must be a vector of int64, got int64 of shape \(1, 1\)$"),
        (np.array([1], dtype=np.int32), "^places must be a vector of int64, got int32"),
    ],
)
def test_what_is_no_list_of_whole_numbers_is_refused(value, message):
    """With the first entry that is none, cut short."""
    with pytest.raises(TableError, match=message):
        whole_numbers("places", value, -3, D)
