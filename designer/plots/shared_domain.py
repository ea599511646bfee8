"""What mechanisms that are drawn side by side against their values must have in common, and what their figures have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.units import axis_label
from ..priors.prior import Prior
from .labels import label_ends
from .scales import plain_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


def shared_domain(
    mechanisms: Mapping[str, TabulatedMechanism], prior: Prior | None, what: str
) -> tuple[tuple[float, float], str]:
    """Return the domain and the units that all have in common; InputError, in words of what is drawn, for several.

    Example
    -------
    >>> from optldp.mechanisms import duchi
    >>> shared_domain({"duchi": duchi([0, 1], 1.0)}, Prior.even([0, 1], units="kg"), "variances by value")
    ((0.0, 1.0), 'kg')
    """
    if not mechanisms:
        raise InputError(f"a figure of {what} needs at least one mechanism, got none")
    domains = {mechanism.domain for mechanism in mechanisms.values()} | ({prior.domain} if prior is not None else set())
    if len(domains) > 1:
        named = " and ".join(f"[{low:g}, {high:g}]" for low, high in sorted(domains)[:2])
        raise InputError(f"{what} need one domain, got {named}: draw each domain by itself")
    units = {thing.units for thing in (*mechanisms.values(), prior) if thing is not None and thing.units}
    if len(units) > 1:
        raise InputError(f"{what} need one unit, got {' and '.join(sorted(units))}: convert the knots")
    return domains.pop(), units.pop() if units else ""


def name_by_value(
    axes: Axes,
    lowest: Axes,
    mechanisms: Mapping[str, TabulatedMechanism],
    lines: Sequence[Line2D],
    units: str,
    title: str,
) -> None:
    """Name the axis of the values on the lowest axes, the budget if all share one, and each line at its end."""
    plain_numbers(lowest.xaxis)
    lowest.set_xlabel(axis_label("value", units))
    budgets = {mechanism.epsilon for mechanism in mechanisms.values()}
    at = f", ε = {budgets.pop():g}" if len(budgets) == 1 else ""
    axes.set_title(f"{title}{at}", fontsize="medium")
    axes.grid(color="#EEEEEE", linewidth=0.6)
    axes.set_axisbelow(True)
    label_ends(axes, lines)
