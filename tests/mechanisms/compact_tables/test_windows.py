"""Rows over a floor, against loops in Python's whole numbers."""

from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.compact_tables.windows import Moments, Windows, extras

from ..floor_forms import SCALE, D, by_hand, random_form


def rows_by_hand(floor, ratio, starts):
    """Every entry as its floor and the length of two intervals' common part, one by one."""
    width = D - sum(floor)
    found = []
    for start in starts:
        row, place = [], 0
        for t in floor:
            end = place + (t * ratio) // SCALE - t
            row.append(t + max(0, min(end, start + width) - max(place, start)))
            place = end
        found.append(row)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_rows_are_the_floor_and_what_is_common_with_the_window(seed):
    """They sum to 2^53, no entry is below its floor and none above the ratio times it."""
    form = random_form(np.random.default_rng(seed), m=2 + seed)
    rows = form.windows.numerators(form.starts).tolist()
    assert rows == rows_by_hand(form.floor.tolist(), form.ratio, form.starts.tolist())
    for row in rows:
        assert sum(row) == D
        assert all(t <= one and one * SCALE <= form.ratio * t for one, t in zip(row, form.floor.tolist(), strict=True))


@pytest.mark.parametrize("seed", range(20))
def test_a_random_number_finds_the_output_that_the_running_sums_of_its_row_give_it(seed):
    """At every running sum, and just before; all numbers between are in the same output."""
    form = random_form(np.random.default_rng(seed), m=2 + seed)
    for start, row in zip(form.starts.tolist(), form.windows.numerators(form.starts), strict=True):
        running = np.cumsum(row)
        units = np.unique(np.clip([*running, *(running - 1), *(running + 1), 0, D - 1], 0, D - 1))
        starts = np.full(units.size, start)
        found = form.windows.locate(units, starts, form.windows.borders(starts))
        np.testing.assert_array_equal(found, np.searchsorted(running, units, side="right"))


@pytest.mark.parametrize("seed", range(20))
def test_spans_are_the_least_and_the_largest_of_every_column(seed):
    """Whichever rows there are, one of them included."""
    rng = np.random.default_rng(seed)
    form = random_form(rng, m=2 + seed, n=9)
    for starts in (form.starts, form.starts[:1], rng.permutation(form.starts)[:4], rng.permutation(form.starts)[:2]):
        rows = form.windows.numerators(starts)
        least, most = form.windows.spans(starts)
        np.testing.assert_array_equal(least, rows.min(axis=0))
        np.testing.assert_array_equal(most, rows.max(axis=0))


@pytest.mark.parametrize("seed", range(10))
def test_moments_are_the_sums_over_the_rows_and_the_nearest_start_is_found(seed):
    """No neighbouring start has a sum that is nearer."""
    rng = np.random.default_rng(seed)
    form = random_form(rng, m=2 + seed)
    places = form.places.tolist()
    sums = Moments(form.windows, places)
    found = sums.at(form.starts.tolist())
    rows = form.windows.numerators(form.starts).tolist()
    assert found == [sum(one * place for one, place in zip(row, places, strict=True)) for row in rows]
    low, high = sums.at([0, form.windows.latest])
    targets = [low + (high - low) * Fraction(share) for share in (-0.5, 0.0, *rng.uniform(0, 1, 20).tolist(), 1.0, 1.5)]
    for target, start in zip(targets, sums.nearest(targets), strict=True):
        beside = [s for s in (start - 1, start, start + 1) if 0 <= s <= form.windows.latest]
        distances = [abs(value - target) for value in sums.at(beside)]
        assert abs(sums.at([start])[0] - target) == min(distances)


def test_a_window_of_no_width_is_the_floor():
    """The floor alone sums to one, and every row is it."""
    windows = Windows(np.array([D // 4, 3 * D // 4]), 2 * SCALE)
    assert (windows.width, windows.numerators(np.array([0, windows.latest])).tolist()) == (
        0,
        [[D // 4, 3 * D // 4]] * 2,
    )
    assert Moments(windows, [0, 4]).nearest([Fraction(3 * D)]) == [0]


def test_a_window_as_wide_as_the_line_raises_all_outputs():
    """There is one row, and a start beyond it is none."""
    windows = Windows(np.array([D // 4, D // 4]), 2 * SCALE)
    assert (windows.latest, windows.numerators(np.array([0])).tolist()) == (0, [[D // 2, D // 2]])
    assert Moments(windows, [-1, 1]).at([0]) == [0]


def test_the_line_may_be_as_long_as_64_bits_hold_with_a_random_number():
    """2^62, and the largest random number finds an output of its last row."""
    windows = Windows(np.array([D // 4, D // 4]), 1025 * SCALE)
    starts = np.array([windows.latest] * 2)
    assert windows.latest + windows.width == 2**62
    assert windows.locate(np.array([0, D - 1]), starts, windows.borders(starts)).tolist() == [0, 1]


def test_extras_are_rounded_down():
    """So that the ratio is never above what is stated."""
    for t, ratio in ((1, SCALE + 1), (3, SCALE * 5 // 3), (D, 2 * SCALE - 1)):
        (extra,) = extras([t], ratio)
        assert (t + extra) * SCALE <= ratio * t < (t + extra + 1) * SCALE


@pytest.mark.parametrize(
    ("floor", "ratio", "message"),
    [
        ([D, 1], 2 * SCALE, "floor must sum to at most 2\\^53, got 1 more"),
        ([1, 1], 2 * SCALE, "must reach 2\\^53, got 9007199254740988 less"),
        ([D // 8, D // 8 - 1], 4 * SCALE, "must reach 2\\^53, got 4 less"),
        ([D // 2], 1025 * SCALE + SCALE // (D // 2), "must be at most 2\\^62, got 4611686018427387905"),
    ],
)
def test_floors_without_windows_are_refused(floor, ratio, message):
    """Those that fill more than 2^53, those that cannot fill it, and those beyond 64 bits."""
    with pytest.raises(TableError, match=message):
        Windows(np.array(floor), ratio)


def test_the_example_by_hand():
    """Extras of two, four and two eighths; the window is half as wide as they are together."""
    windows = by_hand().windows
    assert (windows.width, windows.latest) == (D // 2, D // 2)
    eighths = windows.numerators(np.array([0, D // 8, D // 2])) * 8 // D
    assert eighths.tolist() == [[3, 4, 1], [2, 5, 1], [1, 4, 3]]
