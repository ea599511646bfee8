"""People that correlations, slopes, groups and tables take, and whether their intervals hold: `python two_columns.py`.

Variances times n by formula and by simulation, coverage of 95% intervals over so many runs, for Gaussian columns of
17 values to three standard deviations, for a regression of three covariates with a survey of 2,000, for means of five
groups, and for tables of 4 x 5 even cells beside half the budget for each column and the best joint fit; one seed.
"""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from optldp.designer.features import (
    FeaturesDesign,
    Pilot,
    design_association,
    design_groups,
    design_regression,
    design_table,
    split_variance,
)
from optldp.estimators import count, estimate_frequencies
from optldp.estimators.features import estimate_features, independence
from optldp.mechanisms import frequency_oracle

BOX = {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}
EVEN = np.linspace(-1, 1, 17)
GRID = np.array([(x, y) for x in EVEN for y in EVEN])
SLOPES = np.array([0.5, 0.3, -0.2])


def gaussian(rho: float, sd: float = 1 / 3) -> Pilot:
    """Columns of 17 values, Gaussian weights."""
    x, y = GRID.T
    return Pilot(("x", "y"), GRID, np.exp(-(x * x - 2 * rho * x * y + y * y) / (2 * sd**2 * (1 - rho**2))))


def regression(rng: np.random.Generator, n: int) -> np.ndarray:
    """Records of three covariates and a response, within [-4, 4]."""
    z = rng.standard_normal((n, 3))
    return np.clip(np.column_stack([z, z @ SLOPES + rng.standard_normal(n)]), -4, 4)


def told(name: str, made: FeaturesDesign, truth: np.ndarray, records, runs: int, n: int, seed: int) -> None:
    """Print what the formula says of a design and what simulations do."""
    rng = np.random.default_rng(seed)
    values, held = [], 0
    for _ in range(runs):
        found = estimate_features(made.mechanism, made.mechanism.sample(records(rng, n), rng))
        values.append(found.value)
        held += np.mean((found.low <= truth) & (truth <= found.high))
    simulated = n * np.var(values, axis=0).sum() + (n * np.var(values, axis=0).sum()) / max(runs - 1, 1)
    print(f"{name:34} {made.variances.sum():10.2f} {simulated:10.2f} {held / runs:8.3f} {made.people_within(0.05):12,}")


def split_cells(rows: int, columns: int, epsilon: float) -> float:
    """Return the sum over even cells of n times the variance, of the best joint fit to a report of each column.

    Each column has half the budget, through the oracle that errs least on it.
    """
    laws = []
    for size in (rows, columns):
        oracle = frequency_oracle(range(size), epsilon / 2)
        # Hashing has reports without end; of so few values response and subsets are always better.
        laws.append(oracle.pmf(oracle.all_reports()))
    law = np.kron(*laws)
    information = law.T @ (law / law.mean(axis=1)[:, None])
    return float(np.trace(np.linalg.inv(information)) - 1 / (rows * columns))


def told_cells(rows: int, columns: int, epsilon: float, runs: int, n: int, seed: int) -> None:
    """Print the formula, simulation and coverage of even cells, and how often independence is rejected in vain."""
    made, rng = design_table({"a": range(rows), "b": range(columns)}, epsilon), np.random.default_rng(seed)
    even, errors, held, rejected = 1 / (rows * columns), [], 0.0, 0
    for _ in range(runs):
        reports = made.mechanism.sample_codes(rng.integers(rows * columns, size=n), rng)
        found = estimate_frequencies(count(made.mechanism, reports))
        interval = found.interval()
        errors.append(((found.value - even) ** 2).sum())
        held += float(np.mean((interval.low <= even) & (even <= interval.high)))
        rejected += independence(found.value.reshape(rows, columns), found.covariance).p < 0.05
    name = f"cells {rows} x {columns}, eps {epsilon:g}"
    print(f"{name:34} {made.variances.sum():10.2f} {n * np.mean(errors):10.2f} {held / runs:8.3f}", end="")
    print(f"   independence rejected {rejected / runs:.3f}, split {split_cells(rows, columns, epsilon):.1f}")


def five_groups() -> tuple[np.ndarray, np.ndarray]:
    """Groups and values of a population: five groups alike in size, means from -1 to 1, standard deviation 1."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(5), 400)
    return groups, np.clip(np.round(rng.standard_normal(groups.size) + groups / 2 - 1, 1), -4, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", type=int, default=50_000)
    asked = parser.parse_args()
    started = time.process_time()
    print(f"{'n times variance':34} {'formula':>10} {'simulated':>10} {'coverage':>8} {'people +-.05':>12}")
    law = gaussian(0.5)
    rho = float(law.covariance[0, 1] / math.sqrt(law.covariance[0, 0] * law.covariance[1, 1]))

    def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
        return GRID[rng.choice(len(GRID), n, p=law.weights)]

    for epsilon in (1.0, 2.0, 4.0):
        for name, clip, share in (("unclipped", math.inf, 0.0), ("clipped at 2 sd", 2.0, None)):
            made = design_association("correlation", BOX, epsilon, law, clip=clip, uniform_share=share)
            told(f"correlation {name}, eps {epsilon:g}", made, np.array([rho]), drawn, asked.runs, asked.n, 1)
            print(f"{'  budget split':34} {split_variance(law, BOX, epsilon, clip=clip):10.2f}")
        made = design_association("correlation", BOX, epsilon)
        told(f"correlation, moments, eps {epsilon:g}", made, np.array([rho]), drawn, asked.runs, asked.n, 2)
        survey = Pilot(("a", "b", "c", "y"), regression(np.random.default_rng(3), 2000))
        made = design_regression("y", dict.fromkeys(survey.names, (-4.0, 4.0)), epsilon, survey)
        told(f"slopes of three, eps {epsilon:g}", made, SLOPES, regression, asked.runs, asked.n, 4)
        groups, values = five_groups()
        made = design_groups("g", tuple("abcde"), "y", (-4, 4), epsilon, groups, values)
        truth = np.bincount(groups, values) / np.bincount(groups)
        people = np.column_stack([groups, values])
        told(
            f"means of five groups, eps {epsilon:g}", made, truth,
            lambda rng, n, people=people: people[rng.integers(len(people), size=n)], asked.runs, asked.n, 5,
        )  # fmt: skip
        told_cells(4, 5, epsilon, asked.runs, asked.n, 7)
        told_cells(2, 2, epsilon, asked.runs, asked.n, 8)
    print(f"{time.process_time() - started:.0f} processor seconds")


if __name__ == "__main__":
    main()
