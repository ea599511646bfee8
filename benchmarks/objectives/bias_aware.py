"""Means that are biased where that pays: how often their intervals cover, and their errors beside other means.

OMP_NUM_THREADS=1 python benchmarks objectives.bias_aware; some minutes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from markdown_table import table
from optldp.estimators import (
    ReportCounts,
    Service,
    bias_aware_mean,
    estimate_distribution,
)
from optldp.estimators.bias_aware.decoders import UNIFORM_SHARE
from optldp.estimators.intervals import bias_aware_reach
from optldp.mechanisms import TabulatedMechanism, laplace, piecewise, square_wave
from optldp.solvers import solve_unbiased
from optldp.solvers.biased import trusted
from optldp.solvers.robust import BoxSet

from .biased import HALF, KNOTS, visits_prior

SAMPLES = 4000
"""Collections of each case: 94% and 95% are three standard errors apart."""

COLLECTIONS = 20
USERS = 20_000


def tables() -> dict[str, TabulatedMechanism]:
    best = solve_unbiased(KNOTS / HALF - 1, visits_prior(), float(np.e))
    outputs = HALF * (best.solution.outputs + 1)
    return {
        "optimal": TabulatedMechanism.from_points(KNOTS, outputs, best.solution.probabilities, 1.0),
        "piecewise": piecewise(KNOTS, 1.0),
        "square wave": square_wave(KNOTS, 1.0),
        "Laplace": laplace(KNOTS, 1.0),
    }


def counts_of(made: TabulatedMechanism, values: np.ndarray, rng: np.random.Generator) -> ReportCounts:
    return ReportCounts.from_reports(made, made.sample(values, rng))


def of_prior(made: TabulatedMechanism, prior: np.ndarray, users: int, rng: np.random.Generator) -> ReportCounts:
    """Counts of any users' reports, for a decoder that depends on none of them."""
    seen = rng.multinomial(users, prior @ made.probabilities)
    return ReportCounts.from_outputs([Service("one", made)], np.repeat(np.arange(seen.size), seen)[:, None])


def box_of(prior: np.ndarray, trust: float) -> BoxSet:
    return trusted(prior, trust, share=UNIFORM_SHARE)


def priors_within(box: BoxSet, b: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """The prior itself, those that are worst for bias upwards, for bias downwards and for noise, and three others."""
    costs = [b - b.min(), b.max() - b, v, *(rng.random(b.size) for _ in range(3))]
    found = [box.low, *(box.largest(cost)[1] for cost in costs)]
    return [q / q.sum() for q in found]


def coverage() -> str:
    rng, prior, rows = np.random.default_rng(1), visits_prior(), []
    for name, made in tables().items():
        for users in (1000, 10_000, 100_000, 1_000_000):
            row = [covered(made, prior, users, trust, rng) for trust in (2.0, 5.0)]
            rows.append((name, f"{users:,}", *row[0], *row[1]))
    parts = ("least coverage", "ignoring bias", "bias bound / noise")
    return table(("table", "users", *(f"{part}, trust {trust}" for trust in (2, 5) for part in parts)), rows)


def covered(
    made: TabulatedMechanism, prior: np.ndarray, users: int, trust: float, rng: np.random.Generator
) -> tuple[str, str, str]:
    """The least coverage over priors, that of intervals that ignore the bias, and the bias bound over the noise."""
    found = bias_aware_mean(of_prior(made, prior, users, rng), prior, trust=trust)
    P, values = made.probabilities, found.parts[0].values
    b, v = P @ values - KNOTS, (P * (values - KNOTS[:, None]) ** 2).sum(1)
    shares, plain = [], []
    for q in priors_within(box_of(prior, trust), b, v, rng):
        seen = rng.multinomial(users, q @ P, SAMPLES)
        means = seen @ values / users
        errors = np.sqrt((seen @ values**2 / users - means**2) / (users - 1))
        reach = np.array([bias_aware_reach(error, found.bias_high, 0.95) for error in errors])
        off = np.abs(means - q @ KNOTS)
        shares.append(float(np.mean(off <= reach)))
        plain.append(float(np.mean(off <= 1.96 * errors)))
    return f"{min(shares):.3f}", f"{min(plain):.3f}", f"{found.bias_high / found.std_error:.2f}"


def comparison() -> str:
    """Errors of means of the same people: of numbers for reports exactly, of estimated distributions by collecting."""
    rng, prior = np.random.default_rng(2), visits_prior()
    people = rng.choice(KNOTS, USERS, p=prior)  # values on the knots, so that no estimate is finer than another
    thin = prior * np.where(KNOTS < 8, 1.0, 0.5)  # of a year in which frequent visits were half as many
    methods: dict[str, Callable[[ReportCounts], Any]] = {
        "em": lambda counts: estimate_distribution(counts, method="em"),
        "default fit": estimate_distribution,
        "ems": lambda counts: estimate_distribution(counts, method="ems"),
    }
    rows = []
    for name, made in tables().items():
        collected = [counts_of(made, people, rng) for _ in range(COLLECTIONS)]
        right, off = (bias_aware_mean(collected[0], given, trust=2.0) for given in (prior, thin / thin.sum()))
        numbers = [right.parts[0].before, right.parts[0].values, off.parts[0].values]
        row = [f"{exact_error(made, values, people):.2f}" for values in numbers]
        for fit in methods.values():
            errors = [fit(counts).mean().value - people.mean() for counts in collected]
            row.append(f"{np.sqrt(np.mean(np.square(errors))):.2f}")
        rows.append((name, *row, f"{right.rmse:.2f}"))
    return table(("table", "plain", "bias-aware", "bias-aware, prior off", *methods, "promised"), rows)


def exact_error(made: TabulatedMechanism, values: np.ndarray, people: np.ndarray) -> float:
    """The root mean squared error for these people, over all that they may report."""
    P, shares = made.probabilities, np.mean(people[:, None] == KNOTS, axis=0)
    means = P @ values
    variances = (P * (values - means[:, None]) ** 2).sum(1)
    return float(np.sqrt(shares @ variances / len(people) + (shares @ (means - KNOTS)) ** 2))


if __name__ == "__main__":
    print("Coverage of 95% intervals, the least over priors within the trust:\n")
    print(coverage())
    print(f"\nRoot mean squared errors of the mean of {USERS:,} people, of fits over {COLLECTIONS} collections:\n")
    print(comparison())
