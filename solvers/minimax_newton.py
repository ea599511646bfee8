"""Interior-point steps for the minimax program on given outputs.

To the constraints of `interior_point` come the variance rows, with room r and multipliers rho,

    sum_y (y - x_i)^2 P(y | x_i) + r_i = tau,    r_i >= 0,  rho_i >= 0,  sum rho = w.

The reduced costs g_i(y) = q_i v^2 - lambda_i - nu_i v, v = y - x_i, q = (1 - w) p + rho, are now linear in three
multipliers per row.  Outputs near +-R, the only ones at small budgets, make v^2 = y^2 - x^2 - 2 x v nearly a line in
v, so the system is written in k = y^2 - R^2 instead.  With a, b and H_y as there it is

    [sum_y [diag(b_y) + a_y a_y^T / H_y] (x) (1, v, k)(1, v, k)^T + diag(0, 0, r/rho)] z - (0, 0, 1) d tau = rest

bordered by sum d rho = 0, with -dg = z_1 + z_2 v + z_3 k: 3n rows, one Cholesky factor.  A step costs O(n^2 m + n^3),
about three times a step of `interior_point`.  The slacks of the outputs are centred afresh after every dual step, by
the weights of the mixed prior of the moment.

Source: as `interior_point`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- made at import

from ..mechanisms.errors import SolverError
from .dual_centring import centre_slacks
from .interior_point import (
    BOUNDARY_SHARE,
    CORRECTORS,
    LONG_STEP_SHARE,
    REGULARISATION,
    SMALLEST_STEP,
    STEP_SHARE,
    Iterate,
    residuals,
)
from .minimax_program import MinimaxProgram
from .unbiased_program import Array


@dataclass(frozen=True, eq=False)
class MinimaxIterate:
    """A strictly interior point.

    Attributes
    ----------
    point : Iterate
        Outputs, floors, rows and their slacks; lambda and nu.
    rho, room : (n,) ndarray
        Multipliers of the variance rows and tau - V_i, all positive.
    tau : float
    """

    point: Iterate
    rho: Array
    room: Array
    tau: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """The values and slacks whose products tend to zero."""
        it = self.point
        return [(it.s, it.zs), (it.u, it.zu), (self.room, self.rho)]

    @property
    def complementarity(self) -> float:
        """The duality gap on these outputs of a feasible point."""
        return sum(float(np.vdot(value, slack)) for value, slack in self.pairs)


@dataclass(frozen=True, eq=False)
class _Move:
    """A direction: multipliers, floors and tau, and the changes of values and slacks in the order of `pairs`."""

    dlam: Array
    dnu: Array
    dt: Array
    dtau: float
    values: list[Array]
    slacks: list[Array]

    def plus(self, share: float, other: _Move) -> _Move:
        return _Move(
            self.dlam + share * other.dlam,
            self.dnu + share * other.dnu,
            self.dt + share * other.dt,
            self.dtau + share * other.dtau,
            [one + share * two for one, two in zip(self.values, other.values, strict=True)],
            [one + share * two for one, two in zip(self.slacks, other.slacks, strict=True)],
        )

    def lengths(self, it: MinimaxIterate) -> tuple[float, float]:
        """Return the largest primal and dual steps in [0, 1] that keep everything non-negative."""
        falls = [(-dv / v, -dz / z) for (v, z), dv, dz in zip(it.pairs, self.values, self.slacks, strict=True)]
        primal, dual = (max(1.0, *(float(fall[side].max()) for fall in falls)) for side in (0, 1))
        return 1 / primal, 1 / dual


class MinimaxSystem:
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: MinimaxProgram, it: MinimaxIterate) -> None:
        point, mixed = it.point, program.mixed(it.rho)
        self.it, self.growth = it, program.ratio - 1
        self.offsets = mixed.offsets(point.outputs)
        far = point.outputs**2
        centre = float(point.t @ far / point.t.sum())
        # Around the knot v^2 = bend + height + slope v.
        self.bend, self.height, self.slope = far - centre, centre - program.knots**2, -2 * program.knots
        self.inverse = 1 / (point.s / point.zs + point.u / point.zu)
        self.q = point.s / point.zs * self.inverse
        self.b = self.q * (point.u / point.zu)
        self.a = 1 + self.growth * self.q
        self.curvature = self.growth**2 * self.inverse.sum(0)
        lack_sum, lack_mean = residuals(mixed, point)
        room = it.tau - it.room - program.variances(point.outputs, point.probabilities)
        room -= self.height * lack_sum + self.slope * lack_mean
        self.lack = np.concatenate([lack_sum, lack_mean, room])
        self.lack_pair = self.growth * point.t - point.s - point.u
        self._factorise()

    def _factorise(self) -> None:
        n = len(self.a)
        scaled = self.a / np.sqrt(self.curvature)
        stacked = np.concatenate([scaled, scaled * self.offsets, scaled * self.bend])
        schur = stacked @ stacked.T
        i = np.arange(n)
        for block, weighted in enumerate((self.b, self.b * self.offsets, self.b * self.bend)):
            for k, moment in enumerate(np.split(self._sums(weighted), 3)):
                schur[block * n + i, k * n + i] += moment
        schur[2 * n + i, 2 * n + i] += self.it.room / self.it.rho
        self.scale = 1 / np.sqrt(np.diag(schur))
        self.schur = schur * self.scale[:, None] * self.scale
        shift, failed = REGULARISATION, 1
        while failed:
            self.factor, failed = dpotrf(self.schur + shift * np.eye(3 * n), lower=1, overwrite_a=1)
            shift *= 100
            if failed and not shift < 1:
                raise SolverError("the interior point's Newton system cannot be factorised")
        self.border = np.where(np.arange(3 * n) < 2 * n, 0.0, self.scale)
        self.towards_border = self._solve(self.border)

    def _solve(self, right: Array) -> Array:
        """Solve the equilibrated Schur system, with one step of refinement."""
        v = dpotrs(self.factor, right, lower=1)[0]
        return v + dpotrs(self.factor, right - self.schur @ v, lower=1)[0]

    def _sums(self, rows: Array) -> Array:
        return np.concatenate([rows.sum(1), (rows * self.offsets).sum(1), rows @ self.bend])

    def direction(self, targets: list[Array], *, newton: bool) -> _Move:
        """Return the move whose products change by the targets, in the order of `pairs`.

        With `newton` the primal residuals are removed too; without, the direction keeps them (a corrector).
        """
        (rs, ru, rr), it, point = targets, self.it, self.it.point
        n = len(self.a)
        rho = rs / point.s - ru / point.u
        h = ru / point.u + self.q * rho
        known = self.b * rho
        want = np.zeros(3 * n)
        pair: Array | float = 0.0
        if newton:
            pair = self.lack_pair
            h = h - pair * self.inverse
            known = known + self.q * pair
            want = self.lack.copy()
        want[2 * n :] -= rr / it.rho
        column = self.growth * h.sum(0)
        known = known + self.a * (column / self.curvature)
        found = self._solve((want - self._sums(known)) * self.scale)
        dtau = -float(self.border @ found) / float(self.border @ self.towards_border)
        z = (found + dtau * self.towards_border) * self.scale
        level, tilt, drho = z[:n], z[n : 2 * n], -z[2 * n :]
        dg = drho[:, None] * self.bend - (level[:, None] + tilt[:, None] * self.offsets)
        dt = (column - (self.a * dg).sum(0)) / self.curvature
        total = self.growth * dt + pair
        ds = self.b * (rho - dg) + self.q * total
        du = total - ds
        values = [ds, du, (rr - it.room * drho) / it.rho]
        slacks = [(rs - point.zs * ds) / point.s, (ru - point.zu * du) / point.u, drho]
        return _Move(level + self.height * drho, tilt + self.slope * drho, dt, dtau, values, slacks)


def minimax_step(program: MinimaxProgram, it: MinimaxIterate) -> MinimaxIterate:
    """Return the next iterate: predictor, corrector, centrality correctors, dual centring.

    Raises
    ------
    SolverError
        Rounding leaves no step to take.
    """
    system = MinimaxSystem(program, it)
    w = program.mixed(it.rho).barrier_weights
    weights = [w[:, None], w[:, None], w]
    mu = it.complementarity / (2 * len(it.point.outputs) + 1)
    move = system.direction([-value * slack for value, slack in it.pairs], newton=True)
    primal, dual = move.lengths(it)
    after = sum(
        float(np.vdot(value + primal * dv, slack + dual * dz))
        for (value, slack), dv, dz in zip(it.pairs, move.values, move.slacks, strict=True)
    )
    sigma = float(np.clip((after / it.complementarity) ** 3, 1e-6, 0.9))
    targets = [sigma * mu * weight for weight in weights]
    second = [target - dv * dz for target, dv, dz in zip(targets, move.values, move.slacks, strict=True)]
    move = _best_blend(it, move, system.direction(second, newton=False), (1.0, max(primal * dual, 0.1)))
    primal, dual = move.lengths(it)
    for _ in range(CORRECTORS):
        if min(primal, dual) > 0.9:
            break
        pulled = _centrality(it, move, min(1.0, primal + 0.3), min(1.0, dual + 0.3), targets)
        better = _best_blend(it, move, system.direction(pulled, newton=False), (1.0, 0.4))
        lengths = better.lengths(it)
        if sum(lengths) <= primal + dual + 0.05:
            break
        (primal, dual), move = lengths, better
    stretch = LONG_STEP_SHARE if min(primal, dual) > 0.9 else STEP_SHARE
    return _dual_step(program, _primal_step(it, move, min(1.0, stretch * primal)), move, system)


def _best_blend(it: MinimaxIterate, base: _Move, extra: _Move, shares: tuple[float, ...]) -> _Move:
    """Return the base with the share of the extra whose two step lengths add up to most."""
    return max((base.plus(share, extra) for share in shares), key=lambda move: sum(move.lengths(it)))


def _centrality(it: MinimaxIterate, move: _Move, primal: float, dual: float, targets: list[Array]) -> list[Array]:
    """Return Gondzio's targets: products that would leave [0.1, 10] times the target, pulled back."""
    out = []
    for (value, slack), dv, dz, target in zip(it.pairs, move.values, move.slacks, targets, strict=True):
        product = (value + primal * dv) * (slack + dual * dz)
        out.append(np.maximum(np.clip(product, 0.1 * target, 10 * target) - product, -10 * target))
    return out


def _primal_step(it: MinimaxIterate, move: _Move, length: float) -> MinimaxIterate:
    point, (ds, du, droom) = it.point, move.values
    moved = replace(point, t=point.t + length * move.dt, s=point.s + length * ds, u=point.u + length * du)
    return replace(it, point=moved, room=it.room + length * droom, tau=it.tau + length * move.dtau)


def _dual_step(program: MinimaxProgram, it: MinimaxIterate, move: _Move, system: MinimaxSystem) -> MinimaxIterate:
    """Move the multipliers as far as every F(y) > 0 and rho > 0 allow, and centre the slacks there."""
    point, drho = it.point, move.slacks[2]
    mixed = program.mixed(it.rho)
    floor = BOUNDARY_SHARE * mixed.column_values(mixed.reduced_costs(system.offsets, point.lam, point.nu))
    length = 1.0
    while True:
        rho = it.rho + length * drho
        lam, nu = point.lam + length * move.dlam, point.nu + length * move.dnu
        if np.all(rho > BOUNDARY_SHARE * it.rho):
            rho *= program.share / rho.sum()
            mixed = program.mixed(rho)
            g = mixed.reduced_costs(system.offsets, lam, nu)
            if np.all(mixed.column_values(g) > floor):
                break
        length *= 0.8
        if not length > SMALLEST_STEP:
            raise SolverError("the interior point's dual step vanished")
    zs, zu, _ = centre_slacks(g, program.ratio, mixed.barrier_weights)
    return replace(it, point=replace(point, lam=lam, nu=nu, zs=zs, zu=zu), rho=rho)
