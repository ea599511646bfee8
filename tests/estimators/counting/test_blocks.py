"""Blocks of reports: their outputs, and the account of what is wrong with them."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from optldp.estimators.counting.blocks import output_blocks
from optldp.estimators.counting.source import report_sources
from optldp.mechanisms import InputError, grr, piecewise
from optldp.mechanisms.table.outputs import find_outputs, locate_outputs

SOURCE = report_sources([("web", grr([0, 1, 2], 1.0), "reports.csv")])[0]
REPORTS = st.lists(st.sampled_from([0.0, 1.0, 2.0, 0.5, 9.0, np.nan, np.inf]), min_size=1, max_size=30)


def sound(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A block of rows none of which is at fault."""
    return values, np.zeros(values.size, dtype=bool)


@pytest.mark.slow
@given(REPORTS, st.integers(1, 7))
def test_faults_are_counted_over_all_blocks(reports, size):
    """Whatever the size of blocks, the message is about the whole list."""
    values = np.array(reports)
    blocks = (sound(values[i : i + size]) for i in range(0, values.size, size))
    foreign = [i for i, v in enumerate(reports) if v in (0.5, 9.0, np.inf)]
    missing = [i for i, v in enumerate(reports) if np.isnan(v)]
    outputs: list[int] = []
    message = ""
    try:
        for block in output_blocks(SOURCE, blocks, drop_missing=False):
            outputs += block.tolist()
    except InputError as error:
        message = str(error)
    assert outputs == [int(v) if v in (0.0, 1.0, 2.0) else -1 for v in reports]
    if missing:
        assert f"got {len(missing)} missing, the first in row {missing[0] + 1}:" in message
    elif foreign:
        first = reports[foreign[0]]
        assert (
            f"got {len(foreign)} of {len(reports)} that cannot be, the first {first} in row {foreign[0] + 1}:"
            in message
        )
    else:
        assert message == ""


@pytest.mark.slow
@given(REPORTS, st.integers(1, 7), st.booleans())
def test_what_is_left_out_is_counted_once(reports, size, drop_missing):
    """Foreign reports, and missing ones unless those are dropped anyway; rows at fault were counted before."""
    values = np.array([*reports, 1.0])
    faulty = np.arange(values.size) % 5 == 2
    blocks = ((values[i : i + size], faulty[i : i + size]) for i in range(0, values.size, size))
    left_out: list = []
    assume((np.isin(values, [0, 1, 2]) & ~faulty).any())
    streamed = output_blocks(SOURCE, blocks, drop_missing=drop_missing, skipped=lambda *told: left_out.append(told))
    outputs = np.concatenate(list(streamed))
    missing = np.isnan(values) & ~faulty & (not drop_missing)
    foreign = np.isin(values, [0.5, 9.0, np.inf]) & ~faulty
    assert sum(number for number, _ in left_out) == (missing | foreign).sum()
    assert ((outputs >= 0) == (np.isin(values, [0, 1, 2]) & ~faulty)).all()
    rows = [row for _, some in left_out for row, _ in some]
    assert set(rows) <= set((np.flatnonzero(missing | foreign) + 1).tolist())


@pytest.mark.parametrize("blocks", [[], [np.array([np.nan]), np.array([np.nan])]], ids=["no-blocks", "none-left"])
def test_no_reports_are_refused(blocks):
    """Also where missing ones are dropped."""
    with pytest.raises(InputError, match=r"got none for service 'web' \('reports.csv'\): leave it out"):
        list(output_blocks(SOURCE, map(sound, blocks), drop_missing=True))


@pytest.mark.nightly
@given(st.lists(st.floats(-20, 20, width=16), min_size=1, max_size=20))
def test_located_outputs_are_those_found_and_minus_one_elsewhere(reports):
    """Finding raises exactly where locating gives -1."""
    table = piecewise([-1.0, 0.0, 1.0], 1.0)
    arguments = table.low, table.high, table.within
    located = locate_outputs(*arguments, np.array(reports))
    for value, output in zip(reports, located.tolist(), strict=True):
        if output >= 0:
            assert find_outputs(*arguments, np.array([value])).tolist() == [output]
            assert table.low[output] <= value <= table.high[output]
        else:
            assert not table.low[0] <= value <= table.high[-1]
