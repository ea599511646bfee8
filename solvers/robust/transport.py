"""Priors within a Wasserstein distance: the mass may travel so far on average.

On a line the distance of two priors is W1(q, p) = sum over the gaps e between knots of h_e |Q_e - P_e|, Q and P the
cumulative weights: what crosses a gap, times its length.  Its largest expectation has the one-dimensional dual

    max over W1(q, p) <= r of q.V  =  min over s >= 0 of  s r + sum_i p_i max_j (V_j - s |x_i - x_j|),

convex and piecewise linear in the price s of a unit of travel: any s is an upper bound, tangents find the best.

Source: Kantorovich duality; Mohajerin Esfahani and Kuhn (2018) for expectations over Wasserstein balls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from .polytope import PriorPolytope
from .sets import PriorSet, lifted_polytope, rounded_up

TANGENTS = 200
"""Tangents allowed; each leaves out at least one piece of the dual, a dozen are typical."""


@dataclass(frozen=True, eq=False)
class TransportSet(PriorSet):
    """Priors within a Wasserstein-1 distance of the given one.

    Parameters
    ----------
    knots : (n,) ndarray
        Increasing.
    prior : (n,) ndarray
    radius : float
        Positive, in the units of the knots.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.robust import TransportSet
    >>> near = TransportSet(np.array([0.0, 1.0, 3.0]), np.array([0.5, 0.5, 0.0]), 0.25)
    >>> near.largest(np.array([0.0, 1.0, 4.0]))[1]
    array([0.5  , 0.375, 0.125])
    """

    knots: Array
    prior: Array
    radius: float

    @property
    def some_prior(self) -> Array:
        return self.prior

    def polytope(self) -> PriorPolytope:
        n = len(self.knots)
        return lifted_polytope(self.prior, np.tri(n - 1, n), np.diff(self.knots), self.radius)

    def distance(self, prior: Array) -> float:
        """Return W1 of a prior from the given one."""
        return float(np.diff(self.knots) @ np.abs(np.cumsum(prior - self.prior)[:-1]))

    def largest(self, values: Array) -> tuple[float, Array]:
        far = np.abs(self.knots[:, None] - self.knots)
        free, steep = self._plan(values, far, 0.0), self._plan(values, far, _steepest(values, self.knots))
        best = min(free[0], steep[0])
        if free[1] <= self.radius:
            return rounded_up(best, len(values)), free[2]
        low, high = free, steep  # too much travel, and too little
        for _ in range(TANGENTS):
            if low[1] == high[1]:
                break
            # Where the two tangents cross: value - price (radius - travel) is what a tangent has at price zero.
            start = [plan[0] - plan[3] * (self.radius - plan[1]) for plan in (low, high)]
            price = (start[0] - start[1]) / (low[1] - high[1])
            if not low[3] < price < high[3]:
                break
            found = self._plan(values, far, price)
            best = min(best, found[0])
            crossing = start[0] + price * (self.radius - low[1])
            # No point below the crossing of the two lines: the price is found but for rounding.
            if found[0] <= crossing + abs(crossing) * 1e-15:
                break
            low, high = (found, high) if found[1] > self.radius else (low, found)
        share = (self.radius - high[1]) / (low[1] - high[1]) if low[1] > high[1] else 0.0
        return rounded_up(best, len(values)), share * low[2] + (1 - share) * high[2]

    def _plan(self, values: Array, far: Array, price: float) -> tuple[float, float, Array, float]:
        """Return the dual's value at a price of travel, the travel of a plan that attains it, where it ends, the price.

        Of equally good knots the nearest is taken.
        """
        worth = values - price * far
        top = worth.max(1, keepdims=True)
        # Equal but for rounding counts as equal: of equal goals the nearest moves least mass.
        level = worth >= top - 1e-15 * (np.abs(top) + values.max())
        goal = np.argmin(np.where(level, far, np.inf), axis=1)
        travel = float(self.prior @ far[np.arange(len(values)), goal])
        ends = np.zeros(len(values))
        np.add.at(ends, goal, self.prior)
        return price * self.radius + float(self.prior @ top[:, 0]), travel, ends, price


def _steepest(values: Array, knots: Array) -> float:
    """Return the largest slope of the values between neighbours: at that price nothing travels."""
    # A hair above the slope, so that rounding cannot make a journey pay.
    return float(np.abs(np.diff(values) / np.diff(knots)).max()) * (1 + 1e-12)
