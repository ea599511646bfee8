"""What every figure must keep: texts inside the picture and none upon another."""

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.offsetbox import AnnotationBbox
from matplotlib.text import Text
from matplotlib.transforms import Bbox
from optldp.estimators.plots.style import whole_figure

SLACK = 1.0
"""Pixels that the boxes of two texts may share: they reach a little beyond the letters."""


def shown_texts(axes: Axes) -> list[Text]:
    """Every text with letters that is drawn in the figure of the axes, once it is laid out."""
    figure = whole_figure(axes)
    figure.draw_without_rendering()
    found: list[Any] = figure.findobj(lambda part: isinstance(part, Text) and bool(part.get_text().strip()))
    outside = {id(label) for part in figure.axes for label in _hidden_ticks(part)}
    return [text for text in found if text.get_visible() and id(text) not in outside]


def assert_readable(axes: Axes) -> None:
    """No text is cut off, covers another or is smaller than eight points."""
    boxes = [(text, letters(text)) for text in shown_texts(axes)]
    assert boxes
    for text, box in boxes:
        assert float(text.get_fontsize()) >= 8.0, text.get_text()
        inside = Bbox.from_bounds(*whole_figure(axes).bbox.bounds).padded(SLACK)
        assert inside.x0 <= box.x0 <= box.x1 <= inside.x1, text.get_text()
        assert inside.y0 <= box.y0 <= box.y1 <= inside.y1, text.get_text()
    upright = [(text, box) for text, box in boxes if text.get_rotation() % 90 == 0]  # a slanted one has no box
    for (one, box), (other, its) in combinations(upright, 2):
        assert not _overlap(box, its), f"{one.get_text()!r} lies upon {other.get_text()!r}"


def letters(text: Text) -> Bbox:
    """The box of the letters; an annotation's own would include its leader."""
    text.get_window_extent()  # moves an annotation to its place
    return Text.get_window_extent(text)


def line(axes: Axes, name: str) -> Line2D:
    """The one line of that label."""
    (found,) = [one for one in axes.lines if one.get_label() == name]
    return found


def xy(axes: Axes, name: str) -> np.ndarray:
    """(k, 2) what the line of that label shows."""
    return np.column_stack([np.asarray(values, dtype=float) for values in line(axes, name).get_data()])


def end_labels(axes: Axes) -> list[str]:
    """The names to the right of the axes, from the top down."""
    boxes = [part for part in axes.artists if isinstance(part, AnnotationBbox)]
    boxes.sort(key=lambda box: -box.xybox[1])
    return [text.get_text() for box in boxes for text in texts(box) if text.get_text()]


def noted(axes: Axes) -> str:
    """What is written below the axes."""
    return "".join(text.get_text() for text in axes.texts if text.get_gid() == "note")


def texts(part: Any) -> list[Text]:
    """All texts in a part of a figure."""
    return part.findobj(Text)


def _overlap(one: Bbox, other: Bbox) -> bool:
    shared = Bbox.intersection(one, other)
    return shared is not None and shared.width > SLACK and shared.height > SLACK


def _hidden_ticks(axes: Axes) -> list[Text]:
    """Labels of ticks beyond the limits, which matplotlib keeps and does not draw."""
    hidden = []
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
            if not low - 1e-9 <= tick.get_loc() <= high + 1e-9:
                hidden += [tick.label1, tick.label2]
    return hidden
