"""A picture of what reports count as in a bias-aware mean, against what they counted as before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...mechanisms.units import axis_label, literal
from .style import BLACK, GREY, OTHER_COLORS, SHADE, add_note, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_PARTS = 6
"""More services and groups of users than that cannot be told apart: the first ones are drawn."""


class Part(Protocol):
    """What is drawn of one service."""

    @property
    def service(self) -> str: ...
    @property
    def low(self) -> np.ndarray: ...
    @property
    def high(self) -> np.ndarray: ...
    @property
    def before(self) -> np.ndarray: ...
    @property
    def values(self) -> np.ndarray: ...


class Counted(Protocol):
    """What is drawn of a `BiasAwareMean`."""

    @property
    def n(self) -> Any: ...
    @property
    def trust(self) -> float: ...
    @property
    def knots(self) -> np.ndarray: ...
    @property
    def means(self) -> np.ndarray: ...
    @property
    def parts(self) -> Sequence[Part]: ...


def counted_as(estimate: Counted, ax: Axes | None = None, *, units: str = "") -> Axes:
    """Draw the number that each report counts as, against its number in a plain average.

    Parameters
    ----------
    estimate : BiasAwareMean
    ax : Axes, optional
        To draw on; default: those of a new figure.
    units : str
        Name of the units of the values.

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
    >>> from optldp.estimators import bias_aware_mean, count
    >>> prior = Prior.on_knots([0, 1, 2, 8], [50, 20, 10, 1], source="public")
    >>> table = design(prior, 1.0).mechanism
    >>> reports = table.sample(np.repeat([0.0, 1.0, 8.0], [500, 400, 100]), np.random.default_rng(1))
    >>> axes = plots.counted_as(bias_aware_mean(count(table, reports), prior.weights, trust=1.5), units="h")
    >>> axes.get_xlabel()
    'report [h]'
    """
    axes = axes_or_new(ax)
    low, high = estimate.knots[[0, -1]]
    axes.axhspan(low, high, color=SHADE, alpha=0.6, linewidth=0, label="the values' domain")
    shown = estimate.parts[:MOST_PARTS]
    for part, color in zip(shown, (BLACK, *OTHER_COLORS), strict=False):
        places = _places(part)
        name = "" if len(estimate.parts) == 1 else f", {literal(part.service)}"
        plain = {"color": GREY if color == BLACK else color, "linewidth": 1.2, "linestyle": (0, (3, 1.5))}
        axes.plot(places, part.before, marker=".", markersize=3, label=f"before{name}", **plain)
        axes.plot(places, part.values, marker=".", markersize=4, color=color, linewidth=1.6, label=f"now{name}")
    axes.set_xlabel(axis_label("report", units))
    axes.set_ylabel(axis_label("counts as", units))
    axes.set_title(f"What reports of {estimate.n:,} users count as, trust {estimate.trust:g}", fontsize="medium")
    axes.legend(loc="best", frameon=False, fontsize="small")
    rest = len(estimate.parts) - len(shown)
    more = f" {rest} more services or groups of users are not drawn." if rest else ""
    ends = f"from {estimate.means.min():,.4g} to {estimate.means.max():,.4g}"
    add_note(axes, f"On average values from {low:,.4g} to {high:,.4g} count as {ends}.{more}")
    return axes


def _places(part: Part) -> np.ndarray:
    """The middle of each output; of a tail its end."""
    ends = np.stack([part.low, part.high])
    return np.where(np.isfinite(ends).all(0), ends.mean(0), np.where(np.isfinite(ends[0]), ends[0], ends[1]))
