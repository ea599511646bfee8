"""Certified optima with outputs free, gap 1e-6: processor seconds of one thread over 32 problems of each size.

Eight priors (two bells, falling, flat, arcsine, two humps, random weights, a random histogram; a share of 0.001 even)
at epsilon 0.5, 1, 2 and 4. "All" is from knots to a table with its recomputed certificate; "floor" stops before rows
are made, at the outputs, their masses and the certified bound, in memory that is linear in the knots. Beside them the
path that the library took up to 0.1.0, and Clarabel on the same program with 321 outputs given, through cvxpy: one
problem each, since they take so long.
"""

import statistics
import time
from collections.abc import Callable

import numpy as np
from markdown_table import table
from optldp.solvers import UnbiasedProgram, certified_bound, solve_unbiased, solve_with_cvxpy
from optldp.solvers.barrier.optimum import solve_by_barrier
from optldp.solvers.unbiased.optimum import around_knots
from optldp.solvers.unbiased.primal_dual import PrimalDualPath
from scipy import stats
from threadpoolctl import threadpool_limits

TITLE = "From knots to a certified optimum"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
SHARE = 1e-3
GAP = 1e-6
OUTPUTS = 321


def priors(n: int) -> dict[str, np.ndarray]:
    """Weights (n,) by name."""
    x, rng = np.linspace(-1, 1, n), np.random.default_rng(n)
    cells = np.concatenate([[-1], (x[1:] + x[:-1]) / 2, [1]])
    shapes = {
        "bell .1": np.exp(-0.5 * (x / 0.1) ** 2),
        "bell .3": np.exp(-0.5 * (x / 0.3) ** 2),
        "falling": np.exp(-6 * (x + 1)),
        "flat": np.ones(n),
        "arcsine": np.diff(stats.beta(0.5, 0.5, loc=-1, scale=2).cdf(cells)),
        "humps": np.exp(-0.5 * ((x - 0.5) / 0.1) ** 2) + np.exp(-0.5 * ((x + 0.5) / 0.2) ** 2),
        "random": rng.dirichlet(np.full(n, 0.5)),
        "histogram": np.repeat(rng.random(10), n // 10 + 1)[:n],
    }
    return {name: (1 - SHARE) * p / p.sum() + SHARE / n for name, p in shapes.items()}


def run() -> str:
    rows = []
    with threadpool_limits(1, user_api="blas"):
        for n in (65, 101, 401, 1001):
            rows.append((n, "all", *_over_problems(n, _all)))
        for n in (1001, 4001):
            rows.append((n, "floor", *_over_problems(n, _floor)))
        rivals = [_former(65), _former(101), _former(201), _clarabel(101)]
    header = ("knots", "what", "problems", "closed", "median s", "largest s")
    others = ("knots", "way", "s", "ours, all, s", "ratio")
    return f"{table(header, rows)}\n\nThe others, bell .3 at epsilon 1:\n\n{table(others, rivals)}"


def _over_problems(n: int, solve: Callable[[UnbiasedProgram], bool]) -> tuple[object, ...]:
    seconds, closed = [], 0
    for weights in priors(n).values():
        for epsilon in EPSILONS:
            program = UnbiasedProgram(np.linspace(-1, 1, n), weights, float(np.exp(epsilon)))
            started = time.process_time()
            closed += solve(program)
            seconds.append(time.process_time() - started)
    return len(seconds), closed, f"{statistics.median(seconds):.3f}", f"{max(seconds):.2f}"


def _all(program: UnbiasedProgram) -> bool:
    return solve_unbiased(program.knots, program.weights, program.ratio, tolerance=GAP).relative_gap <= GAP


def _floor(program: UnbiasedProgram) -> bool:
    found = solve_by_barrier(program.knots, program.weights, program.ratio, 0.8 * GAP, lambda *_: None)
    if found is None:
        return False
    bound = certified_bound(program, *around_knots(program, found.lam, found.nu))
    return found.floor.objective - bound <= GAP * found.floor.objective


def _former(n: int) -> tuple[object, ...]:
    program = _one(n)
    path = PrimalDualPath(program, 0.8 * GAP, lambda *_: None)
    return _beside(program, "primal-dual path, as in 0.1.0", path.run)


def _clarabel(n: int) -> tuple[object, ...]:
    program = _one(n)
    reach = 1.6 * (program.ratio + 1) / (program.ratio - 1)
    outputs = np.linspace(-reach, reach, OUTPUTS)
    return _beside(
        program,
        f"Clarabel, {OUTPUTS} outputs given",
        lambda: solve_with_cvxpy(program.knots, program.weights, outputs, 1.0),
    )


def _one(n: int) -> UnbiasedProgram:
    return UnbiasedProgram(np.linspace(-1, 1, n), priors(n)["bell .3"], np.e)


def _beside(program: UnbiasedProgram, way: str, solve: Callable[[], object]) -> tuple[object, ...]:
    ours, theirs = (_seconds(what) for what in (lambda: _all(program), solve))
    return len(program.knots), way, f"{theirs:.2f}", f"{ours:.3f}", f"{theirs / ours:.0f}"


def _seconds(solve: Callable[[], object]) -> float:
    started = time.process_time()
    solve()
    return time.process_time() - started
