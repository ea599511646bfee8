"""Pictures of answers, as options of Apache ECharts; each says in words, for screen readers, what it shows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...mechanisms.units import units_label
from ..priors.categorical import CategoricalPrior

if TYPE_CHECKING:
    from ...mechanisms.spaces.categories import Categories
    from ...mechanisms.table.table import TabulatedMechanism
    from ..designs.result import Design
    from ..priors.prior import Prior
    from .answers import Rivals
    from .trial import Shares, Trial

Options = dict[str, Any]


@dataclass(frozen=True)
class Ink:
    """Colours of a scheme, light or dark: text, lines between things, and what is shown in this order."""

    text: str
    line: str
    main: str
    other: str
    faint: str
    scale: tuple[str, str, str]


LIGHT = Ink("#24292f", "#d0d7de", "#1f5fbf", "#b35900", "#8da3bd", ("#f3f6fa", "#7fa8dc", "#123a7a"))
DARK = Ink("#e6edf3", "#3d444d", "#79b0ff", "#ffb066", "#6e7f93", ("#1b222b", "#3f72b5", "#cfe3ff"))

RANGES = 40
"""Equal ranges of reports in which chances are added up: outputs themselves differ in width."""

SHOWN_CELLS = 33, 45
"""Values and reports of the heat map at most: more cells take a slider's patience to draw."""

SHOWN_DIGITS = 5
"""Significant digits of a point; the pictures are small."""


def _short(values: np.ndarray) -> list[float]:
    return [float(f"{value:.{SHOWN_DIGITS}g}") for value in values]


def _spread(size: int, most: int) -> np.ndarray:
    """Return indices of at most so many out of `size`, the first and the last among them."""
    return np.unique(np.linspace(0, size - 1, min(size, most)).round().astype(int))


def _frame(ink: Ink, says: str, **more: Any) -> Options:
    return {
        "animation": False,
        "textStyle": {"color": ink.text},
        "grid": {"left": 8, "right": 24, "top": 28, "bottom": 30, "containLabel": True},
        "tooltip": {"trigger": "axis", "confine": True},
        "aria": {"enabled": True, "label": {"description": says}},
        **more,
    }


def _axis(ink: Ink, kind: str, name: str = "", **more: Any) -> Options:
    return {
        "type": kind, "name": name, "nameLocation": "middle", "nameGap": 26, "nameTextStyle": {"color": ink.text},
        "axisLabel": {"color": ink.text, "hideOverlap": True}, "axisLine": {"lineStyle": {"color": ink.line}},
        "splitLine": {"lineStyle": {"color": ink.line}}, **more,
    }  # fmt: skip


def _percents(ink: Ink) -> Options:
    return _axis(ink, "value", splitNumber=3, axisLabel={"color": ink.text, "formatter": "{value} %"})


def _labels(values: np.ndarray) -> list[str]:
    return [f"{value:.4g}" for value in values]


def _named(categories: Categories) -> list[str]:
    return [str(label) for label in categories.labels]


def histogram(prior: Prior | CategoricalPrior, ink: Ink) -> Options:
    """Return the shares of the values at the knots, or of the categories."""
    if isinstance(prior, CategoricalPrior):
        names, called = _named(prior.categories), "category"
        most = int(prior.weights.argmax())
        says = f"Shares of {len(names)} categories; the largest, {names[most]}, has {100 * prior.weights[most]:.3g} %."
    else:
        (low, high), names, called = prior.domain, _labels(prior.knots), units_label("value", prior.units)
        says = f"Shares of the values at {len(names)} knots from {low:g} to {high:g}; their mean is {prior.mean:.4g}."
    bars = {
        "type": "bar",
        "data": _short(100 * prior.weights),
        "barCategoryGap": "8%",
        "itemStyle": {"color": ink.main},
    }
    return _frame(
        ink, says, xAxis=_axis(ink, "category", called, data=names), yAxis=_percents(ink), series=[bars],
    )  # fmt: skip


def structure(made: Design, ink: Ink) -> Options:
    """Return how many times likelier each value makes each report than the value that makes it least likely does."""
    mechanism = made.mechanism
    table = mechanism.probabilities
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(table / table.min(axis=0, keepdims=True), nan=1.0, posinf=1.0)
    most = float(ratios.max())
    says = (
        f"A heat map of {table.shape[0]} values by {table.shape[1]} reports: each report is up to {most:.3g} times "
        "likelier for some values than for the rest, and which values these are changes with the report."
    )
    rows, columns = (_spread(size, most_shown) for size, most_shown in zip(table.shape, SHOWN_CELLS, strict=True))
    if isinstance(made.prior, CategoricalPrior):
        values, reports = _named(mechanism.categories), [f"{output}" for output in columns]
    else:
        values, reports = _labels(mechanism.knots), _labels(_middles(mechanism)[columns])
    cells = [
        [x, y, float(f"{ratios[value, output]:.3g}")]
        for y, value in enumerate(rows)
        for x, output in enumerate(columns)
    ]
    return _frame(
        ink, says, tooltip={"position": "top", "confine": True},
        grid={"left": 8, "right": 16, "top": 52, "bottom": 30, "containLabel": True},
        xAxis=_axis(ink, "category", "report", data=reports),
        yAxis=_axis(ink, "category", data=[values[row] for row in rows]),
        visualMap={
            "min": 1, "max": max(most, 1.01), "orient": "horizontal", "left": "center", "top": 0, "itemHeight": 160,
            "itemWidth": 12, "text": [f"{most:.3g} times as likely", "1"], "textStyle": {"color": ink.text},
            "inRange": {"color": list(ink.scale)}, "calculable": False,
        },
        series=[{"type": "heatmap", "data": cells, "name": "times as likely"}],
    )  # fmt: skip


def rivals(found: Rivals, ink: Ink, error: str) -> Options:
    """Return the error of every mechanism, the best on top, beside what none can be below."""
    rows = [(row.method, row.error) for row in found.rows if row.error is not None][::-1]
    best, least = rows[-1]
    says = (
        f"Errors of {len(rows)} mechanisms. The best is {best} with {least:.4g}; no mechanism on these "
        f"values has less than {found.bound:.4g}."
    )
    points = {
        "type": "scatter", "symbolSize": 11, "name": "error",
        "data": [
            {"value": [float(f"{error:.4g}"), method],
             "itemStyle": {"color": ink.main if method == "optimal" else ink.faint}}
            for method, error in rows
        ],
        "markLine": {
            "symbol": "none", "silent": True, "precision": 12,  # ECharts would draw .0156 at .02
            "lineStyle": {"color": ink.other, "width": 2},
            "label": {"formatter": "none can be below", "color": ink.other, "position": "end", "align": "left"},
            "data": [{"xAxis": found.bound}],
        },
    }  # fmt: skip
    return _frame(
        ink, says, tooltip={"trigger": "item", "confine": True},
        xAxis=_axis(
            ink, "log", error, min=float(f"{0.8 * found.bound:.2g}"), max=float(f"{1.25 * rows[0][1]:.2g}")
        ),
        yAxis=_axis(ink, "category", data=[method for method, _ in rows]), series=[points],
    )  # fmt: skip


def _middles(mechanism: TabulatedMechanism) -> np.ndarray:
    return (mechanism.low + mechanism.high) / 2


def reports_of(made: Design, value: float | str, ink: Ink) -> Options:
    """Return where the report of one value, or of one category, may fall."""
    mechanism = made.mechanism
    if isinstance(made.prior, CategoricalPrior):
        chances = mechanism.probabilities[mechanism.categories.codes([value])[0]]
        names = [f"{output}" for output in range(chances.size)]
        says = f"Chances of each of {chances.size} reports, of a person of the category {value}."
    else:
        chances, ends = np.histogram(_middles(mechanism), RANGES, weights=mechanism.pmf(value).reshape(-1))
        names = _labels((ends[:-1] + ends[1:]) / 2)
        says = f"Chances of a report in each of {RANGES} equal ranges, of a person whose value is {value:g}."
    bars = {"type": "bar", "data": _short(100 * chances), "barCategoryGap": "8%", "itemStyle": {"color": ink.main}}
    return _frame(
        ink, says, xAxis=_axis(ink, "category", "report", data=names), yAxis=_percents(ink), series=[bars],
    )  # fmt: skip


def convergence(found: Trial, ink: Ink) -> Options:
    """Return the estimate and its interval as more people report, and the truth."""
    says = (
        f"After {found.people[-1]:,} reports the estimate is {found.estimate[-1]:.4g}, its 95% interval from "
        f"{found.low[-1]:.4g} to {found.high[-1]:.4g}; the truth is {found.truth:.4g}."
    )

    def line(name: str, values: np.ndarray, **more: Any) -> Options:
        points = [[int(n), value] for n, value in zip(found.people, _short(values), strict=True)]
        return {"type": "line", "name": name, "data": points, "symbol": "none", **more}

    ends = {"lineStyle": {"color": ink.faint, "type": "dashed"}, "itemStyle": {"color": ink.faint}}
    truth = np.full(found.people.size, found.truth)
    # An interval without length, of reports that leave no doubt, still needs an axis.
    spread = max(abs(found.high[-1] - found.low[-1]) * 8, 1e-12)
    step = 10.0 ** math.floor(math.log10(spread))
    return _frame(
        ink, says, legend={"top": 0, "textStyle": {"color": ink.text}},
        xAxis=_axis(ink, "log", "people who reported", min=int(found.people[0]), max=int(found.people[-1])),
        yAxis=_axis(
            ink, "value", scale=True,
            min=step * math.floor(max(found.truth - spread, found.low.min()) / step),
            max=step * math.ceil(min(found.truth + spread, found.high.max()) / step),
        ),
        series=[
            line("estimate", found.estimate, lineStyle={"color": ink.main, "width": 2}, itemStyle={"color": ink.main}),
            line("95% interval", found.low, **ends),
            line("95% interval", found.high, **ends),
            line("truth", truth, lineStyle={"color": ink.other, "width": 2}, itemStyle={"color": ink.other}),
        ],
    )  # fmt: skip


def shares(found: Shares, ink: Ink, units: str) -> Options:
    """Return the shares of values below cuts, or of categories, with their intervals, and the truth."""
    if isinstance(found.of, tuple):
        return _of_categories(found, found.of, ink)
    says = (
        f"Shares of values below {found.of.size} cuts, after {found.people:,} reports: {found.inside} of the "
        "intervals hold the true share."
    )

    def line(name: str, values: np.ndarray, **style: Any) -> Options:
        points = [[float(f"{cut:.5g}"), value] for cut, value in zip(found.of, _short(100 * values), strict=True)]
        return {"type": "line", "name": name, "data": points, "symbol": "none", "lineStyle": style,
                "itemStyle": {"color": style["color"]}}  # fmt: skip

    ends = {"color": ink.faint, "type": "dashed"}
    return _frame(
        ink, says, legend={"top": 0, "textStyle": {"color": ink.text}},
        xAxis=_axis(ink, "value", units_label("values below", units), scale=True),
        yAxis=_percents(ink) | {"min": 0, "max": 100},
        series=[
            line("estimate", found.estimate, color=ink.main, width=2), line("95% interval", found.low, **ends),
            line("95% interval", found.high, **ends), line("truth", found.truth, color=ink.other, width=2),
        ],
    )  # fmt: skip


def _of_categories(found: Shares, names: tuple[str, ...], ink: Ink) -> Options:
    says = (
        f"Shares of {len(names)} categories, after {found.people:,} reports: {found.inside} of the intervals hold the "
        "true share."
    )
    ends = [_short(100 * each) for each in (found.low, found.estimate, found.high)]
    boxes = {
        "type": "boxplot", "name": "estimate and 95% interval", "boxWidth": [14, 30],
        "data": [[low, low, middle, high, high] for low, middle, high in zip(*ends, strict=True)],
        "itemStyle": {"color": "transparent", "borderColor": ink.main, "borderWidth": 2},
    }  # fmt: skip
    truth = {
        "type": "scatter", "name": "truth", "symbol": "diamond", "symbolSize": 11, "data": _short(100 * found.truth),
        "itemStyle": {"color": ink.other},
    }  # fmt: skip
    return _frame(
        ink, says, legend={"top": 0, "textStyle": {"color": ink.text}}, tooltip={"trigger": "item", "confine": True},
        xAxis=_axis(ink, "category", data=[str(name) for name in names]), yAxis=_percents(ink), series=[boxes, truth],
    )  # fmt: skip


def odds(beliefs: dict[str, float], ink: Ink) -> Options:
    """Return what is believed at most after one report, beside what was believed before; see `Answer.beliefs`."""
    before, after = [100 * float(name) for name in beliefs], [100 * most for most in beliefs.values()]
    pairs = "; ".join(f"{was:g} % becomes at most {now:.3g} %" for was, now in zip(before, after, strict=True))
    says = f"What somebody believes about one person, before and after one report: {pairs}."

    def bars(name: str, values: list[float], color: str) -> Options:
        label = {"show": True, "position": "top", "color": ink.text, "formatter": "{c} %"}
        data = [float(f"{value:.3g}") for value in values]
        return {"type": "bar", "name": name, "data": data, "itemStyle": {"color": color}, "label": label}

    names = ["unlikely", "possible", "even odds"]
    return _frame(
        ink, says, legend={"top": 0, "textStyle": {"color": ink.text}},
        grid={"left": 8, "right": 8, "top": 44, "bottom": 8, "containLabel": True},
        xAxis=_axis(ink, "category", data=names), yAxis=_percents(ink) | {"min": 0, "max": 100, "interval": 25},
        series=[bars("believed before", before, ink.faint), bars("at most after one report", after, ink.main)],
    )  # fmt: skip
