"""What a criterion's best leaves to gain: its value against the budget, for every mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms import InputError
from ..comparison.criteria import CriterionRow
from ..priors.units import literal
from .labels import label_ends
from .scales import log_axis
from .style import HEIGHT, SHADE, SMALL, WIDTH, add_note, method_style, methods_in_order, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_AWAY = 30.0
"""Mechanisms by this factor away from the best leave the picture and are named below it."""

ROOM = 1.08
"""Factor beyond the outermost numbers."""


def criterion_figure(
    rows: Sequence[CriterionRow],
    *,
    quantity: str,
    nobody: str = "no mechanism",
    more_is_better: bool = False,
    size: tuple[float, float] = (WIDTH, HEIGHT),
) -> Figure:
    """Draw a criterion's value against epsilon, a line per mechanism; what is certified as impossible is shaded.

    Parameters
    ----------
    rows : sequence of CriterionRow
        Of one criterion; those that failed are left out and named below the picture.
    quantity : str
        For the axis' label, with units.
    nobody : str
        Whom the bounds hold for.
    more_is_better : bool
        Whether the impossible lies above.
    size : (float, float)
        Width and height in inches.

    Raises
    ------
    InputError
        No row with a value; rows of several criteria; matplotlib is not installed.
    """
    good = sorted((row for row in rows if row.value is not None), key=lambda row: row.epsilon)
    if not good or len({row.criterion for row in rows}) > 1:
        raise InputError(f"a criterion's figure needs rows of one criterion with values, got {len(good)} of those")
    best = [(row.epsilon, row.bound) for row in good if row.bound is not None]
    bounds = [bound for _, bound in best]
    near, far = (max(bounds), min(bounds)) if more_is_better else (min(bounds), max(bounds))
    least = min(near, far, *(row.value for row in good if row.value is not None))
    most = max(near, far, *(row.value for row in good if row.value is not None))
    least, most = max(least, min(near, far) / MOST_AWAY), min(most, max(near, far) * MOST_AWAY)
    figure, axes = new_figure(*size)
    budgets = sorted({row.epsilon for row in good})
    log_axis(axes, "x", budgets[0] / ROOM, budgets[-1] * ROOM, prefer=budgets)
    below, above = (1.0, 2.0) if more_is_better else (2.0, 1.0)
    log_axis(axes, "y", least / ROOM / below, most * ROOM * above)
    edge = axes.get_ylim()[1 if more_is_better else 0]
    shaded = [e for e, _ in best] if len(best) > 1 else axes.get_xlim()
    axes.fill_between(shaded, edge, bounds if len(best) > 1 else bounds * 2, color=SHADE, linewidth=0, zorder=0.5)
    axes.text(0.06, 0.94 if more_is_better else 0.06, f"{nobody} gets here", transform=axes.transAxes, va="center",
              fontsize=SMALL)  # fmt: skip
    drawn, away = [], []
    for name in methods_in_order({row.method for row in good}):
        points = np.array([(row.epsilon, row.value) for row in good if row.method == name], dtype=float)
        depth = 2.0 if points[0, 1] == good[0].value else 3.0
        (line,) = axes.plot(*points.T, label=name, gid=f"method-{name}", zorder=depth, **method_style(name))
        if not ((points[:, 1] >= axes.get_ylim()[0]) & (points[:, 1] <= axes.get_ylim()[1])).all():
            away.append(literal(name))
        drawn.append(line)
    axes.set_xlabel("privacy budget ε")
    axes.set_ylabel(quantity)
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    label_ends(axes, drawn)
    notes = [f"Leaving the picture: {', '.join(away)}."] if away else []
    missing = methods_in_order({row.method for row in rows if row.value is None})
    if missing:
        notes.append(f"Without a value at some budgets or all: {', '.join(map(literal, missing))}.")
    add_note(figure, " ".join(notes))
    return figure
