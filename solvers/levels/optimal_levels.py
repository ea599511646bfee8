"""The tables of several levels on the same outputs with the least mean variance, and the certificate of it.

Measured on one core: 10 levels, 33 knots and 81 outputs in 1 to 4 s to a gap of 1e-4; HiGHS needs 167 s for 1e-5.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy.linalg import LinAlgError

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..certificate import BestBound, Optimum, Progress, check_tolerance, relative_gap
from .interior_point import LevelsIterate, newton_step, residual, restored, start
from .levels_program import LevelsProgram

MAX_STEPS = 200
"""Twenty to seventy are typical."""

CLOSED = 0.5
"""Share of the tolerance at which the path stops: the tables are still to be mended."""

MET = 1e-8
"""What normalisation may lack of tables that are mended, and unbiasedness as a share of the largest offset; a step or
two more take it to 1e-12."""

STUCK = 1e-9
"""A step this short says that rounding has stopped the method."""

LEAST_GAP = 1e-8
"""Relative gap by slacks and multipliers alone below which slacks have no digits left that could be trusted."""


def solve_levels(
    program: LevelsProgram, *, tolerance: float = 1e-4, progress: Callable[[Progress], None] | None = None
) -> Optimum[Array]:
    """Solve the levels program; with F = 1 all levels have the table of the smallest ratio.

    Parameters
    ----------
    program : LevelsProgram
    tolerance : float
        Relative gap to reach. Rounding stops the method between 1e-5 and 1e-7.
    progress : callable, optional
        Called after each step.

    Returns
    -------
    found : Optimum of (t, n, m) ndarray
        Probabilities of all levels: rows sum to one and are unbiased, ratios are within those of the program. Its value
        is the mean variance; its bound holds for all tables on these outputs.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1.
    SolverError
        Rounding stopped the method before the equations were met.

    Source: Mehrotra (1992), "On the implementation of a primal-dual interior point method".

    Example
    -------
    >>> import math
    >>> import numpy as np
    >>> from optldp.solvers.levels import LevelsProgram, solve_levels
    >>> knots, ratios = np.linspace(-1, 1, 5), np.exp([0.5, 1.0])
    >>> made = [
    ...     solve_levels(LevelsProgram(knots, np.full(5, 0.2), ratios, np.array([0.5, 0.5]), F, np.linspace(-7, 7, 29)))
    ...     for F in (1.0, math.e, math.inf)
    ... ]
    >>> [round(each.value, 1) for each in made]  # the more a report may tell of the level, the less noise
    [16.0, 12.8, 10.0]
    """
    check_tolerance(tolerance)
    one_table = program.between == 1.0
    path = _Path(_strictest_alone(program) if one_table else program, tolerance, progress)
    it = path.run()
    P, ((lam, nu), multipliers) = restored(path.program, it), path.multipliers
    if one_table:
        P = np.repeat(P, len(program.ratios), axis=0)
        lam, nu, multipliers = _spread(program, lam, nu, multipliers)
    value, bound = program.objective(P), max(0.0, program.bound(lam, nu, multipliers))
    proof = {"lam": lam, "nu": nu, "of_ratios": multipliers}
    return Optimum(P, value, bound, proof, tolerance, path.steps, path.seconds)


class _Path(BestBound[tuple[Array, Array]]):
    """The interior-point path with its best bound."""

    def __init__(self, program: LevelsProgram, tolerance: float, progress: Callable[[Progress], None] | None) -> None:
        t, n, _ = program.costs.shape
        super().__init__(progress, (np.zeros((2, t, n)), np.zeros((4, *program.costs.shape))))
        self.program, self.tolerance = program, tolerance

    def run(self) -> LevelsIterate:
        """Return the cheapest iterate that meets the equations, once its gap is closed or rounding stops the method."""
        it, best, cheapest = start(self.program), None, math.inf
        with suppress(LinAlgError, FloatingPointError), np.errstate(invalid="raise", divide="raise", over="raise"):
            while self.steps < MAX_STEPS:
                it, length = newton_step(self.program, it)
                self.steps += 1
                objective = self.program.objective(it.tables)
                bound = self.program.bound(it.prices[0], it.prices[1], it.multipliers)
                self.improve(bound, (it.prices, it.multipliers))
                self.tell(objective, len(self.program.outputs))
                if self._lacking(it) <= MET and objective < cheapest:
                    best, cheapest = it, objective
                    if relative_gap(cheapest, self.bound) <= CLOSED * self.tolerance:
                        break
                if length < STUCK or float((it.slacks * it.multipliers).sum()) <= LEAST_GAP * objective:
                    break
        if best is None:
            raise SolverError(f"the levels' program must meet its equations, got no such tables in {self.steps} steps")
        return best

    def _lacking(self, it: LevelsIterate) -> float:
        sums, means = abs(residual(self.program, it.tables))
        return max(sums.max(), means.max() / abs(self.program.offsets).max())


def _strictest_alone(program: LevelsProgram) -> LevelsProgram:
    return replace(program, ratios=program.ratios[:1], shares=np.ones(1), between=math.inf)


def _spread(program: LevelsProgram, lam: Array, nu: Array, multipliers: Array) -> tuple[Array, Array, Array]:
    """Return multipliers of all levels that prove what those of the one table of all prove."""
    t, n, m = program.costs.shape
    prices, spread = np.zeros((2, t, n)), np.zeros((4, t, n, m))
    prices[0, :1], prices[1, :1], spread[:2, :1] = lam, nu, multipliers[:2]
    reduced = program.costs - prices[0][:, :, None] - prices[1][:, :, None] * program.offsets - spread[0] + spread[1]
    moved = reduced - reduced.mean(0)  # to and from the other levels: what all have together stays
    spread[2], spread[3] = np.maximum(moved, 0), np.maximum(-moved, 0)
    return prices[0], prices[1], spread
