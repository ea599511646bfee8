"""What each way of collecting over time costs, beside its rivals and its lower bound, and ways simulated.

    python benchmarks collecting.over_time --part cells --of each --kept cells.json --write docs/theory/asking-again.md
    python benchmarks collecting.over_time --part floor
    python benchmarks collecting.over_time --part simulated

Variances times n about the means of these very users, for 17 values uniform on [-1, 1]; histories change exactly k
times, at random times, to another draw of these. `cells` fails where the way that is chosen costs over 1% more than
another that promises a life; `floor`, of signs, where one is below the lower bound; `simulated` where a simulation is
more than three standard errors off what was planned.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer import Prior, design
from optldp.designer.over_time import Repeated, plan_over_time
from optldp.designer.over_time.directions import design_directions
from optldp.designer.over_time.noise import Noise
from optldp.designer.over_time.rows import design_rows, histories_of, plan_rows
from optldp.designer.over_time.tree import design_tree, plan_tree
from optldp.estimators.over_time.directions import estimate_directions
from optldp.estimators.over_time.linear import estimate_rows, grouped
from optldp.estimators.over_time.tree import of_tree
from optldp.mechanisms.sampling.random_words import random_words

PRIOR, SIGNS = Prior.even(np.linspace(-1, 1, 17)), Prior.even([-1.0, 1.0])
PERIODS, CHANGES, BUDGETS = (12, 52, 365), (0, 1, 4, 12, None), (1.0, 2.0, 4.0)
CASES = [(t, k) for t in PERIODS for k in CHANGES if k is None or k < t]
ANSWERS, OF = ("on-time", "at-end"), ("each", "average", "change")
RIVALS = 1.01

SIMULATED = [
    ("panel", 12, None, 1.0, "each", "on-time"), ("panel", 12, None, 4.0, "each", "on-time"),
    ("rows", 12, 1, 1.0, "each", "at-end"), ("directions", 12, 1, 1.0, "each", "at-end"),
    ("rows", 12, 1, 4.0, "each", "at-end"), ("directions", 12, 1, 4.0, "each", "at-end"),
    ("rows", 12, 4, 4.0, "each", "at-end"), ("directions", 12, 4, 4.0, "each", "at-end"),
    ("rows", 52, 1, 2.0, "each", "at-end"), ("directions", 52, 1, 2.0, "each", "at-end"),
    ("rows", 52, 4, 1.0, "each", "at-end"), ("directions", 52, 4, 1.0, "each", "at-end"),
    ("rows", 12, 1, 4.0, "change", "at-end"), ("directions", 12, 1, 4.0, "change", "at-end"),
    ("rows", 52, 4, 4.0, "average", "at-end"), ("rows", 12, 0, 1.0, "each", "on-time"),
    ("rows", 12, 1, 4.0, "each", "on-time"), ("rows", 12, 1, 4.0, "change", "on-time"),
    ("tree", 12, 1, 1.0, "each", "on-time"), ("tree", 12, 2, 2.0, "each", "at-end"),
    ("tree", 12, 1, 1.0, "change", "on-time"), ("tree", 52, 1, 1.0, "each", "at-end"),
]  # fmt: skip
USERS, REPETITIONS = 4800, 60


def cells(of: str, kept: Path | None) -> tuple[str, int]:
    """Return a table with a row for each number of periods and changes, and in how many cells a rival is better.

    What a file has of a run before is not computed again.
    """
    worse, rows = 0, []
    done = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for periods, changes in CASES:
        row = [periods, "any" if changes is None else changes]
        for answers in ANSWERS:
            for epsilon in BUDGETS:
                name = f"{of} {row[0]} {row[1]} {answers} {epsilon:g}"
                if name not in done:
                    ways = plan_over_time(PRIOR, epsilon, 1, Repeated(periods, changes, answers=answers, of=of))
                    life = min(way.error(of) ** 2 for way in ways if way.life_epsilon == epsilon)
                    done[name] = ways[0].way, ways[0].error(of) ** 2, life
                    if kept is not None:
                        kept.write_text(json.dumps(done, indent=0))
                way, best, life = done[name]
                worse += best > RIVALS * life
                row.append(f"{best:.4g}" if way == "panel" else f"{best:.4g} {way}")
        rows.append(row)
    heads = [f"{answers}, {epsilon:g}" for answers in ANSWERS for epsilon in BUDGETS]
    return table(["periods", "changes", *heads], rows), worse


def written(page: Path, of: str, made: str) -> None:
    """Put a table in a page, between the marks of what it is of."""
    first, last = f"<!-- cells: {of} -->\n", f"\n<!-- end of cells: {of} -->"
    before, _, rest = page.read_text().partition(first)
    _, found, after = rest.partition(last)
    if not found:
        raise SystemExit(f"{page} has no marks for cells of {of}")
    page.write_text(before + first + made + last + after)


def floors() -> int:
    """Print by how much ways exceed the lower bound for signs, of up to 52 periods, and return how many are below."""
    ratios: dict[str, list[float]] = {}
    for periods, changes in CASES:
        for epsilon in BUDGETS:
            if periods > 52:
                continue
            for way in plan_over_time(SIGNS, epsilon, 1, Repeated(periods, changes, answers="at-end")):
                if way.floor and way.life_epsilon == epsilon and way.error_per_period is not None:
                    ratios.setdefault(way.way, []).append((way.error_per_period / way.floor) ** 2)
    for name, found in ratios.items():
        print(f"{name}: variances are {min(found):.4g} to {max(found):.4g} times the lower bound in {len(found)} cells")
    return sum(ratio < 1 for found in ratios.values() for ratio in found)


def _panel(epsilon: float, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means of the periods by a panel whose groups have the same size."""
    users, periods = values.shape
    turns = rng.permutation(np.arange(users) % periods)
    reports = design(PRIOR, epsilon).mechanism.sample(values[np.arange(users), turns], rng)
    return np.bincount(turns, weights=reports) / np.bincount(turns)


def simulated(
    way: str, periods: int, changes: int | None, epsilon: float, of: str, answers: str
) -> tuple[float, float, float]:
    """Return the variance times n that was planned, that of simulated estimates, and its standard error.

    On time the last period and the last change stand for all: by reports until it ends, they are told as all are.
    """
    rng, asked = np.random.default_rng(33), Repeated(periods, changes, answers=answers, of=of)
    names = [str(user) for user in range(USERS)]
    if way == "tree":
        return _tree(names, epsilon, asked, rng)
    planned = plan_rows(Noise(PRIOR), epsilon, asked)
    rows = design_rows(lambda prior, budget: design(prior, budget, exact=True).mechanism, planned, epsilon)
    made = design_directions(PRIOR, epsilon, asked) if way == "directions" else None
    errors = []
    for _ in range(REPETITIONS):
        values = histories_of(PRIOR, periods, asked.most_changes, USERS, rng)
        means = values.mean(axis=0)
        truth = {"each": means, "average": means.mean(), "change": np.diff(means)}[of]
        if way == "panel":
            errors.append(USERS * ((_panel(epsilon, values, rng) - truth) ** 2).mean())
            continue
        if made is not None:
            told = estimate_directions(made, made.drawn(values, rng))
            found = {"each": lambda: told, "average": told.average, "change": told.changes}[of]().value  # noqa: B023
            errors.append(USERS * ((found - truth) ** 2).mean())
            continue
        reports = rows.draw(rows.told(names, values), lambda size: rng.integers(0, 2**64, size, dtype=np.uint64))
        which = rows.rows_of(names)
        if answers == "at-end" or rows.stays:
            found = estimate_rows(grouped(rows.rows, rows.variances, which, reports), of, stays=rows.stays).value
            errors.append(USERS * ((found - truth) ** 2).mean())
            continue
        square = []
        for period in range(1 if of == "each" else 2, periods + 1):
            there = rows.ends[which] <= period
            told = estimate_rows(grouped(rows.rows, rows.variances, which[there], reports[there]), of)
            place = period - (1 if of == "each" else 2)
            square.append((told.value[told.periods == period][0] - truth[place]) ** 2)
        errors.append(USERS * np.mean(square))
    ways = plan_over_time(PRIOR, epsilon, 1, asked, only=way)
    return ways[0].error(of) ** 2, float(np.mean(errors)), float(np.std(errors) / np.sqrt(REPETITIONS))


def _tree(names: list[str], epsilon: float, asked: Repeated, rng: np.random.Generator) -> tuple[float, float, float]:
    """The same of a tree: of each period by what was reported until it ended, or at the end by all."""
    planned = plan_tree(Noise(PRIOR), epsilon, asked)
    made = design_tree(design(PRIOR, epsilon, exact=True).mechanism, planned, epsilon)
    words, errors = random_words(rng), []
    for _ in range(REPETITIONS):
        values = histories_of(PRIOR, asked.periods, asked.most_changes, USERS, rng)
        means, (who, when, reports) = values.mean(axis=0), made.drawn_lives(names, values, words)
        truth, first = (means, 1) if asked.of == "each" else (np.diff(means), 2)
        branches, square = made.beside(names)["branch"][who], []
        for period in [asked.periods] if asked.delay else range(first, asked.periods + 1):
            there = when <= period
            told = estimate_rows(of_tree(made, reports[there], branches[there], when[there]), asked.of)
            last = slice(None) if asked.delay else told.periods == period
            square.append(((told.value[last] - truth[told.periods[last] - first]) ** 2).mean())
        errors.append(USERS * np.mean(square))
    cost = planned.costs[0 if asked.of == "each" else 2]
    return cost, float(np.mean(errors)), float(np.std(errors) / np.sqrt(REPETITIONS))


def main() -> int:
    """Print what was asked for; the exit code is the number of cells that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("cells", "floor", "simulated"), required=True)
    parser.add_argument("--of", choices=OF, help="of cells: one of these. Default: all")
    parser.add_argument("--kept", type=Path, help="of cells: a file of those that are done, so that a run goes on")
    parser.add_argument("--write", type=Path, help="of cells: a page with marks for the tables")
    asked, wrong, start = parser.parse_args(), 0, time.process_time()
    if asked.part == "cells":
        for of in OF if asked.of is None else (asked.of,):
            made, worse = cells(of, asked.kept)
            print(f"{of}\n\n{made}\n\n{worse} cells in which a rival is over 1% better")
            wrong += worse
            if asked.write is not None:
                written(asked.write, of, made)
    elif asked.part == "floor":
        wrong = floors()
    else:
        for case in SIMULATED:
            planned, found, error = simulated(*case)
            print(*case, f"{found:.4g} +- {error:.2g}, planned {planned:.4g}", flush=True)
            wrong += abs(found - planned) > 3 * error
    print(f"{time.process_time() - start:.0f} s of a processor")
    return wrong


if __name__ == "__main__":
    sys.exit(main())
