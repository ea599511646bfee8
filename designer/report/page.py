"""The report on bounds as one page of HTML that asks the network for nothing.

The page is a function of the result, the names given with it and the installed versions: nothing in it is random, and
no clock is read.  What the user named is escaped by the template; the one script is the page's own, and a policy in the
page lets no other run and nothing be fetched.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

from ...mechanisms.table.provenance import installed_version
from ...solvers.certificate import relative_gap
from ..comparison.bounds_result import MINIMAX, BoundsResult, BudgetBounds
from ..comparison.row import Row
from .fronts.bounds import bounds_front, headline_budgets
from .number_format import percent_above, percent_up, short, with_units
from .rendering import rendered, require_report_tools

COLUMNS = ("ε", "method", "expected", "largest", "solved for", "lower bound", "gap", "over optimum", "log-ratio",
           "continuum gap", "status")  # fmt: skip

SOURCES = {
    "public": "public knowledge",
    "private-report": "estimated from private reports",
    "sensitive": "computed from the sensitive data",
}


def bounds_html(result: BoundsResult, *, column: str = "", command: str = "", n: int | None = None) -> str:
    """Return the report as a page: the decision first, then figures with their meaning, and every certificate.

    Parameters
    ----------
    result : BoundsResult
    column : str
        Name of the values, such as their column.
    command : str
        The command or call that made the report, to reproduce it. Default: the call in Python.
    n : int, optional
        How many people will report, for the errors on the first page. Default: 10,000.

    Returns
    -------
    page : str
        HTML that loads nothing from elsewhere.

    Raises
    ------
    InputError
        jinja2 or matplotlib is not installed.

    Example
    -------
    >>> from optldp.designer import Prior, bounds_html
    >>> from optldp.designer.comparison.bounds import bounds
    >>> prior = Prior.on_knots([-1, 0, 1], [1, 2, 1], source="public")
    >>> page = bounds_html(bounds(prior, [1.0, 2.0], methods=["duchi"]), column="temper")
    >>> page[:15], "What this means" in page
    ('<!doctype html>', True)
    """
    require_report_tools()
    from markupsafe import Markup

    from .figures import key_svg, prior_svg, report_figures
    from .objective_figures import objective_figures

    asked = [objective.key for objective in result.objectives]
    swatches = {name: key_svg(name) for name in (*result.methods, MINIMAX, *asked)}
    figures = [
        vars(figure) | {"svg": Markup(figure.svg), "series": swatch_keys(figure.name, figure.keys, swatches)}
        for figure in (*report_figures(result), *objective_figures(result))
    ]
    return rendered(
        "bounds.html.j2",
        script="page.js",
        title=f"The best that local privacy can do for {column}" if column else "The best that local privacy can do",
        front=bounds_front(result, column, n),
        units=result.prior.units,
        sensitive=result.prior.source == "sensitive",
        data=_data(result, column),
        prior_picture=Markup(prior_svg(result.prior)),
        headline=[_headline(budget, result) for budget in headline_budgets(result)],
        failures=result.failures,
        open=[f"{row.method} at ε = {row.epsilon:g}" for row in result.opened],
        coarse=_coarse(result),
        cases=len(result.rows),
        figures=figures,
        columns=COLUMNS,
        continuum=any(row.continuum_bound is not None for row in result.rows),
        rows=[_table_row(row) for row in result.rows],
        judged=[
            {"label": objective.label, "quantity": objective.quantity(result.prior.units),
             "rows": [_judged_row(row) for row in result.by(objective)]}
            for objective in result.objectives
        ],
        command=command or _python_call(result),
        making=_making(result),
    )  # fmt: skip


def swatch_keys(figure: str, names: Iterable[str], swatches: Mapping[str, str]) -> list[dict[str, str]]:
    """Return the keys of a figure; ids in their pictures start with its name, as no two on a page may be the same."""
    from markupsafe import Markup

    return [
        {"name": name, "swatch": Markup(swatches[name].replace(f"key-{name}", f"{figure}-key-{name}"))}
        for name in names
    ]


def _data(result: BoundsResult, column: str) -> list[tuple[str, str]]:
    prior = result.prior
    low, high = prior.domain
    spread = math.sqrt(max(prior.second_moment - prior.mean**2, 0.0))
    facts = [
        ("values", column),
        ("number", "" if prior.count is None else f"{prior.count:,}"),
        ("range", f"{short(low)} to {with_units(high, prior.units)}"),
        ("mean", with_units(prior.mean, prior.units)),
        ("standard deviation", with_units(spread, prior.units)),
        ("prior", SOURCES[prior.source]),
    ]
    return [(name, value) for name, value in facts if value]


def _headline(budget: BudgetBounds, result: BoundsResult) -> dict[str, Any]:
    best, worst, units = budget.row("optimal"), budget.minimax, result.prior.units
    rival = "none"
    if budget.closed_forms:
        rival = f"{budget.closed_forms[0].method}, {percent_above(budget.closed_forms[0].ratio_to_optimal or math.nan)}"
    return {
        "epsilon": f"{budget.epsilon:g}",
        "least": short(best.expected_variance) if best.solved else "failed",
        "spread": with_units(math.sqrt(best.expected_variance or 0.0), units) if best.solved else "failed",
        "rival": rival,
        "worst": short(worst.worst_case_variance) if worst.solved else "failed",
        "shown": budget.epsilon == result.detail.epsilon,
    }


def _table_row(row: Row) -> dict[str, Any]:
    bound, gap = row.bound, row.relative_gap
    if row.expected_bound is not None and row.expected_variance is not None:
        bound, gap = row.expected_bound, relative_gap(row.expected_variance, row.expected_bound)
    numbers = (
        (row.expected_variance, ".7g"),
        (row.worst_case_variance, ".7g"),
        (row.value, ".7g"),
        (bound, ".7g"),
        (gap, ".1e"),
        (row.ratio_to_optimal, ".4f"),
        (row.max_log_ratio, ".9g"),
        (row.continuum_gap, ".1e"),
    )
    status = f"failed: {row.error}" if row.error else row.status
    return {"method": row.method, "failed": not row.solved, "cells": cells(row.epsilon, row.method, numbers, status)}


def _coarse(result: BoundsResult) -> str:
    """Say where mechanisms that do not round to these knots could be visibly better; nothing if nowhere."""
    widest = result.coarsest
    if widest is None:
        return ""
    gap, epsilon = widest.continuum_gap, widest.epsilon
    return (
        f"The optimum is that of {result.prior.knots.size} knots. At epsilon {epsilon:g} a mechanism on the whole "
        f"interval could have up to {percent_up(gap or 0.0, 1)} less variance; the shaded regions of the expected "
        "variance allow for that. More knots come nearer."
    )


def _judged_row(row: Row) -> dict[str, Any]:
    numbers = ((row.value, ".7g"), (row.bound, ".7g"), (row.relative_gap, ".1e"), (row.ratio_to_optimal, ".4f"))
    status = f"{row.status}: {row.error}" if row.error else row.status
    told = cells(row.epsilon, row.method, numbers, status)
    return {"method": row.method, "failed": row.value is None, "cells": told}


def cells(
    epsilon: float, method: str, numbers: Iterable[tuple[float | None, str]], status: str
) -> list[dict[str, Any]]:
    """Return cells as text, with the number to sort by where there is one."""
    made = [{"text": f"{epsilon:g}", "key": epsilon}, {"text": method, "key": None}]
    made += [{"text": "" if value is None else format(value, how), "key": value} for value, how in numbers]
    return [*made, {"text": status, "key": None}]


def _python_call(result: BoundsResult) -> str:
    epsilons = ", ".join(f"{budget.epsilon!r}" for budget in result.budgets)
    return f"bounds(prior, [{epsilons}], uniform_share={result.uniform_share!r}, tolerance={result.tolerance!r})"


def _making(result: BoundsResult) -> list[tuple[str, str]]:
    prior = result.prior
    versions = [f"{name} {metadata.version(name)}" for name in ("numpy", "scipy", "highspy", "matplotlib")]
    return [
        ("knots", f"{prior.knots.size}; rounding to them adds a variance of {short(prior.rounding_variance)}"),
        (
            "uniform share",
            f"{result.uniform_share:g}, mixed in before solving; ratios, under the prior as given, can fall below one",
        ),
        ("tolerance", f"{result.tolerance:g}, the relative gap that was asked for"),
        ("methods", ", ".join(result.methods)),
        ("seed", "none"),
        ("versions", ", ".join([f"optldp {installed_version()}", *versions, f"Python {platform.python_version()}"])),
    ]
