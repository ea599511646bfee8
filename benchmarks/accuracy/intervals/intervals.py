"""Which 95% intervals hold the truth, by shape, budget and method: distributions of seven synthetic shapes and nine
real columns, from 20,000 reports of the square wave at budgets 0.5, 1 and 2, 256 cells. The truth is the population
that users are drawn from with replacement. "smooth" is the library's default for distributions, "linear mean" its
default for means.

Intervals are of the mean, of the variance, of three quantiles (5, 50 and 95%), of the shares of three ranges, and of
the distribution function at its quantiles of 5, 10, 25, 50, 75, 90 and 95%; and then of all cells and of the equal
ranges that reports can tell apart, one by one and at once. They are of the reports, not of a fit: those of "smooth" and
of "em" differ by where the likelihood is expanded, and in that an interval holds its estimate. Both see the same
reports; "em", which takes less than half the time, sees more of them. How intervals are made was settled on two sets,
"one mode" and "Adult hours"; all others were looked at once. "ems" prints no interval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import InputGrid, ReportCounts, estimate_distribution, estimate_mean
from optldp.estimators.distributions.metrics import wasserstein_1
from optldp.estimators.intervals import each_of
from optldp.estimators.methods import DistributionMethod
from optldp.mechanisms import square_wave

from ..coverage import LEAST, found_if_below, percent, surely_below
from ..full_tables import Row, chosen, error, geometric, number
from ..repetitions import Errors, Summary, repeat
from ..shapes import CELLS, COLUMNS, SHAPES, USERS, population

TITLE = "Intervals of distributions: shapes, budgets, methods"
METHODS: tuple[DistributionMethod, ...] = ("smooth", "em")
BUDGETS = (0.5, 1.0, 2.0)
BELOW = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
RANGES = ((0.1, 0.3), (0.25, 0.5), (0.4, 0.8))
QUANTILES = (0.05, 0.5, 0.95)
SEEN = ("one mode", "Adult hours")
SMOOTH_IN, MANY_IN, LINEAR = 8, 12, 100
"""One repetition in so many is made of "smooth" too, and, of "em", of all cells and ranges; so many of linear means."""

ENOUGH = 10
LINEAR_MEAN = "linear mean"
USUAL = ("mean", "variance", "quantiles", "shares", "function")
MANY = ("cells", "ranges", "cells at once", "ranges at once")
ONE_BY_ONE = ("quantiles", "shares", "function")
"""Kinds of which a repetition has several intervals; of the others it has one, which holds or not."""


def rows(data: Path, repetitions: int, workers: int, kept: Path | None = None) -> list[Row]:
    """Return a row for each method, set and budget, and what "smooth" has more than "em" on the same reports."""
    names, fewer = (*SHAPES, *COLUMNS), repetitions // SMOOTH_IN
    places = [(name, epsilon) for name in names for epsilon in BUDGETS]
    cases = {method: [(data, *place, method) for place in places] for method in METHODS}
    found = {"em": repeat(usual, cases["em"], repetitions, workers, kept)}
    found["smooth"] = repeat(usual, cases["smooth"], fewer, workers, kept)
    beside = repeat(many, cases["em"], repetitions // MANY_IN, workers, kept)
    plain = repeat(linear, [(data, *place) for place in places], LINEAR, workers, kept)
    made = [_row("linear", *place, LINEAR, one) for place, one in zip(places, plain, strict=True)]
    for method in METHODS:
        for which, (place, one) in enumerate(zip(places, found[method], strict=True)):
            row = _row(method, *place, fewer if method == "smooth" else repetitions, one)
            if method == "em":
                row |= {what: beside[which].show(what) for what in beside[which].values}
            else:
                pairs = {what: one.values[what] - found["em"][which].values[what][:fewer] for what in USUAL}
                row |= {f"{what} beyond em": f"{more.mean():.4f}" for what, more in pairs.items()}
            made.append(row)
    return made


def _row(method: str, name: str, epsilon: float, repetitions: int, found: Summary) -> Row:
    row = {"method": method, "data": name, "epsilon": f"{epsilon:g}", "repetitions": f"{repetitions}"}
    return row | {what: found.show(what) for what in found.values}


def page(found: list[Row]) -> str:
    """Return the verdict, coverage of sets together, and errors and coverage set by set."""
    parts = [_verdict(found), "Percent of 95% intervals that hold the truth, sets together:", _together(found)]
    more = [percent([number(row[f"{what} beyond em"]) for row in chosen(found, method="smooth")]) for what in USUAL]
    parts.append(
        "Standard errors are of the scatter over sets and budgets. On the same reports intervals of smooth hold more "
        "often than those of em by, in percentage points, "
        + ", ".join(f"{what} {shown}" for what, shown in zip(USUAL, more, strict=True))
        + "."
    )
    several = chosen(found, method="em")
    counts = [number(row["number of ranges"]) for row in several]
    shown = {what: f"{percent(_shares(several, what))}%" for what in MANY}
    parts += [
        f"Of em: {', '.join(f'{what} {share}' for what, share in shown.items())}. Reports tell {min(counts):.0f} to "
        f"{max(counts):.0f} ranges apart.",
        "Set by set: 1000 x Wasserstein-1 of smooth / em in shares of the domain, and the percentages, all but the "
        "first of em; those of smooth are in the CSV.",
        _set_by_set(found),
    ]
    return "\n\n".join(parts)


def _verdict(found: list[Row]) -> str:
    """Which cells of enough repetitions are below 92%, and what would have been seen."""
    often = {method: int(chosen(found, method=method)[0]["repetitions"]) for method in ("linear", *METHODS)}
    judged = [row for row in found if often[row["method"]] >= ENOUGH]
    cells = [(row, what) for row in judged for what in (LINEAR_MEAN, *USUAL) if row.get(what)]
    bad = [(row, what) for row, what in cells if _below(row, what, len(cells))]
    lowest = min(cells, key=lambda one: number(one[0][one[1]]))
    together = _all_sets(found)
    least = min(together, key=lambda one: number(one[1]))
    under = sum(number(shown) + 2 * error(shown) < 100 * LEAST for _, shown in together)
    named = "; ".join(f"{_named(*one)} {one[0][one[1]]}" for one in bad)
    seen = ", ".join(
        f"{found_if_below(times, len(cells)):.0%} ({method})" for method, times in often.items() if times >= ENOUGH
    )
    said = f"**{len(bad)} of {len(cells)} cells cover less than {LEAST:.0%} beyond two standard errors**"
    return "\n\n".join(
        [
            f"{said}{f' ({named})' if bad else ''}, corrected for so many looks (Bonferroni). Intervals of which a "
            "repetition has one are judged by the binomial law, averages of several by Student's t. The lowest cell is "
            f"{_named(*lowest)}: {lowest[0][lowest[1]]}. Of {len(together)} kinds, methods and budgets, all sets "
            f"together, {under} are below {LEAST:.0%} by two standard errors; the lowest is {least[0]}: {least[1]}%.",
            f"Repetitions: {often['linear']} of linear means, {often['em']} of em, {often['smooth']} of smooth, "
            f"{often['em'] // MANY_IN} of all cells and ranges. Cells of fewer than {ENOUGH} are not judged one by "
            "one: smooth is judged by all sets together, and by how little it differs from em on the same reports. "
            f"What so few can show: of a single cell of the mean a true coverage of {seen} or less is found with a "
            "chance of 80%. A smaller fault of one set can hide, one that all sets share is in the next table.",
        ]
    )


def _all_sets(found: list[Row]) -> list[tuple[str, str]]:
    """Each kind of interval of a method at a budget, and the percentage of all sets together."""
    made = list[tuple[str, str]]()
    for method, kinds in (("linear", (LINEAR_MEAN,)), *((method, USUAL) for method in METHODS)):
        for group, some in _groups(chosen(found, method=method))[-len(BUDGETS) :]:
            made += [(f"{what}, {group}, {method}", percent(_shares(some, what))) for what in kinds]
    return made


def _below(row: Row, what: str, looks: int) -> bool:
    mean, scatter, often = number(row[what]), error(row[what]), int(row["repetitions"])
    return surely_below(mean, scatter, often, looks, yes_or_no=what not in ONE_BY_ONE)


def _named(row: Row, what: str) -> str:
    return f"{what}, {row['data']} at {row['epsilon']}, {row['method']}"


def _groups(found: list[Row]) -> list[tuple[str, list[Row]]]:
    unseen = [row for row in found if row["data"] not in SEEN]
    by_kind = [("synthetic", SHAPES), ("real", COLUMNS)]
    groups = [(label, [row for row in unseen if row["data"] in names]) for label, names in by_kind]
    groups.append(("the two that chose", [row for row in found if row["data"] in SEEN]))
    return groups + [(f"all at {epsilon:g}", chosen(found, epsilon=f"{epsilon:g}")) for epsilon in BUDGETS]


def _shares(found: list[Row], what: str) -> list[float]:
    return [number(row[what]) for row in found]


def _together(found: list[Row]) -> str:
    lines, plain = [], _groups(chosen(found, method="linear"))
    for method in METHODS:
        for (group, rows), (_, beside) in zip(_groups(chosen(found, method=method)), plain, strict=True):
            pairs = zip(rows, beside, strict=True)
            lengths = geometric(number(row["long mean"]) / number(one["long linear mean"]) for row, one in pairs)
            own = percent(_shares(beside, LINEAR_MEAN)) if method == METHODS[0] else ""
            shown = (percent(_shares(rows, what)) for what in USUAL)
            lines.append((method, group, own, *shown, f"{lengths:.2f}"))
    return table(("method", "sets", LINEAR_MEAN, *USUAL, "length, mean / linear mean"), lines)


def _set_by_set(found: list[Row]) -> str:
    lines = []
    by_method = (chosen(found, method=method) for method in ("linear", *METHODS))
    for plain, one, other in zip(*by_method, strict=True):
        distance = f"{_plain(one['error W1'])} / {_plain(other['error W1'])}"
        shown = (_compact(other[what]) for what in USUAL)
        lines.append((one["data"], one["epsilon"], distance, _compact(plain[LINEAR_MEAN]), *shown))
    return table(("data", "epsilon", "W1", LINEAR_MEAN, *USUAL), lines)


def _compact(shown: str) -> str:
    return f"{100 * number(shown):.0f}±{100 * error(shown):.0f}"


def _plain(shown: str) -> str:
    return f"{number(shown):.3g}±{error(shown):.2g}"


def _collected(
    data: Path, name: str, epsilon: float, rng: np.random.Generator
) -> tuple[np.ndarray, InputGrid, ReportCounts]:
    """The population, its cells, and reports, which are the same for all methods."""
    values, low, high = population(data, name)
    grid = InputGrid.equal_cells(low, high, CELLS)
    mechanism = square_wave(grid.edges, epsilon)
    return values, grid, ReportCounts.from_reports(mechanism, mechanism.sample(rng.choice(values, USERS), rng))


def _right(low: np.ndarray, high: np.ndarray, true: np.ndarray) -> np.ndarray:
    return (low - 1e-9 <= true) & (true <= high + 1e-9)


def linear(data: Path, name: str, epsilon: float, rng: np.random.Generator) -> Errors:
    """Return error, coverage and length of what is printed where nothing but the reports is given."""
    values, grid, counts = _collected(data, name, epsilon, rng)
    estimate, width = estimate_mean(counts), float(np.ptp(grid.edges))
    mean = estimate.interval()
    return {
        "linear mean": float(mean.low <= values.mean() <= mean.high),
        "error linear mean": 1000 * abs(estimate.value - values.mean()) / width,
        "long linear mean": 100 * (mean.high - mean.low) / width,
    }


def usual(data: Path, name: str, epsilon: float, method: DistributionMethod, rng: np.random.Generator) -> Errors:
    """Return errors, which intervals of what is asked for by a number or two hold the truth, and their lengths.

    `probability` one by one says what `shares` of all of them at once does.
    """
    values, grid, counts = _collected(data, name, epsilon, rng)
    estimate = estimate_distribution(counts, method=method, grid=grid)
    edges, explained = grid.edges, estimate.explained
    assert explained is not None
    truth = np.histogram(values, edges)[0] / values.size
    width, rising = float(np.ptp(edges)), np.concatenate([[0.0], np.cumsum(truth)])
    inner = np.unique(np.clip(np.searchsorted(rising, BELOW), 1, edges.size - 2))
    starts = np.array([0] * inner.size + [round(a * truth.size) for a, _ in RANGES])
    stops = np.array([*inner, *(round(b * truth.size) for _, b in RANGES)])
    low, high = explained.shares(edges[starts], edges[stops], 0.95)
    held = _right(low, high, rising[stops] - rising[starts])
    mean, spread = estimate.mean().interval(), estimate.variance().interval()
    quantiles = {share: estimate.quantile(share).interval() for share in QUANTILES}
    reached = []
    for share, one in quantiles.items():  # any value within the cell where the function reaches the share
        k = int(np.searchsorted(rising, share))
        reached.append(one.low <= edges[k] and edges[k - 1] <= one.high)
    return {
        "mean": float(mean.low <= values.mean() <= mean.high),
        "variance": float(spread.low <= values.var() <= spread.high),
        "quantiles": float(np.mean(reached)),
        "shares": float(held[inner.size :].mean()),
        "function": float(held[: inner.size].mean()),
        "error mean": 1000 * abs(estimate.mean().value - values.mean()) / width,
        "error W1": 1000 * wasserstein_1(estimate.grid.points, estimate.value, truth) / width,
        "long mean": 100 * (mean.high - mean.low) / width,
        "long median": 100 * (quantiles[0.5].high - quantiles[0.5].low) / width,
        "long function": 100 * float((high - low)[: inner.size].mean()),
    }


def many(data: Path, name: str, epsilon: float, method: DistributionMethod, rng: np.random.Generator) -> Errors:
    """Return which intervals of all cells and of all ranges hold the truth, one by one and at once."""
    values, grid, counts = _collected(data, name, epsilon, rng)
    estimate = estimate_distribution(counts, method=method, grid=grid)
    found: Errors = {}
    truth = np.histogram(values, estimate.grid.edges)[0] / values.size
    for shown, confidence in (("cells", 0.95), ("cells at once", each_of(0.95, truth.size))):
        cells = estimate.interval(confidence)
        held = _right(cells.low, cells.high, truth)
        found[shown] = float(held.mean() if shown == "cells" else held.all())
    for shown, at_once in (("ranges", False), ("ranges at once", True)):
        ranges = estimate.ranges(simultaneous=at_once)
        shares = np.histogram(values, ranges.edges)[0] / values.size
        held = _right(ranges.interval.low, ranges.interval.high, shares)
        found[shown] = float(held.all() if at_once else held.mean())
        found[f"number of {shown}"] = float(shares.size)
        found[f"long {shown}"] = 100 * float((ranges.interval.high - ranges.interval.low).mean())
    return found
