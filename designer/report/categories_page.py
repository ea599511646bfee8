"""The report on bounds for categories as one page of HTML, with the look, script and policy of that for numbers."""

from __future__ import annotations

import math

from ...estimators.plots.style import BLUE, new_axes, whole_figure
from ..comparison.bounds_categories import CategoryBounds
from ..comparison.row import Row
from ..priors.categorical import CategoricalPrior
from .figures import SIZE, key_svg
from .narrow import fit, literal
from .number_format import percent, percent_above, percent_up, short, short_down
from .page import cells, swatch_keys
from .rendering import rendered, require_report_tools
from .svg import Spot, inline_svg

MOST_BARS = 20
"""Categories in the picture of the shares."""

COLUMNS = ("ε", "method", "value", "lower bound", "gap", "over optimum", "one report, times n", "status")

NAME = "frequencies"


def category_bounds_html(
    result: CategoryBounds, *, column: str = "", command: str = "", n: int | None = None, public: bool = False
) -> str:
    """Return the report as a page: the figure with what it means, and every number with its certificate.

    Parameters
    ----------
    result : CategoryBounds
    column : str
        What the categories are, such as the name of their column.
    command : str
        What made the report.
    n : int, optional
        Users who will report, for the errors of their frequencies.
    public : bool
        Whether the shares are public knowledge.

    Raises
    ------
    InputError
        jinja2 or matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import CategoricalPrior
    >>> from optldp.designer.comparison.bounds_categories import bounds_categories
    >>> page = category_bounds_html(bounds_categories(CategoricalPrior("ab", [3, 1]), [1.0]), column="answer", n=1000)
    >>> page[:15], "What this means" in page, "1,000 people" in page
    ('<!doctype html>', True, True)
    """
    require_report_tools()
    from markupsafe import Markup

    methods = tuple(dict.fromkeys(row.method for row in result.rows))
    size = len(result.prior.categories)
    return rendered(
        "categories.html.j2",
        script="page.js",
        title=f"The best that local privacy can do for {column}" if column else "The best that local privacy can do",
        sensitive=not public,
        data=[*([("categories of", column)] if column else []), ("categories", f"{size:,}")],
        shares=Markup(_shares_svg(result.prior)),
        n="" if n is None else f"{n:,}",
        headline=[_headline(result, epsilon, n) for epsilon in result.epsilons],
        open=[f"ε = {row.epsilon:g}" for row in result.opened],
        figure=Markup(_figure_svg(result)),
        keys=swatch_keys(NAME, methods, {name: key_svg(name) for name in methods}),
        means=_means(result),
        columns=COLUMNS,
        rows=[_table_row(row) for row in result.rows],
        command=command or f"bounds_categories(prior, {list(result.epsilons)})",
    )


def frequency_error(row: Row, size: int, n: int | None) -> float:
    """Return the root of the mean squared error of one of so many frequencies, times the root of n if that is None.

    Example
    -------
    >>> frequency_error(Row(epsilon=1.0, method="grr", value=8.0), 2, 100)
    0.2
    """
    return math.sqrt((row.value or 0.0) / size / (n or 1))


def _headline(result: CategoryBounds, epsilon: float, n: int | None) -> dict[str, str]:
    best, (rival, *_) = result.at(epsilon)
    error = frequency_error(best, len(result.prior.categories), n)
    return {
        "epsilon": f"{epsilon:g}",
        "rival": f"{rival.method}, {percent_above(rival.ratio_to_optimal or math.nan)}",
        "error": short(error) if n is None else percent(error, 2),
    }


def _means(result: CategoryBounds) -> list[str]:
    """What is possible at the budget nearest to one, with its proof, and how near the known oracles come."""
    epsilon = min(result.epsilons, key=lambda e: abs(math.log(e)))
    best, others = result.at(epsilon)
    first, last = others[0], others[-1]
    return [
        f"At epsilon {epsilon:g} the design for these shares has {short(best.value)}; no mechanism for these "
        f"categories can have less than {short_down(best.bound)}, {percent_up(best.relative_gap or 0.0, 2)} below it.",
        f"Of those that need no prior {first.method} errs least: it is {percent_above(first.ratio_to_optimal or 1.0)} "
        f"the optimum, {last.method} {percent_above(last.ratio_to_optimal or 1.0)} it. A ratio is also what the same "
        "accuracy costs in people.",
    ]


def _figure_svg(result: CategoryBounds) -> str:
    axes = result.plot(new_axes(*SIZE))
    fit(whole_figure(axes), bare=True)
    spots = [
        Spot(row.epsilon, row.value or 0.0, row.method,
             (f"{row.method}, epsilon {row.epsilon:g}", f"squared error times n: {short(row.value)}",
              f"{percent_above(row.ratio_to_optimal or 1.0)} the optimum"))
        for row in result.rows
    ]  # fmt: skip
    return inline_svg(axes, NAME, "Squared error of all frequencies against epsilon", spots)


def _shares_svg(prior: CategoricalPrior) -> str:
    """Return a picture of the largest shares, the largest on top."""
    axes = new_axes(SIZE[0], SIZE[1])
    shown = sorted(zip(prior.weights.tolist(), prior.categories.labels, strict=True), key=lambda pair: -pair[0])
    shown = shown[:MOST_BARS][::-1]
    axes.barh([f"{place}" for place in range(len(shown))], [share for share, _ in shown], color=BLUE, linewidth=0)
    axes.set_yticks(range(len(shown)), [literal(str(label)) for _, label in shown])
    left = len(prior.categories) - len(shown)
    axes.set_xlabel(f"share of the {len(shown)} largest, {left} more are not shown" if left else "share")
    spots = [
        Spot(share, place, "prior", (str(label), f"share {percent(share, 2)}"))
        for place, (share, label) in enumerate(shown)
    ]
    return inline_svg(axes, "shares", "Share of every category", spots)


def _table_row(row: Row) -> dict[str, object]:
    numbers = (
        (row.value, ".7g"),
        (row.bound, ".7g"),
        (row.relative_gap, ".1e"),
        (row.ratio_to_optimal, ".4f"),
        (row.one_report_times_n, ".7g"),
    )
    return {"method": row.method, "cells": cells(row.epsilon, row.method, numbers, row.status)}
