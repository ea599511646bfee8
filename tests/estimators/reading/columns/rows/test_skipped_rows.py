"""The account of rows that were left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.reading.columns import SkippedRows
from optldp.estimators.reading.columns.rows.skipped_rows import failing_rows
from optldp.mechanisms import InputError


@pytest.mark.nightly
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 99)), unique=True, max_size=30))
def test_the_first_rows_are_named_whatever_the_order_of_notes(rows):
    """By source and row, from 1; all are counted."""
    account = SkippedRows()
    for source, row in rows:
        account.note(1, [(row, "bad")], source=source, where=f"s{source}")
    assert account.count == len(rows)
    assert account.first == tuple(f"s{source}, row {row}: bad" for source, row in sorted(rows)[:5])


def test_it_is_one_printable_line():
    account = SkippedRows()
    account.note(1, [(3, "'\x1b[31m\n' is no number")])
    assert str(account) == r"1 row holds no report and was left out: row 3: '\x1b[31m\n' is no number"
    account.note(9, [(4, "bad")])
    assert str(account).endswith("row 4: bad; and 8 more")


@pytest.mark.slow
@given(st.sets(st.integers(0, 99)), st.integers(0, 100))
def test_failing_rows_are_found_one_by_one(bad, n):
    def check(rows: np.ndarray) -> None:
        if bad & set(rows.tolist()):
            raise InputError("bad")

    assert failing_rows(check, n).tolist() == sorted(row for row in bad if row < n)


@pytest.mark.parametrize("given_", ["yes", 1, None])
def test_skipping_is_asked_for_by_true_or_an_account(given_):
    with pytest.raises(InputError, match="skip_invalid must be True, False or SkippedRows"):
        SkippedRows.of(given_)
