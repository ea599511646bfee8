"""Rows that are alike are counted once, whatever types their columns have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators.each_report import added_up


@pytest.mark.slow
@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64])
@given(seed=st.integers(0, 2**32 - 1), beside=st.booleans())
def test_equal_rows_are_added_up_as_a_dictionary_adds_them(kind, seed, beside):
    """Rows, alone or beside a column of numbers from -1, come in lexicographic order and keep their types."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    rows = rng.integers(0, 3, (n, rng.integers(1, 40))).astype(kind) * rng.integers(1, 80)
    first, users = rng.integers(-1, 2, n), rng.integers(1, 5, n)
    told = (first, rows.astype(kind)) if beside else (rows.astype(kind),)
    expected: dict[tuple[int, ...], int] = {}
    for number, row, many in zip(first.tolist(), rows.tolist(), users.tolist(), strict=True):
        key = (number, *row) if beside else tuple(row)
        expected[key] = expected.get(key, 0) + many
    *found, counts = added_up(*told, users)
    assert [column.dtype for column in found] == [column.dtype for column in told]
    keys = [tuple(np.concatenate([np.atleast_1d(part) for part in row]).tolist()) for row in zip(*found, strict=True)]
    assert keys == sorted(expected)
    assert counts.tolist() == [expected[key] for key in keys]


def test_large_numbers_are_told_apart():
    """Reports of hashing are numbers beyond 32 bits."""
    found, counts = added_up(np.array([2**62, 5, 2**62, 2**33]), np.array([1, 1, 1, 1]))
    assert (found.tolist(), counts.tolist()) == ([5, 2**33, 2**62], [1, 1, 2])


def test_no_rows_are_no_rows():
    columns = np.zeros((0, 2), dtype=np.uint8), np.zeros(0, dtype=np.int64)
    assert all(found is given for found, given in zip(added_up(*columns), columns, strict=True))
