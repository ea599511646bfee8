"""The numbers that reports of a given table should count as, so that a mean of N users errs least, with a certificate.

The table P is given, of any kind: what report j counts as, d_j, is free.  In the words of `error_program`,

    minimise over d    R^2 = max over q in A of q.v / N + B^2,
    b_i = sum_j P_ij (d_j - x_i),      v_i = sum_j P_ij (d_j - x_i)^2.

**Certificate.**  For priors w, up, down in A and r, s >= 0, with nu = s down - r up,

    N R^2  >=  sum_ij P_ij (w_i (d_j - x_i)^2 - nu_i (d_j - x_i)) - (r + s)^2 / 4N,

whose least value over d is in closed form, report by report: d_j = (sum_i P_ij (w_i x_i + nu_i / 2)) / sum_i w_i P_ij.
With r = s = 0 that is the mean of the posterior; nu is what pulls it towards the values of an unbiased decoder.

**Path.**  Newton steps in d and the adversary (`adversary`) together: with W_j = sum_i w_i P_ij and G_ij = P_ij (d_j -
x_i), W dd = - G' dw + P' dnu / 2 + lack, d b = P dd and, to first order, d v = 2 G dd.  So the 2n equations have the
matrix A W^-1 A' / 2 with A = (P; 2 G) and the adversary's two diagonals.  A step costs O(n^2 m + n^3).  `summed` has
other A and W for the reports to several tables, and all else in common.

Source: derived here.  The decoder of least expected variance among the unbiased ones is the limit of many users.
"""

from __future__ import annotations

import math
import time
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ..arrays import Array
from ..certificate import Optimum, check_tolerance, relative_gap
from ..unbiased.correctors import predictor_corrector, step_lengths
from ..unbiased.interior_point import STEP_SHARE, Interior
from .adversary import BORDER, Adversary, AdversarySystem, Move
from .box import widened
from .least_error import HEADROOM
from .reports import DecoderBase

MAX_STEPS = 200
"""Newton steps allowed; thirty are typical."""


@dataclass(frozen=True, eq=False)
class DecoderIterate(Interior):
    """Numbers for reports, and an adversary."""

    values: Array
    adversary: Adversary

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return self.adversary.pairs


class DecoderSystem:
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: DecoderBase, it: DecoderIterate) -> None:
        n = len(program.knots)
        self.it, self.n = it, n
        worst, nu = it.adversary.priors[0], it.adversary.nu
        curvature = program.curvature(worst)
        self.drift = curvature.solve(program.pull(worst, nu) - curvature.times(it.values))
        self.rows = program.slopes(it.values)
        self.moves = 0.5 * curvature.solve(self.rows.T)
        self.system = AdversarySystem(it.adversary, *program.moments(it.values))
        matrix = self.rows @ self.moves
        matrix[np.arange(2 * n), np.arange(2 * n)] += np.concatenate([self.system.of_nu, self.system.of_worst])
        self.scale = 1 / np.sqrt(np.diag(matrix))
        self.matrix = matrix * self.scale[:, None] * self.scale
        # Scaled to a unit diagonal: a unit in the last place keeps the factor defined where rows are alike.
        self.factor = cho_factor(self.matrix + 1e-15 * np.eye(2 * n))
        self.towards = self._solve(np.concatenate([self.system.border_b, np.eye(1, BORDER).repeat(n, 0)]))

    def _solve(self, right: Array) -> Array:
        """Solve the equilibrated system, with one step of refinement."""
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        right = right * scale
        found = cho_solve(self.factor, right)
        return (found + cho_solve(self.factor, right - self.matrix @ found)) * scale

    def direction(self, targets: list[Array], *, newton: bool) -> Move:
        """Return the move whose products change by the targets, in the order of `pairs`."""
        known, n = self.system.known(targets, newton=newton), self.n
        drift = self.drift if newton else np.zeros_like(self.drift)
        free = self._solve(np.concatenate([known.b, known.v]) - self.rows @ drift)
        C_w, C_nu, Y, f = self.system.border_rows(known)
        C = np.hstack([C_nu, -C_w])
        y = np.asarray(np.linalg.solve(C @ self.towards + Y, f - C @ free), dtype=np.float64)
        z = free + self.towards @ y
        adversary = self.system.move(known, -z[n:], z[:n], y)
        change = self.moves @ z + drift
        return Move(*adversary.changes(self.it.adversary), (change,), adversary)


def solve_decoder(program: DecoderBase, *, tolerance: float = 1e-6) -> Optimum[Array]:
    """Derive the decoder of least R for the reports of a table, or of several, with its certificate.

    Parameters
    ----------
    program : DecoderProgram or SummedProgram
    tolerance : float
        Relative gap of R to reach.

    Returns
    -------
    best : Optimum of (M,) ndarray
        Number that each report counts as, in the unit of the knots. Its value is R. Its bound is a lower bound on R for
        all decoders of this table. Its multipliers are the fields of `Multipliers`.

    Raises
    ------
    InputError
        A tolerance that is not strictly between 0 and 1.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import DecoderProgram, trusted
    >>> from optldp.solvers.biased import solve_decoder
    >>> knots, P = np.linspace(-1, 1, 3), np.full((3, 3), 0.25) + 0.25 * np.eye(3)  # randomised response
    >>> many, few = (solve_decoder(DecoderProgram(knots, P, trusted(np.full(3, 1 / 3), 2.0), n)) for n in (10**9, 10))
    >>> many.solution.round(3) + 0.0  # unbiased: y / (1/2 - 1/4)
    array([-4.,  0.,  4.])
    >>> few.solution.round(1) + 0.0  # less noise, for some bias
    array([-1.,  0.,  1.])
    """
    started = time.perf_counter()
    check_tolerance(tolerance)
    box = program.priors
    outer = program.with_priors(widened(box))
    adversary = Adversary.start(outer.priors, float(program.users), *_scale(outer))
    it = DecoderIterate(outer.values(adversary.priors[0], adversary.nu), adversary)
    best, value = it.values, program.error(it.values).rmse
    multipliers = adversary.multipliers(box, np.zeros(len(program.knots)))
    lower, steps = program.bound(multipliers), 0
    with suppress(np.linalg.LinAlgError, ValueError), np.errstate(all="ignore"):  # what is not finite ends the path
        while relative_gap(value, lower) > tolerance and steps < MAX_STEPS:
            it, steps = _step(outer, it), steps + 1
            found = it.adversary.multipliers(box, multipliers.lam)
            for values in (it.values, program.values(found.worst, found.nu)):
                if (reached := program.error(values).rmse) < value:
                    best, value = values, reached
            if (bound := program.bound(found)) > lower:
                lower, multipliers = bound, found
    return Optimum(best, value, lower, vars(multipliers), tolerance, steps, time.perf_counter() - started)


def _scale(program: DecoderBase) -> tuple[Array, float]:
    """Return variances of the posterior mean under some prior of the set, and a weight for the bias to start with."""
    some = program.priors.some_prior
    v, _ = program.moments(program.values(some, np.zeros_like(some)))
    return v, HEADROOM * math.sqrt(program.users * float(v.mean()))


def _step(program: DecoderBase, it: DecoderIterate) -> DecoderIterate:
    system, n = DecoderSystem(program, it), len(program.knots)
    move = predictor_corrector(it, system, [1.0, 1.0, 1.0], 6 * n + 2)
    primal, dual = (min(1.0, STEP_SHARE * length) for length in step_lengths(it, move))
    adversary = it.adversary.primal_step(move.adversary, primal).dual_step(move.adversary, dual)
    return DecoderIterate(it.values + primal * move.parts[0], adversary)
