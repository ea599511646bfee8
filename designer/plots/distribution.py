"""A picture of an estimated distribution with its bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...estimators.distributions.distribution import DistributionEstimate
from ..priors.units import literal, units_label
from .style import new_figure

NAMES = {
    "em": "maximum likelihood",
    "ems": "EM with smoothing",
    "mr": "mixture reduction",
    "penalised": "penalised likelihood",
}

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def distribution_figure(estimate: DistributionEstimate, *, units: str = "") -> Figure:
    """Draw the density, its pointwise bands and the mean with its interval.

    Parameters
    ----------
    estimate : DistributionEstimate
    units : str
        Name of the units of the inputs.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    figure, axes = new_figure()
    edges, mean = estimate.grid.edges, estimate.mean()
    width = np.where(np.diff(edges) > 0, np.diff(edges), 1.0)
    density, low, high = (values / width for values in (estimate.weights, estimate.low, estimate.high))
    percent = f"{100 * estimate.level:g}%"
    axes.stairs(high, edges, baseline=low, fill=True, color="#9ecae1", label=f"{percent} band, pointwise")
    axes.stairs(density, edges, color="#08306b", linewidth=1.4, label="estimate")
    label = f"mean {mean.mean:,.5g}, {percent} interval [{mean.ci_low:,.5g}, {mean.ci_high:,.5g}]"
    axes.axvline(mean.mean, color="black", linestyle="--", linewidth=1.2, label=label)
    axes.axvspan(mean.ci_low, mean.ci_high, color="black", alpha=0.15, linewidth=0)
    if edges[0] < edges[-1]:
        axes.set_xlim(edges[0], edges[-1])
    # A band that says nothing reaches up to one: the estimate decides the height.
    axes.set_ylim(0.0, 1.15 * max(float(density.max()), float(np.quantile(high, 0.9))))
    axes.set_xlabel(units_label("value", units))
    axes.set_ylabel(f"density per {literal(units)}" if units else "density")
    axes.set_title(f"Distribution of the values of {estimate.n:,} users by {NAMES[estimate.method]}", fontsize="medium")
    axes.legend(loc="best", frameon=False, fontsize="small")
    return figure
