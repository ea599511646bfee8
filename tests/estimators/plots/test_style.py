"""Styles that tell methods apart without colour, and the little texts."""

import sys

import pytest
from matplotlib.colors import to_rgb
from optldp.designer import METHODS, Prior, WorstCase, design, plots
from optldp.designer.comparison.row import Row
from optldp.estimators.plots.style import (
    METHOD_STYLES,
    add_note,
    method_style,
    methods_in_order,
    new_axes,
    whole_figure,
)
from optldp.mechanisms import InputError, duchi
from optldp.mechanisms.units import axis_label, literal, squared, units_label

from ...designer.figure_checks import assert_readable, noted


def test_every_method_has_dashes_and_a_marker_of_its_own():
    assert "minimax" in METHOD_STYLES
    for what in ("linestyle", "marker"):
        assert len({style[what] for style in METHOD_STYLES.values()}) == len(METHOD_STYLES)
    styles = [
        method_style(name) for name in {*METHODS, *METHOD_STYLES}
    ]  # those without a place follow from their names
    assert len({(style["linestyle"], style["marker"]) for style in styles}) == len(styles)


def test_the_optimum_is_a_black_solid_line_and_the_thickest():
    style = method_style("optimal")
    assert (style["color"], style["linestyle"]) == ("#000000", "-")
    assert all(style["linewidth"] > other["linewidth"] for name, other in METHOD_STYLES.items() if name != "optimal")


def test_every_line_stands_out_from_white_paper():
    """Contrast of at least two to one (relative luminance as in WCAG 2), which rules the yellow out."""
    for style in METHOD_STYLES.values():
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(style["color"])]
        luminance = 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        assert 1.05 / (luminance + 0.05) > 2


def test_other_names_keep_their_style_and_differ_from_each_other():
    assert method_style("mine") == method_style("mine")
    styles = [method_style(f"mechanism {k}") for k in range(8)]
    assert len({(style["linestyle"], style["marker"], style["color"]) for style in styles}) == 8


def test_a_style_can_be_changed_without_changing_the_next_one():
    method_style("aaa")["color"] = "red"
    assert method_style("aaa")["color"] != "red"


def test_methods_come_in_the_order_of_their_styles_and_others_last():
    assert methods_in_order(["mine", "grr", "optimal", "grr"]) == ["optimal", "grr", "mine"]


def test_units_stand_in_brackets_and_squares_are_unambiguous():
    assert units_label("value", "kg") == "value [kg]"
    assert units_label("value", "") == "value"
    assert [squared(units) for units in ("kg", "m/s", "")] == ["kg²", "(m/s)²", ""]


def test_dollars_are_dollars_and_no_formula():
    assert literal(literal("$1 or $2\n")) == r"\$1 or \$2"
    assert literal("kg\x01") == r"kg\x01"
    axes = new_axes()
    axes.set_xlabel("a $^$ b")
    with pytest.raises(ValueError, match="Expected"):
        assert_readable(axes)
    axes.set_xlabel(axis_label("value", "US$ of $^$"))
    assert_readable(axes)


def test_a_long_note_is_broken_into_lines_that_fit():
    axes = new_axes()
    axes.set_xlabel("value")
    add_note(axes, "word " * 80)
    assert_readable(axes)
    note = noted(axes)
    assert note.count("\n") >= 3
    assert note.replace("\n", " ") == ("word " * 80).strip()


def test_a_figure_has_the_size_asked_for():
    assert whole_figure(new_axes(4.6, 3.0)).get_size_inches().tolist() == [4.6, 3.0]


KNOTS = [-1.0, 0.0, 1.0]
PRIOR = Prior.on_knots(KNOTS, [1, 2, 1], source="public")
ROW = Row(method="optimal", epsilon=1.0, expected_variance=1.0, worst_case_variance=2.0, ratio_to_optimal=1.0)


@pytest.mark.parametrize(
    "draw",
    [
        new_axes,
        lambda: plots.variance([ROW]),
        lambda: plots.by_value({"duchi": duchi(KNOTS, 1.0)}),
        lambda: plots.by_value({"duchi": duchi(KNOTS, 1.0)}, prior=PRIOR),
        lambda: plots.trade_off([design(Prior.even(KNOTS), 1.0, objective=WorstCase())], prior=PRIOR),
        lambda: plots.least_favourable(design(Prior.even(KNOTS), 1.0, objective=WorstCase())),
        lambda: plots.error_table({("taxi", "aaa"): 1.0}, title="", quantity=""),
    ],
    ids=["empty", "variance", "by-value", "by-value-with-prior", "trade-off", "least-favourable", "error-table"],
)
def test_without_matplotlib_the_extra_is_named(monkeypatch, draw):
    """As where it was never installed: importing any of its modules fails."""
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"plots need matplotlib: pip install matplotlib"):
        draw()
