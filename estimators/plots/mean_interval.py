"""A picture of an estimated mean: its interval, the truth if it is known, and the interval without privacy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from ...mechanisms.display.axes import axes_or_new
from ...mechanisms.errors import InputError
from ...mechanisms.units import axis_label
from ..intervals import CONFIDENCE, Interval
from .style import BLUE, GREY, VERMILLION, add_title

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 0.9
"""Inches of the figure beside its rows, and of each row."""

ROW = 0.42


class OneNumber(Protocol):
    """What is drawn of a `MeanEstimate`."""

    @property
    def value(self) -> float: ...
    @property
    def n(self) -> int: ...
    def interval(self, confidence: float = ..., /) -> Interval: ...


def mean(
    estimate: OneNumber,
    ax: Axes | None = None,
    *,
    truth: float | None = None,
    ratio_to_no_privacy: float | None = None,
    units: str = "",
    confidence: float = CONFIDENCE,
) -> Axes:
    """Draw the interval of a mean, below it the interval without privacy, and a line at the truth.

    Parameters
    ----------
    estimate : MeanEstimate
    ax : Axes, optional
        To draw on; default: those of a new figure.
    truth : float, optional
        The mean of the values, where they are known: of a simulation.
    ratio_to_no_privacy : float, optional
        Ratio of the interval's length to that from the values themselves, from
        `optldp.estimators.differences.ratio_to_no_privacy`. Without it there is one row.
    units : str
        Of the values, for the axis' label.
    confidence : float
        Coverage of the interval.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        A ratio that is not positive; a confidence outside (0, 1); matplotlib is not installed.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.designer import plots
    >>> from optldp.estimators import count, estimate_mean
    >>> from optldp.mechanisms import duchi
    >>> table = duchi([-3.0, 3.0], 1.0)
    >>> found = estimate_mean(count(table, np.repeat(table.low, [400, 600])))
    >>> axes = plots.mean(found, truth=1.2, ratio_to_no_privacy=2.2)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['from reports', 'without privacy']
    """
    if ratio_to_no_privacy is not None and not ratio_to_no_privacy > 0:
        raise InputError(f"ratio_to_no_privacy must be positive, got {ratio_to_no_privacy!r}")
    ends = estimate.interval(confidence)
    rows = [("from reports", float(ends.low), float(ends.high), BLUE)]
    if ratio_to_no_privacy is not None:
        centre = estimate.value if truth is None else truth
        reach = 0.5 * (ends.high - ends.low) / ratio_to_no_privacy
        rows.append(("without privacy", centre - reach, centre + reach, GREY))
    axes = axes_or_new(ax, height=HEIGHT + ROW * (len(rows) + 1))
    for row, (_, low, high, color) in enumerate(rows):
        axes.plot([low, high], [row, row], color=color, linewidth=6, solid_capstyle="butt")
    axes.plot([estimate.value], [0], "o", color=BLUE, markeredgecolor="white", markersize=9)
    if truth is not None:
        axes.axvline(truth, color=VERMILLION, linewidth=1.6, linestyle=(0, (4, 2)))
        axes.text(truth, -0.85, " truth", va="top", color=VERMILLION, fontsize="small")
    axes.set_yticks(range(len(rows)), [row[0] for row in rows])
    axes.set_ylim(len(rows) - 0.5, -0.9)
    axes.set_xlabel(axis_label("mean", units))
    axes.margins(x=0.1)
    people = f"{estimate.n:,} people"
    add_title(axes, f"{estimate.value:,.6g}, {100 * confidence:g}% interval, {people}")
    return axes
