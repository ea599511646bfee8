"""The figures of a report's further objectives, with what they mean: sentences computed from the numbers."""

from __future__ import annotations

from dataclasses import replace

from ...estimators.plots.style import new_axes, whole_figure
from ...mechanisms import FAMILIES
from ..comparison.bounds_result import BoundsResult
from ..comparison.row import Row
from ..objectives.base import Objective
from .figures import NOTHING_SOLVED, SIZE, ReportFigure
from .narrow import fit
from .number_format import SAME, percent_above, percent_up, short, short_down, short_up
from .svg import Spot, inline_svg

TITLES = {"robust": "If the prior is wrong", "information": "What the reports tell of the distribution"}
"""Of the others the title is what is asked; a page may have a figure of the trade-off's front beside."""


def objective_figures(result: BoundsResult) -> list[ReportFigure]:
    """Return a figure for every further objective of a report, with the reason where it could not be drawn."""
    return [_drawn(result, objective) for objective in result.objectives]


def _drawn(result: BoundsResult, objective: Objective) -> ReportFigure:
    rows = result.by(objective)
    label = f"{objective.quantity('')} against epsilon"
    key = objective.key
    name, title = (key, TITLES[key]) if key in TITLES else (f"by-{key}", objective.label.capitalize())
    empty = ReportFigure(name, title, label, means=about_objective(result, objective))
    if not any(row.value is not None for row in rows):
        return replace(empty, missing=NOTHING_SOLVED)
    axes = result.plot(new_axes(*SIZE), objective=objective)
    shown = {row.method for row in rows if row.value is not None}
    fit(whole_figure(axes), bare=True)
    spots = [
        Spot(row.epsilon, row.value, row.method, tuple(_said(row, objective))) for row in rows if row.value is not None
    ]
    keys = tuple(name for name in (objective.key, *result.methods) if name in shown)
    return replace(empty, svg=inline_svg(axes, empty.name, label, spots), keys=keys)


def about_objective(result: BoundsResult, objective: Objective) -> tuple[str, ...]:
    """Say what is possible by an objective at the detailed budget, with its proof, and how near the known ones come."""
    rows = [row for row in result.by(objective) if row.epsilon == result.detail.epsilon]
    best, others = rows[0], {row.method: row for row in rows[1:] if row.value is not None}
    asked = f"What is asked: {objective.label}."
    if best.value is None:
        return (asked, f"The best at epsilon {best.epsilon:g} could not be found: {best.error}.")
    nothing, gap = ("more", "above") if objective.more_is_better else ("less", "below")
    said = [
        f"{asked} At epsilon {best.epsilon:g} the design for it has {short(best.value)}; {objective.nobody} "
        f"can have {nothing} than {_certain(best.bound, objective)}, {_percent(best.relative_gap)} {gap} that. "
        f"{objective.more()}".strip()
    ]
    forms = [row for name, row in others.items() if name in FAMILIES]
    if forms:
        first = (max if objective.more_is_better else min)(forms, key=lambda row: row.value or 0.0)
        text = f"The best closed form, {first.method}, is {_than(first)} the design"
        if (optimum := others.get("optimal")) is not None:
            text += f"; the optimum for the expected variance is {_than(optimum)} it"
        said.append(text + ".")
    return tuple(said)


def _percent(gap: float | None) -> str:
    return percent_up(gap or 0.0, 1 if (gap or 0.0) > SAME else 5)


def _certain(bound: float | None, objective: Objective) -> str:
    return short_up(bound) if objective.more_is_better else short_down(bound)


def _than(row: Row) -> str:
    return percent_above(row.ratio_to_optimal or 1.0)


def _said(row: Row, objective: Objective) -> list[str]:
    """Return what a row's spot says."""
    said = [f"{row.method}, epsilon {row.epsilon:g}", f"{objective.quantity('')}: {short(row.value)}"]
    if row.method == objective.key:
        said.append(f"certified: {objective.nobody} is better by more than {_percent(row.relative_gap)}")
    elif row.ratio_to_optimal is not None:
        said.append(f"{percent_above(row.ratio_to_optimal)} the design for it")
    return said
