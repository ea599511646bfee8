"""A picture of a mechanism: how many times as likely each report is at each value as where it is least likely."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.plots.style import GREY, SHADE, SMALL, add_note, add_title, axes_or_new, empty_figure
from ...mechanisms import CategoricalMechanism, InputError, TabulatedMechanism
from ...mechanisms.display.over_floor import over_floor
from ...mechanisms.key_value import KeyValueMechanism
from ...mechanisms.printable import shortened
from ...mechanisms.statistics import Outputs, Supports, unread
from ...mechanisms.units import axis_label, literal
from .prior_strip import strip_beside
from .scales import plain_number, plain_numbers, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

MOST_DRAWN, LONGEST_NAME = 40, 24
"""Categories that a picture has at most; letters of a name."""

ALL_NAMED, SOME_NAMED = 12, 8
"""Rows or columns that all have their name beside them; of more, how many have one, evenly spaced."""

MOST_CELLS = 1024
"""Values that the picture of a table has at most, and reports: more than it has pixels. Of more, evenly spaced ones."""

MOST_PARTS, PART_WIDTH, PART_HEIGHT = 6, 5.2, 3.9
"""Parts of a mechanism that are drawn at most; inches of each."""

Part = TabulatedMechanism | CategoricalMechanism | KeyValueMechanism

COLORS = "Blues"
"""From a report's floor, nearly white, to the most that epsilon allows; inverted on a dark page it is as plain."""

KEY = "probability over its floor"

SPENT = 1e-6
"""Relative, of a logarithm: the largest ratio is e^epsilon but for the digits that its rounding left."""

TICK_GAP = 0.16
"""Of two numbers beside the key of colours, as a share of it."""

TWO_COLOURED = 0.95
"""Share of cells at either end of the scale from which on its key has patches, not shades that nothing is drawn in."""

BETWEEN = 1e-3
"""Relative, of a ratio: nearer to an end of the scale it has the end's colour."""

UNEVEN = "report (rows not to scale)"
"""Beside reports that lie at one place, such as a point in the middle of a cell: to scale one would hide the other."""

ENDLESS = "Some values never give some of the reports: the ratio of those is infinite, drawn as the largest finite one."


@dataclass(frozen=True)
class _Rows:
    """What a picture shows: reports upwards, rows between edges, named or to scale, and values to the right."""

    ratios: np.ndarray
    floors: np.ndarray
    edges: np.ndarray
    names: list[str] | None
    ends: np.ndarray
    key: str
    together: str
    top: float
    endless: bool
    epsilon: float


def heat_map(mechanism: TabulatedMechanism, ax: Axes | None = None) -> Axes:
    """Draw the table, with values to the right and reports upwards; darker cells are reports that a value favours more.

    A colour is a report's probability over its floor, the least probability of that report over all values, so that a
    value's window, the reports that it favours, stands out. Both axes are to scale, and a row reaches half-way to the
    next report. If two reports lie at one place, all rows are equally high, and the axis states this. The bars beside
    the rows are the floors; together they are the share of reports that carry no information.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    ax : Axes, optional
        To draw on, with the bars and the key of the colours to their right; default: those of a new figure.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import plots
    >>> from optldp.mechanisms import piecewise
    >>> axes = plots.heat_map(piecewise(range(0, 101, 5), 1.0))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('value', 'report')
    """
    axes = axes_or_new(ax, height=5.0)
    floors, most = mechanism.probabilities.min(axis=0), mechanism.probabilities.max(axis=0)
    places = _places(mechanism.low, mechanism.high)
    used = np.flatnonzero(most > 0)
    drawn = _some(used[np.argsort(places[used], kind="stable")])
    values = _some(np.arange(mechanism.knots.size))
    ratios, _ = over_floor(mechanism.probabilities[np.ix_(values, drawn)], floors[drawn])
    to_scale = bool((np.diff(places[drawn]) > 0).all())
    names = None if to_scale else [plain_number(float(f"{place:.3g}")) for place in places[drawn]]
    rows = _edges(places[drawn] if to_scale else np.arange(float(drawn.size)))
    share = f"{100 * floors.sum():.3g}% in all"
    ends, kept = _edges(mechanism.knots[values]), _largest(most, floors)
    _draw(axes, _Rows(ratios, floors[drawn], rows, names, ends, KEY, share, *kept, mechanism.epsilon))
    axes.set_xlabel(axis_label("value", mechanism.units))
    axes.set_ylabel(axis_label("report" if to_scale else UNEVEN, mechanism.units))
    axes.locator_params(axis="x", nbins=5)
    plain_numbers(axes.xaxis)
    if to_scale:
        plain_numbers(axes.yaxis)
    n, m = mechanism.probabilities.shape
    name = shortened(mechanism.provenance.method, 32)
    add_title(axes, f"{literal(name)} mechanism, ε = {mechanism.epsilon:g}: {n} knots, {m} outputs")
    return axes


@dataclass(frozen=True, eq=False)
class _Sent:
    """What is drawn of reports: names of inputs, what they are, laws, and what a report does to them; None: it is one.

    Laws are of outputs (K, m) or, of what is supported or shown, (S, S) for the inputs that are drawn.
    """

    names: Sequence[str]
    what: str
    law: np.ndarray
    verb: str | None


@singledispatch
def _sent(mechanism: Any) -> _Sent:
    raise InputError(f"a picture is of a table or a pure protocol, got {mechanism!r:.60}")


@_sent.register
def _(mechanism: CategoricalMechanism) -> _Sent:
    names = mechanism.categories.labels
    match mechanism.statistic:
        case Outputs(law):
            return _Sent(names, "category", law, None)
        case Supports(own_support=own, other_support=other):
            return _Sent(names, "category", _own_and_others(names, own, other), "supported")
        case statistic:
            raise unread(statistic)


@_sent.register
def _(mechanism: KeyValueMechanism) -> _Sent:
    names = mechanism.keys.labels
    return _Sent(names, "key", _own_and_others(names, mechanism.own_shown, mechanism.other_shown), "shown")


def _own_and_others(names: Sequence[str], own: float, other: float) -> np.ndarray:
    size = min(len(names), MOST_DRAWN)
    law = np.full((size, size), other)
    np.fill_diagonal(law, own)
    return law


def support_map(mechanism: CategoricalMechanism | KeyValueMechanism, ax: Axes | None = None) -> Axes:
    """Draw a categorical mechanism: every output of a table, else the category or key that a report supports.

    A colour is a probability over its least over all categories. Unary encodings, hashing and pairs support the own
    category, or key, with one probability and all others with another; they differ in these two alone. At most 40
    categories are drawn, and as many outputs.

    Parameters
    ----------
    mechanism : CategoricalMechanism or KeyValueMechanism
    ax : Axes, optional
        To draw on, with what stands beside it to its right; default: those of a new figure.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import plots
    >>> from optldp.mechanisms import frequency_oracle
    >>> axes = plots.support_map(frequency_oracle(["cook", "smith", "nurse"], 1.0))
    >>> axes.get_title(), axes.get_xlabel(), axes.get_ylabel()
    ('grr, ε = 1', 'category', 'output')
    """
    axes = axes_or_new(ax, height=5.0)
    sent = _sent(mechanism)
    names, what = sent.names, sent.what
    size = min(len(names), MOST_DRAWN)
    shown = sent.law[:, :MOST_DRAWN]
    ratios, floors = over_floor(shown)
    if sent.verb is None:
        reports, up, key = [f"{place}" for place in range(floors.size)], "output", KEY
    else:
        reports, up, key = (
            _short(names[:size]),
            f"{what} {sent.verb} by the report",
            f"how often {sent.verb}, over the least",
        )
    whole = sent.verb is None and sent.law.shape[1] == floors.size
    share = f"{100 * floors.sum():.3g}% in all" if whole else f"up to {floors.max():.2g}"
    kept = _largest(shown[:size].max(axis=0), floors)
    rows, columns = (np.arange(many + 1) - 0.5 for many in (floors.size, size))
    _draw(axes, _Rows(ratios[:size], floors, rows, reports, columns, key, share, *kept, mechanism.epsilon))
    chosen = _spread(size)
    axes.set_xticks(chosen, [_short(names)[place] for place in chosen], rotation=30, ha="right", rotation_mode="anchor")
    axes.set_xlabel(what)
    axes.set_ylabel(up)
    some = f", the first {size} of {len(names)}" if len(names) > size else ""
    add_title(axes, f"{literal(mechanism.provenance.method)}, ε = {mechanism.epsilon:g}{some}")
    return axes


@singledispatch
def _part(mechanism: Any, ax: Axes | None = None) -> Axes:
    return support_map(mechanism, ax)


_part.register(TabulatedMechanism, heat_map)


@singledispatch
def drawn(mechanism: Any, ax: Axes | None = None) -> Axes:
    """Draw a mechanism: a table of numbers as `heat_map` does, any other as its `plot` does.

    Example
    -------
    >>> from optldp.mechanisms import frequency_oracle
    >>> drawn(frequency_oracle(["cook", "smith", "nurse"], 1.0)).get_ylabel()
    'report'
    """
    return mechanism.plot(ax)


drawn.register(TabulatedMechanism, heat_map)


def part_map(name: str, part: Part, ax: Axes | None = None) -> Axes:
    """Draw one part of a mechanism under its name, and return its axes."""
    axes = _part(part, ax)
    axes.set_title(literal(name), fontsize="medium")
    return axes


def parts_map(parts: Mapping[str, Part]) -> Axes:
    """Draw the mechanisms that one is made of beside and below each other, at most six, and return the first axes."""
    shown = list(parts.items())[:MOST_PARTS]
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    figure = empty_figure(PART_WIDTH * across, PART_HEIGHT * down)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (name, part) in zip(grid, shown, strict=False):
        part_map(name, part, axes)
    for axes in grid[len(shown) :]:
        axes.remove()
    if len(parts) > len(shown):
        figure.suptitle(f"the first {len(shown)} of {len(parts)} parts", fontsize="medium")
    return grid[0]


def _draw(axes: Axes, rows: _Rows) -> None:
    """Draw the rows, the floors beside them and the key of the colours."""
    from matplotlib.colors import LogNorm

    figure, top = axes.figure, rows.top
    shown = np.where(np.isfinite(rows.ratios), rows.ratios, top).T
    image = axes.pcolormesh(rows.ends, rows.edges, shown, norm=LogNorm(1.0, top), cmap=COLORS, rasterized=True)
    if rows.names is not None:
        chosen = _spread(len(rows.names))
        axes.set_yticks(chosen, [rows.names[place] for place in chosen])
    strip = strip_beside(axes)
    strip.stairs(rows.floors, rows.edges, orientation="horizontal", fill=True, color=SHADE)
    strip.stairs(rows.floors, rows.edges, orientation="horizontal", color=GREY, linewidth=0.8)
    strip.set_xlim(0.0, 1.1 * float(rows.floors.max()) or 1.0)
    strip.set_xticks([])
    strip.set_xlabel(f"floor,\n{rows.together}", fontsize=SMALL)
    keys: Any = [axes, strip]
    spent = math.isclose(math.log(top), rows.epsilon, rel_tol=SPENT)
    label = f"{rows.key}, at most eᵋ" if spent else rows.key
    inner = (shown > 1.0 + BETWEEN) & (shown < top * (1.0 - BETWEEN))
    if top > 1.0 + BETWEEN and inner.mean() < 1.0 - TWO_COLOURED:
        names = [plain_number(1.0), *["between"][: int(inner.any())], plain_number(float(f"{top:.3g}"))]
        bar = figure.colorbar(_patches(len(names)), ax=keys, label=label, pad=0.02, aspect=8, shrink=0.4)
        bar.set_ticks(range(len(names)), labels=names)
        bar.ax.tick_params(length=0)
    else:
        bar = figure.colorbar(image, ax=keys, label=label, pad=0.02)
        numbers = _numbers(top)
        bar.set_ticks(numbers, labels=[plain_number(float(f"{number:.3g}")) for number in numbers])
    bar.minorticks_off()
    add_note(axes, ENDLESS if rows.endless else "")


def _patches(many: int) -> ScalarMappable:
    """Return a scale of so many colours, from the first to the last of those that are drawn."""
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import BoundaryNorm, ListedColormap

    colours = ListedColormap(colormaps[COLORS](np.linspace(0.0, 1.0, many)))
    return ScalarMappable(BoundaryNorm(np.arange(many + 1) - 0.5, many), colours)


def _largest(most: np.ndarray, floors: np.ndarray) -> tuple[float, bool]:
    """The largest finite ratio of reports of these largest and least probabilities, and whether there are infinite."""
    finite = most[floors > 0] / floors[floors > 0]
    # A scale of colours needs two ends, also where no row differs from another.
    return max(float(finite.max(initial=1.0)), 1.0 + 1e-9), bool((most[floors == 0] > 0).any())


def _some(places: np.ndarray) -> np.ndarray:
    """Return all of them, or as many as are drawn, from the first to the last."""
    return places[np.linspace(0, places.size - 1, min(places.size, MOST_CELLS)).round().astype(int)]


def _numbers(top: float) -> list[float]:
    """Return the numbers beside a key of colours from 1 to the top: both ends, and what has room between them."""
    if top < 1.001:
        return [1.0]
    room, chosen = TICK_GAP * math.log(top), [1.0]
    for number in round_numbers(1.0, top):
        if math.log(number / chosen[-1]) > room < math.log(top / number):
            chosen.append(number)
    return [*chosen, top]


def _spread(many: int) -> list[int]:
    """Return the places that are named: all, or some from the first to the last, evenly spaced."""
    return [round(place) for place in np.linspace(0, many - 1, many if many <= ALL_NAMED else SOME_NAMED)]


def _short(names: Any) -> list[str]:
    return [literal(str(name)[:LONGEST_NAME]) for name in names]


def _places(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return where outputs lie: a point's own, the middle of a cell, and the finite end of a tail."""
    ends = np.where(np.isfinite(low), low, high), np.where(np.isfinite(high), high, low)
    return 0.5 * (ends[0] + ends[1])


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges half-way between increasing centres, the outer ones mirrored."""
    middle = 0.5 * (centres[1:] + centres[:-1])
    if len(middle) == 0:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])
