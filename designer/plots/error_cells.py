"""A table of errors as a picture: rows by columns, the best of every row marked."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import BLACK, SHADE, SMALL, add_note, add_title, axes_or_new, whole_figure
from ...mechanisms import InputError
from ...mechanisms.units import literal
from .scales import plain_number, power_of_ten, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_TIMES = 10.0
"""Times the best of the row from which on the shade stays the same: the others must stay distinguishable."""

LEAST_TIMES = 1.1
"""The scale reaches that far at least: errors that hardly differ are shaded alike."""

PALEST, DARKEST = "#FFFFFF", "#6BA4CE"
"""Ends of the shades: black type is readable on both (contrast 7.9 at least), in grey too."""

LEAST_PLAIN, MOST_PLAIN = 0.1, 1e4
"""Rows whose best is outside are written in a power of ten, named with the row."""

BEST = "★"

MISSING = "none"

NEAR = "≈"

STANDARD_ERRORS = 2.0
"""Two errors nearer than so many standard errors of their difference are not told apart."""

Key = tuple[str, str]


def error_table(
    errors: Mapping[Key, float],
    ax: Axes | None = None,
    *,
    title: str,
    quantity: str,
    standard_errors: Mapping[Key, float] | None = None,
) -> Axes:
    """Draw a table of errors, where smaller is better; each cell is shaded by its ratio to the best of its row.

    The best of a row is bold with a star in a frame. With standard errors, those within two standard errors of the
    difference from it (as if independent) carry the sign ≈. Cells that are missing or not finite are hatched.

    Parameters
    ----------
    errors : mapping of (str, str) to float
        By row and column, in the order to draw; positive.
    ax : Axes, optional
        To draw on; default: those of a new figure, whose height follows from the number of rows.
    title : str
    quantity : str
        Name of the numbers, with units.
    standard_errors : mapping of (str, str) to float, optional
        Of the errors, below each.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No error, or one that is not positive; matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import plots
    >>> errors = {("taxi", "aaa"): 2.0, ("taxi", "laplace"): 5.0, ("wages", "aaa"): 1.0, ("wages", "laplace"): 1.5}
    >>> axes = plots.error_table(errors, title="10,000 users", quantity="mean squared error")
    >>> [text.get_text() for text in axes.texts][:4]
    ['★ 2.00', '5.00', '★ 1.00', '1.50']
    """
    rows, columns = (list(dict.fromkeys(key[k] for key in errors)) for k in (0, 1))
    if not any(math.isfinite(value) for value in errors.values()):
        raise InputError(f"an error table needs at least one number, got {len(errors)} cells")
    if wrong := [(key, value) for key, value in errors.items() if value <= 0]:
        raise InputError(f"errors must be positive, got {wrong[0][1]:g} in {wrong[0][0]}")
    table = np.array([[errors.get((row, column), math.nan) for column in columns] for row in rows])
    spread = np.zeros_like(table)
    if standard_errors is not None:
        spread = np.array([[standard_errors.get((row, column), 0.0) for column in columns] for row in rows])
    axes = axes_or_new(ax, height=1.5 + (0.42 if standard_errors is None else 0.56) * len(rows))
    _draw_shades(axes, table)
    powers = [_power(float(value)) for value in _best(table)]
    for i, j in np.ndindex(table.shape):
        _write(axes, table, spread, (i, j), 10.0 ** powers[i])
    _name(axes, rows, columns, powers)
    add_title(axes, literal(title))
    add_note(axes, _note(quantity, standard_errors is not None))
    _turn_if_crowded(axes)
    return axes


def _draw_shades(axes: Axes, table: np.ndarray) -> None:
    """Colour each cell by its ratio to the best of its row."""
    from matplotlib.colors import LinearSegmentedColormap, LogNorm

    times = table / _best(table)[:, None]
    most = float(np.clip(times[np.isfinite(times)].max(), LEAST_TIMES, MOST_TIMES))
    shades = LinearSegmentedColormap.from_list("shades", [PALEST, DARKEST])
    edges = [np.arange(size + 1) - 0.5 for size in table.shape]
    mesh = axes.pcolormesh(
        edges[1], edges[0], np.ma.masked_invalid(times), norm=LogNorm(1.0, most), cmap=shades, edgecolor="white"
    )
    axes.set_ylim(table.shape[0] - 0.5, -0.5)
    beyond = "max" if (times > most).any() else "neither"
    bar = axes.figure.colorbar(mesh, ax=axes, fraction=0.04, pad=0.02, extend=beyond)
    ticks = round_numbers(1.0, most)
    bar.set_ticks(ticks, labels=[plain_number(tick) for tick in ticks])
    bar.ax.minorticks_off()
    bar.set_label("times the best of the row", fontsize=SMALL)


def _best(table: np.ndarray) -> np.ndarray:
    """Return the least number of each row, NaN for rows without any."""
    filled = np.where(np.isfinite(table), table, np.inf).min(axis=1)
    return np.where(np.isfinite(filled), filled, np.nan)


def _power(best: float) -> int:
    """Return the power of ten that is taken out of a row, to keep its numbers short."""
    if math.isnan(best) or LEAST_PLAIN <= best < MOST_PLAIN:
        return 0
    return 3 * math.floor(math.log10(best) / 3)


def _write(axes: Axes, table: np.ndarray, spread: np.ndarray, place: tuple[int, int], unit: float) -> None:
    """Write one cell, and frame it if it is the best of its row."""
    from matplotlib.patches import Rectangle

    (i, j), row, best = place, table[place[0]], _best(table)[place[0]]
    if not np.isfinite(row[j]):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1.0, 1.0, facecolor="white", edgecolor=SHADE, hatch="///"))
        axes.text(j, i, MISSING, ha="center", va="center", fontsize=SMALL, backgroundcolor="white")
        return
    is_best = row[j] == best
    apart = STANDARD_ERRORS * math.hypot(spread[i, j], spread[i, int(np.argmax(row == best))])
    sign = f"{BEST} " if is_best else f"{NEAR} " if row[j] - best <= apart else ""
    text = sign + _numbers(row[j] / unit, spread[i, j] / unit)
    axes.text(j, i, text, ha="center", va="center", fontsize=SMALL, fontweight="bold" if is_best else "normal")
    if is_best:
        axes.add_patch(Rectangle((j - 0.47, i - 0.45), 0.94, 0.9, fill=False, edgecolor=BLACK, linewidth=1.3))


def _numbers(value: float, spread: float) -> str:
    """Write a number with three digits, or as many as its standard error supports with two of its own."""
    last = math.floor(math.log10(spread)) - 1 if spread > 0 else math.floor(math.log10(value)) - 2
    places = max(0, -last)
    return f"{value:,.{places}f}" + (f"\n± {spread:,.{places}f}" if spread > 0 else "")


def _name(axes: Axes, rows: Sequence[str], columns: Sequence[str], powers: Sequence[int]) -> None:
    """Write the names of rows, with the powers taken out of them, and of columns."""
    units = [f"\n[{power_of_ten(power)}]" if power else "" for power in powers]
    names = [literal(row) + unit for row, unit in zip(rows, units, strict=True)]
    axes.set_yticks(np.arange(len(rows)), names)
    axes.xaxis.tick_top()
    axes.set_xticks(np.arange(len(columns)), [literal(column) for column in columns])
    axes.tick_params(length=0)


def _turn_if_crowded(axes: Axes) -> None:
    """Turn the names of the columns where they would run into each other."""
    whole_figure(axes).draw_without_rendering()  # gives the table the width that it will have
    names = axes.get_xticklabels()
    boxes = [name.get_window_extent() for name in names]
    if any(left.x1 + left.height > right.x0 for left, right in pairwise(boxes)):
        for name in names:
            name.set(rotation=25, ha="left", rotation_mode="anchor")


def _note(quantity: str, with_errors: bool) -> str:
    note, best = f"Cells: {literal(quantity)}", f"{BEST}\N{NO-BREAK SPACE}best of the row"
    if with_errors:
        near = f"{NEAR}\N{NO-BREAK SPACE}within {STANDARD_ERRORS:g} standard errors of it"
        return f"{note} ± standard error. {best}; {near}."
    return f"{note}. {best}."
