"""What docs/asking-again.md says was measured: a year, the coverage of its intervals, speed, and two pictures.

    python benchmarks/asking_again.py year [--plot docs/asking-again-year.png]
    python benchmarks/asking_again.py coverage
    python benchmarks/asking_again.py speed
    python benchmarks/asking_again.py regions --plot docs/asking-again-regions.png

Prints Markdown tables. The year is simulated from doctor visits of the RAND Health Insurance Experiment, which
statsmodels ships: who changes, changes to another person's visits, more of them in winter. Seconds are a processor's.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
from markdown_table import table
from matplotlib.figure import Figure
from optldp.designer import Prior, design
from optldp.designer.over_time import Repeated, design_panel, plan_over_time
from optldp.estimators import count, estimate_mean
from optldp.estimators.over_time import PeriodMeans, estimate_periods
from optldp.mechanisms import make_exact
from optldp.mechanisms.over_time import Panel
from PIL import Image  # comes with matplotlib
from statsmodels.datasets import randhie

SEED = 33
WEEKS, CHANGES, EPSILON, USERS = 52, 4, 2.0, 100_000
SURVEYED, MOST = 4_000, 20
"""Who stand for a published survey, and the visits that count in full."""

SEASON = 0.08
"""By so much more a visit counts in winter, on the logarithmic scale."""

STEP = 0.1
"""Visits by which the mean may move in a week: what smoothing is told."""

REPETITIONS = 150
WAYS = ("panel", "rows", "directions", "fresh", "memoised")
COLOURS = ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#999999")
PIXELS_PER_INCH, PALETTE = 110, 64


def made(prior: Prior, epsilon: float) -> Any:
    return make_exact(cast("Any", design(prior, epsilon).mechanism)).mechanism


def visits() -> tuple[Prior, np.ndarray]:
    """The survey's prior of visits from 0 to 20, and the visits of the others."""
    every = np.asarray(cast("Any", randhie).load_pandas().data["mdvis"], float).clip(0, MOST)
    shuffled = np.random.default_rng(SEED).permutation(every)
    values, many = np.unique(shuffled[:SURVEYED], return_counts=True)
    return Prior.on_knots(values, many / many.sum(), source="public", units="visits"), shuffled[SURVEYED:]


def histories(column: np.ndarray, users: int, periods: int, changes: int, rng: np.random.Generator) -> np.ndarray:
    """Values (users, periods), that change so often, at random times, each time to another draw of the column."""
    when = np.argsort(rng.random((users, periods - 1)), axis=1)[:, :changes] + 1
    moved = np.zeros((users, periods), dtype=bool)
    np.put_along_axis(moved, when, True, axis=1)
    moved[:, 0] = True
    found, now = np.empty((users, periods)), np.zeros(users)
    for week in range(periods):
        weights = np.exp(SEASON * np.cos(2 * np.pi * week / periods) * column)
        now = np.where(moved[:, week], rng.choice(column, users, p=weights / weights.sum()), now)
        found[:, week] = now
    return found


def about_all(way: Panel, period: int, reports: np.ndarray) -> Any:
    """The estimate of a period's mean of all users, of whom a share reports at random, as `optldp estimate` has it."""
    counts = count(cast("Any", way.mechanism), reports)
    noise, whole = (estimate_mean(counts, target=target) for target in ("users", "population"))
    error = noise.std_error**2 + (1 - way.part(period)) * (whole.std_error**2 - noise.std_error**2)
    return SimpleNamespace(value=noise.value, std_error=np.sqrt(error), n=noise.n, target="users")


def means(way: Panel, names: list[str], values: np.ndarray, rng: np.random.Generator) -> dict[int, Any]:
    """The estimate of each period from the reports of those whose turn it is."""
    turns, found = way.turns(names), {}
    for period in range(1, way.periods + 1):
        mine = way.are_turns(turns, period)
        reports = way.drawn(values[mine, period - 1], rng)
        found[period] = about_all(way, period, reports)
    return found


def year(path: Path | None) -> str:
    """A row for what stands alone and for what is smoothed: error, width and coverage, and seconds of all."""
    start = time.process_time()
    prior, column = visits()
    way = design_panel(lambda epsilon: made(prior, epsilon), EPSILON, WEEKS)
    rng = np.random.default_rng(SEED)
    values = histories(column, USERS, WEEKS, CHANGES, rng)
    alone = estimate_periods(means(way, [f"user {number}" for number in range(USERS)], values, rng))
    smooth, truth = alone.smoothed(STEP), values.mean(axis=0)
    if path is not None:
        save(_year_plot(alone, smooth, truth), path)
    seconds = time.process_time() - start
    rows = []
    for name, series in (("each week alone", alone), (f"smoothed by {STEP:g} a week", smooth)):
        ends = series.interval()
        inside = ((ends.low <= truth) & (truth <= ends.high)).mean()
        error = np.sqrt(((series.value - truth) ** 2).mean())
        rows.append([name, f"{error:.3f}", f"{series.std_error.mean():.3f}", f"{inside:.0%}"])
    names = ["", "root mean squared error", "standard error", "weeks inside"]
    return f"{table(names, rows)}\n\n{USERS:,} users, {WEEKS} weeks, epsilon {EPSILON:g} of a life: {seconds:.0f} s\n"


def _year_plot(alone: PeriodMeans, smooth: PeriodMeans, truth: np.ndarray) -> Figure:
    figure, axes = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
    axes.errorbar(
        alone.periods, alone.value, 1.96 * alone.std_error, fmt="o", color="#999999", markersize=3, linewidth=0.8,
        label="each week alone",
    )  # fmt: skip
    ends = smooth.interval()
    axes.fill_between(smooth.periods, ends.low, ends.high, color="#0072B2", alpha=0.2)
    axes.plot(smooth.periods, smooth.value, color="#0072B2", label="smoothed")
    axes.plot(alone.periods, truth, color="#D55E00", linestyle="--", label="truth")
    axes.set_xlabel("week")
    axes.set_ylabel("mean visits")
    axes.legend(frameon=False)
    return figure


def coverage() -> str:
    """Share of 95% intervals that hold the truth of these very users, over all periods of each collection."""
    prior, column = visits()
    table_of = {e: made(prior, e) for e in (1.0, 2.0)}
    names, rows = [f"user {number}" for number in range(1200)], []
    cases = {
        "panel": Panel(table_of[2.0], 6, 1, 2.0, "0" * 32),
        "panel of two reports": Panel(table_of[1.0], 6, 2, 2.0, "0" * 32),
        "panel that rotates in 3": Panel(table_of[2.0], 6, 1, 2.0, "0" * 32, span=3),
    }
    for name, way in cases.items():
        cells = np.array([_covered(way, names, column, seed) for seed in range(REPETITIONS)])
        spread = cells.std(axis=0) / np.sqrt(REPETITIONS)
        rows.append(
            [name, *(f"{one:.3f} +- {error:.3f}" for one, error in zip(cells.mean(axis=0), spread, strict=True))]
        )
    return table(["way", "each", "half leave or join", "smoothed"], rows)


def _covered(way: Panel, names: list[str], column: np.ndarray, seed: int) -> tuple[float, float, float]:
    """Shares of periods whose interval holds the mean of those who are there, of one collection."""
    rng = np.random.default_rng([SEED, seed])
    fresh = Panel(
        cast("Any", way.mechanism), way.periods, way.reports, way.epsilon, rng.bytes(16).hex(), None, way.span
    )
    values = histories(column, len(names), way.periods, 2, rng)
    series = estimate_periods(means(fresh, names, values, rng))
    here = np.ones(values.shape, dtype=bool)  # a quarter leaves in the middle, a quarter joins there
    here[: len(names) // 4, way.periods // 2 :] = False
    here[len(names) // 4 : len(names) // 2, : way.periods // 2] = False
    turns, found = fresh.turns(names), {}
    for period in range(1, way.periods + 1):
        mine = fresh.are_turns(turns, period) & here[:, period - 1]
        reports = fresh.drawn(values[mine, period - 1], rng)
        found[period] = about_all(fresh, period, reports)
    moving = estimate_periods(found)
    there = np.array([values[here[:, week], week].mean() for week in range(way.periods)])
    truth = values.mean(axis=0)
    step = float(np.abs(np.diff(truth)).max()) + 1e-9
    smooth = series.smoothed(step) if way.most_reports == 1 else series
    return _inside(series, truth), _inside(moving, there), _inside(smooth, truth)


def _inside(series: PeriodMeans, truth: np.ndarray) -> float:
    ends = series.interval()
    return float(((ends.low <= truth) & (truth <= ends.high)).mean())


def speed() -> str:
    """Names whose turns are drawn, and reports that are drawn, by a second of a processor."""
    prior, _ = visits()
    way = design_panel(lambda epsilon: made(prior, epsilon), EPSILON, WEEKS)
    names, rng = [f"user {number}" for number in range(10**6)], np.random.default_rng(SEED)
    values = rng.choice(prior.knots, 10**6)
    rows = [
        ["turns of a million names", f"{_seconds(lambda: way.turns(names)):.2f}"],
        ["a million reports", f"{_seconds(lambda: way.drawn(values, rng)):.2f}"],
        ["a period of a million names", f"{_seconds(lambda: way.drawn(values[way.in_turn(names, 7)], rng)):.2f}"],
    ]
    return table(["", "seconds"], rows)


def _seconds(run: Callable[[], object]) -> float:
    start = time.process_time()
    run()
    return time.process_time() - start


def regions(path: Path) -> None:
    """Which way errs least by budget and changes, with a promise for a life, at the end of 52 weeks."""
    prior = Prior.even(np.linspace(-1, 1, 9))
    budgets, changes = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0), (0, 1, 2, 4, 12, 51)
    won = np.zeros((len(changes), len(budgets)), dtype=int)
    for row, many in enumerate(changes):
        for column, epsilon in enumerate(budgets):
            ways = plan_over_time(prior, epsilon, 1, Repeated(WEEKS, many, answers="at-end"))
            best = min((way for way in ways if way.protects == "life"), key=lambda way: way.error("each"))
            won[row, column] = WAYS.index(best.way)
    figure, axes = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for way in np.unique(won).tolist():
        rows, columns = np.nonzero(won == way)
        axes.scatter(columns, rows, s=500, marker="s", color=COLOURS[way], label=WAYS[way])
    axes.set_xticks(range(len(budgets)), [f"{epsilon:g}" for epsilon in budgets])
    axes.set_yticks(range(len(changes)), [*(str(many) for many in changes[:-1]), "any"])
    axes.set_xlim(-0.6, len(budgets) - 0.4)
    axes.set_ylim(-0.6, len(changes) - 0.4)
    axes.set_xlabel("epsilon of a life")
    axes.set_ylabel("changes of a user at most")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, markerscale=0.5)
    save(figure, path)


def save(figure: Figure, path: Path) -> None:
    """Write a picture in few colours, so that it is small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=PIXELS_PER_INCH, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("year", "coverage", "speed", "regions"))
    parser.add_argument("--plot", type=Path, help="draw the picture of the page there; of year and regions")
    asked = parser.parse_args()
    if asked.part == "regions":
        if asked.plot is None:
            parser.error("regions is a picture: --plot FILE")
        regions(asked.plot)
    else:
        print({"year": lambda: year(asked.plot), "coverage": coverage, "speed": speed}[asked.part]())


if __name__ == "__main__":
    main()
