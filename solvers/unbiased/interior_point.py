"""A primal-dual interior point for the unbiased ratio program on given outputs.

With P = t + s the program of `unbiased_program` on outputs y_1 < ... < y_m has the constraints

    sum_y (t + s) = 1,   sum_y (y - x_i) (t + s) = 0,   s + u = (E - 1) t,   s, u >= 0

and dual slacks z_s - z_u = g, sum_i g_i(y) = (E - 1) sum_i z_u[i, y], z_s, z_u >= 0.  Three things keep the
number of steps low and each step cheap.

*Structure.*  For scalings D_s = s/z_s, D_u = u/z_u put b = D_s D_u/(D_s + D_u), q = D_s/(D_s + D_u),
a = 1 + (E - 1) q and H_y = (E - 1)^2 sum_i 1/(D_s + D_u).  Everything that belongs to one output is eliminated in
closed form and the Newton system has 2n rows, with v = y - x_i:

    S = sum_y [diag(b_y) + a_y a_y^T / H_y] (x) [[1, v], [v, v^2]]:

one symmetric product of a 2n x m matrix and one Cholesky factor.  A step costs O(n^2 m + n^3) operations and
O(n m) memory.

*Dual centring.*  For given multipliers the slacks that maximise sum w_i (log z_s + log z_u) do not depend on the
primal point (see `dual_centring`).  So the dual step is taken in (lambda, nu) alone, is limited only by F > 0, and
the slacks are recomputed: they are dual feasible to rounding at every iterate, and no error builds up.

*Weights.*  Complementarity is driven to s z_s = u z_u = mu w_i with w_i between p_i and 1/n, because the
multipliers of a knot of tiny prior mass have that size.

Source: predictor-corrector after Mehrotra (1992), centrality correctors after Gondzio (1996), weighting of the
corrector after Colombo and Gondzio (2008); structure and dual centring derived here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs  # pyright: ignore[reportAttributeAccessIssue] -- made at import

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .dual_centring import centre_slacks
from .unbiased_program import UnbiasedProgram

CORRECTORS = 2
"""Centrality correctors tried per step; each is one back-substitution and they save a third of the steps."""

STEP_SHARE = 0.95
"""Share of the way to the boundary that a primal step goes; LONG_STEP_SHARE once the full step is nearly free."""

LONG_STEP_SHARE = 0.995

NEARLY_FREE = 0.9
"""Both steps as long as that leave a corrector nothing to win."""

LONGER, WON = 0.3, 0.05
"""A centrality corrector aims at steps longer by the first, and is kept if both together win more than the second."""

CENTRAL = 0.1, 10
"""Products between these multiples of their target are left alone by a centrality corrector."""

BOUNDARY_SHARE = 0.02
"""A dual step may shrink no F(y) below this share of its value."""

SMALLEST_STEP = 1e-6
"""A dual step shorter than this means that rounding has taken over."""

REGULARISATION = 1e-15
"""First diagonal shift of the equilibrated Schur matrix; a hundred times more after each failed factorisation."""


class Interior(ABC):
    """A point with positive values and slacks."""

    @property
    @abstractmethod
    def pairs(self) -> list[tuple[Array, Array]]:
        """The values and slacks whose products tend to zero."""

    @property
    def complementarity(self) -> float:
        """The sum of the products: the duality gap on the outputs of a feasible point."""
        return sum(float(np.vdot(value, slack)) for value, slack in self.pairs)


Point = TypeVar("Point", bound=Interior)


def finite(after: Point) -> Point:
    """Return a point that a step leads to; SolverError where rounding has made it none."""
    if not np.isfinite(after.complementarity):
        raise SolverError("the interior point's step is not finite")
    return after


@dataclass(frozen=True, eq=False)
class Iterate(Interior):
    """A strictly interior point.

    Attributes
    ----------
    outputs, t : (m,) ndarray
        Outputs and the floor of each column.
    lam, nu : (n,) ndarray
        Multipliers.
    s, u, zs, zu : (n, m) ndarray
        P - t, E t - P and their dual slacks, all positive.
    """

    outputs: Array
    lam: Array
    nu: Array
    t: Array
    s: Array
    u: Array
    zs: Array
    zu: Array

    @property
    def probabilities(self) -> Array:
        """P = t + s, (n, m)."""
        return self.t + self.s

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        return [(self.s, self.zs), (self.u, self.zu)]

    @property
    def dual_objective(self) -> float:
        return float(self.lam.sum())


def residuals(program: UnbiasedProgram, it: Iterate) -> tuple[Array, Array]:
    """Return what normalisation and unbiasedness lack, (n,) each."""
    P = it.probabilities
    return 1 - P.sum(1), -(program.offsets(it.outputs) * P).sum(1)


class ColumnSystem:
    """What Newton equations have of the columns of a mechanism, and their equilibrated Schur matrix once factorised."""

    def __init__(self, program: UnbiasedProgram, point: Iterate) -> None:
        self.growth = program.ratio - 1
        self.offsets = program.offsets(point.outputs)
        self.inverse = 1 / (point.s / point.zs + point.u / point.zu)
        self.q = point.s / point.zs * self.inverse
        self.b = self.q * (point.u / point.zu)
        self.a = 1 + self.growth * self.q
        self.curvature = self.growth**2 * self.inverse.sum(0)
        self.lack_pair = self.growth * point.t - point.s - point.u

    def factorise(self, schur: Array) -> None:
        """Equilibrate the matrix and factorise it, shifted as little as that takes; SolverError where nothing helps."""
        self.scale = 1 / np.sqrt(np.diag(schur))
        self.schur = schur * self.scale[:, None] * self.scale
        shift, failed = REGULARISATION, 1
        while failed:
            self.factor, failed = dpotrf(self.schur + shift * np.eye(len(schur)), lower=1, overwrite_a=1)
            shift *= 100
            if failed and not shift < 1:
                raise SolverError("the interior point's Newton system cannot be factorised")

    def solve(self, right: Array) -> Array:
        """Solve the equilibrated Schur system, with one step of refinement."""
        v = dpotrs(self.factor, right, lower=1)[0]
        return v + dpotrs(self.factor, right - self.schur @ v, lower=1)[0]


class NewtonSystem(ColumnSystem):
    """The Newton equations at one iterate, factorised once."""

    def __init__(self, program: UnbiasedProgram, it: Iterate) -> None:
        super().__init__(program, it)
        self.it = it
        self.lack_sum, self.lack_mean = residuals(program, it)
        self._factorise()

    def _factorise(self) -> None:
        n = len(self.a)
        scaled = self.a / np.sqrt(self.curvature)
        stacked = np.concatenate([scaled, scaled * self.offsets])
        schur = stacked @ stacked.T
        weighted = self.b * self.offsets
        i = np.arange(n)
        schur[i, i] += self.b.sum(1)
        schur[i, n + i] += weighted.sum(1)
        schur[n + i, i] += weighted.sum(1)
        schur[n + i, n + i] += (weighted * self.offsets).sum(1)
        self.factorise(schur)

    def direction(self, rs: Array, ru: Array, *, newton: bool) -> list[Array]:
        """Return (dlam, dnu, dt, ds, du, dzs, dzu) for complementarity targets z_s ds + s dz_s = rs, and ru alike.

        With `newton` the primal residuals are removed too; without, the direction keeps them (a corrector).
        """
        it, n = self.it, len(self.a)
        rho = rs / it.s - ru / it.u
        h = ru / it.u + self.q * rho
        known = self.b * rho
        want = np.zeros(2 * n)
        pair: Array | float = 0.0
        if newton:
            pair = self.lack_pair
            h = h - pair * self.inverse
            known = known + self.q * pair
            want = np.concatenate([self.lack_sum, self.lack_mean])
        column = self.growth * h.sum(0)
        known = known + self.a * (column / self.curvature)
        want = (want - np.concatenate([known.sum(1), (known * self.offsets).sum(1)])) * self.scale
        v = self.solve(want) * self.scale
        dlam, dnu = v[:n], v[n:]
        dg = -(dlam[:, None] + dnu[:, None] * self.offsets)
        dt = (column - (self.a * dg).sum(0)) / self.curvature
        total = self.growth * dt + pair
        ds = self.b * (rho - dg) + self.q * total
        du = total - ds
        return [dlam, dnu, dt, ds, du, (rs - it.zs * ds) / it.s, (ru - it.zu * du) / it.u]


def _rates(it: Iterate, move: list[Array]) -> list[Array]:
    """Return the relative change of s, u, z_s and z_u per unit step."""
    return [move[3] / it.s, move[4] / it.u, move[5] / it.zs, move[6] / it.zu]


def _step_lengths(rates: list[Array]) -> tuple[float, float]:
    """Return the largest primal and dual steps in [0, 1] that keep everything non-negative."""
    falls = [-float(rate.min()) for rate in rates]
    return 1 / max(1.0, falls[0], falls[1]), 1 / max(1.0, falls[2], falls[3])


def _best_blend(
    base: list[Array], extra: list[Array], shares: tuple[float, ...]
) -> tuple[float, tuple[float, float], list[Array]]:
    """Return the share of the extra rates to add whose two step lengths add up to most, these, and the rates."""
    tried = []
    for share in shares:
        rates = [one + share * two for one, two in zip(base, extra, strict=True)]
        tried.append((share, _step_lengths(rates), rates))
    return max(tried, key=lambda one: sum(one[1]))


def _blend(base: list[Array], extra: list[Array], share: float) -> list[Array]:
    return [one + share * two for one, two in zip(base, extra, strict=True)]


def newton_step(program: UnbiasedProgram, it: Iterate) -> Iterate:
    """Return the next iterate: predictor, corrector, centrality correctors, dual centring.

    Raises
    ------
    SolverError
        Rounding leaves no step to take.
    """
    system = NewtonSystem(program, it)
    w = program.barrier_weights[:, None]
    mu = it.complementarity / (2 * len(it.outputs))
    move = system.direction(-it.s * it.zs, -it.u * it.zu, newton=True)
    rates = _rates(it, move)
    primal, dual = _step_lengths(rates)
    after = np.vdot(it.s + primal * move[3], it.zs + dual * move[5])
    after += np.vdot(it.u + primal * move[4], it.zu + dual * move[6])
    # Mehrotra (1992): the cube of what the predictor alone would leave; never none, which jams, nor all of it.
    sigma = float(np.clip((after / it.complementarity) ** 3, 1e-6, 0.9))
    target = sigma * mu * w
    extra = system.direction(target - move[3] * move[5], target - move[4] * move[6], newton=False)
    shares = (1.0, max(primal * dual, 0.1))
    share, (primal, dual), rates = _best_blend(rates, _rates(it, extra), shares)
    move = _blend(move, extra, share)
    for _ in range(CORRECTORS):
        if min(primal, dual) > NEARLY_FREE:
            break
        rs, ru = _centrality(it, move, min(1.0, primal + LONGER), min(1.0, dual + LONGER), target)
        extra = system.direction(rs, ru, newton=False)
        share, lengths, better = _best_blend(rates, _rates(it, extra), (1.0, 0.4))
        if sum(lengths) <= primal + dual + WON:
            break
        (primal, dual), rates, move = lengths, better, _blend(move, extra, share)
    primal = primal_length(primal, dual)
    moved = replace(it, t=it.t + primal * move[2], s=it.s + primal * move[3], u=it.u + primal * move[4])
    return dual_step(program, moved, move[0], move[1], system.offsets)


def primal_length(primal: float, dual: float) -> float:
    """Return how far a primal step goes, of the lengths that keep everything non-negative."""
    return min(1.0, (LONG_STEP_SHARE if min(primal, dual) > NEARLY_FREE else STEP_SHARE) * primal)


def pulled_back(product: Array, target: Array | float) -> Array:
    """Return by how much a product shall change to be central, downwards at most by ten targets."""
    least, most = CENTRAL
    return np.maximum(np.clip(product, least * target, most * target) - product, -most * target)


def _centrality(it: Iterate, move: list[Array], primal: float, dual: float, target: Array) -> tuple[Array, Array]:
    """Return Gondzio's targets: products that would leave [0.1, 10] times the target, pulled back."""
    out = []
    for value, slack, dv, dz in ((it.s, it.zs, move[3], move[5]), (it.u, it.zu, move[4], move[6])):
        product = (value + primal * dv) * (slack + dual * dz)
        out.append(pulled_back(product, target))
    return out[0], out[1]


def dual_step(program: UnbiasedProgram, it: Iterate, dlam: Array, dnu: Array, offsets: Array) -> Iterate:
    """Move the multipliers as far as every F(y) > 0 allows, and centre the slacks there."""
    g = program.reduced_costs(offsets, it.lam, it.nu)
    dg = -(dlam[:, None] + dnu[:, None] * offsets)
    floor = BOUNDARY_SHARE * program.column_values(g)
    length = 1.0
    while not np.all(program.column_values(g + length * dg) > floor):
        length *= 0.8  # F is concave along the step, with n kinks at every output: how far is found by trying
        if length < SMALLEST_STEP:
            raise SolverError("the interior point's dual step vanished")
    zs, zu, _ = centre_slacks(g + length * dg, program.ratio, program.barrier_weights)
    return replace(it, lam=it.lam + length * dlam, nu=it.nu + length * dnu, zs=zs, zu=zu)
