"""A figure made for a column of text, fitted to a telephone: labels wrapped, ticks thinned, and no names twice.

matplotlib wraps text at the figure's edges, not at the ends of an axis, and its locators leave ticks that are set, as
those of our logarithmic axes are, where they are; so both are done here, by the sizes that it measures.
"""

from __future__ import annotations

import textwrap
from itertools import pairwise
from typing import TYPE_CHECKING

from ...estimators.plots.fonts import quiet_about_boxes
from ...mechanisms.printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

EM_SHARE = 0.62
"""Width of a letter over the size of its type, on the average and a little more."""

LONGEST_UNIT = 32
"""Letters of a unit on an axis; the page's text has all of it."""


def literal(text: str) -> str:
    r"""Return text as matplotlib draws it letter by letter, dollars included, on one line and not too long.

    Example
    -------
    >>> literal("$ per $") == r"\$ per \$"
    True
    """
    plain = printable(" ".join(text.split()))
    plain = plain if len(plain) <= LONGEST_UNIT else plain[: LONGEST_UNIT - 1] + "…"
    return plain.replace("$", r"\$")


def fit(figure: Figure, *, bare: bool) -> None:
    """Take the title off, and the names of lines where the page has them; wrap labels and thin ticks that collide.

    Parameters
    ----------
    figure : Figure
    bare : bool
        Whether the page names the lines.
    """
    for axes in figure.axes:
        axes.set_title("")
        if not bare:
            continue
        for label in axes.artists:
            label.remove()
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    with quiet_about_boxes():
        figure.draw_without_rendering()  # places axes and ticks
    for axes in figure.axes:
        box = axes.get_window_extent()
        _wrap(axes.xaxis.label, 72 * box.width / figure.dpi)
        _wrap(axes.yaxis.label, 72 * box.height / figure.dpi)
        _thin(axes)


def _wrap(label: Text, points: float) -> None:
    """Break a label into lines no longer than that."""
    letters = max(8, int(points / (EM_SHARE * float(label.get_fontsize()))))
    label.set_text(textwrap.fill(label.get_text(), letters))


def _thin(axes: Axes) -> None:
    """Leave every second label of the x axis out while two of them touch."""
    low, high = sorted(axes.get_xlim())
    pairs = [
        (place, tick.label1)
        for place, tick in zip(axes.get_xticks(), axes.xaxis.get_major_ticks(), strict=False)
        if low <= place <= high and tick.label1.get_visible() and tick.label1.get_text()
    ]
    shown = pairs
    while len(shown) > 2 and any(_touch(a, b) for (_, a), (_, b) in pairwise(shown)):
        shown = shown[::2]
    if len(shown) < len(pairs):
        axes.set_xticks([place for place, _ in shown], labels=[label.get_text() for _, label in shown])


def _touch(left: Text, right: Text) -> bool:
    a, b = left.get_window_extent(), right.get_window_extent()
    return a.x1 + float(left.get_fontsize()) / 2 > b.x0
