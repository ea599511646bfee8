"""How large linear functionals of weights can be that explain the data, each with a proof."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array, Flags, Indices
from .paths import Followed, Problem, best_weights, follow


class Nearest(NamedTuple):
    r"""Weights with the least \|B w - c\|^2.

    Parameters
    ----------
    problem : Problem
    active : (K,) ndarray of bool
        Which are positive.
    least : float
        Their \|B w - c\|^2.
    """

    problem: Problem
    active: Flags
    least: float


@dataclass(frozen=True, eq=False)
class Ball:
    r"""The weights w on the simplex with \|B w - c\|^2 <= least + reach^2, least being the smallest there is.

    Parameters
    ----------
    matrix : (r, K) ndarray
        B.
    centre : (r,) ndarray
        c.
    """

    matrix: Array
    centre: Array

    @cached_property
    def nearest(self) -> Nearest:
        """The weights that explain the data best, and by how much they fail to.

        Example
        -------
        >>> found = Ball(np.eye(3), np.array([0.75, 0.25, -1.0])).nearest
        >>> found.active, round(found.least, 6)
        (array([ True,  True, False]), 1.0)
        """
        problem = Problem.of(self.matrix, self.centre)
        weights = best_weights(problem)
        u = self.matrix @ weights - self.centre
        return Nearest(problem, weights > 0.0, float(u @ u))

    def largest(self, functionals: Array, reach: float) -> Array:
        r"""Return for each a the largest a . w over the ball, from above.

        For every h, and every such w, with rho the ball's radius,

            a . w = h . c + h . (B w - c) + (a - B^T h) . w <= h . c + rho \|h\| + max_k (a - B^T h)_k,

        so that each h proves a bound whatever else is said of it: the value of a linear estimate, its noise, and its
        largest bias. The least over h is the maximum sought, and h = (B w - c) / tau attains it, with w what maximises
        tau a . w - \|B w - c\|^2 / 2: `follow` goes from the weights that explain the data best, at tau zero, to those
        at the ball's edge.

        Parameters
        ----------
        functionals : (F, K) ndarray
            One a each row.
        reach : float
            Positive.

        Returns
        -------
        bounds : (F,) ndarray

        Source: Stark (1992), "Inference in infinite-dimensional inverse problems: discretization and duality";
        Stanley, Patil and Kuusela (2022), "Uncertainty quantification for wide-bin unfolding: one-at-a-time strict
        bounds and prior-optimized confidence intervals".

        Example
        -------
        >>> ball = Ball(np.eye(2), np.array([0.5, 0.5]))
        >>> ball.largest(np.eye(2), 0.1).round(3)
        array([0.571, 0.571])
        """
        low, size = functionals.min(axis=1), np.ptp(functionals, axis=1)
        h, moved = self.estimates(functionals, reach)
        bounds = functionals.max(axis=1)  # what h = 0 proves
        if not moved.any():
            return bounds
        h, a = h[moved], functionals[moved]
        rho = float(np.sqrt(self.nearest.least + reach**2))
        # Relative to the smallest entry and to size one, as rounding errors of large entries would be the bound's.
        h, a = h / size[moved, None], (a - low[moved, None]) / size[moved, None]
        proved = h @ self.centre + rho * np.sqrt((h**2).sum(axis=1)) + (a - h @ self.matrix).max(axis=1)
        bounds[moved] = np.minimum(bounds[moved], low[moved] + size[moved] * proved)
        return bounds

    def estimates(self, functionals: Array, reach: float) -> tuple[Array, Flags]:
        r"""Return the h (F, r) that prove these bounds, and which are not zero.

        Example
        -------
        >>> ball = Ball(np.eye(2), np.array([0.5, 0.5]))
        >>> ball.estimates(np.eye(2), 0.1)[0].round(3)
        array([[ 0.5, -0.5],
               [-0.5,  0.5]])
        """
        h, some = np.zeros((len(functionals), len(self.matrix))), np.zeros(len(functionals), dtype=bool)
        matter, size, found = self._followed(functionals, reach)
        moved = found.tau > 0
        which = matter[moved]
        off = (found.weights[moved] @ self.matrix.T - self.centre) / found.tau[moved, None]
        h[which], some[which] = size[which, None] * off, True
        return h, some

    def farthest(self, functionals: Array, reach: float) -> Array:
        r"""Return weights (F, K) where these bounds are attained, up to rounding.

        Example
        -------
        >>> Ball(np.eye(2), np.array([0.5, 0.5])).farthest(np.eye(2), 0.1).round(3)
        array([[0.571, 0.429],
               [0.429, 0.571]])
        """
        found = np.repeat(best_weights(self.nearest.problem)[None], len(functionals), axis=0)
        matter, _, followed = self._followed(functionals, reach)
        found[matter] = followed.weights
        return found

    def _followed(self, functionals: Array, reach: float) -> tuple[Indices, Array, Followed]:
        """Which functionals are no constants, how far each ranges, and where the paths of those ended."""
        low, size = functionals.min(axis=1), np.ptp(functionals, axis=1)
        matter = np.flatnonzero(size > 0)
        if not (len(self.matrix) and matter.size):
            return matter[:0], size, Followed(np.empty((0, functionals.shape[1])), np.empty(0))
        rho = float(np.sqrt(self.nearest.least + reach**2))
        a = (functionals[matter] - low[matter, None]) / size[matter, None]
        return matter, size, follow(self.nearest.problem, a, self.nearest.active, 0.0, radius=rho)
