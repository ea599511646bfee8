"""A table of errors: numbers, marks and shades."""

import math
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.patches import Rectangle
from optldp.designer import plots
from optldp.designer.plots.error_cells import MOST_TIMES
from optldp.estimators.plots.style import new_axes
from optldp.mechanisms import InputError

from ..figure_checks import assert_readable, noted

ERRORS = {
    ("taxi", "aaa"): 2.0e-5,
    ("taxi", "laplace"): 5.0e-5,
    ("taxi", "hybrid"): 2.1e-5,
    ("wages", "aaa"): 321.5,
    ("wages", "laplace"): 250.25,
    ("wages", "hybrid"): 251.0,
}
SPREAD = {key: 0.02 * value for key, value in ERRORS.items()}


def draw(errors=ERRORS, **options) -> Axes:
    return plots.error_table(errors, title="10,000 users, ε = 1", quantity="mean squared error", **options)


def cells(axes: Axes) -> dict[tuple[int, int], Any]:
    """Text of each cell by row and column; the last text is the note."""
    return {(round(text.get_position()[1]), round(text.get_position()[0])): text for text in axes.texts[:-1]}


def words(axes: Axes) -> list[list[str]]:
    found = cells(axes)
    return [[found[i, j].get_text() for j in range(3)] for i in range(2)]


def test_cells_hold_three_digits_in_the_power_of_ten_of_their_row():
    axes = draw()
    assert words(axes) == [["★ 20.0", "50.0", "21.0"], ["322", "★ 250", "251"]]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["taxi\n[10⁻⁶]", "wages"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["aaa", "laplace", "hybrid"]


def test_the_best_of_a_row_is_bold_starred_and_framed():
    axes = draw()
    bold = {place for place, text in cells(axes).items() if text.get_fontweight() == "bold"}
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    framed = {(round(frame.get_y() + 0.45), round(frame.get_x() + 0.47)) for frame in frames}
    assert bold == framed == {(0, 0), (1, 1)}


def test_errors_stand_with_their_standard_errors_and_ties_are_marked():
    axes = draw(standard_errors=SPREAD)
    assert words(axes) == [
        ["★ 20.00\n± 0.40", "50.0\n± 1.0", "≈ 21.00\n± 0.42"],
        ["321.5\n± 6.4", "★ 250.2\n± 5.0", "≈ 251.0\n± 5.0"],
    ]
    assert "≈\N{NO-BREAK SPACE}within 2 standard errors" in noted(axes).replace("\n", " ")


def test_a_tie_is_one_of_the_difference():
    """0.1e-5 apart with 0.03e-5 each: more than two standard errors of the difference."""
    apart = {key: 0.015 * value for key, value in ERRORS.items()}
    assert words(draw(standard_errors=apart))[0][2].startswith("21.00")


def test_shades_are_ratios_to_the_best_of_the_row():
    (mesh,) = [part for part in draw().collections if isinstance(part, QuadMesh)]
    ratios = np.asarray(mesh.get_array()).reshape(2, 3)
    np.testing.assert_allclose(ratios, [[1, 2.5, 1.05], [321.5 / 250.25, 1, 251.0 / 250.25]])
    assert mesh.norm.vmin == 1.0
    assert mesh.norm.vmax == pytest.approx(2.5)


def test_shades_darken_steadily_in_grey_and_type_stays_readable_on_them():
    (mesh,) = [part for part in draw().collections if isinstance(part, QuadMesh)]
    linear = np.array([mesh.cmap(share)[:3] for share in np.linspace(0, 1, 20)])
    linear = np.where(linear <= 0.03928, linear / 12.92, ((linear + 0.055) / 1.055) ** 2.4)
    luminance = linear @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) < 0).all()
    assert (luminance.min() + 0.05) / 0.05 > 7  # contrast of black type, WCAG 2 AAA


def test_errors_far_above_the_best_do_not_wash_out_the_rest():
    axes = draw(ERRORS | {("wages", "aaa"): 1e6})
    (mesh,) = [part for part in axes.collections if isinstance(part, QuadMesh)]
    assert mesh.norm.vmax == MOST_TIMES


def test_missing_cells_are_hatched_and_not_the_best():
    errors = {key: value for key, value in ERRORS.items() if key != ("taxi", "aaa")} | {("wages", "aaa"): math.nan}
    axes = draw(errors)
    columns = [label.get_text() for label in axes.get_xticklabels()]
    assert columns == ["laplace", "hybrid", "aaa"]
    assert words(axes) == [["50.0", "★ 21.0", "none"], ["★ 250", "251", "none"]]
    assert [patch.get_hatch() for patch in axes.patches].count("///") == 2


def test_a_row_without_any_number_is_drawn_as_such():
    axes = draw(ERRORS | {("wages", column): math.inf for column in ("aaa", "laplace", "hybrid")})
    assert words(axes)[1] == ["none"] * 3


@pytest.mark.nightly
@pytest.mark.parametrize("width", [7.2, 5.0])
def test_long_names_are_turned_and_can_be_read(width):
    columns = ["optimal", "aaa", "piecewise", "three-outputs", "square-wave", "laplace"]
    errors = {(f"data set {k}", name): 1.0 + k + len(name) for k in range(4) for name in columns}
    axes = draw(errors, ax=new_axes(width, 3.5), standard_errors=dict.fromkeys(errors, 0.1))
    assert_readable(axes)
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {25.0}
    assert {label.get_rotation() for label in draw().get_xticklabels()} == {0.0}


def test_title_note_and_scale_say_what_the_numbers_are():
    axes = draw()
    assert_readable(axes)
    assert axes.get_title() == "10,000 users, ε = 1"
    assert noted(axes) == "Cells: mean squared error. ★\N{NO-BREAK SPACE}best of the row."
    assert axes.figure.axes[1].get_ylabel() == "times the best of the row"


@pytest.mark.parametrize(
    ("errors", "says"),
    [
        ({}, "at least one number, got 0 cells"),
        ({("a", "b"): math.nan}, "got 1 cells"),
        ({("a", "b"): -1.0}, "got -1 in"),
    ],
)
def test_tables_without_errors_are_refused(errors, says):
    with pytest.raises(InputError, match=says):
        draw(errors)
