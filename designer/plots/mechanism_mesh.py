"""A picture of a mechanism: the probability of every output at every input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import add_title, axes_or_new, empty_figure
from ...mechanisms import CategoricalMechanism, InputError, TabulatedMechanism
from ...mechanisms.categorical.mechanism import PureProtocol
from ...mechanisms.categorical.table import CategoricalTable
from ...mechanisms.key_value import KeyValueMechanism
from ...mechanisms.printable import shortened
from ...mechanisms.units import axis_label, literal
from .scales import plain_number, plain_numbers, round_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import LogNorm

TAIL_SHARE = 0.15
"""How far an unbounded tail is drawn beyond the last finite end, as a share of the range drawn."""

MOST_DRAWN, FEW_NAMES, LONGEST_NAME = 40, 15, 24
"""Categories that a picture has at most; up to how many their names are of the usual size; letters of a name."""

MOST_PARTS, PART_WIDTH, PART_HEIGHT = 6, 5.2, 3.9
"""Parts of a mechanism that are drawn at most; inches of each."""

POINT_SHARE = 0.004
"""Least height of a point output on the picture, as a share of the range drawn, so that it can be seen."""


def heat_map(mechanism: TabulatedMechanism, ax: Axes | None = None) -> Axes:
    """Draw the table: inputs to the right, reports upwards, log-scaled colour.

    Points are drawn as bands reaching half-way to their neighbours and show probabilities, as do the tails beyond
    them; cells show densities; a mechanism with both shows its cells as densities and its points as lines on them.

    Parameters
    ----------
    mechanism : TabulatedMechanism
    ax : Axes, optional
        To draw on, with the key of the colours to their right; default: those of a new figure.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    axes = axes_or_new(ax, height=5.4)
    from matplotlib.colors import LogNorm

    low, high, values, points = _bands(mechanism)
    shown = values[values > 0]
    bottom, top = float(max(shown.min(), shown.max() * 1e-6)), float(shown.max())
    norm = LogNorm(bottom, top)
    inputs = _edges(mechanism.knots)
    image = None
    for chosen in (~points, points):
        if chosen.any():
            image = _draw(axes, inputs, low[chosen], high[chosen], values[:, chosen], norm)
    axes.set_ylim(low.min(), high.max())
    axes.set_xlabel(axis_label("value", mechanism.units))
    axes.set_ylabel(axis_label("report", mechanism.units))
    n, m = mechanism.probabilities.shape
    name = shortened(mechanism.provenance.method, 32)
    add_title(axes, f"{literal(name)} mechanism, ε = {mechanism.epsilon:g}: {n} knots, {m} outputs")
    per = f" per {literal(mechanism.units)}" if mechanism.units else ""
    label = "probability of the output" if points.all() else f"density of the report{per}"
    axes.locator_params(axis="x", nbins=5)
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    if image is not None:
        bar = axes.figure.colorbar(image, ax=axes, label=label)
        ticks = round_numbers(bottom, top) if bottom < top else [bottom]
        bar.set_ticks(ticks, labels=[plain_number(tick) for tick in ticks])
        bar.minorticks_off()
    return axes


def support_map(mechanism: CategoricalMechanism | KeyValueMechanism, ax: Axes | None = None) -> Axes:
    """Draw what reports show: of a table of categories every output's probability, else how often each is supported.

    The own category, or key, is supported with one probability and all others with another, which is all that unary
    encodings, hashing and pairs differ in. At most 40 of them are drawn, and as many outputs.
    """
    axes = axes_or_new(ax, height=5.4)
    pairs = isinstance(mechanism, KeyValueMechanism)
    names = (mechanism.keys if pairs else mechanism.categories).labels[:MOST_DRAWN]
    what = "key" if pairs else "category"
    if isinstance(mechanism, CategoricalTable):
        shown, label, across = mechanism.probabilities[: len(names), :MOST_DRAWN], "probability", "output"
    elif isinstance(mechanism, KeyValueMechanism | PureProtocol):
        own, other = (
            (mechanism.own_shown, mechanism.other_shown)
            if isinstance(mechanism, KeyValueMechanism)
            else (mechanism.own_support, mechanism.other_support)
        )
        shown = np.full((len(names), len(names)), other)
        np.fill_diagonal(shown, own)
        label, across = "probability", f"{what} {'shown' if pairs else 'supported'} by the report"
    else:
        raise InputError(f"a picture is of a table or a pure protocol, got {mechanism!r:.60}")
    image = axes.imshow(shown, cmap="cividis", aspect="auto", vmin=0.0, interpolation="nearest")
    axes.set_yticks(range(len(names)), [literal(name[:LONGEST_NAME]) for name in names])
    axes.locator_params(axis="x", integer=True)
    axes.set_xlabel(across)
    axes.set_ylabel(what)
    if len(names) > FEW_NAMES:
        axes.tick_params(axis="y", labelsize="xx-small")
    size = len(mechanism.keys if pairs else mechanism.categories)
    some = f", the first {len(names)} of {size}" if size > len(names) else ""
    axes.set_title(f"{mechanism.provenance.method}, ε = {mechanism.epsilon:g}{some}", fontsize="medium")
    axes.figure.colorbar(image, ax=axes, label=label)
    return axes


def parts_map(parts: Mapping[str, TabulatedMechanism | CategoricalMechanism | KeyValueMechanism]) -> Axes:
    """Draw the mechanisms that one is made of beside and below each other, at most six, and return the first axes."""
    shown = list(parts.items())[:MOST_PARTS]
    across = min(2, len(shown))
    down = -(-len(shown) // across)
    figure = empty_figure(PART_WIDTH * across, PART_HEIGHT * down)
    grid = figure.subplots(down, across, squeeze=False).ravel()
    for axes, (name, part) in zip(grid, shown, strict=False):
        (heat_map if isinstance(part, TabulatedMechanism) else support_map)(part, axes)  # pyright: ignore[reportArgumentType] -- it is that
        axes.set_title(literal(name), fontsize="medium")
    for axes in grid[len(shown) :]:
        axes.remove()
    if len(parts) > len(shown):
        figure.suptitle(f"the first {len(shown)} of {len(parts)} parts", fontsize="medium")
    return grid[0]


def _draw(
    axes: Axes, inputs: np.ndarray, low: np.ndarray, high: np.ndarray, values: np.ndarray, norm: LogNorm
) -> QuadMesh:
    """Draw neighbouring bands as one mesh; bands with gaps between them get empty ones in the gaps."""
    edges = np.unique(np.concatenate([low, high]))
    filled = np.full((len(edges) - 1, values.shape[0]), np.nan)
    filled[np.searchsorted(edges, low)] = values.T
    return axes.pcolormesh(inputs, edges, filled, norm=norm, cmap="cividis", rasterized=True)


def _bands(mechanism: TabulatedMechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return lower and upper ends to draw, values to colour (n, k), and which of the k outputs show probabilities."""
    used = mechanism.probabilities.any(axis=0)
    low, high, values = mechanism.low[used], mechanism.high[used], mechanism.probabilities[:, used]
    points, left, right = low == high, np.isneginf(low), np.isposinf(high)
    finite = np.concatenate([low, high])
    finite = finite[np.isfinite(finite)]
    reach = max(float(np.ptp(finite)), float(np.ptp(mechanism.knots)))
    low[left] = finite.min() - TAIL_SHARE * reach
    high[right] = finite.max() + TAIL_SHARE * reach
    if points.any() and (points | left | right).all():
        edges = _edges(low[points])
        low[points], high[points] = edges[:-1], edges[1:]
        high[left], low[right] = edges[0], edges[-1]
        return low, high, values, np.ones_like(points)
    values[:, ~points] /= (high - low)[~points]
    low[points] -= 0.5 * POINT_SHARE * reach
    high[points] += 0.5 * POINT_SHARE * reach
    values[:, points] /= POINT_SHARE * reach
    return low, high, values, points


def _edges(centres: np.ndarray) -> np.ndarray:
    """Return the edges half-way between increasing centres, the outer ones mirrored."""
    middle = 0.5 * (centres[1:] + centres[:-1])
    if len(middle) == 0:
        return np.array([centres[0] - 0.5, centres[0] + 0.5])
    return np.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])
