"""Letters that the usual font lacks are taken from another, or said to be lacking."""

import numpy as np
import pytest
from matplotlib import font_manager
from optldp.designer.plots.saving import save_figure
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.plots import fonts
from optldp.estimators.plots.style import add_note, add_title, new_axes, whole_figure
from optldp.mechanisms.categorical import categorical_grr

from ...designer.figure_checks import assert_readable

ELSEWHERE = "ᶁ"
"""matplotlib brings a font that has it, and DejaVu Sans does not."""


@pytest.fixture(autouse=True)
def looked_up_anew():
    fonts._fallbacks.cache_clear()
    yield
    fonts._fallbacks.cache_clear()


def test_a_label_is_drawn_by_a_font_that_has_its_letters():
    axes = new_axes()
    axes.set_xlabel(f"value [{ELSEWHERE}]")
    assert fonts.choose_fonts(whole_figure(axes)) == fonts.choose_fonts(whole_figure(axes)) == ""
    (_, *others) = axes.xaxis.label.get_fontfamily()
    assert others
    path = font_manager.findfont(others[0])
    assert font_manager.get_font(path).get_char_index(ord(ELSEWHERE))


@pytest.mark.slow
def test_what_no_font_has_is_said_in_one_line_and_drawn_without_warnings(monkeypatch, tmp_path):
    usual = [font for font in font_manager.fontManager.ttflist if font.name == "DejaVu Sans"]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", usual)
    made = categorical_grr(["東京", "Paris"], 1.0)
    found = estimate_frequencies(CategoryCounts.from_reports(made, np.array([0, 1, 1])), method="unbiased")
    said = save_figure(found.plot(), tmp_path / "cities.png")  # warnings are errors here
    assert said.startswith("no font of this system has 京東: ")
    assert (tmp_path / "cities.png").stat().st_size > 1000


@pytest.mark.slow
def test_titles_and_notes_in_wide_letters_stay_inside():
    axes = new_axes()
    add_title(axes, "東京" * 60)
    add_note(axes, "京 " * 100)
    fonts.choose_fonts(whole_figure(axes))
    with fonts.quiet_about_boxes():
        assert_readable(axes)
    assert axes.get_title().replace("\n", "") == "東京" * 60
