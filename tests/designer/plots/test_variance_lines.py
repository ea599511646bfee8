"""The variance against the budget: what is drawn are the rows."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from optldp.designer import METHODS, Prior, compare, plots
from optldp.designer.comparison.row import Row
from optldp.designer.plots.variance_lines import MOST_ABOVE
from optldp.estimators.plots.style import UNREACHABLE, methods_in_order, new_axes, whole_figure
from optldp.mechanisms import InputError

from ..figure_checks import assert_readable, end_labels, line, noted, shown_texts, xy

EPSILONS = (0.5, 1.0, 2.0, 4.0)


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    """Every method at four budgets, on nine knots."""
    prior = Prior.on_knots(np.linspace(0, 10, 9), [1, 2, 4, 5, 4, 3, 2, 1, 1], source="public", units="EUR")
    return list(compare(prior, EPSILONS))


def as_sweep(row: Row, gap: float = 0.0, prior: str = "flat") -> Row:
    """The row as a sweep has it, with a bound that is a share below."""
    expected = row.expected_variance
    assert expected is not None
    return replace(row, prior=prior, value=expected, bound=(1 - gap) * expected, continuum_bound=None)


def floor_of(row: Row) -> float:
    """The expected variance, lowered to what is certified of the whole interval."""
    assert row.expected_variance is not None
    assert row.continuum_bound is not None
    assert row.value is not None
    return row.expected_variance * row.continuum_bound / row.value


def region(axes: Axes) -> np.ndarray:
    """(k, 2) budgets and heights of the upper edge of the shaded region."""
    (shaded,) = axes.collections
    corners: Any = shaded.get_paths()[0].vertices
    tops = {x: max(corners[corners[:, 0] == x, 1]) for x in np.unique(corners[:, 0])}
    return np.array(sorted(tops.items()))


def expect(rows, method, value) -> np.ndarray:
    return np.array([(row.epsilon, value(row)) for row in rows if row.method == method])


@pytest.mark.nightly
@pytest.mark.parametrize("method", METHODS)
def test_each_method_is_the_line_of_its_rows(rows, method):
    shown = {
        "expected_variance": plots.variance(rows),
        "worst_case_variance": plots.variance(rows, worst_case=True),
        "ratio_to_optimal": plots.variance(rows, relative=True),
    }
    for number, axes in shown.items():
        found = xy(axes, method)
        np.testing.assert_array_equal(found, expect(rows, method, lambda row, of=number: getattr(row, of)))


@pytest.mark.nightly
def test_both_axes_are_logarithmic_with_plain_numbers_and_units(rows):
    axes = plots.variance(rows, units="EUR")
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("privacy budget ε", "expected variance of one report [EUR²]")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.5", "1", "2", "4"]
    assert not any("e" in tick.get_text() for tick in axes.get_yticklabels())


def test_labels_say_which_variance_it_is(rows):
    least = [replace(row, method="minimax", objective="minimax") for row in rows if row.method == "optimal"]
    labels = [
        plots.variance(rows, worst_case=True, units="EUR").get_ylabel(),
        plots.variance(rows, relative=True, units="EUR").get_ylabel(),
        plots.variance(rows + least, worst_case=True, relative=True).get_ylabel(),
    ]
    assert labels == [
        "largest variance of one report [EUR²]",
        "expected variance over the optimum's",
        "largest variance over the least possible",
    ]


def test_every_method_is_named_at_the_end_of_its_line_from_the_top_down(rows):
    axes = plots.variance(rows)
    last = {row.method: row.expected_variance for row in rows if row.epsilon == EPSILONS[-1]}
    named = end_labels(axes)
    assert sorted(named) == sorted(METHODS)
    tall = axes.get_ylim()[1]
    assert named == sorted(named, key=lambda name: -min(last[name], tall))


@pytest.mark.nightly
@pytest.mark.parametrize(("relative", "size"), [(False, (7.2, 4.4)), (True, (7.2, 4.4)), (True, (4.6, 4.0))])
def test_all_methods_can_be_read(rows, relative, size):
    axes = plots.variance(rows, relative=relative, units="EUR", ax=new_axes(*size))
    assert_readable(axes)
    assert tuple(whole_figure(axes).get_size_inches()) == size
    lines: list[Any] = list(axes.lines)
    assert len({str(found._dash_pattern) for found in lines}) == len(METHODS)
    assert len({found.get_marker() for found in lines}) == len(METHODS)


@pytest.mark.slow
def test_the_region_below_the_optimum_is_shaded_and_says_why(rows):
    for relative, value in ((False, floor_of), (True, lambda row: floor_of(row) / row.expected_variance)):
        axes = plots.variance(rows, relative=relative)
        np.testing.assert_allclose(region(axes), expect(rows, "optimal", value), rtol=1e-12)
        assert UNREACHABLE in [text.get_text() for text in shown_texts(axes)]


def test_a_sweep_lowers_the_region_by_the_gap_of_its_certificate(rows):
    axes = plots.variance([as_sweep(row, gap=0.2) for row in rows])
    wanted = expect(rows, "optimal", lambda row: 0.8 * row.expected_variance)
    np.testing.assert_allclose(region(axes), wanted)


@pytest.mark.slow
def test_nothing_is_called_impossible_without_a_bound(rows):
    for axes in (
        plots.variance([row for row in rows if row.method != "optimal"]),
        plots.variance(rows, worst_case=True),
    ):
        assert not axes.collections
        assert UNREACHABLE not in [text.get_text() for text in shown_texts(axes)]


def test_the_minimax_is_the_floor_of_the_worst_case(rows):
    least = [
        replace(
            row, method="minimax", objective="minimax", worst_case_variance=0.9 * row.worst_case_variance, bound=None
        )
        for row in rows[:: len(METHODS)]
    ]
    axes = plots.variance(rows + least, worst_case=True)
    wanted = expect(least, "minimax", lambda row: row.worst_case_variance)
    np.testing.assert_allclose(region(axes), wanted)
    axes = plots.variance(rows + least, worst_case=True, relative=True)
    np.testing.assert_allclose(xy(axes, "optimal")[:, 1], 1 / 0.9)
    bounded = [replace(as_sweep(row), bound=0.5 * row.worst_case_variance) for row in least]
    axes = plots.variance([as_sweep(row) for row in rows] + bounded, worst_case=True)
    np.testing.assert_allclose(region(axes)[:, 1], 0.5 * wanted[:, 1])


@pytest.mark.slow
def test_failed_rows_are_left_out_and_named(rows):
    table = [as_sweep(row) for row in rows]
    k = next(k for k, row in enumerate(table) if row.method == "ptt" and row.epsilon == 2.0)
    table[k] = Row.failed("flat", 2.0, "expected", "ptt", "no such luck")
    axes = plots.variance(table)
    assert xy(axes, "ptt")[:, 0].tolist() == [0.5, 1.0, 4.0]
    assert "Failed, not drawn: ptt at ε = 2." in noted(axes).replace("\n", " ")
    assert "prior flat" in axes.get_title()
    assert_readable(axes)


def test_a_method_far_above_the_floor_leaves_the_picture_and_is_named(rows):
    floor = [row for row in rows if row.method == "optimal"]
    far = [replace(row, method="grr", ratio_to_optimal=1e4 * row.ratio_to_optimal) for row in floor]
    axes = plots.variance(floor + far, relative=True)
    top = axes.get_ylim()[1]
    assert MOST_ABOVE <= top < 2 * MOST_ABOVE
    assert noted(axes) == "Leaving the picture at the top: grr (up to 10,000)."
    assert noted(plots.variance(floor, relative=True)) == ""


def test_the_order_of_the_rows_does_not_matter(rows):
    one, other = plots.variance(rows), plots.variance(rows[::-1])
    for method in METHODS:
        np.testing.assert_array_equal(xy(one, method), xy(other, method))
    drawn = [found.get_label() for found in one.lines]
    assert drawn == [found.get_label() for found in other.lines] == methods_in_order(METHODS)


def test_rows_without_the_number_to_draw_are_left_out(rows):
    """A row of another objective may have no ratio."""
    least = [replace(row, method="minimax", ratio_to_optimal=math.nan) for row in rows if row.method == "optimal"]
    axes = plots.variance(rows + least, relative=True)
    assert "minimax" not in end_labels(axes)
    assert "minimax" in end_labels(plots.variance(rows + least, worst_case=True))
    with pytest.raises(InputError, match="got rows that all lack it"):
        plots.variance(least, relative=True)


@pytest.mark.slow
def test_one_budget_can_be_drawn(rows):
    axes = plots.variance([row for row in rows if row.epsilon == 1.0])
    assert_readable(axes)
    assert line(axes, "optimal").get_marker() == "o"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda rows: [], "rows that did not fail, got 0 rows"),
        (lambda rows: [Row.failed("flat", 1.0, "expected", "ptt", "no")], "got 1 rows, 1 failed"),
        (lambda rows: [as_sweep(rows[0]), as_sweep(rows[1], prior="hilly")], r"one prior, got flat, hilly: .*'flat'"),
        (lambda rows: [rows[0], rows[0]], "one row per budget, got 2 for optimal at epsilon 0.5"),
    ],
)
def test_rows_that_make_no_picture_are_refused(rows, change, says):
    with pytest.raises(InputError, match=says):
        plots.variance(change(rows))


def test_a_relative_worst_case_needs_the_least_one_at_each_budget(rows):
    least = [replace(rows[0], method="minimax", objective="minimax")]
    with pytest.raises(InputError, match="the optimum's at each budget, got no optimum at epsilon 1:"):
        plots.variance(rows + least, worst_case=True, relative=True)
