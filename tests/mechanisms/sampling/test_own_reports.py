"""A report is found in the output that it was drawn from: cells of a few doubles, points inside cells, any tails."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from optldp.mechanisms import TableError, TabulatedMechanism
from optldp.mechanisms.sampling.own_reports import kept_inside, refuges, require_own_reports
from optldp.mechanisms.sampling.within_cell import ExponentialDensity, GeometricTails, LinearDensity, Uniform
from optldp.mechanisms.table.checks import check_outputs
from optldp.mechanisms.table.outputs import locate_outputs

STARTS = [0.0, 5e-324, -5e-324, 1.0, -1.0, 0.1, -1e16, 1e100, 2.0**-1022, -(2.0**-1022), 2.0**53, -9.9e119]

doubles = st.sampled_from(STARTS) | st.floats(-1e119, 1e119)
layouts = st.lists(st.tuples(st.integers(0, 5), st.booleans(), st.booleans()), min_size=1, max_size=8)
words = st.lists(st.integers(0, 2**64 - 1) | st.sampled_from([0, 2**64 - 1, 2**12 - 1]), min_size=6, max_size=6)


def climb(start: float, doubles: int) -> float:
    """The double that many doubles above."""
    for _ in range(doubles):
        start = float(np.nextafter(start, np.inf))
    return start


def outputs_of(start, layout):
    """Cells of a few doubles each, some with gaps before them, some with a point on or above their lower end."""
    ends, place = set(), start
    for width, gap, point in layout:
        place = climb(place, int(gap))
        top = climb(place, width)
        ends.add((place, top))
        if point:
            ends.add((climb(place, width // 2),) * 2)
        place = top
    return np.array(sorted(ends)).T


def source(numbers):
    """Words that repeat."""
    return lambda size: np.resize(np.array(numbers, dtype=np.uint64), size)


@pytest.mark.slow
@given(doubles, layouts, words)
@example(1.0, [(1, False, False)] * 3, [2**64 - 1] * 6)
@example(0.0, [(3, False, True), (2, False, True)], [0] * 6)
def test_every_place_of_a_cell_is_found_in_that_cell(start, layout, numbers):
    """Of every output that a table may have, points among them."""
    low, high = outputs_of(start, layout)
    assume(all(low[j] == high[j] or own_doubles(low, high, j) for j in range(low.size)))
    check_outputs(low, high)
    columns = np.repeat(np.arange(low.size), 6)
    reports = Uniform().draw_exact(low, high, columns, source(numbers))
    np.testing.assert_array_equal(locate_outputs(low, high, Uniform(), reports), columns)


def own_doubles(low, high, j):
    """The doubles of a cell that are no points, one by one."""
    points = set(low[low == high].tolist())
    place, found = float(low[j]), []
    while place < high[j]:
        found += [place] if place not in points else []
        place = climb(place, 1)
    return found


@pytest.mark.slow
@given(st.sampled_from(STARTS), layouts)
def test_a_cell_is_refused_if_and_only_if_all_its_doubles_are_points(start, layout):
    """Counted one by one."""
    low, high = outputs_of(start, layout)
    full = any(low[j] < high[j] and not own_doubles(low, high, j) for j in range(low.size))
    if full:
        with pytest.raises(TableError, match="a cell must hold a double that is no point"):
            check_outputs(low, high)
    else:
        check_outputs(low, high)


@pytest.mark.slow
@given(doubles, st.floats(1e-320, 1e120), st.floats(1e-300, 1 - 2.0**-53), words, st.integers(1, 40))
@example(1e100, 1e-300, 0.5, [0] * 6, 1)
@example(0.1, 0.7, 1 - 2.0**-53, [0x5A5A5A5A5A5A5A5A] * 6, 1)
@example(5e-324, 5e-324, 0.999, [0] * 6, 1)
def test_every_step_of_a_tail_is_found_in_that_tail(end, step, ratio, numbers, apart):
    """Steps far below an ulp, and numbers of steps beyond 2^53, on both sides."""
    law, low, high = GeometricTails(step, ratio), np.array([-np.inf, climb(end, apart)]), np.array([end, np.inf])
    law.check(low, high, 2)
    columns = np.repeat([0, 1], 6)
    reports = law.draw_exact(low, high, columns, source(numbers))
    np.testing.assert_array_equal(locate_outputs(low, high, law, reports), columns)


def test_two_tails_with_one_end_are_refused():
    """A report at the end could be of either."""
    ends = np.array([-np.inf, 1.0]), np.array([1.0, np.inf])
    with pytest.raises(TableError, match="two geometric tails must have ends of their own, got both at 1"):
        TabulatedMechanism(np.arange(2.0), *ends, np.full((2, 2), 0.5), 1.0, GeometricTails(1.0, 0.5))


def test_a_report_goes_to_the_nearest_larger_double_that_is_no_point_else_to_the_nearest_smaller():
    """Runs of points count as one; points outside of cells stay."""
    one, two, three, four = (climb(1.0, k) for k in (1, 2, 3, 4))
    low, high = np.array([1.0, one, two, 9.0]), np.array([four, one, two, 9.0])
    points, places = refuges(low, high)
    assert (points.tolist(), places.tolist()) == ([one, two, 9.0], [three, three, 9.0])
    points, places = refuges(np.array([1.0, one, two, three]), np.array([four, one, two, three]))
    assert places.tolist() == [1.0, 1.0, 1.0]
    kept = kept_inside(low, high, np.array([0, 0, 1, 3]), np.array([one, 99.0, one, 9.0]))
    assert kept.tolist() == [three, three, one, 9.0]


def test_a_point_at_the_upper_end_of_a_cell_lies_in_none():
    """A report is never moved there, and the point stays itself."""
    points, places = refuges(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.5, 1.0]))
    assert points.tolist() == [0.5, 1.0]
    assert places.tolist() == [climb(0.5, 1), 1.0]


def test_a_cell_of_points_alone_is_named():
    """By its place among the outputs and its ends."""
    low, high = np.array([0.0, 1.0, 1.0]), np.array([1.0, 1.0, climb(1.0, 1)])
    with pytest.raises(TableError, match=r"got points only in \[1\.0, 1\.0000000000000002\] at output 2: leave"):
        require_own_reports(low, high)


@pytest.mark.parametrize("law", ["linear", "exponential"])
def test_simulated_reports_of_other_laws_stay_in_their_outputs_too(law):
    """Cells of two doubles, whose upper ends rounding reaches half the time."""
    edges = np.array([climb(1e16, 2 * k) for k in range(5)])
    within = LinearDensity(np.full((2, 4), 0.5)) if law == "linear" else ExponentialDensity(np.full((2, 4), 0.3))
    table = TabulatedMechanism.from_edges([0, 1], edges, np.full((2, 4), 0.25), 1.0, within=within)
    columns = np.repeat(np.arange(4), 500)
    reports = within.draw(table.low, table.high, columns * 0, columns, np.random.default_rng(3))
    np.testing.assert_array_equal(table.output_index(reports), columns)
