"""OPTT's theorems 5 and 11, how far means err, and corollary 1, the least variance at each value."""

from __future__ import annotations

import math

import numpy as np
from optldp.mechanisms import ptt
from optldp.mechanisms.families.ptt import optimal_eta, ptt_variance

from ..experiment.script import Check, Run

CHANCE = 0.05
KNOTS = np.linspace(-1.0, 1.0, 5)
LIMIT = 16 / 3
"""Of epsilon² times the least variance of I-PTT as epsilon falls to 0, at every value."""


def deviations(run: Run) -> list[Check]:
    """Theorems 5 and 11 and corollary 1."""
    return [*_one(run), *_several(run), *_least(run)]


def _one(run: Run) -> list[Check]:
    """Theorem 5: Bernstein's bound over its order, and what simulated means err by."""
    rows = []
    for epsilon in (0.01, 0.1, 1.0, 4.0):
        for n in (100, 10_000, 1_000_000):
            bound = _bernstein(epsilon, n)
            seen = _quantile(run, epsilon, n) if n == 10_000 else math.nan
            rows.append((epsilon, n, bound / _order(epsilon, n), seen / _order(epsilon, n)))
    header = ("epsilon", "users", "Bernstein / order (20)", "95% of simulated means / order (20)")
    run.table("optt-theorem-5", "What a mean errs by at most, with probability 0.95", header, rows)
    large = [row for row in rows if row[1] == 1_000_000]
    small = next(row[2] for row in rows if row[:2] == (0.01, 100))
    inside = [(row[3], row[2]) for row in rows if not math.isnan(row[3])]
    known = math.sqrt(2 * LIMIT * math.log(2 / CHANCE) / math.log(1 / CHANCE))
    return [
        Check(
            "theorem 5: the order (20) holds as epsilon falls, many users",
            abs(large[0][2] / known - 1) < 0.01,
            f"{large[0][2]:.3f} times it at 0.01, the limit is {known:.3f}",
        ),
        Check("with few users its constant is larger", small > 1.05 * known, f"{small:.3f} for 100 users"),
        Check(
            "simulated means err by less than the bound",
            all(seen < bound for seen, bound in inside),
            f"{min(s / b for s, b in inside):.2f} to {max(s / b for s, b in inside):.2f} of it",
        ),
    ]


def _several(run: Run) -> list[Check]:
    """Theorem 11: d attributes, one of which each user reports."""
    rows, n = [], 1_000_000
    for epsilon in (0.1, 1.0):
        for d in (1, 4, 16, 64, 256):
            order = math.sqrt(d * math.log(d / CHANCE) / n) / epsilon
            rows.append((epsilon, d, _bernstein(epsilon, n, d) / order))
    header = ("epsilon", "d", "Bernstein / order (46)")
    run.table("optt-theorem-11", f"The same for all of d attributes at once, {n:,} users", header, rows)
    ratios = [row[2] for row in rows]
    return [
        Check(
            "theorem 11: the order (46) holds from 1 to 256 attributes",
            max(ratios) < 1.5 * min(ratios),
            f"{min(ratios):.2f} to {max(ratios):.2f} times it",
        )
    ]


def _least(run: Run) -> list[Check]:
    """Corollary 1: epsilon² times the variance at x of the I-PTT that is best there."""
    places = (0.0, 0.5, 0.9, 1.0)
    rows = [
        (epsilon, *(epsilon**2 * float(ptt_variance(x, epsilon, optimal_eta(epsilon, x * x))) for x in places))
        for epsilon in (0.001, 0.01, 0.1, 1.0)
    ]
    header = ("epsilon", *(f"x = {x:g}" for x in places))
    run.table("optt-corollary-1", "epsilon² times the least variance of I-PTT at a value", header, rows)
    off = max(abs(cell / LIMIT - 1) for cell in rows[0][1:])
    return [
        Check(
            "corollary 1: the least variance is of order epsilon^-2 at every value",
            off < 0.01,
            f"16/3 of it, within {off:.1e} at 0.001",
        )
    ]


def _order(epsilon: float, n: int) -> float:
    return math.sqrt(math.log(1 / CHANCE) / n) / epsilon


def _bernstein(epsilon: float, n: int, d: int = 1) -> float:
    """Return (B.1) solved for gamma: the best I-PTT's reports as they are, each user's of one of d attributes."""
    eta = optimal_eta(epsilon)
    k = 1 + eta / math.expm1(epsilon)
    variance = d * (float(ptt_variance(1, epsilon, eta)) + 1) - 1
    reach, size = (d * (k + k / (eta - 1)) + 1) / 3, math.log(2 * d / CHANCE)
    return (reach * size + math.sqrt((reach * size) ** 2 + 2 * n * variance * size)) / n


def _quantile(run: Run, epsilon: float, n: int) -> float:
    """Return what 95% of simulated means of the value 1 err by at most."""
    table = ptt(KNOTS, epsilon, eta=optimal_eta(epsilon))
    rng, repetitions = np.random.default_rng([run.seed, n]), run.repetitions(2_000, 200)
    ends = np.ones(n)
    off = [abs(float(table.sample(ends, rng).mean()) - 1) for _ in range(repetitions)]
    return float(np.quantile(off, 1 - CHANCE))
