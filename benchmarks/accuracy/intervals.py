"""Intervals of distributions of seven synthetic shapes and nine real columns, from 20,000 reports of the square wave at
budgets 0.5, 1 and 2, 256 cells: the share of 95% intervals that hold the truth, and how long they are. The truth is the
population that users are drawn from with replacement. Intervals are of the distribution function at its quantiles of 5,
10, 25, 50, 75, 90 and 95%, of the shares of three ranges, of the mean, of the variance, of three quantiles (5, 50 and
95%), of all cells, and of the equal ranges that reports can tell apart (`ranges`). All at once: how often none of the
simultaneous intervals of all cells, or of all ranges, is wrong.

Intervals are of the reports, not of a fit: those of "smooth", the default, and of "em" differ by where the likelihood
is expanded, and in that an interval holds its estimate. So "em", which takes a thirtieth of the time, is repeated as
often as is asked for, and "smooth" at budget 1 one time in eight. How intervals are made was settled on two sets, "one
mode" and "Adult hours"; all others were looked at once. Standard errors of coverages of all sets together are of their
scatter over sets and budgets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.estimators import DistributionEstimate, InputGrid, ReportCounts, estimate_distribution
from optldp.estimators.distributions.metrics import wasserstein_1
from optldp.estimators.intervals import each_of
from optldp.estimators.methods import DistributionMethod
from optldp.mechanisms import square_wave

from .repetitions import Errors, Summary, repeat
from .shapes import CELLS, COLUMNS, SHAPES, USERS, population

TITLE = "Intervals of distributions: shapes, budgets, methods"
BUDGETS = (0.5, 1.0, 2.0)
COVERED = ("function", "shares", "mean", "quantiles", "cells")
BELOW = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)
RANGES = ((0.1, 0.3), (0.25, 0.5), (0.4, 0.8))
QUANTILES = (0.05, 0.5, 0.95)
SEEN = ("one mode", "Adult hours")
SMOOTH_IN, SMOOTH_BUDGETS = 8, (1.0,)
MORE = ("variance", "ranges", "cells at once", "ranges at once")
LENGTHS = ("function", "mean", "median", "ranges")


def run(data: Path, repetitions: int, workers: int) -> str:
    names = (*SHAPES, *COLUMNS)
    often: dict[DistributionMethod, int] = {"em": repetitions, "smooth": repetitions // SMOOTH_IN}
    often = {method: times for method, times in often.items() if times}
    budgets: dict[DistributionMethod, tuple[float, ...]] = {"em": BUDGETS, "smooth": SMOOTH_BUDGETS}
    cases: dict[DistributionMethod, list[tuple[Path, str, float, DistributionMethod]]] = {
        method: [(data, name, epsilon, method) for name in names for epsilon in budgets[method]] for method in often
    }
    found = {method: repeat(_errors, cases[method], often[method], workers) for method in cases}
    parts = ["Repetitions: " + ", ".join(f"{method} {times}" for method, times in often.items()) + "."]
    header = (*COVERED, *MORE)
    rows = [
        (method, group, *(_together(chosen, f"{what}") for what in header))
        for method in cases
        for group, chosen in _groups(cases[method], found[method])
    ]
    parts += ["Share of 95% intervals that hold the truth:", table(("method", "sets", *header), rows)]
    for method in cases:
        rows = [
            (case[1], f"{case[2]:g}", *(one.show(what) for what in header))
            for case, one in zip(cases[method], found[method], strict=True)
        ]
        parts += [f"The same of {method}, set by set:", table(("data", "epsilon", *header), rows)]
    rows = [
        (case[1], f"{case[2]:g}", one.show("many"), *(one.show(f"long {what}") for what in LENGTHS))
        for case, one in zip(cases["em"], found["em"], strict=True)
    ]
    parts += [
        "How long the intervals are, those of mean and median in shares of the domain, and how many ranges there are:",
        table(("data", "epsilon", "number of ranges", *LENGTHS), rows),
    ]
    rows = [
        (method, case[1], f"{case[2]:g}", one.show("W1"))
        for method in cases
        for case, one in zip(cases[method], found[method], strict=True)
    ]
    parts += ["1000 x Wasserstein-1 of the estimates:", table(("method", "data", "epsilon", "distance"), rows)]
    return "\n\n".join(parts)


def _groups(
    cases: list[tuple[Path, str, float, DistributionMethod]], found: list[Summary]
) -> list[tuple[str, list[Summary]]]:
    def those(names: set[str]) -> list[Summary]:
        return [one for case, one in zip(cases, found, strict=True) if case[1] in names]

    return [
        ("synthetic", those(set(SHAPES) - set(SEEN))),
        ("real", those(set(COLUMNS) - set(SEEN))),
        ("the two that chose", those(set(SEEN))),
    ]


def _together(chosen: list[Summary], name: str) -> str:
    values = np.array([one.mean(name) for one in chosen])
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(values.size):.1g}"


def _errors(data: Path, name: str, epsilon: float, method: DistributionMethod, rng: np.random.Generator) -> Errors:
    values, low, high = population(data, name)
    grid = InputGrid.equal_cells(low, high, CELLS)
    mechanism = square_wave(grid.edges, epsilon)
    counts = ReportCounts.from_reports(mechanism, mechanism.sample(rng.choice(values, USERS), rng))
    estimate = estimate_distribution(counts, method=method, grid=grid)
    truth = np.histogram(values, grid.edges)[0] / values.size
    found = _held(estimate, values, truth)
    return found | {"W1": 1000 * wasserstein_1(grid.points, estimate.value, truth) / (high - low)}


def _held(estimate: DistributionEstimate, values: np.ndarray, truth: np.ndarray) -> Errors:
    """Share of the intervals of each kind that hold the truth, and lengths; `probability` one by one says the same."""
    edges, explained = estimate.grid.edges, estimate.explained
    assert explained is not None
    width, rising = float(np.ptp(edges)), np.concatenate([[0.0], np.cumsum(truth)])

    def right(low: np.ndarray, high: np.ndarray, true: np.ndarray) -> np.ndarray:
        return (low - 1e-9 <= true) & (true <= high + 1e-9)

    inner = np.unique(np.clip(np.searchsorted(rising, BELOW), 1, edges.size - 2))
    starts = np.array([0] * inner.size + [round(a * truth.size) for a, _ in RANGES])
    stops = np.array([*inner, *(round(b * truth.size) for _, b in RANGES)])
    low, high = explained.shares(edges[starts], edges[stops], 0.95)
    held = right(low, high, rising[stops] - rising[starts])
    cells, every = estimate.interval(), estimate.interval(each_of(0.95, truth.size))
    mean, spread = estimate.mean().interval(), estimate.variance().interval()
    quantiles = {share: estimate.quantile(share).interval() for share in QUANTILES}
    reached = []
    for share, one in quantiles.items():  # any value within the cell where the function reaches the share
        k = int(np.searchsorted(rising, share))
        reached.append(one.low <= edges[k] and edges[k - 1] <= one.high)
    found: Errors = {
        "function": float(held[: inner.size].mean()),
        "shares": float(held[inner.size :].mean()),
        "mean": float(mean.low <= values.mean() <= mean.high),
        "variance": float(spread.low <= values.var() <= spread.high),
        "quantiles": float(np.mean(reached)),
        "cells": float(right(cells.low, cells.high, truth).mean()),
        "cells at once": float(right(every.low, every.high, truth).all()),
        "long function": float((high - low)[: inner.size].mean()),
        "long mean": (mean.high - mean.low) / width,
        "long median": (quantiles[0.5].high - quantiles[0.5].low) / width,
    }
    for name, at_once in (("ranges", False), ("ranges at once", True)):
        ranges = estimate.ranges(simultaneous=at_once)
        shares = np.histogram(values, ranges.edges)[0] / values.size
        holds = right(ranges.interval.low, ranges.interval.high, shares)
        found[name] = float(holds.all() if at_once else holds.mean())
        if not at_once:
            long = float((ranges.interval.high - ranges.interval.low).mean())
            found |= {"many": float(shares.size), "long ranges": long}
    return found
