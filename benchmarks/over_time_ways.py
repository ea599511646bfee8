"""The table of docs/asking-again.md: every cell by formula, and ways that report histories simulated in some.

Variances times n about the means of these very users, for 17 values uniform on [-1, 1]; histories change exactly k
times, at random times, to another value of these. Fails where the way that is chosen costs over 1% more than another
that promises a life, where it lies below the lower bound of histories of signs though values spread less, or where a
simulation is more than three standard errors off what was planned.
"""

import argparse
import sys

import numpy as np
from optldp.designer import Prior, design
from optldp.designer.over_time import Repeated, plan_over_time
from optldp.designer.over_time.directions import design_directions
from optldp.designer.over_time.noise import Noise
from optldp.designer.over_time.rows import design_rows, histories_of, plan_rows
from optldp.estimators.over_time.directions import estimate_directions
from optldp.estimators.over_time.linear import estimate_rows, grouped

PRIOR = Prior.even(np.linspace(-1, 1, 17))
PERIODS, CHANGES, BUDGETS = (12, 52, 365), (0, 1, 4, 12, None), (1.0, 2.0, 4.0)
LIFE = ("panel", "fresh", "rows", "directions")
RIVALS = 1.01

SIMULATED = [
    (12, 1, 1.0, "each"), (12, 1, 4.0, "each"), (12, 4, 4.0, "each"), (52, 1, 2.0, "each"), (52, 4, 1.0, "each"),
    (12, 1, 4.0, "change"), (52, 4, 4.0, "average"),
]  # fmt: skip
USERS, REPETITIONS = 4000, 60


def cells(answers: str, of: str) -> int:
    """Print a row for each number of periods and changes, and return in how many cells a rival is better."""
    worse = 0
    print(f"{of}, {answers}: periods, changes, then epsilon {', '.join(f'{e:g}' for e in BUDGETS)}")
    for periods in PERIODS:
        for changes in CHANGES:
            if changes is not None and changes >= periods:
                continue
            told = []
            for epsilon in BUDGETS:
                ways = plan_over_time(PRIOR, epsilon, 1, Repeated(periods, changes, answers=answers, of=of))
                errors = {way.way: way.error(of) ** 2 for way in ways if way.way in LIFE}
                best = errors[ways[0].way]
                worse += best > RIVALS * min(errors.values())
                told.append(f"{best:.4g} ({ways[0].way}; panel {errors['panel']:.4g})")
            print(f"{periods:>4} {'any' if changes is None else changes:>3}  {'  '.join(told)}")
    return worse


def simulated(way: str, periods: int, changes: int, epsilon: float, of: str) -> tuple[float, float, float]:
    """Return the variance times n that was planned, that of simulated estimates, and its standard error."""
    rng, asked = np.random.default_rng(33), Repeated(periods, changes, answers="at-end", of=of)
    names = [str(user) for user in range(USERS)]
    planned = plan_rows(Noise(PRIOR), epsilon, asked)
    rows = design_rows(lambda prior, budget: design(prior, budget, exact=True).mechanism, planned, epsilon)
    made = design_directions(PRIOR, epsilon, asked)
    errors = []
    for _ in range(REPETITIONS):
        values = histories_of(PRIOR, periods, changes, USERS, rng)
        means = values.mean(axis=0)
        if way == "rows":
            reports = rows.draw(rows.told(names, values), lambda size: rng.integers(0, 2**64, size, dtype=np.uint64))
            found = estimate_rows(grouped(rows.rows, rows.variances, rows.rows_of(names), reports), of).value
        else:
            told = estimate_directions(made, made.drawn(values, rng))
            found = {"each": lambda: told, "average": told.average, "change": told.changes}[of]().value  # noqa: B023
        truth = {"each": means, "average": means.mean(), "change": np.diff(means)}[of]
        errors.append(USERS * ((found - truth) ** 2).mean())
    ways = plan_over_time(PRIOR, epsilon, 1, asked)
    cost = next(each for each in ways if each.way == way).error(of) ** 2
    return cost, float(np.mean(errors)), float(np.std(errors) / np.sqrt(REPETITIONS))


def main() -> int:
    """Print all that was asked for; the exit code is the number of cells that are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=("cells", "simulated"), help="one of both; default: both")
    part, wrong = parser.parse_args().part, 0
    if part != "simulated":
        for of in ("each", "average", "change"):
            for answers in ("on-time", "at-end"):
                wrong += cells(answers, of)
    if part != "cells":
        for periods, changes, epsilon, of in SIMULATED:
            for way in ("rows", "directions"):
                if of == "average" and way == "directions":
                    continue
                planned, found, error = simulated(way, periods, changes, epsilon, of)
                print(
                    f"{way} of {periods} periods, {changes} changes, epsilon {epsilon:g}, {of}: {found:.4g} "
                    f"+- {error:.2g}, planned {planned:.4g}"
                )
                wrong += abs(found - planned) > 3 * error
    return wrong


if __name__ == "__main__":
    sys.exit(main())
