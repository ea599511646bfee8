"""Names beside lines and points."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer import METHODS
from optldp.designer.plots.labels import label_ends, label_points, spread
from optldp.estimators.plots.style import METHOD_STYLES, method_style, new_axes

from ..figure_checks import assert_readable, end_labels, letters, shown_texts


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15), st.floats(0.0, 0.3))
def test_places_keep_their_order_and_their_distance(wanted, gap):
    places = spread(np.array(wanted), gap)
    order = np.argsort(wanted, kind="stable")
    least = min(gap, 1 / (len(wanted) - 1)) if len(wanted) > 1 else 0.0
    assert (np.diff(places[order]) >= least - 1e-12).all()
    assert places.min() >= -1e-12
    assert places.max() <= 1 + 1e-12


def test_places_with_room_stay_where_they_are():
    np.testing.assert_allclose(spread(np.array([0.9, 0.1, 0.5]), 0.1), [0.9, 0.1, 0.5])


def test_places_move_apart_as_little_as_can_be():
    np.testing.assert_allclose(
        spread(np.array([0.5, 0.5, 0.52]), 0.1), [0.5 - 0.1 + 0.02 / 3, 0.5 + 0.02 / 3, 0.6 + 0.02 / 3]
    )


@pytest.mark.nightly
def test_names_of_lines_that_end_at_one_place_can_all_be_read():
    axes = new_axes()
    lines = [axes.plot([0, 1], [k, 0.5], label=name, **method_style(name))[0] for k, name in enumerate(METHOD_STYLES)]
    axes.set_ylim(0, 20)
    label_ends(axes, lines)
    assert_readable(axes)
    assert sorted(end_labels(axes)) == sorted(METHOD_STYLES)


def test_names_stand_in_the_order_of_the_ends():
    axes = new_axes()
    ends = {"aaa": 3.0, "duchi": 9.0, "grr": 5.0}
    lines = [axes.plot([0, 1], [0, end], label=name, **method_style(name))[0] for name, end in ends.items()]
    label_ends(axes, lines)
    assert end_labels(axes) == ["duchi", "grr", "aaa"]


def test_a_line_that_leaves_the_picture_is_named_where_it_does():
    axes = new_axes()
    lines = [
        axes.plot([0, 1, 2], heights, label=name, **method_style(name))[0]
        for name, heights in {"grr": [9, 1, 90], "aaa": [3, 3, 3]}.items()
    ]
    axes.set_ylim(0, 10)
    label_ends(axes, lines)
    assert end_labels(axes) == ["grr", "aaa"]


@pytest.mark.slow
def test_names_of_points_cover_neither_each_other_nor_the_curve():
    axes = new_axes()
    curve = np.array([[0.0, 1.0], [0.3, 0.3], [1.0, 0.0]])
    points = {name: (0.5 + 0.02 * (k % 3), 0.5 + 0.02 * (k // 3)) for k, name in enumerate(METHODS[:9])}
    points |= {"on the curve": (0.3, 0.3), "so is this": (0.15, 0.65), "and that": (0.65, 0.15)}
    axes.plot(*curve.T)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    label_points(axes, points, curve)
    assert_readable(axes)
    named = {text.get_text(): letters(text) for text in shown_texts(axes) if text.get_text() in points}
    assert set(named) == set(points)
    corners = axes.transData.transform(curve)
    share = np.linspace(0, 1, 400)[:, None]
    along = np.concatenate([(1 - share) * a + share * b for a, b in pairwise(corners)])
    for box in named.values():
        assert not box.count_contains(along)
        assert axes.bbox.containsx(box.x0)
        assert axes.bbox.containsx(box.x1)


@pytest.mark.parametrize("corner", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.0)])
def test_the_name_of_a_point_in_a_corner_stays_in_the_picture(corner):
    axes = new_axes()
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    label_points(axes, {"square-wave": corner}, np.array([corner, corner]))
    (text,) = [text for text in shown_texts(axes) if text.get_text() == "square-wave"]
    box = letters(text)
    window = axes.get_window_extent()
    assert window.x0 <= box.x0 <= box.x1 <= window.x1
    assert window.y0 <= box.y0 <= box.y1 <= window.y1


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize(("heights", "edge"), [((2, 3, 900), 1.0), ((3, 2, 1e-6), 0.0)])
def test_the_name_of_a_line_that_leaves_stands_at_the_edge_that_it_leaves_by(scale, heights, edge):
    """Its last point inside may be far from there, to the left and below."""
    axes = new_axes()
    (line,) = axes.plot([0, 1, 2], heights, label="grr", **method_style("grr"))
    axes.set_yscale(scale)
    axes.set_ylim(1, 10)
    axes.set_xlim(0, 2)
    label_ends(axes, [line])
    (box,) = axes.artists
    assert (axes.transScale + axes.transLimits).transform(box.xy)[1] == pytest.approx(edge, abs=1e-9)  # pyright: ignore[reportAttributeAccessIssue] -- of these there is one
    assert 1 < box.xy[0] < 2  # pyright: ignore[reportAttributeAccessIssue] -- of these there is one
    assert box.xybox[1] == pytest.approx(edge, abs=0.1)  # pyright: ignore[reportAttributeAccessIssue] -- of these there is one
