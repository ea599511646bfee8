r"""Weights of given patterns with the shortest intervals: an interior point, whose departures follow from step to step.

At departures d_k with multipliers c_k of their balls, the modulus of number k changes with the weight of pattern s by

    - c_k (d_k . s)^2 / (2 g . s),

and with c_k held, the sum over numbers is convex: as in `frequency.weights`, a primal-dual step finds weights for which
the sum is less, and departures follow. What is reached is stationary, and perhaps not the least.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, solve_triangular

from ...mechanisms.errors import SolverError
from ..arrays import Array
from ..frequency.weights import FEASIBLE, WeightPath
from .departures import Departures
from .length_program import LengthProgram

MOST_STEPS = 40
"""Three times what is usual."""

FOLLOWING = 3
"""Steps of the departures for each one of the weights."""

EVENING = 0.5
"""Power of a length over the largest that its share in the worst one is multiplied by at each step."""

FAINT = 1e-9
"""Share of a number in the worst length that is none."""


class LengthPath(WeightPath):
    """The way to the shortest intervals by patterns (K, m).

    Parameters
    ----------
    program : LengthProgram
    patterns : (K, m) ndarray
    departures : Departures
        Of the program's numbers, from earlier patterns or from none.
    parts : (k,) ndarray
        How much each number's length counts.
    """

    def __init__(self, program: LengthProgram, patterns: Array, departures: Departures, parts: Array) -> None:
        self.program, self.departures, self.parts = program, departures, parts
        self.mass = program.prior @ patterns
        self.cold = True
        super().__init__(patterns)

    def differentiate(self) -> None:
        information = (self.s * (self.c / self.mass)) @ self.s.T
        if self.cold:
            self.departures.settle(information)
            self.cold = False
        else:
            for _ in range(FOLLOWING):
                self.departures.follow(information)
        if self.program.worst:
            each = self.program.weights * self.lengths
            shares = np.maximum(self.parts / self.program.weights * (each / each.max()) ** EVENING, FAINT)
            self.parts = self.program.weights * shares / shares.sum()
        self.seen = (self.departures.values @ self.s) / self.mass
        self.gradient = -(self._pulls @ self.seen**2) * self.mass

    def hessian(self) -> Array:
        factors = np.linalg.cholesky(self.departures.curvature())
        right = np.column_stack([self.s, np.ones(len(self.s))])
        scale = np.sqrt(2 * self._pulls * self.departures.multipliers)
        found = np.zeros((self.c.size, self.c.size))
        for factor, seen, size in zip(factors, self.seen, scale, strict=True):
            columns = solve_triangular(factor, right, lower=True, check_finite=False)
            along = columns[:, -1] / np.linalg.norm(columns[:, -1])  # departures sum to zero
            columns = (columns[:, :-1] - np.outer(along, along @ columns[:, :-1])) * (size * seen)
            found += columns.T @ columns
        return found

    @property
    def lengths(self) -> Array:
        """Of the intervals (k,)."""
        return self.departures.moduli.reshape(2, -1).sum(0)

    @property
    def size(self) -> float:
        return float(self.parts @ self.lengths)

    @property
    def squared(self) -> Array:
        """W (K, K): pattern s lessens the sum of lengths by s^T W s / (g . s) for each unit of its weight."""
        values = self.departures.values
        return (values * self._pulls[:, None]).T @ values

    @property
    def _pulls(self) -> Array:
        return np.tile(self.parts, 2) * self.departures.multipliers / 2


def weigh_lengths(path: LengthPath, tolerance: float) -> None:
    """Go to weights with a complementarity gap relative to the lengths; SolverError where a system is singular."""
    for _ in range(MOST_STEPS):
        gap = path.refresh()
        if gap <= tolerance and np.abs(path.shortfall).max() <= np.sqrt(FEASIBLE):
            return
        try:
            path.step()
        except LinAlgError as error:  # numpy's too
            raise SolverError(f"the weights of {path.c.size} patterns could not be found: {error}") from None
