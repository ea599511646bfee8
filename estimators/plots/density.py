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
"""The method that puts all mass on few cells, other ones in each sample."""

SPIKY_NOTE = (
    "The likeliest distribution puts its mass on few cells, on others with other reports: it is no picture of the "
    "density. The shares of the ranges have their intervals, and so has the mean."
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
    @property
    def explained(self) -> object: ...
    def ranges(self, confidence: float = ..., /, *, simultaneous: bool = ...) -> tuple[Any, Any, Any, Interval]: ...


def distribution(
    estimate: Density,
    ax: Axes | None = None,
    *,
    units: str = "",
    confidence: float = CONFIDENCE,
    simultaneous: bool = False,
) -> Axes:
    """Draw the density, a band of its average over ranges, and the mean with its interval.

    The ranges are those that reports can distinguish (`DistributionEstimate.ranges`). Reports do not determine the
    density within one, so it has no band.

    Parameters
    ----------
    estimate : DistributionEstimate
    ax : Axes, optional
        To draw on; default: those of a new figure.
    units : str
        Name of the units of the inputs.
    confidence : float
        Coverage of the band and the mean's interval.
    simultaneous : bool
        A band that holds over all ranges at once, rather than over each by itself.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        matplotlib is not installed, or a confidence outside (0, 1).

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import plots
    >>> from optldp.estimators import count, estimate_distribution
    >>> from optldp.mechanisms import piecewise
    >>> table = piecewise(np.linspace(0, 100, 11), 2.0)
    >>> reports = table.sample(np.random.default_rng(1).uniform(0, 100, 1000), np.random.default_rng(2))
    >>> axes = plots.distribution(estimate_distribution(count(table, reports)), units="EUR")
    >>> axes.get_xlabel()
    'value [EUR]'
    """
    edges, mean = estimate.grid.edges, estimate.mean()
    ends = mean.interval(confidence)
    axes = axes_or_new(ax)
    density = estimate.value / np.where(np.diff(edges) > 0, np.diff(edges), 1.0)
    percent = f"{100 * confidence:g}%"
    label, top = f"mean {mean.value:,.5g}, no interval", 0.0
    if known := bool(np.isfinite([ends.low, ends.high]).all()):
        label = f"mean {mean.value:,.5g}, {percent} interval [{ends.low:,.5g}, {ends.high:,.5g}]"
    if estimate.explained is not None and edges[0] < edges[-1]:
        starts, _, _, band = estimate.ranges(confidence, simultaneous=simultaneous)
        low, high = band.low / np.diff(starts), band.high / np.diff(starts)
        held = "all at once" if simultaneous else "each by itself"
        ranges = f"average in each of {low.size} ranges, {held}" if low.size > 1 else "average over the domain"
        axes.stairs(high, starts, baseline=low, fill=True, color="#9ecae1", label=f"{percent} interval of the {ranges}")
        top = float(high.max())
    axes.stairs(density, edges, color="#08306b", linewidth=1.4, label="estimate")
    axes.axvline(mean.value, color="black", linestyle="--", linewidth=1.2, label=label)
    if known:
        axes.axvspan(ends.low, ends.high, color="black", alpha=0.15, linewidth=0)
    if edges[0] < edges[-1]:
        axes.set_xlim(edges[0], edges[-1])
    axes.set_ylim(0.0, 1.15 * max(float(density.max()), top))
    axes.set_xlabel(axis_label("value", units))
    axes.set_ylabel(f"density per {literal(units)}" if units else "density")
    axes.set_title(f"Distribution of the values of {estimate.n:,} users by {NAMES[estimate.method]}", fontsize="medium")
    axes.legend(loc="best", frameon=False, fontsize="small")
    add_note(axes, SPIKY_NOTE if known and estimate.method == SPIKY else "")
    return axes
