"""People that correlations, slopes, groups and tables take, and whether their intervals hold: `python two_columns.py`.

Variances times n by formula and by simulation, coverage of 95% intervals over so many runs, for Gaussian columns of
17 values to three standard deviations, for a regression of three covariates with a survey of 2,000, for means of five
groups, and for tables of 4 x 5 even cells beside half the budget for each column and the best joint fit; one seed.
`--part real --data FOLDER` has real columns, people drawn with replacement, beside split budgets; `--part people` the
table of people needed, in Markdown.
"""

# Each case knows which kind of mechanism it made; the types say only that it is one of two.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from markdown_table import table
from optldp.designer.features import (
    FeaturesDesign,
    Pilot,
    design_after,
    design_association,
    design_groups,
    design_regression,
    design_table,
    moments_variance,
    split_cells,
    split_groups,
    split_slopes,
    split_variance,
    two_rounds,
)
from optldp.estimators import count, estimate_frequencies
from optldp.estimators.features import estimate_features, independence
from optldp.mechanisms import InputError

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


def told(
    name: str, made: FeaturesDesign, truth: np.ndarray, records, runs: int, n: int, seed: int,
    formula: np.ndarray | None = None,
) -> None:  # fmt: skip
    """Print what the formula says of a design, or of it at one law, and what simulations do."""
    rng = np.random.default_rng(seed)
    values, held = [], 0
    for _ in range(runs):
        found = estimate_features(made.mechanism, made.mechanism.sample(records(rng, n), rng))
        values.append(found.value)
        held += np.mean((found.low <= truth) & (truth <= found.high))
    simulated = n * np.var(values, axis=0, ddof=1).sum()
    said = (made.variances if formula is None else formula).sum()
    print(f"{name:34} {said:10.2f} {simulated:10.2f} {held / runs:8.3f} {made.people_within(0.05):12,}")


def told_cells(rows: int, columns: int, epsilon: float, runs: int, n: int, seed: int) -> None:
    """Print the formula, simulation and coverage of even cells, and how often independence is rejected in vain."""
    made, rng = design_table({"a": range(rows), "b": range(columns)}, epsilon), np.random.default_rng(seed)
    even, errors, held, rejected = 1 / (rows * columns), [], 0.0, 0
    shares = np.full(rows * columns, even)
    for _ in range(runs):
        reports = made.mechanism.sample_codes(rng.integers(rows * columns, size=n), rng)
        found = estimate_frequencies(count(made.mechanism, reports))
        interval = found.interval()
        errors.append(((found.value - even) ** 2).sum())
        held += float(np.mean((interval.low <= even) & (even <= interval.high)))
        rejected += independence(found.value.reshape(rows, columns), found.covariance).p < 0.05
    name, split = f"cells {rows} x {columns}, eps {epsilon:g}", split_cells((rows, columns), epsilon, shares).sum()
    print(f"{name:34} {made.variances.sum():10.2f} {n * np.mean(errors):10.2f} {held / runs:8.3f}", end="")
    print(f"   independence rejected {rejected / runs:.3f}, split {split:.1f}")


def five_groups() -> tuple[np.ndarray, np.ndarray]:
    """Groups and values of a population: five groups alike in size, means from -1 to 1, standard deviation 1."""
    rng = np.random.default_rng(6)
    groups = np.repeat(np.arange(5), 400)
    return groups, np.clip(np.round(rng.standard_normal(groups.size) + groups / 2 - 1, 1), -4, 4)


def told_association(target: str, epsilon: float, runs: int, n: int) -> None:
    """Print both ways of a correlation or a covariance of Gaussian columns, and the one without a survey."""
    law = gaussian(0.5)
    covariance = law.covariance
    truth = covariance[0, 1]
    if target == "correlation":
        truth /= math.sqrt(covariance[0, 0] * covariance[1, 1])

    def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
        return GRID[rng.choice(len(GRID), n, p=law.weights)]

    for name, clip, share in (("unclipped", math.inf, 0.0), ("clipped at 2 sd", 2.0, None)):
        made = design_association(target, BOX, epsilon, law, clip=clip, uniform_share=share)
        told(f"{target} {name}, eps {epsilon:g}", made, np.array([truth]), drawn, runs, n, 1)
        if target == "correlation":
            print(f"{'  budget split':34} {split_variance(law, BOX, epsilon, clip=clip):10.2f}")
    made = design_association(target, BOX, epsilon)
    at_law = moments_variance(made.mechanism, law)
    told(f"{target}, moments, eps {epsilon:g}", made, np.array([truth]), drawn, runs, n, 2, at_law)
    print(f"{'  averaged over laws':34} {made.variances.sum():10.2f}")


def told_survey(epsilon: float, runs: int, n: int) -> None:
    """Print a correlation by a survey of 2,000 records, cut at two standard deviations, and Spearman's by the law."""
    law = gaussian(0.5)

    def drawn(rng: np.random.Generator, n: int) -> np.ndarray:
        return GRID[rng.choice(len(GRID), n, p=law.weights)]

    rho = law.covariance[0, 1] / math.sqrt(law.covariance[0, 0] * law.covariance[1, 1])
    made = design_association("correlation", BOX, epsilon, Pilot(law.names, drawn(np.random.default_rng(12), 2000)))
    told(f"correlation by a survey, eps {epsilon:g}", made, np.array([rho]), drawn, runs, n, 13)
    made = design_association("correlation", BOX, epsilon, law, rank=True)
    ranks = [made.mechanism.ranks[name].of(column) - 0.5 for name, column in zip("xy", GRID.T, strict=True)]
    truth = np.array([12 * law.weights @ (ranks[0] * ranks[1])])
    told(f"Spearman's, eps {epsilon:g}", made, truth, drawn, runs, n, 14)


def told_slopes(epsilon: float, runs: int, n: int) -> None:
    """Print slopes on three covariates by a survey of 2,000."""
    survey = Pilot(("a", "b", "c", "y"), regression(np.random.default_rng(3), 2000))
    made = design_regression("y", dict.fromkeys(survey.names, (-4.0, 4.0)), epsilon, survey)
    told(f"slopes of three, eps {epsilon:g}", made, SLOPES, regression, runs, n, 4)
    print(f"{'  pairs, budget split':34} {split_slopes('y', made.mechanism.columns, epsilon, survey).sum():10.2f}")


def told_rounds(epsilon: float, runs: int, n: int) -> None:
    """Print slopes on three covariates without a survey, in one round and in two of as many people together."""
    box, rng = dict.fromkeys("abcy", (-4.0, 4.0)), np.random.default_rng(11)
    plan, first = two_rounds("y", box, epsilon), design_regression("y", box, epsilon).mechanism
    early, of_each = round(0.3 * n), {"one round": [], "two rounds": []}
    refused = dict.fromkeys(of_each, 0)
    for _ in range(runs):
        for name, found in of_each.items():
            try:
                if name == "one round":
                    made, reporting = first, n
                else:
                    made = design_after(first, first.sample(regression(rng, early), rng), epsilon).mechanism
                    reporting = n - early
                found.append(estimate_features(made, made.sample(regression(rng, reporting), rng)))
            except InputError:  # covariates that are not told apart
                refused[name] += 1
    for (name, found), formula in zip(of_each.items(), (plan.one, plan.two + plan.second / n), strict=True):
        errors = n * np.mean([(each.value - SLOPES) ** 2 for each in found], axis=0).sum() if found else math.nan
        held = np.mean([(each.low <= SLOPES) & (each.high >= SLOPES) for each in found]) if found else math.nan
        print(f"{f'slopes, {name}, eps {epsilon:g}':34} {formula.sum():10.2f} {errors:10.2f} {held:8.3f}", end="")
        print(f"   refused {refused[name]} of {runs}")


def told_groups(epsilon: float, runs: int, n: int) -> None:
    """Print means of five groups alike in size, and of five with a fiftieth of the people in the first, both ways."""
    groups, values = five_groups()
    few = np.concatenate([np.flatnonzero(groups == 0)[::12], np.flatnonzero(groups)])
    for name, records in (("five groups", np.arange(len(groups))), ("a rare one", few)):
        people = np.column_stack([groups[records], values[records]])
        of_people = groups[records], values[records]
        truth = np.bincount(*of_people) / np.bincount(of_people[0])
        for way in ("signs", "sets"):
            made = design_groups("g", tuple("abcde"), "y", (-4, 4), epsilon, *of_people, way=way)
            title = f"{name}, {way}, eps {epsilon:g}"
            if n < made.least_people:
                print(f"{title:34} {made.variances.sum():10.2f}   not simulated")
            else:
                told(
                    title,
                    made,
                    truth,
                    lambda rng, n, people=people: people[rng.integers(len(people), size=n)],
                    runs,
                    n,
                    5,
                )
            print(f"{'  first group':34} {made.variances[0]:10.2f}   from {made.least_people:,} people on")
            whole = design_groups("g", tuple("abcde"), "y", (-4, 4), epsilon, *of_people, clip=math.inf, way=way)
            print(f"{'  nothing cut':34} {whole.variances.sum():10.2f}")
        print(f"{'  budget split':34} {split_groups(*of_people, (-4, 4), epsilon).sum():10.2f}")


def told_tables(epsilon: float, runs: int, n: int) -> None:
    """Print even cells of two tables."""
    told_cells(4, 5, epsilon, runs, n, 7)
    told_cells(2, 2, epsilon, runs, n, 8)


REAL = {
    ("adult", "education_num", "hours_per_week"): ((1.0, 16.0), (1.0, 99.0)),
    ("adult", "age", "hours_per_week"): ((17.0, 90.0), (1.0, 99.0)),
    ("bank_full", "age", "balance"): ((18.0, 95.0), (-8019.0, 102127.0)),
    ("acs_pincp_2019_excerpt", "age", "edu"): ((15.0, 95.0), (1.0, 12.0)),
}
"""Files and two of their columns, with boxes."""


def told_real(folder: Path, epsilon: float, runs: int, n: int) -> None:
    """Print correlations of real columns, by a survey of 2,000 other records, beside half the budget for each."""
    for (file, *names), ends in REAL.items():
        with np.load(folder / f"{file}.npz", allow_pickle=False) as arrays:
            records = np.column_stack([arrays[name] for name in names]).astype(float)
        rng = np.random.default_rng(9)
        rng.shuffle(records)
        box, survey = dict(zip(names, ends, strict=True)), Pilot(tuple(names), records[:2000])
        people = records[2000:]
        truth = np.array([np.corrcoef(people.T)[0, 1]])
        made = design_association("correlation", box, epsilon, survey)
        told(
            f"{names[0][:9]} x {names[1][:9]}, eps {epsilon:g}", made, truth,
            lambda rng, n, people=people: people[rng.integers(len(people), size=n)], runs, n, 10,
        )  # fmt: skip
        split = split_variance(survey, box, epsilon)
        print(
            f"{'  budget split':34} {split:10.2f}   correlation {truth[0]:.3f}, bias {made.bias_low[0]:.3f} to", end=""
        )
        print(f" {made.bias_high[0]:.3f}, people split over one {split / made.variances[0]:.1f}")


def people_needed() -> str:
    """Return the table of people needed, in Markdown."""
    law, rng = gaussian(0.5), np.random.default_rng(3)
    survey = Pilot(("a", "b", "c", "y"), regression(rng, 2000))
    groups, values = five_groups()
    makers: dict[str, tuple[float, Callable[[float], FeaturesDesign]]] = {
        "correlation within .05, no survey, averaged over laws": (
            0.05, lambda e: design_association("correlation", BOX, e)),
        "the same by its influence function": (
            0.05, lambda e: design_association("correlation", BOX, e, law, clip=math.inf)),
        "the same, columns cut at 2 sd": (0.05, lambda e: design_association("correlation", BOX, e, law)),
        "Spearman's, within .05": (0.05, lambda e: design_association("correlation", BOX, e, law, rank=True)),
        "three slopes of .5, .3, -.2, within .05": (
            0.05, lambda e: design_regression("y", dict.fromkeys(survey.names, (-4.0, 4.0)), e, survey)),
        "means of five groups, within .1 sd": (
            0.1, lambda e: design_groups("g", tuple("abcde"), "y", (-4, 4), e, groups, values)),
        "shares of 4 x 5 cells, within .01": (0.01, lambda e: design_table({"a": range(4), "b": range(5)}, e)),
    }  # fmt: skip
    split = {e: split_variance(law, BOX, e, clip=math.inf) * (1.959963984540054 / 0.05) ** 2 for e in EPSILONS}
    rows = [["correlation of .5, within .05, budget split", *(f"{split[e]:,.0f}" for e in EPSILONS)]]
    for name, (error, made) in makers.items():
        rows.append([name, *(f"{made(e).people_within(error):,}" for e in EPSILONS)])
    return table(["people needed, 95%", *(f"epsilon {e:g}" for e in EPSILONS)], rows)


EPSILONS = (1.0, 2.0, 4.0)

PARTS: dict[str, Callable[[float, int, int], None]] = {
    "correlation": lambda epsilon, runs, n: told_association("correlation", epsilon, runs, n),
    "covariance": lambda epsilon, runs, n: told_association("covariance", epsilon, runs, n),
    "survey": told_survey,
    "regression": told_slopes,
    "rounds": told_rounds,
    "group-means": told_groups,
    "table": told_tables,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--n", type=int, default=50_000)
    parser.add_argument("--part", choices=[*PARTS, "real", "people"], action="append", help="default: all of one seed")
    parser.add_argument("--epsilon", type=float, action="append", help="default: 1, 2 and 4")
    parser.add_argument("--data", type=Path, help="folder with the real data sets, npz files")
    asked = parser.parse_args()
    started = time.process_time()
    parts = asked.part or list(PARTS)
    if "people" in parts:
        print(people_needed())
    print(f"{'n times variance':34} {'formula':>10} {'simulated':>10} {'coverage':>8} {'people +-.05':>12}")
    for epsilon in asked.epsilon or EPSILONS:
        for part in parts:
            if part == "real":
                if asked.data is None:
                    parser.error("--part real needs --data")
                told_real(asked.data, epsilon, asked.runs, asked.n)
            elif part != "people":
                PARTS[part](epsilon, asked.runs, asked.n)
    print(f"{time.process_time() - started:.0f} processor seconds")


if __name__ == "__main__":
    main()
