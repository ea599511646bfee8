"""Tables for questions beside their rivals: lengths of intervals with nothing assumed, as shares of the range.

python benchmarks objectives.questions --data FOLDER [--knots 51] [--weights], a folder with the real data sets (npz).

Each table is designed on one half of a column, or one year, and judged at the other; 20,000 people. "bins" is k-ary
randomised response on cells of equal shares of the first half, with the k that is best at the second; "random cuts"
randomised response on a cut drawn anew for each person. With --weights: what a mean beside costs, by its weight.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from measured import Cell, Table, timed
from optldp.designer import Prior, design
from optldp.designer.objectives import Cdf, Share
from optldp.designer.objectives.base import Problem
from optldp.mechanisms.families.square_wave import square_wave
from optldp.solvers.lengths.length_program import LengthProgram
from years import Pair, pairs

USERS = 20_000
COLUMNS = ("SF total_pay", "Adult hours_per_week", "ACS income")
EPSILONS = (1.0, 4.0)
CELLS = (2, 3, 4, 5, 6, 8, 10, 12, 16)
WEIGHTS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the real data sets, npz files")
    parser.add_argument("--knots", type=int, default=51)
    parser.add_argument("--weights", action="store_true", help="only what a mean beside costs")
    asked = parser.parse_args()
    for pair in chosen(asked.data):
        for epsilon in EPSILONS:
            print((costs if asked.weights else lengths)(pair, epsilon, asked.knots), flush=True)


def chosen(folder: Path) -> Iterator[Pair]:
    """The first pair of each column."""
    seen: set[str] = set()
    for pair in pairs(folder):
        if pair.name in COLUMNS and pair.name not in seen:
            seen.add(pair.name)
            yield pair


def halves(pair: Pair, knots: int) -> tuple[Prior, Prior]:
    """The priors of both, on a range that holds nearly all."""
    high = min(pair.high, float(np.quantile(pair.older, 0.999)))
    low = max(pair.low, float(pair.older.min()))
    older, newer = (
        Prior.from_data(np.clip(each, low, high), knots=knots, domain=(low, high), source="public")
        for each in (pair.older, pair.newer)
    )
    return older, newer


def lengths(pair: Pair, epsilon: float, knots: int) -> str:
    """The lengths of a share above the median and of the distribution function, by each table."""
    older, newer = halves(pair, knots)
    made, seconds = timed(lambda: design(older, epsilon, objective=Cdf(USERS)))
    truth = judge(newer, epsilon)
    median = float(older.knots[np.searchsorted(np.cumsum(older.weights), 0.5)])
    share = Share(USERS, median)
    at_share = share.program(problem_of(newer, epsilon, share), np.exp(epsilon))
    binned = [in_cells(older, epsilon, cells) for cells in CELLS]
    tables = {
        "optimum for the mean": design(older, epsilon).mechanism.probabilities,
        "square wave": square_wave(older.knots, epsilon).probabilities,
        "bins": min(binned, key=truth.value),
        "random cuts": random_cuts(knots, epsilon),
        "randomised response on the median": (response := on_cut(epsilon, older.knots > median)),
        "**cdf**": made.mechanism.probabilities,
    }
    rows: list[tuple[Cell, ...]] = [(name, truth.value(table), at_share.value(table)) for name, table in tables.items()]
    best = min(truth.value(tables[name]) for name in ("square wave", "bins", "random cuts"))
    mine = truth.value(made.mechanism.probabilities)
    rows.append(("cdf over the best rival's", mine / best, None))
    rows.append(("cdf over the mean's table", mine / truth.value(tables["optimum for the mean"]), None))
    own = share.solve(problem_of(older, epsilon, share)).mechanism.probabilities
    rows.append(("share over randomised response", None, at_share.value(own) / at_share.value(response)))
    about = f"{pair.name}, epsilon {epsilon:g}, {knots} knots, {seconds:.0f} s:"
    return as_text(Table({"table": "", "distribution function": ".4f", "share": ".4f"}, rows, about))


def costs(pair: Pair, epsilon: float, knots: int) -> str:
    """The lengths of the distribution function and of the mean, by the weight of the latter."""
    older, newer = halves(pair, knots)
    truth = judge(newer, epsilon)
    x = (newer.knots - newer.knots[0]) / (newer.knots[-1] - newer.knots[0])
    mean = replace(truth, numbers=x[None], weights=np.ones(1))
    tables = {f"{weight:g}": design(older, epsilon, objective=Cdf(USERS, mean=weight)).mechanism for weight in WEIGHTS}
    tables["optimum for the mean"] = design(older, epsilon).mechanism
    rows: list[tuple[Cell, ...]] = [
        (name, truth.value(table.probabilities), mean.value(table.probabilities)) for name, table in tables.items()
    ]
    columns = {"weight of the mean": "", "distribution function": ".4f", "mean": ".4f"}
    return as_text(Table(columns, rows, f"{pair.name}, epsilon {epsilon:g}, {knots} knots:"))


def as_text(table: Table) -> str:
    return f"{table.markdown()}\n"


def problem_of(prior: Prior, epsilon: float, objective: Cdf | Share) -> Problem:
    return Problem(prior, epsilon, objective.uniform_share)


def judge(prior: Prior, epsilon: float) -> LengthProgram:
    """What the distribution function is judged by, at a distribution."""
    objective = Cdf(USERS)
    return objective.program(problem_of(prior, epsilon, objective), np.exp(epsilon))


def on_cut(epsilon: float, above: np.ndarray) -> np.ndarray:
    """Randomised response on a cut."""
    return np.where(np.column_stack([~above, above]), np.exp(epsilon), 1.0) / (1 + np.exp(epsilon))


def random_cuts(knots: int, epsilon: float) -> np.ndarray:
    """Randomised response on a cut drawn from all."""
    places = np.arange(knots)
    return np.hstack([on_cut(epsilon, places > cut) for cut in range(knots - 1)]) / (knots - 1)


def in_cells(prior: Prior, epsilon: float, cells: int) -> np.ndarray:
    """K-ary randomised response on cells of equal shares."""
    ends = np.linspace(0, 1, cells + 1)[1:-1]
    which = np.searchsorted(ends, np.cumsum(prior.weights) - prior.weights / 2)
    columns = np.where(which[:, None] == np.unique(which), np.exp(epsilon), 1.0)
    return columns / columns.sum(1, keepdims=True)


if __name__ == "__main__":
    main()
