"""The best floors of one, two, three, ... pieces, by sequential quadratic programming from several starts.

For given intervals the best masses are a convex program, for given masses the intervals are not; so a local method is
started from every floor of fewer pieces with a piece cut, from the certified optimum's floor gathered into pieces and,
on a way back, from every floor of more pieces with one less.  What is returned is recomputed from the floor itself and
is an upper bound whatever the search did: how far it is from the optimum, the optimum's certificate says.

Source: Kraft (1988), SLSQP, as in scipy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...mechanisms.errors import InputError, SolverError
from ..arrays import Array
from .floor import PieceFloor, reach, windows
from .form import FloorForm
from .gradient import FloorGradient, second_moments, upper_reach
from .starts import grown, shrunk

MAX_STEPS = 80
"""Steps of one descent: 20 to 60 are typical, and 200 gained less than a thousandth of the gap."""

OBJECTIVE_TOLERANCE = 1e-9
"""Change of the objective, in squared lengths of the form's unit, at which a descent stops."""

LARGEST_STRETCH = 1.01
"""A descent may end with the knots out of reach by its tolerance; one that ends further away has failed."""

SAME = 1e-9
"""Knots, and weights, that mirror each other to this are symmetric: the floor's objective is recomputed anyway."""


@dataclass(frozen=True, eq=False)
class ShapeProblem:
    """What a floor is judged by.

    Attributes
    ----------
    knots : (n,) ndarray
        Increasing, from -1 to 1.
    weights : (n,) ndarray
        Non-negative, summing to 1.
    ratio : float
        E = e^epsilon.
    worst : bool
        Whether the objective is the largest variance at a knot rather than the expected one.
    """

    knots: Array
    weights: Array
    ratio: float
    worst: bool = False

    @property
    def symmetric(self) -> bool:
        """Whether the mirror image of a floor is as good as the floor."""
        even = np.abs(self.knots + self.knots[::-1]).max() <= SAME
        return bool(even and (self.worst or np.abs(self.weights - self.weights[::-1]).max() <= SAME))

    def objective(self, floor: PieceFloor) -> float:
        """Return the expected or the largest variance of the best rows at the knots; SolverError if there are none."""
        windows(floor, self.knots, self.ratio)
        variances = second_moments(floor, self.knots, self.ratio).value - self.knots**2
        return float(variances.max() if self.worst else self.weights @ variances)


@dataclass(frozen=True, eq=False)
class ShapedFloor:
    """A floor and its objective."""

    floor: PieceFloor
    objective: float


def best_floors(
    problem: ShapeProblem, first: PieceFloor, pieces: int, guides: Iterable[PieceFloor] = ()
) -> list[ShapedFloor]:
    """Return the best floors found of at most 1, 2, ..., `pieces` pieces; the objectives never rise.

    Parameters
    ----------
    problem : ShapeProblem
    first : PieceFloor
        One piece that reaches the knots, such as PTT's.
    pieces : int
    guides : iterable of PieceFloor
        More floors to start from.

    Example
    -------
    >>> problem = ShapeProblem(np.linspace(-1, 1, 5), np.full(5, 0.2), np.exp(0.5))
    >>> found = best_floors(problem, PieceFloor([-12.0], [12.0], [0.7]), 2)
    >>> found[0].objective > 1.1 * found[1].objective
    True
    """
    starts: dict[int, list[PieceFloor]] = {1: [first]}
    for guide in guides:
        starts.setdefault(guide.low.size, []).append(guide)
    best: dict[int, ShapedFloor] = {}
    for m in range(1, pieces + 2):
        _improve(problem, best, starts.get(m, []))
        if m in best:
            for more in grown(best[m].floor, problem.symmetric, problem.ratio):
                starts.setdefault(more.low.size, []).append(more)
    for m in range(pieces + 1, 1, -1):
        if m in best:
            _improve(problem, best, shrunk(best[m].floor, problem.symmetric, problem.ratio))
    found = [ShapedFloor(first, problem.objective(first))]
    for m in range(1, pieces + 1):
        found.append(min(found[-1], best.get(m, found[-1]), key=lambda one: one.objective))
    return found[1:]


def _improve(problem: ShapeProblem, best: dict[int, ShapedFloor], starts: Iterable[PieceFloor]) -> None:
    """Descend from every start and keep, for its number of pieces, what is better than the best so far."""
    for start in starts:
        m = start.low.size
        end = descend(problem, FloorForm(m, problem.symmetric, problem.ratio), start)
        if end is not None and (m not in best or end.objective < best[m].objective):
            best[m] = end


def descend(problem: ShapeProblem, form: FloorForm, start: PieceFloor) -> ShapedFloor | None:
    """Return the better one of the start and the end of a descent, or None where neither reaches the knots."""
    vector = form.vector(start)
    ends = [form.floor(vector)]
    with suppress(InputError):  # a step that is not finite: the start is all there is
        ends.append(form.floor(np.maximum(_Search(problem, form).run(vector), form.least)))
    made = [end for floor in ends if (end := _reaching(problem, floor)) is not None]
    return min(made, key=lambda end: end.objective, default=None)


def _reaching(problem: ShapeProblem, floor: PieceFloor) -> ShapedFloor | None:
    """The floor, stretched by what the knots are out of reach, with its objective."""
    low, high = reach(floor, problem.ratio)
    if not low < 0 < high:
        return None
    stretch = max(1.0, problem.knots[0] / low, problem.knots[-1] / high)
    if stretch > LARGEST_STRETCH:
        return None
    floor = PieceFloor(floor.low * stretch, floor.high * stretch, floor.mass)
    try:
        return ShapedFloor(floor, problem.objective(floor))
    except SolverError:
        return None


class _Search:
    """One descent: variances and reaches, with their derivatives, as functions of a form's vector.

    For the worst case the vector has one more entry, the largest variance, that is minimised subject to all being
    below it.
    """

    def __init__(self, problem: ShapeProblem, form: FloorForm) -> None:
        self.problem, self.form, self.symmetric = problem, form, problem.symmetric
        self.scale = form.unit**2
        self.size = form.least.size
        self._last: tuple[bytes, tuple[Array, Array]] | None = None
        self._reached: tuple[bytes, tuple[Array, Array]] | None = None

    def run(self, vector: Array) -> Array:
        from scipy.optimize import minimize  # a quarter of a second, where no other solver needs it

        bounds = [(least if np.isfinite(least) else None, None) for least in self.form.least]
        goal, constraints = self.expected, [self._inequality(self.enough), self._inequality(self.reaches)]
        if self.problem.worst:
            vector = np.append(vector, self.variances(vector)[0].max())
            bounds.append((0.0, None))
            goal = self.last
            constraints.append(self._inequality(self.below_last))
        result = minimize(
            goal,
            vector,
            jac=True,
            method="SLSQP",
            bounds=bounds,
            constraints=constraints,
            options={"maxiter": MAX_STEPS, "ftol": OBJECTIVE_TOLERANCE},
        )
        return np.asarray(result.x)[: self.size]

    @staticmethod
    def _inequality(parts: Callable[[Array], tuple[Array, Array]]) -> dict[str, Any]:
        return {"type": "ineq", "fun": lambda z: parts(z)[0], "jac": lambda z: parts(z)[1]}

    def last(self, z: Array) -> tuple[float, Array]:
        return float(z[-1]), np.eye(z.size)[-1]

    def below_last(self, z: Array) -> tuple[Array, Array]:
        value, change = self.variances(z)
        return z[-1] - value, np.eye(z.size)[-1] - change

    def enough(self, z: Array) -> tuple[Array, Array]:
        """The floor holds one window or more."""
        change = np.append(self.form.windows(), np.zeros(z.size - self.size))[None, :]
        return change @ z - 1, change

    def variances(self, z: Array) -> tuple[Array, Array]:
        """Values and derivatives, remembered for the method, which asks for them one after the other."""
        if self._last is None or self._last[0] != z.tobytes():
            floor = self._floor(z)
            change = second_moments(floor, self.problem.knots, self.problem.ratio)
            value = (change.value - self.problem.knots**2) / self.scale
            self._last = z.tobytes(), (value, self._rows(change, floor, z.size) / self.scale)
        return self._last[1]

    def expected(self, z: Array) -> tuple[float, Array]:
        value, change = self.variances(z)
        return float(self.problem.weights @ value), self.problem.weights @ change

    def reaches(self, z: Array) -> tuple[Array, Array]:
        """How far the floor reaches beyond the outermost knots; for symmetric floors at one side, to say it once."""
        if self._reached is None or self._reached[0] != z.tobytes():
            self._reached = z.tobytes(), self._reaches(z)
        return self._reached[1]

    def _reaches(self, z: Array) -> tuple[Array, Array]:
        floor, ratio = self._floor(z), self.problem.ratio
        upper = upper_reach(floor, ratio)
        if self.symmetric:
            return upper.value - self.problem.knots[-1], self._rows(upper, floor, z.size)
        mirrored = upper_reach(PieceFloor(-floor.high[::-1], -floor.low[::-1], floor.mass[::-1]), ratio)
        lower = FloorGradient(mirrored.value, mirrored.mass[:, ::-1], -mirrored.high[:, ::-1], -mirrored.low[:, ::-1])
        value = np.concatenate([upper.value - self.problem.knots[-1], lower.value + self.problem.knots[0]])
        return value, np.vstack([self._rows(change, floor, z.size) for change in (upper, lower)])

    def _floor(self, z: Array) -> PieceFloor:
        return self.form.floor(np.maximum(z[: self.size], self.form.least))

    def _rows(self, change: FloorGradient, floor: PieceFloor, size: int) -> Array:
        rows = self.form.pull_back(change, floor)
        return np.hstack([rows, np.zeros((len(rows), size - self.size))]) if size > self.size else rows
