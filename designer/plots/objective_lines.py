"""What an objective's best leaves to gain: its value against the budget, for every mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import SHADE, SMALL, add_note, axes_or_new, method_style, methods_in_order
from ...mechanisms import InputError
from ...mechanisms.units import literal
from .drawn import JudgedRow
from .labels import label_ends
from .scales import log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_AWAY = 30.0
"""Mechanisms by this factor away from the best leave the picture and are named below it."""

ROOM = 1.08
"""Factor beyond the outermost numbers."""

ROOM_FOR_NOTHING = 2.0
"""Factor beyond them on the side where nothing can be: that region must be seen."""


def objective(
    rows: Sequence[JudgedRow],
    ax: Axes | None = None,
    *,
    quantity: str,
    nobody: str = "no mechanism",
    more_is_better: bool = False,
) -> Axes:
    """Draw an objective's value against epsilon, with a line per mechanism; the region certified as impossible is
    shaded.

    Parameters
    ----------
    rows : sequence of Row
        Of one objective: `bounds(...).by(objective)`; those that failed are left out and named below the picture.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    quantity : str
        For the axis' label, with units.
    nobody : str
        The mechanisms for which the bounds hold.
    more_is_better : bool
        Whether the impossible region lies above.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No row with a value; rows of several objectives; matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import Prior, TradeOff, bounds, plots
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> found = bounds(prior, [0.5, 1.0], methods=["duchi"], objectives=[TradeOff(0.5)])
    >>> axes = plots.objective(found.by(TradeOff(0.5)), quantity="trade-off")
    >>> axes.get_ylabel()
    'trade-off'
    """
    good = sorted((row for row in rows if row.value is not None), key=lambda row: row.epsilon)
    if not good or len({row.objective for row in rows}) > 1:
        raise InputError(f"an objective's figure needs rows of one objective with values, got {len(good)} of those")
    best = sorted({row.epsilon: row.bound for row in good if row.bound is not None}.items())
    axes = axes_or_new(ax)
    _scale(axes, good, more_is_better)
    if best:
        _shade(axes, best, f"{nobody} gets here", more_is_better)
    lines = [_draw(axes, name, good) for name in methods_in_order({row.method for row in good})]
    axes.set_xlabel("privacy budget ε")
    axes.set_ylabel(quantity)
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    label_ends(axes, lines)
    add_note(axes, _note(axes, lines, methods_in_order({row.method for row in rows if row.value is None})))
    return axes


def _scale(axes: Axes, rows: Sequence[JudgedRow], more_is_better: bool) -> None:
    """Set both axes' limits around all that is not too far from the bounds, with room where nothing can be."""
    values = [row.value for row in rows if row.value is not None]
    bounds = [row.bound for row in rows if row.bound is not None] or values
    least = max(min(values + bounds), min(bounds) / MOST_AWAY)
    most = min(max(values + bounds), max(bounds) * MOST_AWAY)
    budgets = sorted({row.epsilon for row in rows})
    log_axis(axes, "x", budgets[0] / ROOM, budgets[-1] * ROOM, prefer=budgets)
    below, above = (1.0, ROOM_FOR_NOTHING) if more_is_better else (ROOM_FOR_NOTHING, 1.0)
    log_axis(axes, "y", least / ROOM / below, most * ROOM * above)


def _shade(axes: Axes, best: Sequence[tuple[float, float]], says: str, more_is_better: bool) -> None:
    """Fill what the bounds rule out, and say so."""
    budgets, bounds = np.array(best).T
    if len(best) == 1:  # a band, as a region needs two ends
        budgets, bounds = np.array(axes.get_xlim()), np.repeat(bounds, 2)
    edge = axes.get_ylim()[1 if more_is_better else 0]
    axes.fill_between(budgets, edge, bounds, color=SHADE, linewidth=0, zorder=0.5)
    axes.text(0.06, 0.94 if more_is_better else 0.06, says, transform=axes.transAxes, va="center", fontsize=SMALL)


def _draw(axes: Axes, name: str, rows: Sequence[JudgedRow]) -> Line2D:
    points = np.array([(row.epsilon, row.value) for row in rows if row.method == name], dtype=float)
    depth = 2.0 if points[0, 1] == rows[0].value else 3.0
    (line,) = axes.plot(*points.T, label=name, gid=f"method-{name}", zorder=depth, **method_style(name))
    return line


def _note(axes: Axes, lines: Sequence[Line2D], missing: Sequence[str]) -> str:
    """Name what is not in the picture: lines that leave it and methods without values."""
    low, high = axes.get_ylim()
    away = [str(line.get_label()) for line in lines if not all(low <= y <= high for y in np.asarray(line.get_ydata()))]
    notes = [f"Leaving the picture: {', '.join(map(literal, away))}."] if away else []
    if missing:
        notes.append(f"Without a value at some budgets or all: {', '.join(map(literal, missing))}.")
    return " ".join(notes)
