"""The comparison of shapes: heights gain nothing over PTT, pieces do, and the optimum closes the gap."""

import numpy as np
import pytest
from designs.shape_comparison import shape_comparison
from optldp.designer import Prior
from optldp.designer.methods.pieces import closed_share
from optldp.mechanisms import InputError

KNOTS = np.linspace(0, 10, 7)


@pytest.fixture(scope="module")
def prior() -> Prior:
    return Prior.on_knots(KNOTS, np.arange(7.0) + 1, source="public")


@pytest.mark.nightly
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("worst_case", [False, True])
def test_heights_gain_nothing_and_pieces_do(prior, epsilon, worst_case):
    rows = shape_comparison(prior, epsilon, pieces=(1, 2), worst_case=worst_case)
    assert [row.name for row in rows] == [
        "ptt", "tent", "common heights", "own heights", "1 piece", "2 pieces", "optimum",
    ]  # fmt: skip
    found = {row.name: row for row in rows}
    assert found["tent"].gap_closed < 0
    for name in ("ptt", "common heights", "own heights", "1 piece"):
        assert found[name].gap_closed == pytest.approx(0, abs=1e-5)
        assert found[name].worst_knot_variance == pytest.approx(found["ptt"].worst_knot_variance, rel=1e-5)
        assert found[name].expected_variance == pytest.approx(found["ptt"].expected_variance, rel=1e-5)
    assert 0.5 < found["2 pieces"].gap_closed < found["optimum"].gap_closed <= 1
    assert found["optimum"].gap_closed == pytest.approx(1, abs=1e-4)


def test_rounding_between_knots_is_counted_in_every_row():
    values = np.linspace(0, 10, 41)
    prior = Prior.from_data(values, knots=KNOTS, source="public")
    found = {row.name: row for row in shape_comparison(prior, 1.0, pieces=(1,))}
    assert found["own heights"].expected_variance == pytest.approx(found["ptt"].expected_variance, rel=1e-8)


@pytest.mark.nightly
def test_no_pieces_or_none_that_can_be_are_refused(prior):
    with pytest.raises(InputError, match="at least one"):
        shape_comparison(prior, 1.0, pieces=())
    with pytest.raises(InputError, match="1 or more"):
        shape_comparison(prior, 1.0, pieces=(0, 2))


def test_without_a_gap_no_share_is_told():
    assert closed_share(1.0, 1.0, 1.0 - 1e-12) == 0.0
    assert closed_share(1.0, 2.0, 0.0) == 0.5
