"""The price of privacy: the variance of one report against the budget, for every method."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...estimators.plots.style import (
    SHADE,
    SMALL,
    UNREACHABLE,
    add_note,
    add_title,
    axes_or_new,
    method_style,
    methods_in_order,
)
from ...mechanisms import InputError
from ...mechanisms.units import axis_label, literal, squared
from .drawn import JudgedRow
from .labels import label_ends
from .scales import log_axis, plain_number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_ABOVE = 10.0
"""Methods further above the floor leave the picture and are named below it: the others must stay distinguishable."""

ROOM, ROOM_BELOW = 0.04, 0.12
"""Shares of an axis' length beyond the outermost points, and below the floor, where its region must be seen."""

LEAST_LENGTH = math.log(1.5)
"""Of an axis: numbers that hardly differ are drawn as such."""


def variance(
    rows: Iterable[JudgedRow],
    ax: Axes | None = None,
    *,
    worst_case: bool = False,
    relative: bool = False,
    units: str = "",
) -> Axes:
    """Draw the variance of one report against epsilon, a line per method, both axes logarithmic.

    The region that no unbiased mechanism reaches is shaded, if there are rows of the best. For expected variances it
    lies below the least one, lowered by its certified gap; for the worst case below the `bound` of `WorstCase`. Values
    between the budgets of the rows are interpolated. Bounds on expected variances hold for the prior that was solved
    for. With a uniform share they hold for the given prior up to about that share, by default a part in a thousand,
    less than a line's width.

    Parameters
    ----------
    rows : iterable of Row
        Of one prior. Failed rows are left out and named below the picture. Of several objectives the first row of a
        mechanism counts.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    worst_case : bool
        Largest variance over the domain instead of the expected one.
    relative : bool
        Draw ratios to the least possible instead: the expected variance over that of the optimum, or the worst case
        over the least.
    units : str
        Of the values, for the axis' label.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No rows, or none that did not fail; rows of several priors; two rows for one method and budget; ratios without
        their denominators at each budget; matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import Prior, compare, plots
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> axes = plots.variance(compare(prior, [0.5, 1.0, 2.0]), units="EUR")
    >>> axes.get_ylabel()
    'expected variance of one report [EUR²]'
    """
    good, failed = _checked(list(rows))
    shown = _lines(good, worst_case, relative)
    floor = _floor(good, worst_case, relative)
    axes = axes_or_new(ax)
    highest = _draw_scales(axes, shown, floor)
    if floor:
        _shade(axes, floor, relative)
    drawn = [_draw(axes, name, points) for name, points in shown.items()]
    axes.set_xlabel("privacy budget ε")
    axes.set_ylabel(_label(worst_case, relative, units))
    prior = good[0].prior
    title = f"Price of privacy: {len(shown)} mechanisms" + (f", prior {literal(prior)}" if prior else "")
    add_title(axes, title)
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    label_ends(axes, drawn)
    add_note(axes, _note(shown, failed, highest))
    return axes


def _checked(rows: Sequence[JudgedRow]) -> tuple[list[JudgedRow], list[JudgedRow]]:
    """Return the rows with numbers by budget, and those that failed; of each mechanism those of its first objective."""
    first: dict[tuple[str, float], str] = {}
    for row in rows:
        first.setdefault((row.method, row.epsilon), row.objective)
    own = [row for row in rows if row.objective == first[row.method, row.epsilon]]
    failed = [row for row in own if not row.solved]
    good = sorted((row for row in own if row.solved), key=lambda row: row.epsilon)
    if not good:
        raise InputError(f"a variance figure needs rows that did not fail, got {len(rows)} rows, {len(failed)} failed")
    priors = sorted({row.prior for row in rows})
    if len(priors) > 1:
        raise InputError(
            f"a variance figure needs rows of one prior, got {', '.join(priors)}: "
            f"choose, as in [row for row in table.rows if row.prior == {priors[0]!r}]"
        )
    (key, times), *_ = Counter((row.method, row.epsilon) for row in good).most_common()
    if times > 1:
        raise InputError(f"each method needs one row per budget, got {times} for {key[0]} at epsilon {key[1]:g}")
    return good, failed


def _value(row: JudgedRow, worst_case: bool) -> float:
    value = row.worst_case_variance if worst_case else row.expected_variance
    return math.nan if value is None else value


def _is_least(row: JudgedRow, worst_case: bool) -> bool:
    """Whether nothing has less of what is drawn."""
    objective = "minimax" if worst_case else "expected"
    return row.objective == objective and row.method in ("optimal", objective)


def _lines(rows: Sequence[JudgedRow], worst_case: bool, relative: bool) -> dict[str, list[tuple[float, float]]]:
    """Return each method's budgets and numbers to draw, in the order of the styles; rows without it are left out."""
    least = {row.epsilon: _value(row, worst_case) for row in rows if _is_least(row, worst_case)}
    lines: dict[str, list[tuple[float, float]]] = {name: [] for name in methods_in_order(row.method for row in rows)}
    for row in rows:
        value = _value(row, worst_case)
        if relative and not worst_case and row.objective == "expected":
            value = row.ratio_to_optimal
        elif relative:
            if row.epsilon not in least:
                what, ask = ("worst case", "WorstCase()") if worst_case else ("expected variance", "Variance()")
                raise InputError(
                    f"a relative {what} is drawn over the optimum's at each budget, got no optimum at epsilon "
                    f"{row.epsilon:g}: compare by {ask} too"
                )
            value /= least[row.epsilon]
        if value is not None and math.isfinite(value):
            lines[row.method].append((row.epsilon, value))
    drawn = {name: points for name, points in lines.items() if points}
    if not drawn:
        raise InputError("a variance figure needs a finite number to draw, got rows that all lack it")
    return drawn


def _floor(rows: Sequence[JudgedRow], worst_case: bool, relative: bool) -> list[tuple[float, float]]:
    """Return budgets and the least possible, certified where the rows carry a bound."""
    floor = []
    for row in rows:
        if not _is_least(row, worst_case):
            continue
        own = value = _value(row, worst_case)
        if row.bound is not None and worst_case:
            value = row.bound
        elif row.bound is not None and row.value is not None:
            # The bound for the whole interval is below the one for the knots.
            bound = row.bound if row.continuum_bound is None else max(row.continuum_bound, 0.0)
            value *= bound / row.value
        floor.append((row.epsilon, value / own if relative else value))
    return floor


def _draw_scales(
    axes: Axes, lines: Mapping[str, Sequence[tuple[float, float]]], floor: Sequence[tuple[float, float]]
) -> float:
    """Set both axes' scales and limits; return the upper limit."""
    budgets = [epsilon for points in lines.values() for epsilon, _ in points]
    values = [value for points in lines.values() for _, value in points]
    base = [value for _, value in floor]
    low, high = min(values + base), max(values)
    if base:
        high = min(high, MOST_ABOVE * max(base))
    _set(axes, "x", min(budgets), max(budgets), ROOM, sorted(set(budgets)))
    return _set(axes, "y", low, high, ROOM_BELOW if base else ROOM)


def _set(
    axes: Axes, which: Literal["x", "y"], low: float, high: float, room_below: float, prefer: Sequence[float] = ()
) -> float:
    length = max(math.log(high / low), LEAST_LENGTH)
    top = high * math.exp(ROOM * length)
    log_axis(axes, which, low * math.exp(-room_below * length), top, prefer=prefer)
    return top


def _shade(axes: Axes, floor: Sequence[tuple[float, float]], relative: bool) -> None:
    """Fill the region below the floor and say what it is, where it is widest."""
    budgets, values = np.array(floor).T
    if len(floor) == 1:  # a band, as a region needs two ends
        budgets, values = np.array(axes.get_xlim()), np.repeat(values, 2)
    bottom = axes.get_ylim()[0]
    axes.fill_between(budgets, bottom, values, color=SHADE, linewidth=0, zorder=0.5)
    place, sides = ((0.5, 0.05), "center") if relative else ((0.06, 0.06), "left")
    axes.text(*place, UNREACHABLE, transform=axes.transAxes, ha=sides, va="center", fontsize=SMALL)


def _draw(axes: Axes, name: str, points: Sequence[tuple[float, float]]) -> Line2D:
    budgets, values = np.array(points).T
    depth = 2.0 if name in ("optimal", "minimax") else 3.0  # dashes show on the thick black lines, not below them
    (line,) = axes.plot(budgets, values, label=name, gid=f"method-{name}", zorder=depth, **method_style(name))
    return line


def _label(worst_case: bool, relative: bool, units: str) -> str:
    if relative:
        return "largest variance over the least possible" if worst_case else "expected variance over the optimum's"
    return axis_label(f"{'largest' if worst_case else 'expected'} variance of one report", squared(units))


def _note(lines: Mapping[str, Sequence[tuple[float, float]]], failed: Sequence[JudgedRow], highest: float) -> str:
    """Name what is not in the picture: lines that leave it and rows that failed."""
    notes = []
    above = [
        f"{literal(name)} (up to {plain_number(float(f'{max(tall):.2g}'))})"
        for name, points in lines.items()
        if (tall := [value for _, value in points if value > highest])
    ]
    if above:
        notes.append(f"Leaving the picture at the top: {', '.join(above)}.")
    if failed:
        notes.append(f"Failed, not drawn: {', '.join(f'{row.method} at ε = {row.epsilon:g}' for row in failed)}.")
    return " ".join(notes)
