"""Interior-point steps for the robust program on given outputs; the minimax is the case of all priors.

With q = base + spread x, rows x <= right (see `polytope`), multipliers tau of sum q = 1 and eta >= 0 of the
inequalities, the guarantee h(V) is the least tau (1 - sum base) + right.eta + base.V for which

    spread' V = tau border + rows' eta,      eta >= 0:

these K equations come to the constraints of `interior_point`, and x is their multiplier.  The reduced costs
g_i(y) = q_i v^2 - lambda_i - nu_i v, v = y - x_i, are linear in lambda, nu and x.  Outputs near +-R, the only ones at
small budgets, make v^2 = y^2 - x^2 - 2 x v nearly a line in v, so the system is written in k = y^2 - R^2 instead.  With
slack sigma = right - rows x, and a, b and H_y as in `interior_point` it is

    [C' (sum_y [diag(b_y) + a_y a_y' / H_y] (x) (1, v, k)(1, v, k)') C + diag(0, 0, rows' diag(eta/sigma) rows)] z
        - (0, 0, border) d tau = rest,       C = diag(I, I, spread),

bordered by border.dx = 0, with -dg = z_1 + z_2 v + z_3 k: 2n + K rows, one Cholesky factor.  Only the rows of the two
multipliers and of the weights that can change take products with the outputs.  A step costs O(n^2 m + n^3), for the
minimax about three times a step of `interior_point`.  The slacks of the outputs are centred afresh after every dual
step, by the weights of the prior of the moment.

For the mixtures (1 - w) p + rho of `MixedSet` the equations are V_i + eta_i = tau: eta is the room under the largest
variance, x = rho its multiplier, and the barrier adds diag(eta/rho).

Source: as `interior_point`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..unbiased.correctors import predictor_corrector, step_lengths
from ..unbiased.dual_centring import centre_slacks
from ..unbiased.interior_point import (
    BOUNDARY_SHARE,
    SMALLEST_STEP,
    ColumnSystem,
    primal_length,
    residuals,
)
from .iterate import RobustIterate, RobustMove
from .polytope import PriorPolytope
from .robust_program import RobustProgram

REFINEMENTS = 5
"""Refinements of a move allowed, each one back-substitution; none or one are typical."""

RESIDUAL_SHARE = 0.01
"""A move is refined when what it leaves of a sum, a mean or an equation of the weights costs this share of the gap."""


class RobustSystem(ColumnSystem):
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: RobustProgram, polytope: PriorPolytope, it: RobustIterate) -> None:
        point, under = it.point, program.under(polytope.prior(it.x))
        super().__init__(under, point)
        self.it, self.polytope, self.under = it, polytope, under
        far = point.outputs**2
        self.centre = centre = float(point.t @ far / point.t.sum())
        # Around the knot v^2 = bend + height + slope v.
        self.bend, self.height, self.slope = far - centre, centre - program.knots**2, -2 * program.knots
        lack_sum, lack_mean = residuals(under, point)
        lack = program.variances(point.outputs, point.probabilities) + self.height * lack_sum + self.slope * lack_mean
        lack = it.tau * polytope.border + it.eta @ polytope.rows - lack @ polytope.spread
        self.lack = np.concatenate([lack_sum, lack_mean, lack])
        self._factorise()

    def _factorise(self) -> None:
        n, polytope = len(self.a), self.polytope
        schur = np.zeros((len(self.lack), len(self.lack)))
        # The weights that can change are the first coordinates; only they meet the outputs.
        every, free = np.arange(n), polytope.free
        core = 2 * n + len(free)
        scaled = self.a / np.sqrt(self.curvature)
        stacked = np.concatenate([scaled, scaled * self.offsets, scaled[free] * self.bend])
        schur[:core, :core] = stacked @ stacked.T
        places = np.stack([every, n + every, every])
        places[2, free] = np.arange(2 * n, core)
        for i, weighted in enumerate((self.b, self.b * self.offsets, self.b * self.bend)):
            for j, moment in enumerate((weighted.sum(1), (weighted * self.offsets).sum(1), weighted @ self.bend)):
                both = free if 2 in (i, j) else every
                schur[places[i, both], places[j, both]] += moment[both]
        ratio, lower = self.it.eta / self.it.slack, np.arange(2 * n, core)
        schur[lower, lower] += ratio[: len(free)]
        weighted = polytope.rows[len(free) :] * np.sqrt(ratio[len(free) :])[:, None]
        schur[2 * n :, 2 * n :] += weighted.T @ weighted
        self.factorise(schur)
        self.border = np.concatenate([np.zeros(2 * n), self.polytope.border]) * self.scale
        self.towards_border = self.solve(self.border)

    def _sums(self, rows: Array) -> Array:
        return np.concatenate([rows.sum(1), (rows * self.offsets).sum(1), (rows @ self.bend) @ self.polytope.spread])

    def direction(self, targets: list[Array], *, newton: bool) -> RobustMove:
        """Return the move whose products change by the targets, in the order of `pairs`.

        With `newton` the primal residuals are removed too; without, the direction keeps them (a corrector).
        """
        want = self.lack if newton else np.zeros_like(self.lack)
        return self._solved(targets, want, self.lack_pair if newton else 0.0)

    def refined(self, move: RobustMove) -> RobustMove:
        """Return the move with what rounding left of the primal residuals removed, at the products' expense.

        Where an inequality of many coordinates is nearly tight, its multiplier's change is a small difference of
        coordinates times a large ratio, and needs them to more digits than they have.  At small budgets the means are
        spoilt too, and floors that miss a mean must be stretched at the cost of as large a share of E[Y^2].
        """
        none = [np.zeros_like(value) for value, _ in self.it.pairs]
        lack, size = self._left(move)
        best, least = move, size
        for _ in range(REFINEMENTS):
            if not size > RESIDUAL_SHARE * self.it.complementarity:
                break
            move = move.plus(1.0, self._solved(none, lack, 0.0))
            lack, size = self._left(move)
            if size < least:
                best, least = move, size
        return best

    def _left(self, move: RobustMove) -> tuple[Array, float]:
        """Return what a full step would leave of the primal residuals, and what the worst of it would cost."""
        (ds, _, deta), twice = move.values, 2 * len(self.a)
        change = self._sums(move.dt + ds)
        change[twice:] -= move.dtau * self.polytope.border + deta @ self.polytope.rows
        lack = self.lack - change
        return lack, max(float(np.abs(lack[:twice]).max()) * self.centre, float(np.abs(lack[twice:]).max()))

    def _solved(self, targets: list[Array], want: Array, pair: Array | float) -> RobustMove:
        (rs, ru, rr), it, point = targets, self.it, self.it.point
        n, polytope = len(self.a), self.polytope
        rho = rs / point.s - ru / point.u
        h = ru / point.u + self.q * rho - pair * self.inverse
        known = self.b * rho + self.q * pair
        want = want.copy()
        want[2 * n :] += (rr / it.slack) @ polytope.rows
        column = self.growth * h.sum(0)
        known = known + self.a * (column / self.curvature)
        found = self.solve((want - self._sums(known)) * self.scale)
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
        return RobustMove(values, slacks, level + self.height * dq, tilt + self.slope * dq, dt, dx, dtau)


def robust_step(program: RobustProgram, polytope: PriorPolytope, it: RobustIterate) -> RobustIterate:
    """Return the next iterate: predictor, corrector, centrality correctors, dual centring.

    Raises
    ------
    SolverError
        Rounding leaves no step to take.
    """
    system = RobustSystem(program, polytope, it)
    w = system.under.barrier_weights[:, None]
    weights = [w, w, np.full(len(it.eta), 1 / len(it.eta))]
    move = system.refined(predictor_corrector(it, system, weights, 2 * len(it.point.outputs) + 1))
    moved = _primal_step(it, move, primal_length(*step_lengths(it, move)))
    return _dual_step(program, moved, move, system)


def _primal_step(it: RobustIterate, move: RobustMove, length: float) -> RobustIterate:
    point, (ds, du, deta) = it.point, move.values
    moved = replace(point, t=point.t + length * move.dt, s=point.s + length * ds, u=point.u + length * du)
    return replace(it, point=moved, eta=it.eta + length * deta, tau=it.tau + length * move.dtau)


def _dual_step(program: RobustProgram, it: RobustIterate, move: RobustMove, system: RobustSystem) -> RobustIterate:
    """Move the multipliers as far as every F(y) > 0 and slack > 0 allow, and centre the slacks there."""
    point, under, dslack = it.point, system.under, move.slacks[2]
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
