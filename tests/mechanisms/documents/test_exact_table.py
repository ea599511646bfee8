"""Numerators of a document: lists of equal length of whole numbers in range, or one line that says where not."""

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.documents.exact_table import numerators_from_document

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
