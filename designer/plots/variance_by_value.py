"""Who pays: the variance of one report against the value that it is of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...estimators.plots.style import axes_or_new, method_style, methods_in_order
from ...mechanisms import TabulatedMechanism
from ...mechanisms.units import axis_label, squared
from ..priors.prior import Prior
from .prior_strip import draw_prior, strip_below
from .scales import log_axis, plain_numbers
from .shared_domain import name_by_value, shared_domain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_POINTS = 1600
"""Per line: more than a screen can show, few enough for a small file."""

MOST_PER_INTERVAL = 16
"""Points per interval: the parabola between two knots is smooth with that many."""

MARKERS = 7
"""Per line: enough to follow it without its colour."""

LINEAR_UP_TO = 6.0
"""Ratio of the largest to the least variance from which on the axis is logarithmic."""


def by_value(
    mechanisms: Mapping[str, TabulatedMechanism], ax: Axes | None = None, *, prior: Prior | None = None
) -> Axes:
    """Draw Var(Y | x), the variance of one report, against its value x; a line per mechanism.

    Between two knots a table rounds at random, so the variance there is a concave parabola; coarse knots show as humps.
    Biased mechanisms have a variance too, but it is not their whole error.

    Parameters
    ----------
    mechanisms : mapping of str to TabulatedMechanism
        By the name to draw; on one domain.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    prior : Prior, optional
        Drawn as a strip below; of the same domain.

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
    >>> from optldp.designer import plots
    >>> from optldp.mechanisms import FAMILIES
    >>> knots = np.linspace(0, 100, 21)
    >>> tables = {name: FAMILIES[name](knots, 1.0) for name in ("duchi", "hybrid", "piecewise")}
    >>> axes = plots.by_value(tables)
    >>> [line.get_label() for line in axes.lines]
    ['duchi', 'piecewise', 'hybrid']
    """
    domain, units = shared_domain(mechanisms, prior, "variances by value")
    lowest = axes = axes_or_new(ax)
    if prior is not None:
        lowest = strip_below(axes)
        draw_prior(lowest, prior)
    names = methods_in_order(mechanisms)
    lines = [_draw(axes, name, mechanisms[name], k / len(names)) for k, name in enumerate(names)]
    axes.set_xlim(*domain)
    _scale(axes, lines)
    axes.set_ylabel(axis_label("variance of one report", squared(units)))
    name_by_value(axes, lowest, mechanisms, lines, units, "Who pays: variance by value")
    return axes


def _draw(axes: Axes, name: str, mechanism: TabulatedMechanism, phase: float) -> Line2D:
    """Draw one line; its markers begin at a place of its own, so that those of other lines do not cover them."""
    knots = mechanism.knots
    pieces = max(2, min(MOST_PER_INTERVAL, MOST_POINTS // (knots.size - 1)))
    share = np.arange(pieces) / pieces
    x = np.append((knots[:-1, None] + share * np.diff(knots)[:, None]).ravel(), knots[-1])
    step = max(x.size // MARKERS, 1)
    style = {**method_style(name), "markevery": (int(phase * step), step)}
    (line,) = axes.plot(x, mechanism.var(x), label=name, gid=f"method-{name}", **style)
    return line


def _scale(axes: Axes, lines: list[Line2D]) -> None:
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in lines])
    low, high = float(values.min()), float(values.max())
    if low > 0 and high / low > LINEAR_UP_TO:
        log_axis(axes, "y", low / (high / low) ** 0.05, high * (high / low) ** 0.05)
    else:
        axes.set_ylim(0.0, 1.06 * high)
        plain_numbers(axes.yaxis)
