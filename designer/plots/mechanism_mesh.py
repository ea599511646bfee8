"""A picture of a mechanism: the probability of every output at every input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import axes_or_new
from ...mechanisms import TabulatedMechanism
from ...mechanisms.units import axis_label, literal

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.colors import LogNorm

TAIL_SHARE = 0.15
"""How far an unbounded tail is drawn beyond the last finite end, as a share of the range drawn."""

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
    norm = LogNorm(max(shown.min(), shown.max() * 1e-6), shown.max())
    inputs = _edges(mechanism.knots)
    image = None
    for chosen in (~points, points):
        if chosen.any():
            image = _draw(axes, inputs, low[chosen], high[chosen], values[:, chosen], norm)
    axes.set_ylim(low.min(), high.max())
    axes.set_xlabel(axis_label("value", mechanism.units))
    axes.set_ylabel(axis_label("report", mechanism.units))
    n, m = mechanism.probabilities.shape
    axes.set_title(
        f"{mechanism.provenance.method} mechanism, ε = {mechanism.epsilon:g}: {n} knots, {m} outputs",
        fontsize="medium",
    )
    per = f" per {literal(mechanism.units)}" if mechanism.units else ""
    label = "probability of the output" if points.all() else f"density of the report{per}"
    if image is not None:
        axes.figure.colorbar(image, ax=axes, label=label)
    return axes


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
