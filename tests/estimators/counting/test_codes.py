"""Codes of outputs: nothing is lost, and they combine and order as the outputs do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import ReportCounts, Service
from optldp.estimators.counting.codes import OutputCodes
from optldp.estimators.counting.group import groups_of
from optldp.mechanisms import InputError, grr


@st.composite
def tables_of_outputs(draw):
    """Sizes of up to twelve services, and rows of outputs, extremes likely."""
    sizes = draw(st.lists(st.integers(1, 2**20), min_size=1, max_size=12))
    row = st.tuples(*(st.one_of(st.integers(-1, size - 1), st.sampled_from([-1, 0, size - 1])) for size in sizes))
    return sizes, np.array(draw(st.lists(row, min_size=1, max_size=8)))


def encoded(codes: OutputCodes, rows: np.ndarray) -> np.ndarray:
    words = np.zeros((codes.n_words, len(rows)), dtype=np.int64)
    for j, column in enumerate(rows.T):
        words[codes.words[j]] |= codes.encode(j, column)
    return words


@pytest.mark.nightly
@given(tables_of_outputs())
def test_outputs_come_back_from_their_codes(case):
    """Fields do not overlap and hold every output and none."""
    sizes, rows = case
    codes = OutputCodes.of(sizes)
    assert np.array_equal(codes.decode(list(encoded(codes, rows))), rows)


@pytest.mark.nightly
@given(tables_of_outputs())
def test_codes_order_as_rows_of_outputs_do(case):
    """Words compared first to last, as a database orders by several columns; none is negative."""
    sizes, rows = case
    words = encoded(OutputCodes.of(sizes), rows)
    assert (words >= 0).all()
    by_code = sorted(range(len(rows)), key=lambda i: tuple(words[:, i]))
    by_row = sorted(range(len(rows)), key=lambda i: tuple(rows[i]))
    assert rows[by_code].tolist() == rows[by_row].tolist()


@pytest.mark.parametrize(
    ("sizes", "n_words"), [([2], 1), ([127] * 9, 1), ([127] * 10, 2), ([128] * 8, 2), ([1] * 62, 1)]
)
def test_as_few_words_are_used_as_fields_fit_into(sizes, n_words):
    """63 bits each; 128 outputs and none take 8."""
    assert OutputCodes.of(sizes).n_words == n_words


def test_no_report_takes_no_bits():
    """So that a user's codes can be combined by or."""
    codes = OutputCodes.of([3, 200])
    assert codes.encode(1, np.array([-1, -1])).tolist() == [0, 0]


def test_more_services_than_bits_are_refused():
    with pytest.raises(InputError, match="at most 62, got 63"):
        OutputCodes.of([2] * 63)


def test_groups_are_those_of_report_counts():
    """Same order, same rows, for every set of six services."""
    rng = np.random.default_rng(1)
    rows = np.unique(rng.integers(-1, 2, (3000, 6)), axis=0)
    users = rng.integers(1, 9, len(rows))
    services = [Service(f"s{j}", grr([0, 1], 1.0)) for j in range(6)]
    expected = ReportCounts.from_outputs(services, np.repeat(rows, users, axis=0)).groups
    found = groups_of(rows.astype(np.int32), users)
    assert len(found) == 2**6 - 1
    for one, other in zip(found, expected, strict=True):
        assert one.services == other.services
        assert np.array_equal(one.outputs, other.outputs)
        assert np.array_equal(one.counts, other.counts)


def test_no_rows_are_no_groups():
    assert groups_of(np.empty((0, 2), dtype=np.int32), np.empty(0, dtype=np.int64)) == ()
