"""A picture of a collection's days: how many reports each has, and how many of them are none, late or missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.plots.style import BLACK, GREY, OTHER_COLORS, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS = 8
"""Days that are named below the bars."""


def days_drawn(days: Sequence[Mapping[str, Any]], ax: Axes | None = None) -> Axes:
    """Draw a bar for each day, of the reports that are counted, wait, are none or came late.

    Parameters
    ----------
    days : sequence of mapping
        With day, n, waiting, invalid, late and missing, as `optldp monitor --json` has them.
    ax : Axes, optional
        To draw on; default: those of a new figure.

    Example
    -------
    >>> day = {"day": "2026-05-01", "n": 7, "waiting": 0, "invalid": 1, "late": 0, "missing": False}
    >>> days_drawn([day]).get_ylabel()
    'reports'
    """
    axes = axes_or_new(ax)
    places, below = np.arange(len(days)), np.zeros(len(days))
    parts = {"counted": ("n", GREY), "waiting": ("waiting", OTHER_COLORS[0]), "invalid": ("invalid", OTHER_COLORS[1])}
    parts["came too late"] = ("late", OTHER_COLORS[2])
    for label, (name, color) in parts.items():
        heights = np.array([day[name] for day in days], dtype=float)
        if label == "counted" or heights.any():
            axes.bar(places, heights, bottom=below, color=color, label=label)
        below += heights
    missing = [place for place, day in zip(places.tolist(), days, strict=True) if day["missing"]]
    if missing:
        axes.plot(missing, np.zeros(len(missing)), "x", color=BLACK, label="no counts", clip_on=False)
    step = max(1, -(-len(days) // MOST_LABELS))
    axes.set_xticks(places[::step], [day["day"] for day in days[::step]], rotation=30, ha="right")
    axes.set_ylabel("reports")
    axes.legend(frameon=False)
    return axes
