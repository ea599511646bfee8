"""Random problems, made to be hard, are each solved to a gap of 1e-6. The table shows which solver closed it, and how
long the slowest took.

They have three to 2001 knots, which are even, irregular or clustered at the ends. Priors have one value or eight,
spikes, bells or histograms, or fall over ten orders of magnitude. The even share is 0, 0.001 or 0.05, and epsilon is
.05 to 12. `python benchmarks/run.py benchmarks --part hostile_problems 2000` sets how many, and a second number the
first.
"""

import statistics
import warnings

import numpy as np
from measured import Cell, Table, timed
from optldp.solvers import UnbiasedProgram, solve_unbiased
from optldp.solvers.barrier.barrier_method import solve_by_barrier

TITLE = "Hostile problems"
MOST, LEAST_APART = 2001, 1e-6
GAP = 1e-6
SIZES = (17, 65, 257, 1025, MOST)
"""The last number of knots of each row."""


def knots(rng: np.random.Generator) -> np.ndarray:
    """Increasing from -1 to 1, no two closer than a millionth."""
    n = int(np.exp(rng.uniform(np.log(3), np.log(MOST))))
    kind = rng.choice(["even", "even", "irregular", "clustered"])
    if kind == "even":
        return np.linspace(-1, 1, n)
    inner = rng.uniform(-1, 1, n - 2) if kind == "irregular" else 0.999 * np.tanh(3 * rng.standard_normal(n - 2))
    x = np.sort(inner)
    x = x[np.diff(x, prepend=-1.0) > LEAST_APART]
    return np.concatenate([[-1.0], x[x < 1 - LEAST_APART], [1.0]])


def weights(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Summing to one."""
    n = len(x)
    atoms = np.bincount(rng.integers(0, n, 8), rng.random(8) + 0.01, n)
    shapes = {
        "dirichlet": rng.dirichlet(np.full(n, rng.choice([0.1, 0.5, 1.0]))),
        "atoms": atoms,
        "bell": np.exp(-0.5 * ((x - rng.uniform(-1, 1)) / rng.uniform(0.01, 0.5)) ** 2),
        "histogram": np.repeat(rng.random(10), n // 10 + 1)[:n],
        "falling": np.exp(-rng.uniform(0.5, 12) * (x + 1)),
        "orders": 10.0 ** rng.uniform(-10, 0, n),
        "flat": np.ones(n),
        "one value": np.eye(1, n, int(rng.integers(n)))[0],
    }
    p = shapes[str(rng.choice(list(shapes)))] + 1e-300
    share = rng.choice([0.0, 1e-3, 1e-3, 0.05])
    return (1 - share) * p / p.sum() + share / n


def problem(seed: int) -> UnbiasedProgram:
    """The problem of this number."""
    rng = np.random.default_rng([2026, seed])
    x = knots(rng)
    p = weights(x, rng)
    return UnbiasedProgram(x, p / p.sum(), float(np.exp(np.exp(rng.uniform(np.log(0.05), np.log(12))))))


def by_barrier(program: UnbiasedProgram) -> bool:
    """Whether the barrier alone closes it."""
    found = solve_by_barrier(program.knots, program.weights, program.ratio, 0.8 * GAP, lambda *_: None)
    return found is not None and found.floor.objective - found.lam.sum() <= GAP * found.floor.objective


def run(count: int = 100, first: int = 0) -> list[Table]:
    """So many problems from the first on."""
    met: dict[int, list[tuple[bool, bool, float]]] = {size: [] for size in SIZES}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for seed in range(first, first + count):
            x, p, E = (program := problem(seed)).knots, program.weights, program.ratio
            best, seconds = timed(lambda x=x, p=p, E=E: solve_unbiased(x, p, E, tolerance=GAP))
            size = next(size for size in SIZES if len(x) <= size)
            met[size].append((best.gap <= GAP, by_barrier(program), seconds))
    rows: list[tuple[Cell, ...]] = []
    for size, found in met.items():
        if found:
            closed, alone, seconds = zip(*found, strict=True)
            median = statistics.median(seconds)
            rows.append(
                (f"to {size}", len(found), sum(closed), sum(alone), median, max(seconds), max(seconds) / median)
            )
    columns = {
        "knots": "", "problems": "", "closed": "", "by the barrier alone": "", "median s": ".3f", "largest s": ".2f",
        "ratio": ".0f",
    }  # fmt: skip
    return [Table(columns, rows)]
