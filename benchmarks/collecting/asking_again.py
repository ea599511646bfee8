"""What docs/asking-again.md says was measured: a year, the coverage of its intervals, speed, and two pictures.

    python benchmarks collecting.asking_again year [--plot docs/asking-again-year.png]
    python benchmarks collecting.asking_again coverage
    python benchmarks collecting.asking_again speed
    python benchmarks collecting.asking_again protocols
    python benchmarks collecting.asking_again regions --plot docs/asking-again-regions.png

Prints Markdown tables. The year is simulated from doctor visits of the RAND Health Insurance Experiment, which
statsmodels ships: who changes, changes to another person's visits, more of them in winter. Seconds are a processor's.
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
from markdown_table import table
from matplotlib.figure import Figure
from optldp.designer import Prior, design
from optldp.designer.over_time import Longitudinal, Repeated, design_panel, longitudinal, plan_over_time
from optldp.estimators import count, estimate_mean
from optldp.estimators.over_time import PeriodMeans, estimate_periods
from optldp.mechanisms import make_exact
from optldp.mechanisms.categorical import optimised_unary
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
NEARLY = 1.005
"""Standard deviations: a percent of the variance."""

WAYS = ("panel", "rows", "tree", "directions", "fresh", "memoised")
COLOURS = ("#0072B2", "#009E73", "#E69F00", "#D55E00", "#CC79A7", "#999999")
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
    way = design_panel(lambda epsilon: made(prior, epsilon), EPSILON, WEEKS).named(SEED)
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
    """Which way errs least by budget and changes, with a promise for a life, at the end of 52 weeks.

    Of several that differ by less than a percent it is the simplest.
    """
    prior = Prior.even(np.linspace(-1, 1, 9))
    budgets, changes = (0.5, 1.0, 2.0, 3.0, 4.0, 6.0), (1, 2, 4, 12, 51)
    won = np.zeros((len(changes), len(budgets)), dtype=int)
    for row, many in enumerate(changes):
        for column, epsilon in enumerate(budgets):
            ways = plan_over_time(prior, epsilon, 1, Repeated(WEEKS, many, answers="at-end"))
            errors = {way.way: way.error("each") for way in ways if way.protects == "life"}
            won[row, column] = next(
                place for place, way in enumerate(WAYS) if errors.get(way, np.inf) < NEARLY * min(errors.values())
            )
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


def protocols() -> str:
    """Variances times n of a period's shares under protocols that memoise, and a panel's; with theirs simulated.

    The last column is multi-freq-ldpy's own clients, if it is installed: the mean square of its reports, decoded. With
    Python 3.11 `pip install --no-deps multi-freq-ldpy==0.2.5`, `pip install "xxhash<4"`, and a module `numba` on the
    path whose `jit` returns what it is given, serve; numba itself holds numpy back.
    """
    values, share, permanent, first = 20, 0.05, 2.0, 1.0
    rows = []
    for name in ("L-GRR", "L-OSUE", "LOLOHA", "dBitFlipPM"):
        one = longitudinal(name, values, permanent, None if name == "dBitFlipPM" else first)
        rows.append([name, one.promise, f"{one.variance(share):.2f}", theirs(one, values, permanent, first)])
    oracle = optimised_unary(range(values), permanent)
    own, other = 0.5, 1 / (np.exp(permanent) + 1)
    seen = share * own + (1 - share) * other
    each = seen * (1 - seen) / (own - other) ** 2
    whole = f"{oracle.epsilon:g} of a whole life"
    rows += [["panel of OUE, 12 periods", whole, f"{12 * each + 11 * share * (1 - share):.2f}", "-"]]
    return table(["protocol", "promise", "variance times n", "multi-freq-ldpy"], rows)


def theirs(one: Longitudinal, values: int, permanent: float, first: float) -> str:
    """The variance times n of a value's share, by clients of the other package."""
    try:
        clients = {
            "L-GRR": ("L_GRR", lambda client, value: client(value, values, permanent, first) == 0),
            "L-OSUE": ("L_OSUE", lambda client, value: client(value, values, permanent, first)[0] == 1),
            "dBitFlipPM": (
                "dBitFlipPM",
                lambda client, value: client(value, values, values, 1, permanent)[0],
            ),
        }
        if one.name == "LOLOHA":  # theirs is called L-LH: a hash of the user's own, then as L-GRR
            hashed, parts = import_module("xxhash").xxh32, round(1 / one.other)

            def agrees(client: Callable[..., Any], value: int) -> bool:
                told, seed = client(value, values, permanent, first)
                return told == hashed("0", seed=seed).intdigest() % parts

            clients["LOLOHA"] = ("L_LH", agrees)
        module, support = clients[one.name]
        client = getattr(import_module(f"multi_freq_ldpy.long_freq_est.{module}"), f"{module}_Client")
    except ImportError:
        return "not installed"
    np.random.seed(SEED)  # noqa: NPY002 -- the one that it draws from
    seen = np.array([float(support(client, 0 if user % values == 0 else 1)) for user in range(100_000)])
    each = np.where(seen < 0, 0.0, (seen - one.other) / (one.sampled * (one.own - one.other)))
    return f"{each.var():.2f}"


def save(figure: Figure, path: Path) -> None:
    """Write a picture in few colours, so that it is small."""
    buffer = io.BytesIO()
    figure.savefig(buffer, dpi=PIXELS_PER_INCH, metadata={"Software": None})
    Image.open(buffer).convert("RGB").quantize(PALETTE, dither=Image.Dither.NONE).save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("part", choices=("year", "coverage", "speed", "protocols", "regions"))
    parser.add_argument("--plot", type=Path, help="draw the picture of the page there; of year and regions")
    asked = parser.parse_args()
    if asked.part == "regions":
        if asked.plot is None:
            parser.error("regions is a picture: --plot FILE")
        regions(asked.plot)
    else:
        parts = {"year": lambda: year(asked.plot), "coverage": coverage, "speed": speed, "protocols": protocols}
        print(parts[asked.part]())


if __name__ == "__main__":
    main()
