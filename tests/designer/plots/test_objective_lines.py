"""An objective against the budget: bounds are shaded where there are any, and what is not drawn is named."""

import pytest
from optldp.designer import plots
from optldp.designer.comparison.row import Row
from optldp.designer.plots.objective_lines import MOST_AWAY

from ..figure_checks import assert_readable, end_labels, noted, shown_texts


def row(method: str, epsilon: float, value: float | None, bound: float | None = None) -> Row:
    return Row(objective="robust", epsilon=epsilon, method=method, value=value, bound=bound)


BEST = [row("robust", 1.0, 4.0, 3.9), row("robust", 2.0, 2.0, 1.9)]
OTHER = [row("duchi", 1.0, 5.0), row("duchi", 2.0, 3.0)]


@pytest.mark.parametrize("rows", [BEST + OTHER, BEST[:1] + OTHER[:1]], ids=["two-budgets", "one-budget"])
def test_the_impossible_is_shaded_and_says_so(rows):
    axes = plots.objective(rows, quantity="variance", nobody="no unbiased mechanism")
    assert len(axes.collections) == 1
    assert "no unbiased mechanism gets here" in [text.get_text() for text in shown_texts(axes)]
    assert_readable(axes)


def test_without_bounds_nothing_is_called_impossible():
    axes = plots.objective(OTHER, quantity="variance")
    assert not axes.collections
    assert end_labels(axes) == ["duchi"]
    assert axes.get_ylim()[0] < 3.0 < 5.0 < axes.get_ylim()[1]
    assert not any("gets here" in text.get_text() for text in shown_texts(axes))


def test_what_leaves_the_picture_or_has_no_value_is_named():
    far = [row("grr", 1.0, 10 * MOST_AWAY * 4.0), row("grr", 2.0, 3.0)]
    axes = plots.objective([*BEST, *far, row("ptt", 1.0, None)], quantity="variance")
    assert noted(axes).replace("\n", " ") == ("Leaving the picture: grr. Without a value at some budgets or all: ptt.")
    assert noted(plots.objective(BEST, quantity="variance")) == ""
