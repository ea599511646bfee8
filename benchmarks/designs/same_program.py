"""The structured interior point beside general solvers, on the same program with the same fixed outputs."""

import math

import numpy as np
from markdown_table import table
from optldp.solvers import solve_on_outputs, solve_with_cvxpy, solve_with_highs
from priors import at_knots
from threadpoolctl import threadpool_limits

TITLE = "The same program on the same outputs, gap 1e-6, epsilon 1"
SIZES = ((17, 129), (17, 321), (65, 321))
GAP = 1e-6
REPEATS = 5


def run() -> str:
    rows = []
    for n, m in SIZES:
        for name in ("gaussian", "exponential"):
            rows.append(_row(n, m, name))
    header = (
        "knots x outputs", "prior", "structured, s (steps)", "HiGHS ipm, no crossover, s", "ratio",
        "HiGHS simplex, s", "Clarabel through cvxpy, s", "objective: structured / HiGHS ipm",
    )  # fmt: skip
    return table(header, rows)


def _row(n: int, m: int, name: str) -> tuple[object, ...]:
    prior, E = at_knots(name, n), math.e
    reach = 1.6 * (E + 1) / (E - 1)
    outputs = np.linspace(-reach, reach, m)
    with threadpool_limits(1, user_api="blas"):
        ours = [solve_on_outputs(prior.knots, prior.weights, outputs, E, tolerance=GAP) for _ in range(REPEATS)]
    best = sorted(ours, key=lambda one: one.seconds)[REPEATS // 2]
    highs = solve_with_highs(prior.knots, prior.weights, outputs, 1.0, solver="ipm", crossover=False, tolerance=GAP)
    simplex = clarabel = "-"
    if n < 50:
        simplex = f"{solve_with_highs(prior.knots, prior.weights, outputs, 1.0, solver='simplex').seconds:.2f}"
        clarabel = f"{solve_with_cvxpy(prior.knots, prior.weights, outputs, 1.0).seconds:.2f}"
    return (
        f"{n} x {m}", name, f"{best.seconds:.4f} ({best.steps})", f"{highs.seconds:.2f}",
        f"{highs.seconds / best.seconds:.1f}", simplex, clarabel, f"{best.objective:.7f} / {highs.objective:.7f}",
    )  # fmt: skip
