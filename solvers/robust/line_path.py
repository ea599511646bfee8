"""The least of a mixture of expected and largest variance by a barrier over the output line.

With weights q = (1 - w) p + rho that may move, and g_i(y) = q_i y^2 - lam_i - nu_i y,

    maximise   sum lam + nu.x - q.x^2 + mu int_{-Y}^{Y} log F(y) dy + mu k sum log rho_i,    sum rho = w.

At its maximum the floor mu/F(y) dy has the optimal windows as rows, at variances V_i = tau - mu k/rho_i, and costs at
most mu (2Y + n k) more than the multipliers prove. The path is that of `barrier.path` but for its guesses, which follow
the tangent in a straight line: F is linear in multipliers and weights together, and all that keeps it positive at the
outputs, where it is of the order of mu^2, is that nothing of second order is added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..barrier.barrier_method import Centre
from ..barrier.column_value import ColumnValue
from ..barrier.path import LEAST_SHARE, LEAST_STEP, MOST_RAISES, NO_RISE, RAISE, RISE, SHARE_FALL
from ..barrier.primal import Floor, stretched_floor
from ..barrier.problem import Problem
from ..barrier.start import SHARE, start
from .line_moments import SharpValue, second_moments
from .line_newton import LineNewton

SPREAD = 1e-6
"""The weight of the worst case is at most one minus this, the rest even: no weight then vanishes altogether."""

MIRRORED = 1e-12
"""Knots and weights that differ by less from their mirror images count as symmetric; rows are for knots as given."""

STRETCH = 0.7 / 1.5
"""Of the stretch of `barrier.problem`: the outputs end at half of it, and what a step costs at most goes with it."""

OF_WEIGHTS = 0.3
"""n k over 2Y: where it is small the weights' own barrier costs little."""

CLEAR, CLEAR_WIDTH, CLEAR_WEIGHT = 0.1, 0.1, 0.1
"""Shares of every piece's least F, every window's width and every weight's rest that a Newton step must leave."""

SETTLED, FAR_ENOUGH = 0.3, 0.4
"""A guess follows a Newton decrement below the first after a step beyond the second."""

FALLS = (0.5, 0.42, 0.33, 0.25, 0.18, 0.12, 0.07, 0.04, 0.02)
"""What guesses take off mu, tried in turn."""

GUESS_CLEAR, GUESS_WIDTH, GUESS_GRADIENT = 0.3, 0.2, 0.2
"""What a guess must leave of F and of rho where mu did not change, of widths, and the largest entry of its gradient."""

CENTRED, ALONE = 1e-2, 0.8
"""Where no guess is possible from a point of a decrement below the first, mu alone falls, by this factor."""

CLOSE, NEARLY_CENTRED = 3e-2, 5.0
"""A floor is asked for once 2 mu Y is below this share of the bound, and the Newton decrement below the second."""

MOST_STEPS, PATIENCE = 150, 12
"""Steps allowed, and those without a better floor, once there is one."""


@dataclass(frozen=True, eq=False)
class LineCentre(Centre):
    """As of the barrier with weights that stay, but lambda and nu are in the coordinate of the outputs; and q (n,)."""

    weights: Array


class State(NamedTuple):
    """A point: lambda, nu and q, (3n,), the barrier's weight, and the share of even weights in the prior."""

    z: Array
    mu: float
    share: float


Report = Callable[[float, Array, Array, Array, int], None]


def solve_on_the_line(
    knots: Array, prior: Array, ratio: float, worst: float, tolerance: float, report: Report
) -> LineCentre | None:
    """Return the least (1 - w) sum p_i V_i + w max V_i that is found, None where the path is lost before any floor.

    Parameters
    ----------
    knots, prior : (n,) ndarray
        Increasing from -1 to 1; non-negative, summing to one.
    ratio, worst, tolerance : float
        E; w in (0, 1]; relative gap of the floor's value and the dual objective at which it ends.
    report : callable
        Called at every point with the value that is or will be reached, q, lambda, nu, and the number of outputs.
    """
    walk = _Walk(Mixtures.of(knots, prior, ratio, worst), tolerance, report)
    with np.errstate(all="ignore"):  # what is no number is no step
        walk.arrives()
    return walk.found


@dataclass(frozen=True, eq=False)
class Mixtures:
    """Knots, prior (n,), E, the stretch Y, the weight of the worst case, and whether all is symmetric about zero."""

    x: Array
    p: Array
    E: float
    reach: float
    worst: float
    mirrored: bool

    @classmethod
    def of(cls, x: Array, p: Array, E: float, worst: float) -> Mixtures:
        p = np.full(len(x), 1 / len(x)) if worst > 1 - SPREAD else p
        mirrored = bool(max(np.abs(x + x[::-1]).max(), np.abs(p - p[::-1]).max()) < MIRRORED)
        if mirrored:
            x, p = (x - x[::-1]) / 2, (p + p[::-1]) / 2
        return cls(x, p, E, STRETCH * Problem.of(x, p, E).reach, min(worst, 1 - SPREAD), mirrored)

    @cached_property
    def costs(self) -> Array:
        """Of lambda, nu and q in the dual objective (3n,)."""
        return np.concatenate([np.ones_like(self.x), self.x, -(self.x**2)])

    @property
    def each(self) -> float:
        """The barrier's weight on every rho_i, over mu."""
        return OF_WEIGHTS * 2 * self.reach / len(self.x)

    @property
    def widest(self) -> float:
        """The largest gap of a centred point, over mu."""
        return (1 + OF_WEIGHTS) * 2 * self.reach

    def base(self, share: float) -> Array:
        """(1 - w) times the prior with this share of even weights."""
        return (1 - self.worst) * ((1 - share) * self.p + share / len(self.x))

    def rest(self, state: State) -> Array:
        """rho (n,)."""
        return state.z[2 * len(self.x) :] - self.base(state.share)

    def at(self, state: State) -> ColumnValue | None:
        """F, or None outside of the barrier."""
        n = len(self.x)
        if not (self.rest(state) > 0).all():
            return None
        F = SharpValue(state.z[2 * n :], state.z[:n], state.z[n : 2 * n], self.E, self.reach)
        return F if F.lowest > 0 else None

    def objective(self, state: State, F: ColumnValue) -> float:
        barrier = F.integrals.log + self.each * float(np.log(self.rest(state)).sum())
        return float(self.costs @ state.z) + state.mu * barrier

    def gradient(self, state: State, F: ColumnValue) -> Array:
        by_q = F.rows(second_moments(F)) + self.each / self.rest(state)
        return self.costs + state.mu * np.concatenate([-F.rows(F.integrals.zero), -F.rows(F.first), by_q])

    def start(self) -> State | None:
        """A point near the path: the start of `barrier` for the mean of all mixtures."""
        n = len(self.x)
        even = self.worst / n
        first = start(Problem.of(self.x, (1 - self.worst) * self.p + even, self.E))
        if first is None:
            return None
        q = self.base(SHARE) + even
        lam, nu = first.lam - (first.nu + q * self.x) * self.x, first.nu + 2 * q * self.x
        if self.mirrored:
            lam, nu = (lam + lam[::-1]) / 2, (nu - nu[::-1]) / 2
        return State(np.concatenate([lam, nu, q]), first.mu, SHARE)


class _Walk:
    """Follows the path; the best floor and the best multipliers so far are `found`."""

    def __init__(self, problem: Mixtures, tolerance: float, report: Report) -> None:
        self.problem, self.tolerance, self.report = problem, tolerance, report
        self.bound, self.idle = 0.0, 0
        self.floor: Floor | None = None
        self.multipliers = np.empty(0)
        self.first = 0

    @property
    def value(self) -> float:
        return np.inf if self.floor is None else self.floor.objective

    @property
    def found(self) -> LineCentre | None:
        if self.floor is None:
            return None
        lam, nu, q = self.multipliers.reshape(3, -1)
        return LineCentre(lam, nu, self.floor, q)

    def arrives(self) -> bool:
        """Walk until the gap is closed; False where the path is lost."""
        problem, raises = self.problem, 0
        state = problem.start()
        F = None if state is None else problem.at(state)
        for _ in range(MOST_STEPS):
            if state is None or F is None or (self.floor and self.idle > PATIENCE):
                return False
            try:
                system, (newton, by_mu, by_share) = self._directions(state, F)
            except np.linalg.LinAlgError:
                return False
            decrement = float(problem.gradient(state, F) @ newton) / state.mu
            if not np.isfinite(decrement):
                return False
            if self._closed(state, F, system, decrement):
                return True
            if (after := self._stepped(state, F, newton, decrement)) is None:
                raises += 1
                if raises > MOST_RAISES:
                    return False
                state = state._replace(mu=RAISE * state.mu)
                continue
            state, F, length = after
            if decrement < SETTLED and length > FAR_ENOUGH:
                if ahead := self._guessed(state, F, by_mu, by_share):
                    state, F = ahead
                elif decrement < CENTRED:
                    state = state._replace(mu=ALONE * state.mu)
        return False

    def _directions(self, state: State, F: ColumnValue) -> tuple[LineNewton, Array]:
        """Newton's step, the path's derivatives by -log mu and by the whole fall of the share of even weights."""
        problem, n = self.problem, len(self.problem.x)
        system = LineNewton(F, state.mu, state.mu * problem.each / problem.rest(state) ** 2, problem.mirrored)
        sides = np.stack([problem.gradient(state, F), problem.costs])
        falling = problem.base((1 - SHARE_FALL) * state.share) - problem.base(state.share)
        if not self._share_falls(state):
            return system, np.concatenate([system.solve(sides), np.zeros((1, 3 * n))])
        moves = system.solve(sides, -system.resisted(falling))
        held = np.zeros((3, n, 1))
        held[2, :, 0] = falling
        moves[2] += system.from_roots(held)[0]
        return system, moves

    def _share_falls(self, state: State) -> bool:
        # Positive, even where no bound above zero is known yet.
        least = LEAST_SHARE * min(1.0, 10 * max(float(self.problem.costs @ state.z), 1e-300))
        return self.problem.worst < 1 - SPREAD and state.share > least

    def _stepped(
        self, state: State, F: ColumnValue, newton: Array, decrement: float
    ) -> tuple[State, ColumnValue, float] | None:
        """Return the point after a Newton step and how much of it was taken; None where nothing is possible."""
        problem, step = self.problem, 1.0
        before, slope = problem.objective(state, F), decrement * state.mu
        while step > LEAST_STEP:
            after = state._replace(z=state.z + step * newton)
            G = problem.at(after)
            if G is not None and self._clear(state, F, after, G, CLEAR, CLEAR_WIDTH, CLEAR_WEIGHT):
                if step * slope < NO_RISE * abs(before):
                    return after, G, step
                if problem.objective(after, G) >= before + RISE * step * slope:
                    return after, G, step
            step *= 0.5
        return None

    def _guessed(self, state: State, F: ColumnValue, by_mu: Array, by_share: Array) -> tuple[State, ColumnValue] | None:
        """Return a point ahead on the path; None where all are too far."""
        problem, twice = self.problem, 2 * len(self.problem.x)
        share_fall = SHARE_FALL if self._share_falls(state) else 0.0
        for k in range(max(self.first - 2, 0), len(FALLS)):
            fall = FALLS[k]
            part = fall / FALLS[0]
            z = state.z + fall * by_mu + part * by_share
            ahead = State(z, (1 - fall) * state.mu, (1 - part * share_fall) * state.share)
            G = problem.at(ahead)
            left = GUESS_CLEAR * (1 - fall)
            if G is None or not self._clear(state, F, ahead, G, left * (1 - fall), GUESS_WIDTH, left):
                continue
            if np.abs(problem.gradient(ahead, G)[:twice]).max() < GUESS_GRADIENT:
                self.first = k
                return ahead, G
        self.first = len(FALLS)
        return None

    def _clear(
        self, state: State, F: ColumnValue, after: State, G: ColumnValue, share: float, of_width: float, of_rest: float
    ) -> bool:
        """Whether every piece keeps a share of its least F, every window of its width, every weight of its rest."""
        if not (G.right - G.left >= of_width * (F.right - F.left)).all():
            return False
        if not (self.problem.rest(after) >= of_rest * self.problem.rest(state)).all():
            return False
        if G.pieces == F.pieces:
            return bool((G.least > share * F.least).all())
        return G.lowest > share * F.lowest

    def _closed(self, state: State, F: ColumnValue, system: LineNewton, decrement: float) -> bool:
        """Whether there is a floor within the tolerance; the best floor and the best multipliers are kept."""
        problem, dual = self.problem, float(self.problem.costs @ state.z)
        near = 2 * state.mu * problem.reach < CLOSE * abs(dual) and decrement < NEARLY_CENTRED
        self.idle += 1
        if near and not self._share_falls(state):
            if dual > self.bound:
                self.bound, self.multipliers = dual, state.z
            if (floor := self._floor(state, F, system)) is not None and floor.objective < self.value:
                self.floor, self.idle = floor, 0
        n, reached = len(problem.x), min(self.value, dual + problem.widest * state.mu)
        self.report(reached, state.z[2 * n :], state.z[:n], state.z[n : 2 * n], F.pieces)
        return self.value - self.bound <= self.tolerance * self.bound

    def _floor(self, state: State, F: ColumnValue, system: LineNewton) -> Floor | None:
        """The floor after a Newton step, as `barrier.primal`; None for none."""
        moments, mu = system.moments, state.mu
        change = np.sqrt(mu * moments.mass) * system.parts[0]
        masses = mu * F.integrals.zero + change
        if not (masses >= 0).all():
            return None
        firsts = mu * F.first + moments.centre * change + np.sqrt(mu * moments.second) * system.parts[1]
        k = np.flatnonzero(masses)
        return self._best(np.clip(firsts[k] / masses[k], F.edges[k], F.edges[k + 1]), masses[k])

    def _best(self, outputs: Array, masses: Array) -> Floor | None:
        """The floor, stretched if it ends a little too early, with the value of its best rows."""
        problem = self.problem
        made = stretched_floor(problem.x, problem.E, outputs, masses)
        if made is None:
            return None
        outputs, masses, V = made
        value = (1 - problem.worst) * (problem.p @ V) + problem.worst * V.max()
        return Floor(outputs, masses, float(value))
