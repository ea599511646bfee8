"""Names beside what they name: at the right ends of lines, and next to points, without covering each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from ...estimators.plots.style import GREY, SMALL, method_style, whole_figure
from ...mechanisms.units import literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox

LINE_SPACING = 1.35
"""Distance of two labels' baselines over their size in points."""

KEPT_SHARE = 0.97
"""Of the height that axes have before their ticks, labels and title are laid out, what they keep at least."""

PLACES = [(far * x, far * y) for far in (1.0, 2.2, 3.6, 5.0) for x in (7, -7, 0) for y in (0, 9, -9) if x or y]
"""Where the label of a point may stand, in points from it: the nearest that is free is taken."""

MARKER = 5.0
"""Points: half the width of a marker, which labels keep clear of, and of each other."""

FAR = 14.0
"""Points: a label further away than that gets a leader."""

DOTS = 40
"""Along each stretch of a curve that labels keep clear of."""


def label_ends(axes: Axes, lines: Sequence[Line2D]) -> None:
    """Write each method's name to the right of the axes, with a sample of its line, level with its end or near it.

    Scales and limits of the axes must be final. The labels of lines that end close together are moved apart as little
    as can be (least squares); a thin leader runs from each line's end to its label.

    Parameters
    ----------
    axes : Axes
    lines : sequence of Line2D
        With the methods' names as labels.
    """
    if not lines:
        return
    axes.get_ylim()  # settles limits that are still to be chosen
    to_axes = axes.transScale + axes.transLimits
    ends = [_end(axes, line) for line in lines]
    wanted = np.array([np.clip(to_axes.transform(end)[1], 0.0, 1.0) for end in ends])
    inches = KEPT_SHARE * axes.bbox.height / axes.figure.dpi
    places = spread(wanted, LINE_SPACING * SMALL / 72 / inches)
    for line, end, place in zip(lines, ends, places, strict=True):
        name = str(line.get_label())
        _write_end(axes, name, method_style(name), end, float(place))


def spread(wanted: np.ndarray, gap: float) -> np.ndarray:
    """Return places in [0, 1], at least `gap` apart, in the same order and near the ones wanted.

    Where they do not all fit, the gap is as large as can be.

    Example
    -------
    >>> spread(np.array([0.5, 0.5, 0.9]), 0.2)
    array([0.4, 0.6, 0.9])
    """
    count = len(wanted)
    gap = min(gap, 1.0 / (count - 1)) if count > 1 else gap
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(count)
    even = isotonic_regression(wanted[order] - steps).x
    places = np.empty(count)
    places[order] = np.clip(even, 0.0, max(1.0 - steps[-1], 0.0)) + steps
    return places


def _end(axes: Axes, line: Line2D) -> tuple[float, float]:
    """Return where a line ends within the limits: its last point, or where it leaves for good at the top or below.

    Of a line that is nowhere within them, its last point.
    """
    data = np.column_stack([np.asarray(values, dtype=float) for values in line.get_data()])
    to_axes = axes.transScale + axes.transLimits
    seen = to_axes.transform(data)
    drawn = np.isfinite(seen).all(axis=1)  # zero on a logarithmic scale is not
    data, seen = data[drawn], seen[drawn]
    inside = np.flatnonzero((seen[:, 1] >= 0.0) & (seen[:, 1] <= 1.0))
    if not inside.size or inside[-1] == len(data) - 1:
        return float(data[-1, 0]), float(data[-1, 1])
    before, after = seen[inside[-1]], seen[inside[-1] + 1]
    edge = 1.0 if after[1] > 1.0 else 0.0
    left = before + (edge - before[1]) / (after[1] - before[1]) * (after - before)
    x, y = to_axes.inverted().transform(left)
    return float(x), float(y)


def _write_end(axes: Axes, name: str, style: Mapping[str, Any], end: tuple[float, float], place: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnnotationBbox, DrawingArea, HPacker, TextArea

    sample = DrawingArea(26, 7)
    sample.add_artist(Line2D([0, 13, 26], [3.5, 3.5, 3.5], markevery=[1], **style))
    text = TextArea(literal(name), textprops={"fontsize": SMALL, "gid": f"label-{name}"})
    box = AnnotationBbox(
        HPacker(children=[sample, text], pad=0, sep=4, align="center"),
        end,
        xybox=(1.04, place),
        boxcoords="axes fraction",
        box_alignment=(0.0, 0.5),
        frameon=False,
        pad=0,
        annotation_clip=False,
        arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 2, "relpos": (0, 0.5)},
    )
    axes.add_artist(box)


def label_points(
    axes: Axes, points: Mapping[str, tuple[float, float]], curve: np.ndarray, texts: Sequence[Text] = ()
) -> None:
    """Write names next to points of the axes where they cover neither each other nor points, curve or other texts.

    Parameters
    ----------
    axes : Axes
        With final limits.
    points : mapping of str to (float, float)
    curve : (k, 2) ndarray
        Corners of a line in the picture, in data coordinates.
    texts : sequence of Text
        What is written already.
    """
    if not points:
        return
    whole_figure(axes).draw_without_rendering()  # gives the axes the size that they will have
    scale, window = axes.figure.dpi / 72, axes.get_window_extent()
    corners, places = axes.transData.transform(curve), axes.transData.transform(list(points.values()))
    share = np.linspace(0, 1, DOTS)[:, None]
    along = [(1 - share) * left + share * right for left, right in pairwise(corners)]
    dots = np.concatenate([*along, places])
    taken = [text.get_window_extent() for text in texts]
    for (name, point), place in zip(points.items(), places, strict=True):
        size = _size(axes, name)
        boxes = [_box(place, size, scale * np.array(offset)) for offset in PLACES]
        costs = [
            _cost(box.padded(MARKER * scale), window, dots, taken) + _crossing(box, place, taken) + np.hypot(*offset)
            for box, offset in zip(boxes, PLACES, strict=True)
        ]
        k = int(np.argmin(costs))
        taken.append(boxes[k])
        _write(axes, name, point, PLACES[k])


def _size(axes: Axes, name: str) -> np.ndarray:
    """Return width and height of a name in pixels."""
    text = axes.text(0, 0, literal(name), fontsize=SMALL)
    box = text.get_window_extent()
    text.remove()
    return np.array([box.width, box.height])


def _box(place: np.ndarray, size: np.ndarray, offset: np.ndarray) -> Bbox:
    """Return the box of a text that stands beyond an offset, or centred on it where that is zero."""
    from matplotlib.transforms import Bbox

    low = place + offset - 0.5 * (1 - np.sign(offset)) * size
    return Bbox([low, low + size])


def _cost(box: Bbox, window: Bbox, dots: np.ndarray, taken: Sequence[Bbox]) -> float:
    """Say how bad a label's place is: out of the axes, over labels, over points, in that order."""
    outside = not (window.x0 <= box.x0 and box.x1 <= window.x1 and window.y0 <= box.y0 and box.y1 <= window.y1)
    over = sum(box.overlaps(other) for other in taken)
    covered = ((dots >= box.min) & (dots <= box.max)).all(axis=1).sum()
    return 1e4 * outside + 1e3 * over + 30 * covered


def _crossing(box: Bbox, place: np.ndarray, taken: Sequence[Bbox]) -> float:
    """Say how bad it is that the leader to a label runs through others."""
    share = np.linspace(0, 1, DOTS)[:, None]
    leader = (1 - share) * place + share * 0.5 * (box.min + box.max)
    return 1e2 * sum(bool(other.count_contains(leader)) for other in taken)


def _write(axes: Axes, name: str, point: tuple[float, float], place: tuple[float, float]) -> None:
    x, y = place
    far = np.hypot(x, y) > FAR
    axes.annotate(
        literal(name),
        point,
        xytext=place,
        textcoords="offset points",
        fontsize=SMALL,
        ha="left" if x > 0 else "right" if x < 0 else "center",
        va="bottom" if y > 0 else "top" if y < 0 else "center",
        arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3} if far else None,
    )
