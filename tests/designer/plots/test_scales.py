"""Plain numbers on logarithmic axes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer.plots.scales import log_axis, plain_number, round_numbers
from optldp.estimators.plots.style import new_axes

from ..figure_checks import assert_readable


@given(st.floats(1e-9, 1e9), st.floats(1.01, 1e8))
def test_every_axis_gets_enough_numbers_and_all_lie_on_it(low, ratio):
    numbers = round_numbers(low, low * ratio)
    assert numbers == sorted(set(numbers))
    assert 2 <= len(numbers) <= 19
    assert low <= numbers[0]
    assert numbers[-1] <= low * ratio


@pytest.mark.parametrize(
    ("low", "high", "numbers"),
    [
        (0.2, 20, [0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0]),
        (0.9, 10, [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0]),
        (0.98, 1.31, [1.0, 1.1, 1.2, 1.3]),
        (5e3, 2e8, [1e4, 1e5, 1e6, 1e7, 1e8]),
    ],
)
def test_numbers_are_round(low, high, numbers):
    assert round_numbers(low, high) == numbers


def test_numbers_are_written_out_unless_their_zeros_must_be_counted():
    written = [plain_number(value) for value in (0.0, 0.25, 1500.0, 1e6, 2.5e-5)]
    assert written == ["0", "0.25", "1,500", "10⁶", "2.5\N{MULTIPLICATION SIGN}10⁻⁵"]


def test_preferred_numbers_are_used_where_they_have_room():
    axes = new_axes()
    log_axis(axes, "x", 0.2, 5.0, prefer=[0.25, 1.0, 4.0])
    log_axis(axes, "y", 0.2, 5.0, prefer=[0.25, 3.9, 4.0])
    assert_readable(axes)
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.25", "1", "4"]
    assert "3.9" not in [tick.get_text() for tick in axes.get_yticklabels()]
    assert (axes.get_xscale(), axes.get_xlim()) == ("log", (0.2, 5.0))
