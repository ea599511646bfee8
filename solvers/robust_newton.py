"""Interior-point steps for the robust program on given outputs.

A generalisation of `minimax_newton`.  With q = base + spread x, rows x <= right (see `robust_polytope`), multipliers
tau of sum q = 1 and eta >= 0 of the inequalities, the guarantee h(V) is the least tau (1 - sum base) + right.eta +
base.V for which

    spread' V = tau border + rows' eta,      eta >= 0:

these K equations come to the constraints of `interior_point`, and x is their multiplier.  The reduced costs
g_i(y) = q_i v^2 - lambda_i - nu_i v, v = y - x_i, are linear in lambda, nu and x.  With k = y^2 - R^2 in place of v^2
(see `minimax_newton`), slack sigma = right - rows x, and a, b and H_y as in `interior_point` the Newton system is

    [C' (sum_y [diag(b_y) + a_y a_y' / H_y] (x) (1, v, k)(1, v, k)') C + diag(0, 0, rows' diag(eta/sigma) rows)] z
        - (0, 0, border) d tau = rest,       C = diag(I, I, spread),

bordered by border.dx = 0: 2n + K rows, one Cholesky factor.

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
from .robust_polytope import PriorPolytope
from .robust_program import RobustProgram
from .unbiased_program import Array

REFINEMENTS = 2
"""Refinements of a move tried; each is one back-substitution."""

RESIDUAL_SHARE = 0.01
"""A move is refined when an equation of the weights would be off by more than this share of the gap."""


@dataclass(frozen=True, eq=False)
class RobustIterate:
    """A strictly interior point.

    Attributes
    ----------
    point : Iterate
        Outputs, floors, rows and their slacks; lambda and nu.
    x : (K,) ndarray
        Coordinates of the prior.
    eta, slack : (k,) ndarray
        Multipliers of the polytope's inequalities and right - rows x, all positive.
    tau : float
    """

    point: Iterate
    x: Array
    eta: Array
    slack: Array
    tau: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """The values and slacks whose products tend to zero."""
        it = self.point
        return [(it.s, it.zs), (it.u, it.zu), (self.eta, self.slack)]

    @property
    def complementarity(self) -> float:
        """The duality gap on these outputs of a feasible point."""
        return sum(float(np.vdot(value, slack)) for value, slack in self.pairs)


@dataclass(frozen=True, eq=False)
class _Move:
    """A direction: multipliers, floors, coordinates and tau; changes of values and slacks in the order of `pairs`."""

    dlam: Array
    dnu: Array
    dt: Array
    dx: Array
    dtau: float
    values: list[Array]
    slacks: list[Array]

    def plus(self, share: float, other: _Move) -> _Move:
        return _Move(
            self.dlam + share * other.dlam,
            self.dnu + share * other.dnu,
            self.dt + share * other.dt,
            self.dx + share * other.dx,
            self.dtau + share * other.dtau,
            [one + share * two for one, two in zip(self.values, other.values, strict=True)],
            [one + share * two for one, two in zip(self.slacks, other.slacks, strict=True)],
        )

    def lengths(self, it: RobustIterate) -> tuple[float, float]:
        """Return the largest primal and dual steps in [0, 1] that keep everything non-negative."""
        falls = [(-dv / v, -dz / z) for (v, z), dv, dz in zip(it.pairs, self.values, self.slacks, strict=True)]
        primal, dual = (max(1.0, *(float(fall[side].max()) for fall in falls)) for side in (0, 1))
        return 1 / primal, 1 / dual


class RobustSystem:
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: RobustProgram, polytope: PriorPolytope, it: RobustIterate) -> None:
        point, under = it.point, program.under(polytope.prior(it.x))
        self.it, self.polytope, self.growth = it, polytope, program.ratio - 1
        self.offsets = under.offsets(point.outputs)
        far = point.outputs**2
        centre = float(point.t @ far / point.t.sum())
        # Around the knot v^2 = bend + height + slope v.
        self.bend, self.height, self.slope = far - centre, centre - program.knots**2, -2 * program.knots
        self.inverse = 1 / (point.s / point.zs + point.u / point.zu)
        self.q = point.s / point.zs * self.inverse
        self.b = self.q * (point.u / point.zu)
        self.a = 1 + self.growth * self.q
        self.curvature = self.growth**2 * self.inverse.sum(0)
        lack_sum, lack_mean = residuals(under, point)
        lack = program.variances(point.outputs, point.probabilities) + self.height * lack_sum + self.slope * lack_mean
        lack = it.tau * polytope.border + it.eta @ polytope.rows - lack @ polytope.spread
        self.lack = np.concatenate([lack_sum, lack_mean, lack])
        self.lack_pair = self.growth * point.t - point.s - point.u
        self._factorise()

    def _factorise(self) -> None:
        n, spread, rows = len(self.a), self.polytope.spread, self.polytope.rows
        scaled = self.a / np.sqrt(self.curvature)
        stacked = np.concatenate([scaled, scaled * self.offsets, spread.T @ (scaled * self.bend)])
        schur = stacked @ stacked.T
        powers, links = [np.ones(1), self.offsets, self.bend], [np.eye(n), np.eye(n), spread]
        starts = [0, n, 2 * n, 2 * n + spread.shape[1]]
        for i in range(3):
            for j in range(3):
                moment = (self.b * powers[i] * powers[j]).sum(1)
                block = links[i].T @ (moment[:, None] * links[j])
                schur[starts[i] : starts[i + 1], starts[j] : starts[j + 1]] += block
        weighted = rows * np.sqrt(self.it.eta / self.it.slack)[:, None]
        schur[2 * n :, 2 * n :] += weighted.T @ weighted
        self.scale = 1 / np.sqrt(np.diag(schur))
        self.schur = schur * self.scale[:, None] * self.scale
        shift, failed = REGULARISATION, 1
        while failed:
            self.factor, failed = dpotrf(self.schur + shift * np.eye(len(schur)), lower=1, overwrite_a=1)
            shift *= 100
            if failed and not shift < 1:
                raise SolverError("the interior point's Newton system cannot be factorised")
        self.border = np.concatenate([np.zeros(2 * n), self.polytope.border]) * self.scale
        self.towards_border = self._solve(self.border)

    def _solve(self, right: Array) -> Array:
        """Solve the equilibrated Schur system, with one step of refinement."""
        v = dpotrs(self.factor, right, lower=1)[0]
        return v + dpotrs(self.factor, right - self.schur @ v, lower=1)[0]

    def _sums(self, rows: Array) -> Array:
        return np.concatenate([rows.sum(1), (rows * self.offsets).sum(1), (rows @ self.bend) @ self.polytope.spread])

    def direction(self, targets: list[Array], *, newton: bool) -> _Move:
        """Return the move whose products change by the targets, in the order of `pairs`.

        With `newton` the primal residuals are removed too; without, the direction keeps them (a corrector).
        """
        want = self.lack if newton else np.zeros_like(self.lack)
        return self._solved(targets, want, self.lack_pair if newton else 0.0)

    def refined(self, move: _Move) -> _Move:
        """Return the move with what rounding left of the primal residuals removed, at the products' expense.

        Where an inequality of many coordinates is nearly tight, its multiplier's change is a small difference of
        coordinates times a large ratio, and needs them to more digits than they have.
        """
        gap, none = self.it.complementarity, [np.zeros_like(value) for value, _ in self.it.pairs]
        for _ in range(REFINEMENTS):
            (ds, _, deta), rows = move.values, self.polytope.rows
            change = self._sums(move.dt + ds)
            change[2 * len(self.a) :] -= move.dtau * self.polytope.border + deta @ rows
            lack = self.lack - change
            if not np.abs(lack[2 * len(self.a) :]).max() > RESIDUAL_SHARE * gap:
                break
            move = move.plus(1.0, self._solved(none, lack, 0.0))
        return move

    def _solved(self, targets: list[Array], want: Array, pair: Array | float) -> _Move:
        (rs, ru, rr), it, point = targets, self.it, self.it.point
        n, polytope = len(self.a), self.polytope
        rho = rs / point.s - ru / point.u
        h = ru / point.u + self.q * rho - pair * self.inverse
        known = self.b * rho + self.q * pair
        want = want.copy()
        want[2 * n :] += (rr / it.slack) @ polytope.rows
        column = self.growth * h.sum(0)
        known = known + self.a * (column / self.curvature)
        found = self._solve((want - self._sums(known)) * self.scale)
        dtau = -float(self.border @ found) / float(self.border @ self.towards_border)
        z = (found + dtau * self.towards_border) * self.scale
        level, tilt, dx = z[:n], z[n : 2 * n], -z[2 * n :]
        dq = polytope.spread @ dx
        dg = dq[:, None] * self.bend - (level[:, None] + tilt[:, None] * self.offsets)
        dt = (column - (self.a * dg).sum(0)) / self.curvature
        total = self.growth * dt + pair
        ds = self.b * (rho - dg) + self.q * total
        du = total - ds
        dslack = -(polytope.rows @ dx)
        values = [ds, du, (rr - it.eta * dslack) / it.slack]
        slacks = [(rs - point.zs * ds) / point.s, (ru - point.zu * du) / point.u, dslack]
        return _Move(level + self.height * dq, tilt + self.slope * dq, dt, dx, dtau, values, slacks)


def robust_step(program: RobustProgram, polytope: PriorPolytope, it: RobustIterate) -> RobustIterate:
    """Return the next iterate: predictor, corrector, centrality correctors, dual centring.

    Raises
    ------
    SolverError
        Rounding leaves no step to take.
    """
    system = RobustSystem(program, polytope, it)
    move = system.refined(_predictor_corrector(program.under(polytope.prior(it.x)).barrier_weights, it, system))
    primal, dual = move.lengths(it)
    stretch = LONG_STEP_SHARE if min(primal, dual) > 0.9 else STEP_SHARE
    return _dual_step(program, _primal_step(it, move, min(1.0, stretch * primal)), move, system)


def _predictor_corrector(w: Array, it: RobustIterate, system: RobustSystem) -> _Move:
    weights = [w[:, None], w[:, None], np.full(len(it.eta), 1 / len(it.eta))]
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
    return move


def _best_blend(it: RobustIterate, base: _Move, extra: _Move, shares: tuple[float, ...]) -> _Move:
    """Return the base with the share of the extra whose two step lengths add up to most."""
    return max((base.plus(share, extra) for share in shares), key=lambda move: sum(move.lengths(it)))


def _centrality(it: RobustIterate, move: _Move, primal: float, dual: float, targets: list[Array]) -> list[Array]:
    """Return Gondzio's targets: products that would leave [0.1, 10] times the target, pulled back."""
    out = []
    for (value, slack), dv, dz, target in zip(it.pairs, move.values, move.slacks, targets, strict=True):
        product = (value + primal * dv) * (slack + dual * dz)
        out.append(np.maximum(np.clip(product, 0.1 * target, 10 * target) - product, -10 * target))
    return out


def _primal_step(it: RobustIterate, move: _Move, length: float) -> RobustIterate:
    point, (ds, du, deta) = it.point, move.values
    moved = replace(point, t=point.t + length * move.dt, s=point.s + length * ds, u=point.u + length * du)
    return replace(it, point=moved, eta=it.eta + length * deta, tau=it.tau + length * move.dtau)


def _dual_step(program: RobustProgram, it: RobustIterate, move: _Move, system: RobustSystem) -> RobustIterate:
    """Move the multipliers as far as every F(y) > 0 and slack > 0 allow, and centre the slacks there."""
    point, dslack = it.point, move.slacks[2]
    under = program.under(system.polytope.prior(it.x))
    floor = BOUNDARY_SHARE * under.column_values(under.reduced_costs(system.offsets, point.lam, point.nu))
    length = 1.0
    while True:
        slack = it.slack + length * dslack
        x, lam, nu = it.x + length * move.dx, point.lam + length * move.dlam, point.nu + length * move.dnu
        if np.all(slack > BOUNDARY_SHARE * it.slack):
            under = program.under(system.polytope.prior(x))
            g = under.reduced_costs(system.offsets, lam, nu)
            if np.all(under.column_values(g) > floor):
                break
        length *= 0.8
        if not length > SMALLEST_STEP:
            raise SolverError("the interior point's dual step vanished")
    zs, zu, _ = centre_slacks(g, program.ratio, under.barrier_weights)
    return replace(it, point=replace(point, lam=lam, nu=nu, zs=zs, zu=zu), x=x, slack=slack)
