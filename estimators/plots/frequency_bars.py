"""A picture of estimated frequencies with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...mechanisms.spaces.categories import Categories
from ...mechanisms.units import literal
from ..intervals import CONFIDENCE, Interval
from .fonts import choose_fonts
from .style import add_title, axes_or_new, whole_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BARS = 40
"""More categories than that cannot be read beside each other: the most frequent ones are drawn."""

LONGEST_LABEL = 32

NAMES = {
    "unbiased": "unbiased estimate",
    "norm-sub": "unbiased estimate after Norm-Sub",
    "base-cut": "unbiased estimate after Base-Cut",
    "iiw": "unbiased estimate after a Wiener filter",
    "shrunk": "empirical Bayes",
    "em": "EM, stopped early",
    "mle": "maximum likelihood",
    "mr": "mixture reduction",
}


class Bars(Protocol):
    """What is drawn of a `FrequencyEstimate`."""

    @property
    def categories(self) -> Categories: ...
    @property
    def value(self) -> Any: ...
    @property
    def n(self) -> int: ...
    @property
    def method(self) -> str: ...
    def interval(self, confidence: float = ..., /) -> Interval: ...


def frequencies(estimate: Bars, ax: Axes | None = None, *, title: str = "", confidence: float = CONFIDENCE) -> Axes:
    """Draw the frequencies as bars with intervals, the largest at the top; at most forty of them.

    Parameters
    ----------
    estimate : FrequencyEstimate
    ax : Axes, optional
        To draw on; default: those of a new figure, whose height follows from the number of bars.
    title : str
        Default: method and number of users.
    confidence : float
        Coverage of the intervals.

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
    >>> from optldp.estimators import count, estimate_frequencies
    >>> from optldp.mechanisms import frequency_oracle
    >>> oracle = frequency_oracle(["cook", "smith", "nurse"], 1.0)
    >>> reports = oracle.sample(np.repeat(["cook", "smith", "nurse"], [500, 300, 200]), np.random.default_rng(1))
    >>> axes = plots.frequencies(estimate_frequencies(count(oracle, reports)))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['cook', 'smith', 'nurse']
    """
    order, ends = np.argsort(-estimate.value, kind="stable")[:MOST_BARS], estimate.interval(confidence)
    values, labels = estimate.value[order], [_short(estimate.categories.labels[k]) for k in order]
    reach = np.array([np.maximum(values - ends.low[order], 0.0), np.maximum(ends.high[order] - values, 0.0)])
    axes = axes_or_new(ax, height=1.4 + 0.22 * order.size)
    places = np.arange(order.size)
    axes.barh(places, values, color="#9ecae1", height=0.75, label="estimate")
    bars = axes.errorbar(values, places, xerr=reach, fmt="none", ecolor="#08306b", elinewidth=1.2, capsize=2)
    bars.set_label(f"{100 * confidence:g}% interval, each by itself")
    axes.axvline(0.0, color="black", linewidth=0.8)
    axes.set_yticks(places, labels, fontsize="small")
    axes.set_ylim(order.size - 0.4, -0.6)
    rest = len(estimate.categories) > order.size
    more = f" (the {order.size} largest estimates of {len(estimate.categories)})" if rest else ""
    axes.set_xlabel(f"share of the users{more}")
    name = f"Frequencies among {estimate.n:,} users: {NAMES[estimate.method]}"
    add_title(axes, title or name)
    axes.legend(loc="lower right", frameon=False, fontsize="small")
    choose_fonts(whole_figure(axes))
    return axes


def _short(label: str) -> str:
    return literal(label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…")
