"""How often intervals of differences, weighted means and small groups hold, and what is left of many categories.

    python benchmarks collecting.contrasts

Prints the numbers of docs/how-to/estimate.md as Markdown tables.  Each row is of `COLLECTIONS`, so that a coverage of
95% has a standard error of 0.9 points.
"""

from __future__ import annotations

import numpy as np
from markdown_table import table
from optldp.estimators import CategoryCounts, estimate_frequencies
from optldp.estimators.differences import (
    MatchedTallies,
    Tally,
    estimate_difference,
    estimate_others,
    estimate_weighted,
)
from optldp.estimators.reading.columns import SkippedRows
from optldp.mechanisms import TabulatedMechanism, piecewise
from optldp.mechanisms.categorical import categorical_grr, optimised_unary

COLLECTIONS = 600
KNOTS = np.linspace(0, 1, 11)
PERIODS = (
    (1.0, 2000, 2000, 2000, 1.0),
    (6.0, 1000, 1000, 1000, 1.0),
    (6.0, 1000, 1500, 800, 0.8),
    (6.0, 400, 400, 40, 0.5),
)
"""Budget, users of the first and of the second period and of both, and the share whose value stays."""


def tally(mechanism: TabulatedMechanism, outputs: np.ndarray, weights: np.ndarray | None = None) -> Tally:
    """Outputs of users, counted."""
    weights = np.ones(outputs.size) if weights is None else weights
    distinct, which = np.unique(outputs, return_inverse=True)
    return Tally(mechanism, distinct, np.bincount(which), np.bincount(which, weights), np.bincount(which, weights**2))


def differences(rng: np.random.Generator) -> str:
    """One row for each case of two periods."""
    rows = []
    for epsilon, n_first, n_second, both, stays in PERIODS:
        made, n = piecewise(KNOTS, epsilon), n_first + n_second - both
        hits, apart, lengths = 0, 0, 0.0
        ones = np.ones(both)
        for _ in range(COLLECTIONS):
            values = rng.beta(2, 2, n)
            later = np.where(rng.random(n) < stays, values, rng.beta(2, 3, n))
            first, second = made.sample_index(values[:n_first], rng), made.sample_index(later[n - n_second :], rng)
            pair = [Tally(made, of, ones.astype(int), ones, ones) for of in (first[n_first - both :], second[:both])]
            told = MatchedTallies(tally(made, first), tally(made, second), (pair[0], pair[1]), 0, False, SkippedRows())
            found, truth = estimate_difference(told), (1 - stays) * 0.1
            ends, alone = found.interval(), float(np.hypot(found.first.std_error, found.second.std_error))
            hits += ends.low <= truth <= ends.high
            apart += abs(found.value - truth) <= 1.96 * alone
            lengths += found.std_error / alone / COLLECTIONS
        what = f"epsilon {epsilon:g}, {both:,} of {n_first:,} and {n_second:,} in both, {stays:.0%} unchanged"
        rows.append([what, f"{hits / COLLECTIONS:.1%}", f"{apart / COLLECTIONS:.1%}", f"{lengths:.2f}"])
    return table(["", "matched", "as if independent", "length, as a share"], rows)


def groups(rng: np.random.Generator) -> str:
    """Twenty groups of 60 people, and weights that scatter as a log-normal of deviation one."""
    made, at_once, hits = piecewise(KNOTS, 6.0), 0, 0
    from optldp.estimators.intervals import each_of

    for _ in range(COLLECTIONS):
        found = [estimate_weighted(tally(made, made.sample_index(rng.beta(2, 2, 60), rng))) for _ in range(20)]
        ends = [one.interval(each_of(0.95, 20)) for one in found]
        at_once += all(end.low <= 0.5 <= end.high for end in ends)
        weights = rng.lognormal(0, 1, 1000)
        end = estimate_weighted(tally(made, made.sample_index(rng.beta(2, 2, 1000), rng), weights)).interval()
        hits += end.low <= 0.5 <= end.high
    rows = [["20 groups of 60, at once", f"{at_once / COLLECTIONS:.1%}"]]
    return table(["epsilon 6", "holds"], [*rows, ["1,000 people, log-normal weights", f"{hits / COLLECTIONS:.1%}"]])


def rest(rng: np.random.Generator) -> str:
    """What those that are not shown have together, of categories all alike."""
    rows = []
    for name, make, many, top in (("unary", optimised_unary, 30, 25), ("randomised response", categorical_grr, 30, 10)):
        labels = np.array([f"c{k}" for k in range(many)])
        made, hits, plain = make(labels.tolist(), 1.0), 0, 0
        for _ in range(COLLECTIONS):
            counts = CategoryCounts.from_reports(made, made.sample(rng.choice(labels, 2000), rng))
            value = estimate_frequencies(counts).value
            shown = np.isin(np.arange(many), np.argsort(-value)[:top])
            found, truth = estimate_others(counts, shown), 1 - top / many
            ends = found.interval()
            hits += ends.low <= truth <= ends.high
            plain += abs(value[~shown].sum() - truth) <= 1.96 * found.std_error
        rows.append([f"{name}, {top} of {many} shown", f"{plain / COLLECTIONS:.1%}", f"{hits / COLLECTIONS:.1%}"])
    return table(["epsilon 1, 2,000 people", "plain sum", "corrected"], rows)


if __name__ == "__main__":
    for part in (differences, groups, rest):
        print(part(np.random.default_rng(11)), end="\n\n")
