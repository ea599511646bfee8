"""A picture of an estimated distribution with its bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...mechanisms.units import axis_label, literal
from ..estimate import Estimate
from ..input_grid import InputGrid
from ..intervals import CONFIDENCE, Interval
from .style import add_note, axes_or_new

NAMES = {
    "em": "maximum likelihood",
    "ems": "EM with smoothing",
    "mr": "mixture reduction",
    "smooth": "averaged log densities",
}

SPIKY = "em"
"""The method that puts all mass on few cells, other ones in each sample: its scatter is drawn as theirs alone."""

BANDS = {SPIKY: "scatter of the cells with mass, each by itself", "smooth": "band, pointwise"}
"""What the band of a method covers; of the others the scatter at the fit, which their bias is not in."""

SCATTER = "band of the scatter, pointwise, without bias"

SPIKY_NOTE = (
    "The likeliest distribution puts its mass on few cells, on others with other reports: no band of cells holds the "
    "density. The mean has its interval, and so have shares of ranges."
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Density(Protocol):
    """What is drawn of a `DistributionEstimate`."""

    @property
    def grid(self) -> InputGrid: ...
    @property
    def value(self) -> Any: ...
    @property
    def n(self) -> int: ...
    @property
    def method(self) -> str: ...
    def mean(self) -> Estimate: ...
    def interval(self, confidence: float = ..., /) -> Interval: ...


def distribution(estimate: Density, ax: Axes | None = None, *, units: str = "", confidence: float = CONFIDENCE) -> Axes:
    """Draw the density, its pointwise bands and the mean with its interval, of estimates that have them.

    What a band covers its legend says. Of "em" it is hatched, and no band of the density: the scatter of the few cells
    that have all the mass.

    Parameters
    ----------
    estimate : DistributionEstimate
    ax : Axes, optional
        To draw on; default: those of a new figure.
    units : str
        Name of the units of the inputs.
    confidence : float
        Coverage of the bands and the mean's interval.

    Raises
    ------
    InputError
        matplotlib is not installed, or a confidence outside (0, 1).
    """
    edges, mean, band = estimate.grid.edges, estimate.mean(), estimate.interval(confidence)
    ends = mean.interval(confidence)
    axes = axes_or_new(ax)
    width = np.where(np.diff(edges) > 0, np.diff(edges), 1.0)
    density, low, high = (values / width for values in (estimate.value, band.low, band.high))
    percent = f"{100 * confidence:g}%"
    label, top = f"mean {mean.value:,.5g}, no interval", 0.0
    if known := bool(np.isfinite(high).all()):
        spiky = estimate.method == SPIKY
        hatched: dict[str, Any] = {"facecolor": "none", "edgecolor": "#9ecae1", "hatch": "////", "linewidth": 0}
        look: dict[str, Any] = hatched if spiky else {"color": "#9ecae1"}
        axes.stairs(
            high, edges, baseline=low, fill=True, label=f"{percent} {BANDS.get(estimate.method, SCATTER)}",
            **look,
        )  # fmt: skip
        label = f"mean {mean.value:,.5g}, {percent} interval [{ends.low:,.5g}, {ends.high:,.5g}]"
        top = float(np.quantile(high, 0.9))
    axes.stairs(density, edges, color="#08306b", linewidth=1.4, label="estimate")
    axes.axvline(mean.value, color="black", linestyle="--", linewidth=1.2, label=label)
    if known:
        axes.axvspan(ends.low, ends.high, color="black", alpha=0.15, linewidth=0)
    if edges[0] < edges[-1]:
        axes.set_xlim(edges[0], edges[-1])
    # A band that says nothing reaches up to one: the estimate decides the height.
    axes.set_ylim(0.0, 1.15 * max(float(density.max()), top))
    axes.set_xlabel(axis_label("value", units))
    axes.set_ylabel(f"density per {literal(units)}" if units else "density")
    axes.set_title(f"Distribution of the values of {estimate.n:,} users by {NAMES[estimate.method]}", fontsize="medium")
    axes.legend(loc="best", frameon=False, fontsize="small")
    add_note(axes, SPIKY_NOTE if known and estimate.method == SPIKY else "")
    return axes
