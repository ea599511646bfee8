r"""What no unbiased table has a smaller squared error than, whatever its outputs: any cone, any multipliers.

With rho the weights of the values' errors, and weights w >= rho of the oracle, the price of the best column at z is

    V(z) = min { sum_i (rho_i (z - x_i)^2 - lam_i - nu_i (z - x_i)) s_i : s in the cone, w.s = 1 }.

Columns of any table have w.P summing to sum w, so sum lam + sum w min(0, min_z V(z)) is a bound. Every column's price
is a quadratic of curvature rho.s <= 1, so V(z) - z^2 is concave, and between two places

    V(z) >= the chord of V - (z - a)(b - z):

prices at places prove what is between them, and where that is too little the cell is cut. Beyond all places, with
kappa = min rho.s, R = max |x|, a = max |nu_i| / w_i and b = max lam_i / w_i,

    V(z) >= kappa (|z| - R)^2 - a (|z| + R) - b,

which is positive from some z on. Nothing is left out: the bound is for all real outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..cone import Cone, cheapest
from .channel_program import ROUNDING

FLOOR = 0.1
"""Share of even weights below which no weight of the oracle is: a tiny one lets a column be huge."""

PLACES = 129
"""At first, over the values and as far again to either side."""

FARTHER = 1.3
"""Times as far is each further place, up to where the tail is positive."""

CUTS = 40
"""Rounds of halving cells; what is open then is a looser bound."""

MOST = 200_000
"""Places, at most."""


class PricedLine(NamedTuple):
    """What prices over all real outputs say.

    Attributes
    ----------
    bound : float
        No unbiased table in the cone has less.
    minima : (k,) ndarray
        Places of columns that would better the table, one for each valley.
    """

    bound: float
    minima: Array


@dataclass(frozen=True, eq=False)
class LinePrices:
    """Multipliers of an unbiased program of squared error, and the prices that they give every output on the line.

    Parameters
    ----------
    cone : Cone
    weights, knots : (n,) ndarray
    share : float
        Of the worst value's error.
    lam, nu : (n,) ndarray
    worst : (n,) ndarray, optional
        Weights of the values whose error is the worst, of any size; negative ones count as zero.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.channel import LinePrices, solve_free_outputs
    >>> from optldp.solvers.cone import pure
    >>> even, x = np.full(2, 0.5), np.array([-1.0, 1.0])
    >>> found = solve_free_outputs(pure(2, 1.0), even, x)
    >>> again = LinePrices(pure(2, 1.0), even, x, 0.0, **found.multipliers).over_the_line(1e-9)
    >>> round(again.bound, 5), round(found.value, 5)  # Duchi's, ((E + 1) / (E - 1))^2 - 1
    (3.68269, 3.68269)
    """

    cone: Cone
    weights: Array
    knots: Array
    share: float
    lam: Array
    nu: Array
    worst: Array | None = None

    @cached_property
    def rho(self) -> Array:
        """Weights of the values' errors."""
        n = self.cone.values
        q = np.maximum(np.zeros(n) if self.worst is None else self.worst, 0.0)
        q = q / q.sum() if q.sum() > 0 else np.full(n, 1 / n)
        return (1 - self.share) * self.weights + self.share * q

    @cached_property
    def oracle_weights(self) -> Array:
        """w, nowhere below rho."""
        return np.maximum(self.rho, FLOOR / self.cone.values)

    def at(self, outputs: Array) -> tuple[Array, Array]:
        """Return V of outputs (m,), and the columns that have it (n, m)."""
        offsets = outputs - self.knots[:, None]
        costs = (self.rho[:, None] * offsets - self.nu[:, None]) * offsets - self.lam[:, None]
        return cheapest(self.cone, costs, self.oracle_weights)

    def best_of(self, columns: Array) -> Array:
        """Return for each column the output at which it is cheapest."""
        weighed = self.rho[:, None] * columns
        return ((self.knots[:, None] * weighed).sum(0) + self.nu @ columns / 2) / weighed.sum(0)

    @cached_property
    def window(self) -> tuple[float, float]:
        """Beyond which every V is positive."""
        x, w = self.knots, self.oracle_weights
        middle, R = (x.min() + x.max()) / 2, np.ptp(x) / 2
        kappa = float(cheapest(self.cone, self.rho[:, None], w)[0][0])
        a, b = float((np.abs(self.nu) / w).max()), max(float((self.lam / w).max()), 0.0)
        beyond = (a + np.sqrt(a**2 + 4 * kappa * (2 * a * R + b))) / (2 * kappa)
        return middle - R - beyond, middle + R + beyond

    def over_the_line(self, slack: float) -> PricedLine:
        """Return what the multipliers prove over all real outputs, to within a slack of the least price."""
        z = self._first()
        V = self.at(z)[0]
        for _ in range(CUTS):
            lower, cut = _lower(z, V)
            open_ = np.flatnonzero(lower < min(float(V.min()), 0.0) - slack)
            if not open_.size or len(z) + open_.size > MOST:
                break
            z, V = np.insert(z, open_ + 1, cut[open_]), np.insert(V, open_ + 1, self.at(cut[open_])[0])
        low = min(float(_lower(z, V)[0].min()), 0.0)
        margin = ROUNDING * (np.abs(self.lam).sum() + abs(low))
        inside = (V[1:-1] <= V[:-2]) & (V[1:-1] <= V[2:]) & (V[1:-1] < 0)
        return PricedLine(float(self.lam.sum() + self.oracle_weights.sum() * low - margin), z[1:-1][inside])

    def _first(self) -> Array:
        low, high = self.window
        x = self.knots
        near = np.linspace(x.min() - np.ptp(x), x.max() + np.ptp(x), PLACES)
        far = np.ptp(x) * FARTHER ** np.arange(1, 400)
        places = np.r_[x.min() - far, near, x.max() + far, low, high]
        return np.unique(places[(places >= low) & (places <= high)])


def _lower(z: Array, V: Array) -> tuple[Array, Array]:
    """Return for each cell what V is nowhere below there, and where that is, not too near its ends."""
    width, rise = np.diff(z), np.diff(V)
    t = np.clip((1 - rise / width**2) / 2, 0, 1)
    lower = V[:-1] + t * rise - t * (1 - t) * width**2
    return lower, z[:-1] + np.clip(t, 0.25, 0.75) * width
