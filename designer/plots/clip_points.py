"""Where a clip pays: the error of a mean against the clip point, with its two parts and the optimum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...estimators.plots.style import BLACK, BLUE, GREY, SMALL, VERMILLION, axes_or_new
from ...mechanisms.units import axis_label
from .drawn import CutDesigns
from .scales import plain_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TOP = 1.8
"""The picture's height over the error of what cuts nothing: lines that rise beyond leave it, and names have room."""

PARTS: dict[str, dict[str, Any]] = {
    "error": {"color": BLACK, "linewidth": 2.0, "marker": "o", "markersize": 3.5},
    "noise": {"color": BLUE, "linestyle": (0, (4, 1.5)), "linewidth": 1.4},
    "bias at most": {"color": VERMILLION, "linestyle": (0, (1, 1.2)), "linewidth": 1.6},
}


def clip_errors(curve: CutDesigns, ax: Axes | None = None) -> Axes:
    """Draw the error of clips and its parts, noise and bias, against the clip point; the optimum as a star.

    Each point is the best unbiased table on the remaining interval, with the best shift. The optimum may cut between
    knots, and need not be a clip; no mechanism, biased or not, lies below the bottom line.

    Parameters
    ----------
    curve : ClipCurve
        From `optldp.designer.designs.clip_curve`.
    ax : Axes, optional
        To draw on; default: those of a new figure.

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
    >>> import numpy as np
    >>> from optldp.designer import Error, Prior, design, plots
    >>> from optldp.designer.designs import clip_curve
    >>> knots = np.linspace(0, 100, 11)
    >>> prior = Prior.on_knots(knots, np.exp(-knots / 8), source="public", units="EUR")
    >>> plots.clip_errors(clip_curve(design(prior, 1.0, objective=Error(20_000)))).get_xlabel()
    'values above this are counted as this [EUR]'
    """
    axes, made = axes_or_new(ax), curve.design
    found = made.evidence
    lines = {
        "error": [each.rmse for each in curve.errors],
        "noise": [each.noise for each in curve.errors],
        "bias at most": [each.bias_bound for each in curve.errors],
    }
    for name, values in lines.items():
        axes.plot(curve.clips, values, label=name, gid=f"part-{name.split()[0]}", **PARTS[name])
    at = found.clip_high if curve.end == "high" else found.clip_low
    style = {"color": BLACK, "linestyle": "", "marker": "*", "markersize": 13, "markerfacecolor": "white", "zorder": 4}
    axes.plot([at], [made.value], label="the optimum", gid="optimum", **style)
    axes.axhline(made.bound, color=GREY, linewidth=1.0, label="certified: nothing errs less", gid="lower-bound")
    whole = curve.errors[-1 if curve.end == "high" else 0].rmse
    axes.set_ylim(0.0, TOP * max(whole, made.value))
    low, high = made.mechanism.domain
    axes.set_xlim(low, high + 0.02 * (high - low))
    plain_numbers(axes.xaxis)
    plain_numbers(axes.yaxis)
    side, units = "above" if curve.end == "high" else "below", made.mechanism.units
    axes.set_xlabel(axis_label(f"values {side} this are counted as this", units))
    axes.set_ylabel(axis_label("error of the mean", units))
    axes.set_title(f"Where a clip pays, ε = {made.epsilon:g}, {made.objective.n:,} users", fontsize="medium")
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(loc="upper right" if curve.end == "high" else "upper left", frameon=False, fontsize=SMALL)
    return axes
