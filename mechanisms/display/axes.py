"""Pictures on axes of matplotlib, which is loaded by those alone who draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import InputError
from ..printable import shortened
from ..units import literal
from .summary import Dots, HeatMap, Picture, Profile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.2, 4.4
"""Inches: the width of a text column, so that a point of type is a point on paper."""

MOST_DOTS, LETTERS = 40, 40
"""Labels with numbers, from the first, and characters of one."""


def draw(picture: Picture, ax: Axes | None = None) -> Axes:
    """Draw on the axes given or on new ones, and return them.

    Raises
    ------
    InputError
        Something else than one axes; matplotlib is not installed.

    Example
    -------
    >>> draw(Dots(["US$"], np.array([0.5]), "share")).get_xlabel()
    'share'
    """
    if isinstance(picture, HeatMap):
        return _heat_map(picture, ax)
    return _profile(picture, ax) if isinstance(picture, Profile) else _dots(picture, ax)


def _heat_map(picture: HeatMap, ax: Axes | None) -> Axes:
    axes = axes_or_new(ax)
    image = axes.pcolormesh(picture.values.T, cmap="Blues", rasterized=True)
    axes.figure.colorbar(image, ax=axes, label=literal(picture.what))
    n, m = picture.values.shape
    axes.set_xticks([0.5, n - 0.5], [_text(end) for end in picture.across_ends])
    axes.set_yticks([0.5, m - 0.5], [_text(end) for end in picture.up_ends])
    axes.set_xlabel(literal(picture.across))
    axes.set_ylabel(literal(picture.up))
    return axes


def _profile(picture: Profile, ax: Axes | None) -> Axes:
    axes = axes_or_new(ax)
    axes.vlines(picture.places, 0.0, picture.heights, color="#08306b")
    if np.min(picture.heights, initial=0.0) >= 0:
        axes.set_ylim(bottom=0.0)
    if np.min(picture.places, initial=0.0) >= 0:
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.set_xlabel(literal(picture.across))
    axes.set_ylabel(literal(picture.up))
    return axes


def _dots(picture: Dots, ax: Axes | None) -> Axes:
    shown = np.flatnonzero(np.isfinite(picture.values))[:MOST_DOTS]
    axes = axes_or_new(ax, height=1.4 + 0.22 * shown.size)
    values, places = np.asarray(picture.values, dtype=float)[shown], np.arange(shown.size)
    if picture.low is not None and picture.high is not None:
        ends = [np.asarray(end, dtype=float)[shown] for end in (picture.low, picture.high)]
        whole = np.isfinite(ends[0]) & np.isfinite(ends[1])
        axes.hlines(places[whole], ends[0][whole], ends[1][whole], color="#08306b", linewidth=1.6)
    axes.plot(values, places, "o", color="#08306b", markersize=4.5)
    least = values if picture.low is None else np.asarray(picture.low, dtype=float)[shown]
    if picture.low is None and values.size and values.min() > 0:
        axes.set_xlim(left=0.0)
    elif np.nanmin(least, initial=0.0) >= 0:
        axes.set_xlim(left=max(0.0, axes.get_xlim()[0]))
    axes.set_yticks(places, [_text(picture.labels[k]) for k in shown], fontsize="small")
    axes.set_ylim(shown.size - 0.4, -0.6)
    axes.set_xlabel(literal(picture.what) + picture.left_out(shown.size))
    return axes


def _text(label: object) -> str:
    return literal(shortened(str(label), LETTERS))


def axes_or_new(ax: Axes | None, *, height: float = HEIGHT) -> Axes:
    """Return the axes given, or without any those of a new figure of the house's width and so many inches of height.

    Raises
    ------
    InputError
        Something else than one axes; matplotlib is not installed.
    """
    if ax is None:
        return new_axes(height=height)
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"ax must be one Axes of matplotlib, got {type(ax).__name__}: choose one")
    return ax


def new_axes(width: float = WIDTH, height: float = HEIGHT) -> Axes:
    """Return the axes of an empty figure of so many inches.

    Raises
    ------
    InputError
        matplotlib is not installed.

    Example
    -------
    >>> new_axes().figure.get_size_inches().tolist()
    [7.2, 4.4]
    """
    return empty_figure(width, height).add_subplot()


def empty_figure(width: float, height: float) -> Figure:
    """Return a figure without axes; raises as `new_axes`."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("plots need matplotlib: pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")
