"""The scale of programs: exact ends, and back to rounding."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms.table.unit_interval import UnitInterval


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.lists(st.floats(0.01, 0.99), unique=True, max_size=20))
def test_the_ends_are_exact_and_the_rest_comes_back(low, width, shares):
    knots = low + width * np.array([0.0, *sorted(shares), 1.0])
    unit = UnitInterval.of(knots)
    assert (unit.knots[0], unit.knots[-1]) == (-1.0, 1.0)
    assert np.abs(unit.knots).max() == 1.0
    error = 1e-15 * (abs(low) + width)
    np.testing.assert_allclose(unit.values(unit.knots), knots, rtol=0, atol=4 * error)
    np.testing.assert_allclose(unit.places(knots), unit.knots, rtol=0, atol=4 * error / unit.half)


def test_ends_that_rounding_would_miss_are_exact():
    """From 0.1 to 0.3 the plain formula ends beside one."""
    knots = np.array([0.1, 0.15, 0.3])
    unit = UnitInterval.of(knots)
    assert unit.places(knots)[-1] != 1.0
    assert unit.knots[-1] == 1.0


def test_outputs_beyond_the_knots_have_places_beyond_one():
    unit = UnitInterval.of([10.0, 12.0, 20.0])
    assert (unit.middle, unit.half) == (15.0, 5.0)
    np.testing.assert_array_equal(unit.knots, [-1.0, -0.6, 1.0])
    np.testing.assert_array_equal(unit.values(np.array([-3.0, 0.0, 3.0])), [0.0, 15.0, 30.0])
    np.testing.assert_array_equal(unit.places(np.array([0.0, 15.0, 30.0])), [-3.0, 0.0, 3.0])


def test_the_knots_given_are_not_changed():
    knots = np.array([0.0, 1.0, 4.0])
    UnitInterval.of(knots)
    assert knots.tolist() == [0.0, 1.0, 4.0]
