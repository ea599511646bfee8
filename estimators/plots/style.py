"""How the figures look: their size, and a line of its own for every method.

Colours are those of Okabe and Ito, which colour-blind people can tell apart, without the yellow, which is too pale on
white. No figure relies on colour: every method also has a dash pattern and a marker of its own, and the lines carry
their names at their right ends.
"""

from __future__ import annotations

import hashlib
import textwrap
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

# How large a figure is, and where axes come from, is said where answers draw themselves; figures find it here.
from ...mechanisms.display.axes import HEIGHT as HEIGHT
from ...mechanisms.display.axes import WIDTH as WIDTH
from ...mechanisms.display.axes import axes_or_new as axes_or_new
from ...mechanisms.display.axes import empty_figure as empty_figure
from ...mechanisms.display.axes import new_axes as new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TITLE = 10.0
"""Points of titles, matplotlib's "medium"."""

SMALL = 8.5
"""Points: notes and labels inside a figure; axes' labels and titles."""

NOTE_GAP = 5.0
"""Points between the label of an axis and the note below it."""

BLACK, ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE, GREY = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
    "#6E6E6E",
)
"""Okabe and Ito (2008), "Color universal design", and a grey."""

SHADE = "#DDDDDD"
"""What is filled behind everything else."""

UNREACHABLE = "no unbiased mechanism gets here"


def _style(color: str, dashes: tuple[float, ...], marker: str, linewidth: float = 1.4) -> dict[str, Any]:
    return {
        "color": color,
        "linestyle": (0, dashes) if dashes else "-",
        "marker": marker,
        "linewidth": linewidth,
        "markersize": 4.5,
    }


METHOD_STYLES: dict[str, dict[str, Any]] = {
    "optimal": _style(BLACK, (), "o", 2.2),
    "minimax": _style(BLACK, (6, 1.5), "s", 2.0),
    "robust": _style(BLACK, (2, 1), "8", 2.0),
    "information": _style(BLACK, (1, 0.8), "H", 2.0),
    "error": _style(BLACK, (9, 1.5, 2, 1.5), "x", 2.0),
    "aaa": _style(BLUE, (4, 1.5), "D"),
    "laplace": _style(VERMILLION, (1, 1.2), "^"),
    "duchi": _style(GREEN, (6, 1.5, 1, 1.5), "v"),
    "piecewise": _style(ORANGE, (8, 2), "P"),
    "hybrid": _style(PURPLE, (3, 1.2, 1, 1.2, 1, 1.2), "X"),
    "three-outputs": _style(SKY, (5, 1, 5, 3), "<"),
    "pm-sub": _style(GREY, (2, 1.5), ">"),
    "ptt": _style(BLUE, (1, 2.5), "p"),
    "ptt2": _style(VERMILLION, (7, 1.5, 1, 1.5, 1, 1.5), "*"),
    "square-wave": _style(GREEN, (3, 3), "h"),
    "grr": _style(PURPLE, (10, 3), "d"),
}
"""Keyword arguments of a line for methods and for the best by other criteria; no two have the same dashes or marker. A
method that is not here has the style that `method_style` makes of its name."""

OTHER_COLORS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, GREY)
OTHER_MARKERS = ("1", "2", "3", "4", "|", "_", "x", "+")


def whole_figure(axes: Axes) -> Figure:
    """Return the figure that the axes are drawn with, that around a subfigure too."""
    return axes.figure.canvas.figure


def method_style(name: str) -> dict[str, Any]:
    """Return colour, dashes, marker and widths of a method's line: the same in every figure and every run.

    A name that is not in `METHOD_STYLES` gets a style that follows from its letters.

    Example
    -------
    >>> method_style("optimal")["color"], method_style("my mechanism") == method_style("my mechanism")
    ('#000000', True)
    """
    if name in METHOD_STYLES:
        return dict(METHOD_STYLES[name])
    number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")
    first, second = 2 + number % 5, 1 + number // 5 % 3
    dashes = (float(first), 1.5, float(second), 1.5)
    marker = OTHER_MARKERS[number // 15 % len(OTHER_MARKERS)]
    return _style(OTHER_COLORS[number // 150 % len(OTHER_COLORS)], dashes, marker)


def methods_in_order(names: Iterable[str]) -> list[str]:
    """Return the names once each, those of `METHOD_STYLES` first and in its order.

    Example
    -------
    >>> methods_in_order(["mine", "duchi", "optimal", "duchi"])
    ['optimal', 'duchi', 'mine']
    """
    seen = list(dict.fromkeys(names))
    return [name for name in METHOD_STYLES if name in seen] + [name for name in seen if name not in METHOD_STYLES]


def wrapped(axes: Axes, text: str, points: float) -> str:
    """Return text broken into lines that fit the width of axes, in type of so many points.

    Letters are little more than half as wide as the type is high, those of Chinese, Japanese and Korean twice that.

    Example
    -------
    >>> axes = new_axes(4, 3)
    >>> max(len(line) for line in wrapped(axes, 6 * "thirty letters are not so many ", 10).splitlines())
    38
    """
    letters = int(axes.bbox.width / axes.figure.dpi * 72 / (0.58 * points))
    if not any(unicodedata.east_asian_width(letter) in "WF" for letter in text):
        return "\n".join(textwrap.wrap(text, letters))
    doubled = "".join(one + WIDE if unicodedata.east_asian_width(one) in "WF" else one for one in text)
    return "\n".join(textwrap.wrap(doubled, letters)).replace(WIDE, "")


WIDE = "\ufdd0"
"""Stands beside a wide letter while lines are broken; no letter, and in no text."""


def add_title(axes: Axes, text: str) -> None:
    """Write a title above axes, broken into lines that fit their width; names in it may be long."""
    axes.set_title(wrapped(axes, text, TITLE), fontsize="medium")


def add_note(axes: Axes, text: str) -> None:
    """Write a note below axes and their label, broken into lines that fit their width; formulas are formulas."""
    if text:
        axes.annotate(
            wrapped(axes, text, SMALL),
            (0.0, 0.0),
            xycoords=("axes fraction", axes.xaxis.label),
            xytext=(0.0, -NOTE_GAP),
            textcoords="offset points",
            va="top",
            fontsize=SMALL,
            color="#333333",
            gid="note",
        )
