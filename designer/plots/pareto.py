"""What the worst case costs: expected against worst-case variance, and where other mechanisms lie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.plots.style import SHADE, SMALL, UNREACHABLE, add_note, axes_or_new, method_style, methods_in_order
from ...mechanisms import InputError, TabulatedMechanism
from ...mechanisms.units import axis_label, literal, squared
from ..priors.prior import Prior
from .drawn import WeightedDesign
from .labels import label_points
from .scales import log_axis, plain_number, plain_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NO_MECHANISMS: Mapping[str, TabulatedMechanism] = MappingProxyType({})

MOST_ABOVE = 1.5
"""Mechanisms further above the front leave the picture and are named below it: the front must stay the subject."""

LINEAR_UP_TO = 3.0
"""Ratio of the largest to the least number on an axis from which on it is logarithmic."""

ROOM = 0.1
"""Share of the axes that is left beside the outermost points."""

LEAST_APART = 0.09
"""Of two named designs, as a share of the axes: names of closer ones would need leaders to tell them apart."""

RESOLUTION = 600
"""Points along the edge of the region that nothing reaches."""

SAME_PRIOR = 1e-9
"""On shares: what rounding leaves of a prior that was written to a table and read again."""


def trade_off(
    points: Sequence[WeightedDesign],
    ax: Axes | None = None,
    *,
    mechanisms: Mapping[str, TabulatedMechanism] = NO_MECHANISMS,
    prior: Prior | None = None,
) -> Axes:
    """Draw the Pareto front of expected and worst-case variance, with other mechanisms as labelled points.

    Each design of weight w and lower bound b certifies that (1 - w) expected + w worst-case variance is at least b for
    every unbiased mechanism on its knots; the region that some of them rule out is shaded. The worst case is the
    largest variance over the whole domain, rounding between knots included.

    Parameters
    ----------
    points : sequence of Design
        From `trade_off_curve`: one budget, one prior.
    ax : Axes, optional
        To draw on; default: those of a new figure.
    mechanisms : mapping of str to TabulatedMechanism
        By the name to draw; of the same budget. Expected variances are under `prior`, or the mechanism's own without.
    prior : Prior, optional
        That of the trade-off; needed for mechanisms without a prior and for designs against the `WorstCase`.

    Returns
    -------
    axes : Axes
        The axes, for further changes; `axes.figure.savefig(path)` writes the figure.

    Raises
    ------
    InputError
        No design; different budgets; an expected variance without a prior; a prior that is not that of the designs;
        matplotlib is not installed.

    Example
    -------
    >>> from optldp import Prior
    >>> from optldp.designer import plots, trade_off_curve
    >>> prior = Prior.on_knots([-1, -0.5, 0, 0.5, 1], [0, 1, 2, 1, 0], source="public", units="kg")
    >>> axes = plots.trade_off(trade_off_curve(prior, 2.0, weights=[0.1, 0.5, 1.0]))
    >>> axes.get_xlabel()
    'expected variance of one report [kg²]'
    """
    epsilon = _checked(points, mechanisms, prior)
    ordered = sorted(points, key=lambda point: point.objective.worst)
    front = np.array([(_expected(point.mechanism, prior, "a design"), point.worst_case_variance) for point in ordered])
    others = {
        name: (_expected(mechanisms[name], prior, name), mechanisms[name].worst_case_variance()[0])
        for name in methods_in_order(mechanisms)
    }
    most = MOST_ABOVE * front.max(axis=0)
    shown = {name: place for name, place in others.items() if (np.array(place) <= most).all()}
    axes = axes_or_new(ax)
    _scales(axes, np.array([*front, *shown.values()]))
    _shade(axes, ordered)
    axes.plot(*front.T, label="trade-off", gid="trade-off", **{**method_style("minimax"), "linestyle": "-"})
    for name, place in shown.items():
        axes.plot(*place, label=name, gid=f"method-{name}", **_hollow(name))
    units = squared(ordered[0].mechanism.units)
    axes.set_xlabel(axis_label("expected variance of one report", units))
    axes.set_ylabel(axis_label("largest variance of one report", units))
    axes.set_title(f"What the worst case costs, ε = {epsilon:g}", fontsize="medium")
    weights = {f"w = {point.objective.worst:g}": tuple(place) for point, place in zip(ordered, front, strict=True)}
    add_note(axes, _note({name: place for name, place in others.items() if name not in shown}))
    region = axes.text(0.02, 0.03, UNREACHABLE, transform=axes.transAxes, fontsize=SMALL)
    label_points(axes, shown | _apart(axes, weights, list(shown.values())), front, [region])
    return axes


def _checked(
    points: Sequence[WeightedDesign], mechanisms: Mapping[str, TabulatedMechanism], prior: Prior | None
) -> float:
    """Return the budget of all."""
    if not points:
        raise InputError("a trade-off figure needs at least one design, got none: see trade_off_curve")
    budgets = sorted({point.epsilon for point in points} | {mechanism.epsilon for mechanism in mechanisms.values()})
    if len(budgets) > 1:
        raise InputError(f"a trade-off figure needs one budget, got epsilon {budgets[0]:g} and {budgets[-1]:g}")
    for own in (point.mechanism.prior for point in points if prior is not None):
        if own is not None and not _same(own.weights, prior):
            raise InputError("the prior of a trade-off figure must be that of its designs, got another: leave it out")
    return budgets[0]


def _same(weights: np.ndarray, prior: Prior | None) -> bool:
    return (
        prior is not None
        and weights.shape == prior.weights.shape
        and bool(np.allclose(weights, prior.weights, rtol=0, atol=SAME_PRIOR))
    )


def _expected(mechanism: TabulatedMechanism, prior: Prior | None, name: str) -> float:
    """Return the expected variance under the prior, on the mechanism's own knots if these are fewer."""
    if prior is not None:
        whole = mechanism.knots.size == prior.knots.size
        return mechanism.expected_variance((prior if whole else prior.coarsened(mechanism.knots)).knot_prior)
    if mechanism.prior is None:
        raise InputError(f"an expected variance needs a prior, and {name} has none: give the figure prior=...")
    return mechanism.expected_variance(mechanism.prior)


def _scales(axes: Axes, places: np.ndarray) -> None:
    """Set both axes' limits around all places; logarithmic where they span too much."""
    for axis in (axes.xaxis, axes.yaxis):
        plain_numbers(axis)
    for which, values in zip("xy", places.T, strict=True):
        low, high = float(values.min()), float(values.max())
        if high / low > LINEAR_UP_TO:
            room = (high / low) ** ROOM
            log_axis(axes, "x" if which == "x" else "y", low / room, high * room)
        else:
            room = ROOM * (high - low) or ROOM * high
            (axes.set_xlim if which == "x" else axes.set_ylim)(low - room, high + room)


def _shade(axes: Axes, points: Sequence[WeightedDesign]) -> None:
    """Fill what the certificates rule out: (1 - w) expected + w worst < b for some design."""
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    expected = np.linspace(left, right, RESOLUTION)
    worst = np.max([(p.bound - (1 - p.objective.worst) * expected) / p.objective.worst for p in points], axis=0)
    axes.fill_between(expected, bottom, np.clip(worst, bottom, top), color=SHADE, linewidth=0, zorder=0.5)


def _hollow(name: str) -> dict[str, Any]:
    """Return the style of a marker through which one sees those below it."""
    return {**method_style(name), "linestyle": "", "markersize": 7, "markerfacecolor": "none", "markeredgewidth": 1.6}


def _note(others: Mapping[str, tuple[float, float]]) -> str:
    numbers = {name: [plain_number(float(f"{value:.4g}")) for value in place] for name, place in others.items()}
    named = [f"{literal(name)} ({expected};\N{NO-BREAK SPACE}{worst})" for name, (expected, worst) in numbers.items()]
    note = "w: weight of the worst case in the design."
    return f"{note} Outside the picture (expected; largest): {', '.join(named)}." if others else note


def _apart(
    axes: Axes, places: Mapping[str, tuple[float, float]], others: Sequence[tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return the places that are far enough from other points and from those after them; the last in any case."""
    to_axes = axes.transScale + axes.transLimits
    kept: dict[str, tuple[float, float]] = {}
    for name, place in reversed(list(places.items())):
        here = to_axes.transform(place)
        around = [*others, *kept.values()] if kept else []
        if all(np.abs(here - to_axes.transform(other)).max() > LEAST_APART for other in around):
            kept[name] = place
    return kept
