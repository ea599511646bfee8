"""The path of the barrier's maxima as its weight mu falls: Newton steps, and along the tangent where they settle.

After a Newton step that went most of its way, the next point is guessed along the tangent of the path: mu falls by up
to half and the share of even weights by four fifths, and the multipliers follow to first order, those of every row in
proportion to its weight. A step and a guess are taken only as far as F stays positive by a share of what it was on
every single piece, and every window keeps a share of its width; this, and that the guess's gradient is small, is what
makes the path robust where F is no self-concordant barrier.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..arrays import Array
from .column_value import LEAST, ColumnValue
from .dense_newton import DenseNewton
from .problem import Problem, State

if TYPE_CHECKING:
    from .sparse_newton import SparseNewton

DENSE = 180
"""Knots up to which the Newton system is a matrix."""

CLEAR, CLEAR_WIDTH = 0.1, 0.1
"""Shares of every piece's least F, and of every window's width, that a Newton step must leave."""

RISE = 1e-3
"""Share of the rise that the slope predicts to be reached, once it is no rounding (below NO_RISE of the objective)."""

OVERSHOOT = 0.2
"""Share of the slope at a step's start by which the objective may fall at its end: no step goes far past the top."""

NO_RISE = 1e-9
"""Share of the objective below which a predicted rise is rounding, and is not looked for."""

LEAST_STEP = 1e-6
"""Share of Newton's step below which none is possible."""

RAISE, MOST_RAISES = 1.5, 3
"""What mu is multiplied by where no step is possible, and how often before the path is given up."""

SETTLED, FAR_ENOUGH = 0.3, 0.4
"""A guess follows a Newton decrement below the first after a step beyond the second."""

GUESS_CLEAR, GUESS_WIDTH, GUESS_GRADIENT = 0.3, 0.2, 0.5
"""What a guess must leave of F where mu did not change, of widths, and the largest entry of its gradient."""

MU_FALL, SHARE_FALL = 0.5, 0.8
"""What a whole guess takes off mu and off the share of even weights."""

SHORTEN, SHORTEST = 0.75, 0.05
"""A guess that leaves too little is shortened by the first, and is none below the second."""

CENTRED, ALONE = 1e-2, 0.8
"""Where no guess is possible from a point of a decrement below the first, mu alone falls, by this factor."""

LEAST_SHARE = 1e-9
"""The share of even weights no longer falls below it, times the bound where that is below a tenth."""

MOST_STEPS = 300
"""Newton steps allowed for one path."""


class Directions(NamedTuple):
    """At a point: Newton's step (2n,), the path's derivatives by -log mu and by the share's fall, and the decrement."""

    newton: Array
    by_mu: Array
    by_share: Array
    decrement: float


@dataclass(frozen=True, eq=False)
class Here:
    """A point of the path with all that has been computed there."""

    problem: Problem
    state: State
    F: ColumnValue
    directions: Directions

    @classmethod
    def at(cls, problem: Problem, state: State, F: ColumnValue) -> Here:
        """Factorise the Newton system and solve it for all three directions."""
        system = _system(F, state.mu)
        gradient = problem.gradient(F, state.mu)
        sides = [gradient, np.repeat([1.0, 0.0], len(problem.x))]
        falls, change = _weights_ahead(problem, state)
        if falls:
            sides.append(_change_by_weights(F, system, state.mu, change))
        found = system.solve(np.stack(sides))
        # What the even weights lose changes p y^2, of which the multipliers hold p (2 x y - x^2).
        by_share = found[2] - np.append(change * problem.x**2, 2 * change * problem.x) if falls else 0 * gradient
        decrement = float(gradient @ found[0]) / state.mu
        return cls(problem, state, F, Directions(found[0], found[1], by_share, decrement))

    def stepped(self) -> tuple[State, ColumnValue, float] | None:
        """Return the point after a Newton step and how much of the step was taken; None where nothing is possible."""
        newton, turn, step = self.directions.newton, self._turn(), 1.0
        while step > LEAST_STEP:
            state = self.state.moved(newton, step)
            state = state._replace(lam=state.lam - step**2 * turn)
            F = self.problem.at(state)
            if clear(self.F, F, CLEAR, CLEAR_WIDTH) and self._rises(F, step):
                return state, F, step
            step *= 0.5
        return None

    def _turn(self) -> Array:
        """What lam (n,) must fall by, to second order of a Newton step, lest the least F of its pieces does.

        Along a straight line the vertex of a piece moves by d, and F falls there by A d^2 below its linear prediction:
        more than all of F in a narrow piece. As min_y sum_i c_i p_i ((y - m_i)^2 - h_i) is not lowered by windows that
        move together, rows move so: p_i d^2, the mean over the window by the floor's mass, is put back.
        """
        F = self.F
        mass, d = F.integrals.zero, F.sums(self.directions.newton[len(F.p) :]) / (2 * F.A)
        return F.p * F.within(mass * d * d) / np.maximum(F.within(mass), LEAST)

    def _rises(self, F: ColumnValue, step: float) -> bool:
        """Whether the objective has risen as it should by part of a Newton step, and not gone far beyond its top."""
        problem, mu, newton = self.problem, self.state.mu, self.directions.newton
        before, slope = problem.objective(self.F, mu), self.directions.decrement * mu
        return step * slope < NO_RISE * abs(before) or (
            problem.objective(F, mu) >= before + RISE * step * slope
            and bool(problem.gradient(F, mu) @ newton >= -OVERSHOOT * slope)
        )

    def guessed(self, state: State, F: ColumnValue) -> tuple[State, ColumnValue] | None:
        """Return the point ahead on the path from `state`, where a step from here has led; None where it is too far."""
        problem, p, n = self.problem, F.p, len(F.p)
        falls, fall = _weights_ahead(problem, state)
        move = MU_FALL * self.directions.by_mu + self.directions.by_share
        held, twice = np.concatenate([state.lam, state.nu]), np.tile(p, 2)
        # In proportion to the weights, but for rows whose window leaves the stretch: theirs do not shrink with them.
        rate = (move - held * np.tile(fall, 2) / twice) / twice
        own = np.tile(F.right - F.left < 2 * problem.reach, 2)
        step = 1.0
        while step > SHORTEST:
            ahead = State(state.lam, state.nu, state.mu * (1 - MU_FALL * step), state.share * (1 - falls * step))
            weights = np.tile(problem.weights(ahead.share), 2)
            both = np.where(own, weights * (held / twice + step * rate), held + step * move)
            ahead = ahead._replace(lam=both[:n], nu=both[n:])
            G = problem.at(ahead)
            left = GUESS_CLEAR * (1 - MU_FALL * step) ** 2
            if clear(F, G, left, GUESS_WIDTH) and np.abs(problem.gradient(G, ahead.mu)).max() < GUESS_GRADIENT:
                return ahead, G
            step *= SHORTEN
        return None


def clear(F: ColumnValue, after: ColumnValue, share: float, of_width: float) -> bool:
    """Whether every piece keeps a share of its least F, and every window of its width."""
    if not (after.proper and bool((after.slope >= of_width * F.slope).all())):
        return False
    if after.pieces == F.pieces:
        return bool((after.least > share * F.least).all())
    return after.lowest > share * F.lowest


def _system(F: ColumnValue, mu: float) -> DenseNewton | SparseNewton:
    if len(F.p) <= DENSE:
        try:
            return DenseNewton(F, mu)
        except np.linalg.LinAlgError:
            pass
    from .sparse_newton import SparseNewton  # sparse matrices take a tenth of a second to load

    return SparseNewton(F, mu)


def least_share(problem: Problem, state: State) -> float:
    """The share of even weights at which it falls no longer: small beside the bound."""
    # Positive, even where no bound above zero is known yet.
    return LEAST_SHARE * min(1.0, 10 * max(problem.bound(state), 1e-300))


def _weights_ahead(problem: Problem, state: State) -> tuple[float, Array]:
    """What a whole guess takes off the share of even weights, nothing at its end, and so adds to the weights (n,)."""
    falls = SHARE_FALL if state.share > least_share(problem, state) else 0.0
    return falls, falls * state.share * (problem.p - problem.even)


def _change_by_weights(F: ColumnValue, system: DenseNewton | SparseNewton, mu: float, fall: Array) -> Array:
    """The gradient's change (2n,) as parabolas change by fall y^2: mu int c_i e y^2 (1, y - x)/F^2, and of kinks."""
    e = F.sums(fall)
    of_lam, of_nu = mu * F.rows(e * F.second_squared), mu * F.rows(e * F.third_squared)
    for root, theta in system.kinks:
        of_lam, of_nu = of_lam + theta * fall * root**2, of_nu + theta * fall * root**3
    return np.concatenate([of_lam, of_nu - F.x * of_lam])


class Walk:
    """Follows the path from a state and remembers the centred states on its way."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem, self.state = problem, state
        self.centred: list[State] = []
        self.entered = False

    def until(self, done: Callable[[Here], bool], *, patience: int = MOST_STEPS, nearest: float = np.inf) -> bool:
        """Walk until `done` of a point; False where the path is lost.

        Parameters
        ----------
        done : callable
            Asked at every point, before the step.
        patience : int
            Steps allowed before the first guess.
        nearest : float
            The Newton decrement that the first point may have.
        """
        with np.errstate(all="ignore"):  # what is no number is no step
            return self._until(done, patience, nearest)

    def _until(self, done: Callable[[Here], bool], patience: int, nearest: float) -> bool:
        state, F, raises, guesses = self.state, self.problem.at(self.state), 0, 0
        if not F.lowest > 0:
            return False
        for step in range(MOST_STEPS):
            try:
                here = Here.at(self.problem, state, F)
            except (RuntimeError, np.linalg.LinAlgError):  # singular to the last digit
                return False
            if not here.directions.decrement < (np.inf if step else nearest):
                return False
            self.entered = True
            if done(here):
                return True
            if (after := here.stepped()) is None:
                raises += 1
                if raises > MOST_RAISES:
                    return False
                state = state._replace(mu=RAISE * state.mu)
                continue
            state, F, length = after
            if here.directions.decrement < SETTLED and length > FAR_ENOUGH:
                self.centred.append(state)
                if ahead := here.guessed(state, F):
                    guesses += 1
                    state, F = ahead
                elif here.directions.decrement < CENTRED:
                    state = state._replace(mu=ALONE * state.mu)
            if not guesses and step + 1 >= patience:
                return False
        return False
