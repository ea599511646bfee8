"""The figures of a report on bounds, each with what it means and the spots to point at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ...estimators.plots.style import BLUE, empty_figure, method_style, new_axes, whole_figure
from ...mechanisms import TabulatedMechanism
from ...mechanisms.units import axis_label
from .. import plots
from ..comparison.bounds_result import MINIMAX, BoundsResult, BudgetDetail
from ..comparison.row import Row
from ..designs.result import Design
from ..plots.scales import plain_numbers
from ..priors.prior import Prior
from . import sentences
from .narrow import fit, literal
from .number_format import SAME, percent, percent_above, short
from .svg import Spot, inline_svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIZE = (4.2, 3.7)
"""Inches: scaled to a telephone's width of 390 pixels the type is still ten pixels and more high."""

KEY_SIZE = (0.55, 0.2)
"""Inches of a sample of a line."""

MOST_SPOTS = 17
"""Spots along a line that is drawn from more points than that."""

NOTHING_SOLVED = "no case could be solved; the certificates say why"

RIVALS_SHOWN = 2
"""Closed forms beside the optimum in the pictures of single mechanisms; more would hide each other."""


@dataclass(frozen=True)
class ReportFigure:
    """One figure of the report.

    Attributes
    ----------
    name : str
        Of letters and hyphens.
    title, label : str
        Above the figure; for those who cannot see it.
    svg : str
        Empty where it could not be drawn.
    missing : str
        Why not; empty where it was.
    keys : tuple of str
        The methods whose lines need a key below the figure.
    caption : str
        Below the figure; empty where the key says enough.
    means : tuple of str
        What it means, a paragraph each.
    """

    name: str
    title: str
    label: str
    svg: str = ""
    missing: str = ""
    keys: tuple[str, ...] = ()
    caption: str = ""
    means: tuple[str, ...] = ()


def report_figures(result: BoundsResult) -> list[ReportFigure]:
    """Return every figure of the report, those that could not be drawn with the reason.

    Raises
    ------
    InputError
        matplotlib is not installed.
    """
    at = f"at epsilon {result.detail.epsilon:g}"
    return [
        *(draw(result) for draw in (_variance, _ratio, _worst_case)),
        *(draw(result, at) for draw in (_values, _trade_off, _hardest, _mechanism)),
    ]


def _variance(result: BoundsResult) -> ReportFigure:
    rows = [row for budget in result.budgets for row in budget.rows]
    empty = ReportFigure(
        "variance", "The least variance that is possible", "Expected variance of one report against epsilon"
    )
    if not any(row.solved for row in rows):
        return replace(empty, missing=NOTHING_SOLVED)
    axes = _narrow(result).plot(_axes())
    spots = [spot for row in rows for spot in _row_spot(row, row.expected_variance)]
    return _filled(empty, axes, spots, keys=result.methods, means=sentences.about_variance(result))


def _ratio(result: BoundsResult) -> ReportFigure:
    rows = [row for budget in result.budgets for row in budget.rows]
    empty = ReportFigure(
        "ratio", "How far each mechanism is from it", "Expected variance over that of the optimum, against epsilon"
    )
    if not any(row.solved for row in rows):
        return replace(empty, missing=NOTHING_SOLVED)
    axes = _narrow(result).plot(_axes(), relative=True)
    spots = [spot for row in rows for spot in _row_spot(row, row.ratio_to_optimal)]
    return _filled(empty, axes, spots, keys=result.methods, means=sentences.about_ratio(result))


def _worst_case(result: BoundsResult) -> ReportFigure:
    rows = result.rows
    empty = ReportFigure(
        "worst", "The least worst case that is possible", "Largest variance of one report against epsilon"
    )
    if not any(row.solved for row in rows):
        return replace(empty, missing=NOTHING_SOLVED)
    axes = _narrow(result).plot(_axes(), worst_case=True)
    spots = [spot for row in rows for spot in _row_spot(row, row.worst_case_variance)]
    keys = (*result.methods, MINIMAX)
    return _filled(empty, axes, spots, keys=keys, means=sentences.about_worst_case(result))


def _values(result: BoundsResult, at: str) -> ReportFigure:
    empty = ReportFigure("values", f"Who pays, {at}", f"Variance of one report against the value that it is of, {at}")
    if missing := _no_optimum(result.detail):
        return replace(empty, missing=missing)
    mechanisms = shown(result.detail)
    drawn = {name: _literal_units(table) for name, table in mechanisms.items()}
    axes = plots.by_value(drawn, _axes(), prior=_literal_prior(result))
    spots = _value_spots(mechanisms, result.prior.units)
    return _filled(
        empty, axes, spots, keys=tuple(mechanisms), caption="Below, in grey: the prior.",
        means=sentences.about_values(result),
    )  # fmt: skip


def _trade_off(result: BoundsResult, at: str) -> ReportFigure:
    empty = ReportFigure("trade-off", f"What the worst case costs, {at}", f"Expected against largest variance, {at}")
    if missing := _no_front(result.detail):
        return replace(empty, missing=missing)
    axes = plots.trade_off(_literal_front(result.detail), _axes(), mechanisms=result.detail.mechanisms)
    return _filled(
        empty, axes, _trade_off_spots(result.detail), means=sentences.about_trade_off(result)
    )  # fmt: skip


def _hardest(result: BoundsResult, at: str) -> ReportFigure:
    empty = ReportFigure(
        "least-favourable", f"The data that are hardest to protect, {at}", f"Least favourable prior, {at}"
    )
    if missing := _no_front(result.detail):
        return replace(empty, missing=missing)
    axes = plots.least_favourable(_literal_front(result.detail)[-1], _axes(), prior=_literal_prior(result))
    caption = (
        "Above: the variance of the minimax design at each value, and dashed the certified bound that no unbiased "
        "mechanism's largest variance gets below. Below: the least favourable prior as bars, the prior of the data "
        "as dots."
    )
    return _filled(
        empty, axes.figure.axes[-1], _prior_spots(result.detail), caption=caption,
        means=sentences.about_least_favourable(result),
    )  # fmt: skip


def _mechanism(result: BoundsResult, at: str) -> ReportFigure:
    empty = ReportFigure(
        "mechanism", f"The optimal mechanism, {at}", f"Probability of every report at every value, {at}"
    )
    if missing := _no_optimum(result.detail):
        return replace(empty, missing=missing)
    axes = plots.heat_map(_literal_units(result.detail.mechanisms["optimal"]), _axes())
    return _filled(empty, axes, (), means=sentences.about_mechanism(result))


def _axes() -> Axes:
    """Return the axes of an empty figure of the page's size."""
    return new_axes(*SIZE)


def _filled(empty: ReportFigure, axes: Axes, spots: Sequence[Spot], **texts: Any) -> ReportFigure:
    """Return the figure of axes with its SVG, fitted to the page, and spots on these axes."""
    fit(whole_figure(axes), bare=bool(texts.get("keys") or texts.get("caption")))
    return replace(empty, svg=inline_svg(axes, empty.name, empty.label, spots), **texts)


def _no_optimum(detail: BudgetDetail) -> str:
    return detail.failures.get("optimal", "")


def _no_front(detail: BudgetDetail) -> str:
    return "; ".join(f"{what}: {why}" for what, why in detail.failures.items() if what.startswith("trade-off"))


def prior_svg(prior: Prior) -> str:
    """Return a picture of the prior: the share of every knot."""
    axes = new_axes(SIZE[0], 0.6 * SIZE[1])
    width = float(np.diff(prior.knots).min())
    axes.bar(prior.knots, prior.weights, width=width, color=BLUE, linewidth=0)
    axes.set_xlabel(axis_label("value", prior.units))
    axes.set_ylabel("share at a knot")
    axes.locator_params(axis="x", nbins=4)  # the picture is small: large numbers would touch each other
    plain_numbers(axes.xaxis)
    spots = [
        Spot(x, w, "prior", (f"value {short(x)}", f"share {percent(w, 2)}"))
        for x, w in zip(prior.knots.tolist(), prior.weights.tolist(), strict=True)
        if w > 0
    ]
    return inline_svg(axes, "prior", "Share of the values at every knot", spots)


def key_svg(name: str) -> str:
    """Return a picture of a method's line, for the key.

    Example
    -------
    >>> key_svg("aaa")[:4]
    '<svg'
    """
    figure = empty_figure(*KEY_SIZE)
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.plot([0.0, 0.5, 1.0], [0.5, 0.5, 0.5], clip_on=False, **{**method_style(name), "markevery": [1]})
    axes.set_xlim(-0.05, 1.05)
    axes.set_ylim(0, 1)
    return inline_svg(axes, f"key-{name}", "")


def shown(detail: BudgetDetail) -> dict[str, TabulatedMechanism]:
    """Return the mechanisms that pictures of single mechanisms show: optimum, minimax and the best closed forms."""
    prior = detail.mechanisms["optimal"].prior if "optimal" in detail.mechanisms else None
    rivals = [name for name in detail.mechanisms if name not in ("optimal", "aaa")]
    if prior is not None:
        rivals.sort(key=lambda name: detail.mechanisms[name].expected_variance(prior))
    chosen = {
        name: detail.mechanisms[name] for name in ("optimal", *rivals[:RIVALS_SHOWN]) if name in detail.mechanisms
    }
    if detail.minimax is not None:
        chosen[MINIMAX] = detail.minimax.mechanism
    return chosen


def _literal_units(mechanism: TabulatedMechanism) -> TabulatedMechanism:
    return mechanism.with_units(literal(mechanism.units))


def _literal_prior(result: BoundsResult) -> Prior:
    return replace(result.prior, units=literal(result.prior.units))


def _narrow(result: BoundsResult) -> BoundsResult:
    return replace(result, prior=_literal_prior(result))


def _literal_front(detail: BudgetDetail) -> list[Design]:
    return [replace(point, mechanism=_literal_units(point.mechanism)) for point in detail.trade_off]


def _row_spot(row: Row, height: float | None) -> list[Spot]:
    return [] if height is None else [Spot(row.epsilon, height, row.method, tuple(_said(row)))]


def _said(row: Row) -> list[str]:
    """Return what a row's spot says."""
    said = [f"{row.method}, epsilon {row.epsilon:g}", f"expected variance {short(row.expected_variance)}"]
    said.append(f"largest variance {short(row.worst_case_variance)}")
    if row.ratio_to_optimal is not None and row.method != "optimal":
        said.append(f"{percent_above(row.ratio_to_optimal)} the optimum's expected variance")
    if row.relative_gap is not None:
        digits = 1 if row.relative_gap > SAME else 5
        what = "largest variance" if row.method == MINIMAX else "expected variance"
        said.append(f"certified: any other {what} is at most {percent(row.relative_gap, digits)} lower")
    return said


def _value_spots(mechanisms: Mapping[str, TabulatedMechanism], units: str) -> list[Spot]:
    spots = []
    for name, mechanism in mechanisms.items():
        step = max(1, (mechanism.knots.size - 1) // (MOST_SPOTS - 1))
        for x, v in zip(mechanism.knots[::step].tolist(), mechanism.knot_variances[::step].tolist(), strict=True):
            said = (name, f"value {short(x)} {units}".rstrip(), f"variance {short(v)}")
            spots.append(Spot(x, v, name, said))
    return spots


def _trade_off_spots(detail: BudgetDetail) -> list[Spot]:
    places = [
        (
            point.expected_variance,
            point.worst_case_variance,
            "trade-off",
            f"worst case weighs {point.objective.worst:g}",
        )
        for point in detail.trade_off
    ]
    for name, table in detail.mechanisms.items():
        if table.prior is not None:
            places.append((table.expected_variance(table.prior), table.worst_case_variance()[0], name, name))
    return [
        Spot(x, y, series, (said, f"expected variance {short(x)}", f"largest variance {short(y)}"))
        for x, y, series, said in places
        if x is not None
    ]


def _prior_spots(detail: BudgetDetail) -> list[Spot]:
    worst = detail.minimax
    if worst is None:
        return []
    return [
        Spot(x, w, "least favourable", (f"value {short(x)}", f"least favourable share {percent(w, 2)}"))
        for x, w in zip(worst.mechanism.knots.tolist(), worst.evidence.least_favourable.tolist(), strict=True)
    ]
