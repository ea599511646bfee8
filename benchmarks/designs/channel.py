"""Privacy is a tree here. The interior point and general solvers find the table on given outputs from the same rows."""

import cvxpy as cp
import numpy as np
from measured import Table, timed
from optldp.solvers.channel import ChannelProgram, solve_channel
from optldp.solvers.channel.highs import lowered
from optldp.solvers.cone import Cone, line, pure

TITLE = "Tables on given outputs, biased and not, pure and by distance"
ABOUT = (
    "Priors are even on [-1, 1]. Biased reports have absolute loss and outputs on the values; unbiased reports have "
    "squared loss and 201 outputs on [-3.5, 3.5]. Privacy is pure with epsilon 1, or by distance with that epsilon "
    "per unit. "
    "Clarabel and HiGHS (with crossover; the unbiased ones take it a minute) get the same rows, of neighbours in the "
    "tree. Seconds are of the processor; gaps are the library's own, proved from multipliers."
)
GAP = 1e-6
SMALL = 101
"""Values from which on general solvers are left out."""


def run() -> list[Table]:
    columns = {"values": "", "outputs": "", "": "", "value": ".6f", "gap": ".0e", "steps": "", "s": ".2f"}
    columns |= {"Clarabel, s": ".2f", "HiGHS, s": ".2f"}
    return [Table(columns, [_row(*case) for case in _cases()], ABOUT)]


def _cases() -> list[tuple[str, ChannelProgram]]:
    def biased(n: int, cone: Cone, share: float) -> ChannelProgram:
        x = np.linspace(-1, 1, n)
        return ChannelProgram(cone, np.full(n, 1 / n), abs(x - x[:, None]), share)

    def unbiased(n: int, cone: Cone) -> ChannelProgram:
        x = np.linspace(-1, 1, n)
        return ChannelProgram.unbiased(cone, np.full(n, 1 / n), x, np.linspace(-3.5, 3.5, 201))

    def near(n: int, epsilon: float) -> Cone:
        return line(np.linspace(-1, 1, n), epsilon)

    cases = []
    for n in (SMALL, 301):
        cases += [
            ("pure, expected", biased(n, pure(n, 1.0), 0.0)),
            ("pure, worst", biased(n, pure(n, 1.0), 1.0)),
            ("10 per unit, expected", biased(n, near(n, 10.0), 0.0)),
        ]
    return [
        *cases,
        ("unbiased, pure", unbiased(SMALL, pure(SMALL, 1.0))),
        ("unbiased, 2 per unit", unbiased(SMALL, near(SMALL, 2.0))),
    ]


def _row(what: str, program: ChannelProgram) -> tuple[str | float | None, ...]:
    found, seconds = timed(lambda: solve_channel(program, tolerance=GAP, solver="tree"))
    n, m = program.losses.shape
    clarabel, highs = (_clarabel(program) if n <= SMALL else None), None
    if n <= SMALL and program.deviations is None:
        highs = timed(lambda: solve_channel(program, tolerance=GAP, solver="highs"))[1]
    return n, m, what, found.value, found.gap, found.steps, seconds, clarabel, highs


def _clarabel(program: ChannelProgram) -> float:
    rows = lowered(program)
    equal = rows.row_lower == rows.row_upper
    x, sign = cp.Variable(rows.cost.size), np.where(np.isfinite(rows.row_lower), 1.0, -1.0)
    ends = np.where(np.isfinite(rows.row_lower), rows.row_lower, rows.row_upper)
    signed = rows.matrix.multiply(sign[:, None]).tocsr()
    problem = cp.Problem(
        cp.Minimize(rows.cost @ x),
        [signed[equal] @ x == (sign * ends)[equal], signed[~equal] @ x >= (sign * ends)[~equal]],
    )
    data, chain, _ = problem.get_problem_data(cp.CLARABEL)  # so that no modelling is timed
    assert chain is not None
    return timed(lambda: chain.solve_via_data(problem, data, solver_opts={"tol_gap_rel": GAP}))[1]
