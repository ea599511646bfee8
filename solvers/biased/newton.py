"""Interior-point steps for the biased program on given outputs.

The equations are those of `robust.newton` with two changes, both of the adversary's making (`adversary`): the means are
free, d b = known - W dnu, which adds the diagonal W to the rows of nu, and the border has five numbers instead of one.
The reduced costs g_i(y) = w_i v^2 - lambda_i - nu_i v, v = y - x_i, have nu = q_2 - q_1.  With k = y^2 - R^2 in place
of v^2, which near +-R is nearly a line in v, v^2 = k + height + slope v, and with z = (level, tilt, -dw), where -dg =
z_1 + z_2 v + z_3 k, dlam = level + height dw and dnu = tilt + slope dw,

    [sum_y [diag(b_y) + a_y a_y' / H_y] (x) (1, v, k)(1, v, k)' + D_0 on z_3 + W on (z_2 - slope z_3)] z
        = rest + border y.

A step costs O(n^2 m + n^3), as much as one of `robust.newton`.

Source: as `unbiased.interior_point`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..unbiased.correctors import predictor_corrector, step_lengths
from ..unbiased.dual_centring import centre_slacks
from ..unbiased.interior_point import (
    BOUNDARY_SHARE,
    SMALLEST_STEP,
    ColumnSystem,
    Interior,
    Iterate,
    primal_length,
)
from .adversary import Adversary, AdversarySystem, Move
from .error_program import ErrorProgram


@dataclass(frozen=True, eq=False)
class ErrorIterate(Interior):
    """A strictly interior point: of the mechanism, and of the adversary."""

    point: Iterate
    adversary: Adversary

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [*self.point.pairs, *self.adversary.pairs]

    @property
    def complementarity(self) -> float:
        """The duality gap on these outputs of a feasible point."""
        return super().complementarity + self.adversary.mismatch

    @property
    def dual_objective(self) -> float:
        return self.point.dual_objective - self.adversary.penalty


class ErrorSystem(ColumnSystem):
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: ErrorProgram, it: ErrorIterate) -> None:
        point, adversary = it.point, it.adversary
        under = program.under(adversary.priors[0])
        super().__init__(under, point)
        self.it, self.under = it, under
        far = point.outputs**2
        centre = float(point.t @ far / point.t.sum())
        self.bend, self.height, self.slope = far - centre, centre - program.knots**2, -2 * program.knots
        P = point.probabilities
        self.lack_sum = 1 - P.sum(1)
        self.system = AdversarySystem(adversary, *program.moments(point.outputs, P))
        self._factorise()

    def _factorise(self) -> None:
        n, system = len(self.a), self.system
        scaled = self.a / np.sqrt(self.curvature)
        stacked = np.concatenate([scaled, scaled * self.offsets, scaled * self.bend])
        schur = stacked @ stacked.T
        i = np.arange(n)
        for j, weighted in enumerate((self.b, self.b * self.offsets, self.b * self.bend)):
            for k, moment in enumerate((weighted.sum(1), (weighted * self.offsets).sum(1), weighted @ self.bend)):
                schur[j * n + i, k * n + i] += moment
        tilt, bend = n + i, 2 * n + i
        schur[tilt, tilt] += system.of_nu
        schur[tilt, bend] -= self.slope * system.of_nu
        schur[bend, tilt] -= self.slope * system.of_nu
        schur[bend, bend] += system.of_worst + self.slope**2 * system.of_nu
        self.factorise(schur)
        self.towards = self._solve(self._rows(np.zeros((n, 5)), system.border_b, np.eye(1, 5).repeat(n, 0)))

    def _rows(self, sums: Array, biases: Array, variances: Array) -> Array:
        """Right sides of the equations in z, from those of sums, means and variances."""
        slope = self.slope if biases.ndim == 1 else self.slope[:, None]
        height = self.height if sums.ndim == 1 else self.height[:, None]
        return np.concatenate([sums, biases, variances - slope * biases - height * sums])

    def _solve(self, right: Array) -> Array:
        """Solve the system."""
        scale = self.scale if right.ndim == 1 else self.scale[:, None]
        return self.solve(right * scale) * scale

    def _sums(self, rows: Array) -> Array:
        """What entries (n, m) add to sums, means and bends."""
        return np.concatenate([rows.sum(1), (rows * self.offsets).sum(1), rows @ self.bend])

    def direction(self, targets: list[Array], *, newton: bool) -> Move:
        """Return the move whose products change by the targets, in the order of `pairs`.

        With `newton` the residuals are removed too; without, the direction keeps them (a corrector).
        """
        rs, ru = targets[:2]
        point, n = self.it.point, len(self.a)
        known = self.system.known(targets[2:], newton=newton)
        pair: Array | float = self.lack_pair if newton else 0.0
        rho = rs / point.s - ru / point.u
        h = ru / point.u + self.q * rho - pair * self.inverse
        column = self.growth * h.sum(0)
        entries = self.b * rho + self.q * pair + self.a * (column / self.curvature)
        lack_sum = self.lack_sum if newton else np.zeros(n)
        right = self._rows(lack_sum, known.b, known.v) - self._sums(entries)
        free = self._solve(right)
        C_w, C_nu, Y, f = self.system.border_rows(known)
        C = np.hstack([np.zeros_like(C_w), C_nu, -C_w - self.slope * C_nu])
        y = np.asarray(np.linalg.solve(C @ self.towards + Y, f - C @ free), dtype=np.float64)
        z = free + self.towards @ y
        level, tilt, dw = z[:n], z[n : 2 * n], -z[2 * n :]
        dg = dw[:, None] * self.bend - (level[:, None] + tilt[:, None] * self.offsets)
        dt = (column - (self.a * dg).sum(0)) / self.curvature
        total = self.growth * dt + pair
        ds = self.b * (rho - dg) + self.q * total
        du = total - ds
        adversary = self.system.move(known, dw, tilt + self.slope * dw, y)
        values, slacks = adversary.changes(self.it.adversary)
        return Move(
            [ds, du, *values],
            [(rs - point.zs * ds) / point.s, (ru - point.zu * du) / point.u, *slacks],
            (level + self.height * dw, dt),
            adversary,
        )


def error_step(program: ErrorProgram, it: ErrorIterate) -> ErrorIterate:
    """Return the next iterate: predictor, corrector, centrality correctors, dual centring.

    Raises
    ------
    SolverError
        Rounding leaves no step to take.
    """
    system = ErrorSystem(program, it)
    w, even = system.under.barrier_weights[:, None], 1 / (6 * len(system.a))
    move = predictor_corrector(it, system, [w, w, even, even, even], 2 * len(it.point.outputs) + 1)
    moved = _primal_step(it, move, primal_length(*step_lengths(it, move)))
    return _dual_step(program, moved, move, system)


def _primal_step(it: ErrorIterate, move: Move, length: float) -> ErrorIterate:
    point, (_, dt), (ds, du) = it.point, move.parts, move.values[:2]
    moved = replace(point, t=point.t + length * dt, s=point.s + length * ds, u=point.u + length * du)
    return ErrorIterate(moved, it.adversary.primal_step(move.adversary, length))


def _dual_step(program: ErrorProgram, it: ErrorIterate, move: Move, system: ErrorSystem) -> ErrorIterate:
    """Move the multipliers as far as every F(y) > 0 and slack > 0 allow, and centre the slacks there."""
    point, under = it.point, system.under
    floor = BOUNDARY_SHARE * under.column_values(under.reduced_costs(system.offsets, point.lam, point.nu))
    least = [BOUNDARY_SHARE * slack for _, slack in it.adversary.pairs]
    length = 1.0
    while True:
        adversary, lam = it.adversary.dual_step(move.adversary, length), point.lam + length * move.parts[0]
        if all(np.all(slack > low) for (_, slack), low in zip(adversary.pairs, least, strict=True)):
            under = program.under(adversary.priors[0])
            g = under.reduced_costs(system.offsets, lam, adversary.nu)
            if np.all(under.column_values(g) > floor):
                break
        length *= 0.8
        if not length > SMALLEST_STEP:
            raise SolverError("the interior point's dual step vanished")
    zs, zu, _ = centre_slacks(g, program.ratio, under.barrier_weights)
    return ErrorIterate(replace(point, lam=lam, nu=adversary.nu, zs=zs, zu=zu), adversary)
