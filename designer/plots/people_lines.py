"""What more people and more budget buy: the error of a mean against the people who report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...estimators.plots.style import BLUE, SMALL, VERMILLION, add_title, axes_or_new
from ...mechanisms.errors import InputError
from ...mechanisms.units import axis_label
from .scales import log_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEWER, MORE = 0.1, 10.0
"""Times the people of the plan: the ends of the lines."""

DASHES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))


class Planned(Protocol):
    """What is drawn of a `BudgetPlan`."""

    @property
    def epsilon(self) -> float: ...
    @property
    def n(self) -> int: ...
    @property
    def predicted_error(self) -> float: ...


def people(plans: Sequence[Planned], ax: Axes | None = None, *, units: str = "") -> Axes:
    """Draw standard errors of unbiased means against the people, a line for each plan; the first plan is marked.

    An error falls with the root of the number of people, so one plan of each budget is enough.

    Parameters
    ----------
    plans : sequence of BudgetPlan
        Of unbiased mechanisms, as `plan_error` returns them; one for each budget.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    units : str
        Of the values, for the axis' label.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No plan, or two of one budget; matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import Prior, plots
    >>> from optldp.designer.planning import plan_error
    >>> prior = Prior.on_knots([0, 5, 10], [2, 2, 1], source="public")
    >>> axes = plots.people([plan_error(prior, 1000, epsilon) for epsilon in (1.0, 2.0)], units="EUR")
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('people', 'standard error of the mean [EUR]')
    """
    budgets = [plan.epsilon for plan in plans]
    if not plans or len(set(budgets)) < len(budgets):
        raise InputError(f"the figure of people needs plans of different budgets, got budgets {budgets}")
    axes, first = axes_or_new(ax), plans[0]
    across = np.geomspace(FEWER * first.n, MORE * first.n, 41)
    heights = [plan.predicted_error * np.sqrt(plan.n / across) for plan in plans]
    log_axis(axes, "x", float(across[0]), float(across[-1]))
    log_axis(axes, "y", 0.9 * float(np.min(heights)), 1.1 * float(np.max(heights)))
    for place, (plan, height) in enumerate(zip(plans, heights, strict=True)):
        style: dict[str, Any] = {
            "color": BLUE,
            "linestyle": DASHES[place % len(DASHES)],
            "linewidth": 1.0 if place else 2.2,
        }
        axes.plot(across, height, **style)
        end = (float(across[-1]), float(height[-1]))
        axes.annotate(f"ε = {plan.epsilon:.4g}", end, (5, 0), textcoords="offset points", va="center", fontsize=SMALL)
    axes.plot([first.n], [first.predicted_error], "o", color=VERMILLION, markersize=8)
    axes.set_xlabel("people")
    axes.set_ylabel(axis_label("standard error of the mean", units))
    add_title(axes, f"{first.n:,} people at ε = {first.epsilon:.4g}: error {first.predicted_error:.4g}")
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    return axes
