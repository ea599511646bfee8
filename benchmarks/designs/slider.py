"""This part times a slider for epsilon at 101 knots over 32 priors, and a report on the bounds at 16 budgets.

A move of the slider is `design(prior, epsilon)`, exact table and certificate included, in a process that has made one
design before. Priors are the eight shapes of the part on many knots and random ones of the same kinds; the budgets of
each are random from 0.1 to 8, evenly in their logarithm. `python benchmarks/run.py benchmarks --part slider 32 10` sets
the numbers of priors and of budgets for each.
"""

import numpy as np
from measured import Table, timed
from optldp.designer import Prior, bounds, design

from designs.many_knots import priors

TITLE = "A slider and a report"
KNOTS = 101
LEAST, MOST = 0.1, 8.0
BUDGETS = np.arange(0.25, 4.01, 0.25)
AT_ONCE = 0.1
"""Seconds within which an answer seems to come at once."""


def all_priors(count: int) -> list[Prior]:
    """The shapes, then bells, falling ones, two humps, random weights and histograms in turn."""
    x, rng = np.linspace(-1, 1, KNOTS), np.random.default_rng(7)
    weights = list(priors(KNOTS).values())
    while len(weights) < count:
        kind, place, width = len(weights) % 5, rng.uniform(-0.8, 0.8), rng.uniform(0.05, 0.5)
        bell = np.exp(-0.5 * ((x - place) / width) ** 2)
        weights.append(
            [
                bell,
                np.exp(-x / width),
                bell + np.exp(-0.5 * ((x + place) / (0.6 - width)) ** 2),
                rng.dirichlet(np.full(KNOTS, 0.5)),
                np.repeat(rng.random(10), KNOTS // 10 + 1)[:KNOTS],
            ][kind]
        )
    return [Prior.on_knots(x, each, source="public") for each in weights[:count]]


def run(count: int = 32, moves: int = 5) -> list[Table]:
    return [_moves(count, moves), _report()]


def _moves(count: int, moves: int) -> Table:
    rng, taken, closed = np.random.default_rng(3), [], 0
    made = all_priors(count)
    design(made[0], 1.0)
    for prior in made:
        for epsilon in np.exp(rng.uniform(np.log(LEAST), np.log(MOST), moves)).tolist():
            found, seconds = timed(lambda prior=prior, epsilon=epsilon: design(prior, epsilon))
            taken.append(seconds)
            closed += found.status == "optimal"
    times = np.array(taken)
    columns = {
        "moves": "", "closed": "", f"within {AT_ONCE:g} s": ".0%", "median s": ".3f", "90%, s": ".3f",
        "largest s": ".3f",
    }  # fmt: skip
    quantiles = (float(one) for one in np.quantile(times, [0.5, 0.9, 1.0]))
    row = (times.size, closed, float((times <= AT_ONCE).mean()), *quantiles)
    return Table(columns, [row], f"Moves of epsilon between {LEAST:g} and {MOST:g}, {count} priors:")


def _report() -> Table:
    values = np.random.default_rng(1).lognormal(10.5, 0.6, 50_000).clip(0, 200_000)
    prior = Prior.from_data(values, knots=KNOTS, domain=(0, 200_000), source="public")
    found, seconds = timed(lambda: bounds(prior, BUDGETS))
    columns = {"budgets": "", "knots": "", "rows": "", "failed": "", "s": ".2f"}
    row = (BUDGETS.size, KNOTS, len(found.rows), len(found.failures), seconds)
    return Table(
        columns,
        [row],
        "The report is `bounds` of incomes with all methods, the least worst case and one budget in detail:",
    )
