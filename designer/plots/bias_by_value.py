"""Who is counted as what: the bias of a report against the value that it is of, under it the prior."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...estimators.plots.style import GREY, axes_or_new, method_style, methods_in_order
from ...mechanisms import TabulatedMechanism
from ...mechanisms.units import axis_label
from ..priors.prior import Prior
from .prior_strip import draw_prior, strip_below
from .scales import plain_numbers
from .shared_domain import name_by_value, shared_domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MARKERS = 7
"""Per line: enough to follow it without its colour."""

STRIP = 0.45
"""Height of the prior over that of the picture: how little lies where much is cut is what there is to see."""


def bias(mechanisms: Mapping[str, TabulatedMechanism], ax: Axes | None = None, *, prior: Prior | None = None) -> Axes:
    """Draw E[Y | x] - x, the bias of one report, against its value x; a line per mechanism.

    A table is linear between knots, and so is its bias. Where it falls with slope -1, values are cut and all count as
    the same. Where it is level, they count as themselves plus a constant, which compensates for the cut.

    Parameters
    ----------
    mechanisms : mapping of str to TabulatedMechanism
        By the name to draw; on one domain.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    prior : Prior, optional
        Drawn below; of the same domain.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No mechanism; different domains or units; matplotlib is not installed.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import Error, Prior, design, plots
    >>> knots = np.linspace(0, 100, 21)
    >>> prior = Prior.on_knots(knots, np.exp(-knots / 8), source="public", units="EUR")
    >>> axes = plots.bias({"error": design(prior, 1.0, objective=Error(20_000)).mechanism}, prior=prior)
    >>> axes.get_ylabel()
    'bias of one report [EUR]'
    """
    domain, units = shared_domain(mechanisms, prior, "biases by value")
    lowest = axes = axes_or_new(ax)
    if prior is not None:
        lowest = strip_below(axes, share=STRIP)
        draw_prior(lowest, prior)
    names = methods_in_order(mechanisms)
    axes.axhline(0.0, color=GREY, linewidth=0.8)
    lines = [_draw(axes, name, mechanisms[name], k / len(names)) for k, name in enumerate(names)]
    axes.set_xlim(*domain)
    plain_numbers(axes.yaxis)
    axes.set_ylabel(axis_label("bias of one report", units))
    name_by_value(axes, lowest, mechanisms, lines, units, "What values are counted as: bias by value")
    return axes


def _draw(axes: Axes, name: str, mechanism: TabulatedMechanism, phase: float) -> Line2D:
    """Draw one line; its markers begin at a place of its own, so that those of other lines do not cover them."""
    step = max(mechanism.knots.size // MARKERS, 1)
    style = {**method_style(name), "markevery": (int(phase * step), step)}
    (line,) = axes.plot(mechanism.knots, mechanism.knot_bias, label=name, gid=f"method-{name}", **style)
    return line
