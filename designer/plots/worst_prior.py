"""The prior behind a minimax design: where its mass lies, and the variance there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import BLACK, BLUE, SMALL, VERMILLION, axes_or_new
from ...mechanisms import InputError
from ...mechanisms.units import axis_label, squared
from ..priors.prior import Prior
from .drawn import WeightedDesign
from .prior_strip import strip_below
from .scales import plain_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PIECES = 16
"""Points per interval between knots, for the parabola of the variance there."""

END_ROOM = 0.01
"""Of the domain, at either side: the mass at its ends must be told from the frame."""


def least_favourable(design: WeightedDesign, ax: Axes | None = None, *, prior: Prior | None = None) -> Axes:
    """Draw the variance of a minimax design by value, and below it the prior that certifies it.

    At weight 1 that is the least favourable prior: under it no unbiased mechanism has a smaller expected variance than
    the certified bound, drawn as a line. All its mass lies where the design's variance is largest, on the line. At a
    weight w below 1 the shares drawn are the multipliers of the worst case, rho / w; the prior behind the bound is then
    (1 - w) times the prior of the design plus w times these.

    Parameters
    ----------
    design : Design
    ax : Axes, optional
        To draw on, their place shared with axes for the prior below; default: those of a new figure.
    prior : Prior, optional
        Drawn with it, for comparison; on the same knots.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        A prior on other knots; matplotlib is not installed.

    Example
    -------
    >>> import numpy as np
    >>> from optldp import Prior
    >>> from optldp.designer import WorstCase, design, plots
    >>> flat = Prior.even(np.linspace(0, 100, 21), units="kg")
    >>> axes = plots.least_favourable(design(flat, 1.0, objective=WorstCase()))
    >>> [part.get_ylabel() for part in axes.figure.axes]
    ['variance [kg²]', 'share of the values']
    """
    knots = design.mechanism.knots
    if prior is not None and not np.array_equal(prior.knots, knots):
        raise InputError(
            f"the prior must be on the design's knots, got {prior.knots.size} knots beside {knots.size}: "
            "make it with knots=design.mechanism.knots"
        )
    above = axes_or_new(ax)
    below = strip_below(above, share=0.75)
    _draw_variance(above, design)
    _draw_shares(below, design, prior)
    units = design.mechanism.units
    room = END_ROOM * (knots[-1] - knots[0])
    above.set_xlim(knots[0] - room, knots[-1] + room)
    above.set_ylabel(axis_label("variance", squared(units)))
    plain_numbers(below.xaxis)
    below.set_xlabel(axis_label("value", units))
    below.set_ylabel("share of the values")
    at = "" if design.objective.worst == 1 else f", weight of the worst case {design.objective.worst:g}"
    above.set_title(f"Least worst case and the prior behind it, ε = {design.epsilon:g}{at}", fontsize="medium")
    above.figure.align_ylabels([above, below])
    return above


def _draw_variance(axes: Axes, design: WeightedDesign) -> None:
    knots = design.mechanism.knots
    x = np.append((knots[:-1, None] + np.arange(PIECES) / PIECES * np.diff(knots)[:, None]).ravel(), knots[-1])
    axes.plot(x, design.mechanism.var(x), color=BLACK, linewidth=1.8, label="variance of the design", gid="variance")
    if design.objective.worst == 1:
        label = "certified: no unbiased mechanism has a lower largest variance"
        axes.axhline(design.bound, color=VERMILLION, linestyle=(0, (4, 2)), label=label, gid="lower-bound")
    # From zero, so that a level variance looks level; the room at the top is for the legend.
    axes.set_ylim(0.0, 1.1 * design.worst_case_variance)
    plain_numbers(axes.yaxis)
    axes.legend(loc="lower center", frameon=False, fontsize=SMALL)


def _draw_shares(axes: Axes, design: WeightedDesign, prior: Prior | None) -> None:
    knots, shares = design.mechanism.knots, design.evidence.least_favourable
    label = "least favourable prior" if design.objective.worst == 1 else "multipliers of the worst case"
    axes.vlines(knots, 0.0, shares, color=BLACK, linewidth=2.0, label=label, gid="least-favourable")
    top = shares.max()
    if prior is not None:
        style = {"linestyle": "--", "marker": ".", "markersize": 4, "linewidth": 1.0}
        axes.plot(knots, prior.weights, color=BLUE, label="prior", gid="prior", **style)
        top = max(top, prior.weights.max())
    axes.set_ylim(0.0, 1.08 * top)
    axes.legend(loc="upper center", frameon=False, fontsize=SMALL)
