"""Weights of given patterns: the convex part of the frequency program, by a primal-dual interior point.

    minimise f(c) = tr M(c)^-1   over c >= 0 with sum_s c_s s = 1,    M(c) = sum_s c_s s s^T / (pi . s).

With H = M^-1 and W = H^2 (for an importance: of the columns as seen through it) the gradient is
-s^T W s / (pi . s) and the Hessian the elementwise product 2 (A^T W A) o (A^T H A), where A has the columns
s / sqrt(pi . s).  A step costs O(m^3 + m^2 K) for m patterns; about ten suffice from a cold start.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ...mechanisms.errors import SolverError
from ..arrays import Array
from .frequency_program import FrequencyProgram

MAX_STEPS = 60
"""Three times what the hardest measured problem takes."""

TO_BOUNDARY = 0.99
"""Share of the way to the nearest boundary that a step may go."""

FEASIBLE = 1e-9
"""Row sums' distance from one to reach; the end is polished to rounding."""

POLISHES = 3
"""Corrections of the row sums; each one squares what is left, relative to the weights."""


@dataclass(frozen=True, eq=False)
class PatternWeights:
    """Weights (m,), multipliers lambda (K,), H = R M^-1 R (K, K), with R = C^(1/2) the identity by default."""

    weights: Array
    multipliers: Array
    root: Array


def weigh_patterns(program: FrequencyProgram, patterns: Array, *, tolerance: float) -> PatternWeights:
    """Return the best weights of these patterns to a complementarity gap relative to the error.

    Parameters
    ----------
    program : FrequencyProgram
    patterns : (K, m) ndarray
        The all-1 pattern and the K patterns with one E must be among them, so that there are weights.
    tolerance : float

    Raises
    ------
    SolverError
        The Newton system is singular to rounding.

    Example
    -------
    >>> marks = np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> program = FrequencyProgram(np.array([0.5, 0.5]), 3.0)
    >>> found = weigh_patterns(program, program.patterns(marks), tolerance=1e-9)
    >>> found.weights.round(4)   # randomised response: 0.25 (3, 1) and 0.25 (1, 3)
    array([0.  , 0.25, 0.25])
    """
    path = _TracePath(program, patterns)
    for _ in range(MAX_STEPS):
        gap = path.refresh()
        if gap <= tolerance and np.abs(path.shortfall).max() <= FEASIBLE:
            break
        try:
            path.step()
        except LinAlgError as error:  # numpy's too
            raise SolverError(f"the weights of {patterns.shape[1]} patterns could not be found: {error}") from None
    return PatternWeights(path.c, path.lam, path.H)


class WeightPath(ABC):
    """Weights c, multipliers lambda and reduced costs y = lambda . s + df/dc_s of a convex f on the way to the least f.

    Parameters
    ----------
    patterns : (K, m) ndarray
        With the all-1 pattern and the K patterns with one E among them.
    """

    gradient: Array

    def __init__(self, patterns: Array) -> None:
        self.s = patterns
        self.c = np.full(patterns.shape[1], 1 / patterns.sum(1).mean())
        self.differentiate()
        level = 1.2 * (-self.gradient / patterns.sum(0)).max()  # y > 0 everywhere
        self.lam = np.full(len(patterns), level)
        self.y = self.gradient + self.lam @ patterns

    @abstractmethod
    def differentiate(self) -> None:
        """Bring `gradient`, df/dc, up to date."""

    @abstractmethod
    def hessian(self) -> Array:
        """Return the second derivatives (m, m) of f, positive semidefinite, where it was differentiated last."""

    @property
    @abstractmethod
    def size(self) -> float:
        """What the gap is a share of."""

    def refresh(self) -> float:
        """Bring residuals up to date and return the gap, a share of the error."""
        self.differentiate()
        self.shortfall = 1 - self.s @ self.c
        self.residual = self.gradient + self.lam @ self.s - self.y
        return float((self.c @ self.y + np.abs(self.residual) @ self.c) / self.size)

    def step(self) -> None:
        """One predictor-corrector step (Mehrotra, 1992)."""
        hessian = self.hessian()
        hessian[np.diag_indices_from(hessian)] += self.y / self.c
        self.factor = cho_factor(hessian, lower=True, overwrite_a=True, check_finite=False)
        self.solved = cho_solve(self.factor, self.s.T, check_finite=False)
        self.schur = self.s @ self.solved
        mu = self.c @ self.y / self.c.size
        dc, _, dy = self._direction(-self.c * self.y)
        size = min(_largest_step(self.c, dc), _largest_step(self.y, dy))
        centring = ((self.c + size * dc) @ (self.y + size * dy) / self.c.size / mu) ** 3
        dc, dlam, dy = self._direction(centring * mu - self.c * self.y - dc * dy)
        size = min(1.0, TO_BOUNDARY * min(_largest_step(self.c, dc), _largest_step(self.y, dy)))
        self.c, self.lam, self.y = self.c + size * dc, self.lam + size * dlam, self.y + size * dy

    def _direction(self, target: Array) -> tuple[Array, Array, Array]:
        """Solve for steps with c dy + y dc = target that close the residuals."""
        free = cho_solve(self.factor, target / self.c - self.residual, check_finite=False)
        dlam = np.linalg.solve(self.schur, self.s @ free - self.shortfall)
        dc = free - self.solved @ dlam
        return dc, dlam, (target - self.y * dc) / self.c


class _TracePath(WeightPath):
    """The way to the least tr(C M^-1)."""

    def __init__(self, program: FrequencyProgram, patterns: Array) -> None:
        self.square = program.square
        self.scaled = program.seen(patterns / np.sqrt(program.prior @ patterns))
        super().__init__(patterns)

    def differentiate(self) -> None:
        information = (self.scaled * self.c) @ self.scaled.T
        inverse = np.linalg.inv(information)
        self.H: Array = (inverse + inverse.T) / 2
        self.WA = self.H @ (self.H @ self.scaled)
        self.gradient = -np.einsum("xs,xs->s", self.scaled, self.WA)

    def hessian(self) -> Array:
        return 2 * (self.scaled.T @ self.WA) * (self.scaled.T @ (self.H @ self.scaled))

    @property
    def size(self) -> float:
        return float(np.trace(self.H) - self.square)


def _largest_step(values: Array, change: Array) -> float:
    """Return the step, at most 1 / TO_BOUNDARY, at which the first value reaches zero."""
    falling = change < 0
    return min(1 / TO_BOUNDARY, float((-values[falling] / change[falling]).min(initial=np.inf)))


def polished(patterns: Array, weights: Array) -> Array:
    """Return weights with sum_s c_s s = 1 to rounding, by relative changes as small as can be.

    Example
    -------
    >>> polished(np.array([[3.0, 1.0], [1.0, 3.0]]), np.array([0.25, 0.2500001])).round(12)
    array([0.25, 0.25])
    """
    for _ in range(POLISHES):
        short = 1 - patterns @ weights
        scaled = patterns * weights
        # Least squares in relative changes: patterns of next to no weight stay where they are.
        weights = weights * (1 + scaled.T @ np.linalg.solve(scaled @ scaled.T, short))
    return weights
