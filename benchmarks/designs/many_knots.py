"""This part finds certified optima with free outputs to a gap of 1e-6, over 32 problems of each size, and measures
their memory.

There are eight priors (two bells, falling, flat, arcsine, two humps, random weights, a random histogram; a share of
0.001 even) at epsilon 0.5, 1, 2 and 4. "Table" is from knots to a table with its recomputed certificate; "floor" stops
before rows are made, at the outputs, their masses and the certified bound, in memory that is linear in the knots.
Version 0.1.0 took 0.3, 0.7 and 15 to 65 s at 65, 101 and 401 knots.
"""

from collections.abc import Callable

import numpy as np
from measured import Cell, Table, alone, memory, timed
from optldp.solvers import UnbiasedProgram, certified_bound, solve_unbiased
from optldp.solvers.barrier.barrier_method import solve_by_barrier
from scipy import stats

TITLE = "From knots to a certified optimum"
EPSILONS = (0.5, 1.0, 2.0, 4.0)
SHARE = 1e-3
GAP = 1e-6
TABLES, FLOORS = (65, 101, 401, 1001), (4001,)
MEMORY = (1001, 4001, 16_001)


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


def bell(n: int) -> UnbiasedProgram:
    """The one problem where there is time for one: the wider bell at epsilon 1."""
    return UnbiasedProgram(np.linspace(-1, 1, n), priors(n)["bell .3"], np.e)


def run() -> list[Table]:
    spread = [("table", n, *over_problems(n, to_table)) for n in TABLES]
    spread += [("floor", n, *over_problems(n, to_floor)) for n in FLOORS]
    columns = {
        "what": "", "knots": "", "problems": "", "closed": "", "median s": ".3f", "90%, s": ".3f", "largest s": ".3f",
    }  # fmt: skip
    return [Table(columns, spread), _memory()]


def over_problems(n: int, solve: Callable[[UnbiasedProgram], bool]) -> tuple[Cell, ...]:
    """How many problems, how many closed to the gap, and the median, 90% and largest of their seconds."""
    taken, closed = [], 0
    for weights in priors(n).values():
        for epsilon in EPSILONS:
            program = UnbiasedProgram(np.linspace(-1, 1, n), weights, float(np.exp(epsilon)))
            done, seconds = timed(lambda program=program: solve(program))
            closed += done
            taken.append(seconds)
    return len(taken), closed, *(float(one) for one in np.quantile(taken, [0.5, 0.9, 1.0]))


def to_table(program: UnbiasedProgram) -> bool:
    return solve_unbiased(program.knots, program.weights, program.ratio, tolerance=GAP).gap <= GAP


def to_floor(program: UnbiasedProgram) -> bool:
    found = solve_by_barrier(program.knots, program.weights, program.ratio, 0.8 * GAP, lambda *_: None)
    if found is None:
        return False
    bound = certified_bound(program, found.lam, found.nu)
    return found.floor.objective - bound <= GAP * found.floor.objective


def _memory() -> Table:
    rows: list[tuple[Cell, ...]] = []
    for n in MEMORY:
        found = alone(floor_memory, n)
        rows.append((n, found["seconds"], found["megabytes"], 1024 * found["megabytes"] / n))
    columns = {"knots": "", "s": ".2f", "MB more than before": ".1f", "kB a knot": ".1f"}
    return Table(
        columns,
        rows,
        "The next table has the memory of a floor, for the wider bell at epsilon 1, each in a process of its own:",
    )


def floor_memory(n: int) -> dict[str, float]:
    """Seconds, and the most megabytes that a floor takes beyond what its process had before."""
    program = bell(n)
    to_floor(bell(65))
    before = memory("VmRSS")
    _, seconds = timed(lambda: to_floor(program))
    return {"seconds": seconds, "megabytes": memory("VmHWM") - before}
