"""What a path is about: knots, weights and ratio on a stretch of the output line, and points on the way.

    maximise   sum lam + mu int_{-Y}^{Y} log F(y) dy        over the 2n multipliers,

a concave function, smooth although F has kinks. At its maximum the floor mu/F(y) dy has the optimal windows as rows,
which sum to one and have mean x_i, at a cost within 2 mu Y of the multipliers' bound. Multipliers are those of 1 and
y - x_i, so the bound is sum lam; the gradient is

    (1 - mu int c_i/F,  -mu int c_i (y - x_i)/F),    c_i = E in row i's window, 1 outside.

The weights are mixed with a share of even ones that vanishes on the way: a row's multipliers are of the size of its
weight at first and, at the ends, of order one at last, and Newton's method only doubles them per step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from .column_value import ColumnValue

NARROW, WIDE, WIDE_FROM = 2.4, 3.3, 2.0
"""The stretch of the output line in units of C = (e^{eps/2} + 1)/(e^{eps/2} - 1), the second from that budget on: the
optimal outputs mostly end at 0.24 to 0.53 of it, beyond it never yet. Half of that loses priors of few values."""


class State(NamedTuple):
    """A point of the path: multipliers (n,), the barrier's weight, the share of even weights."""

    lam: Array
    nu: Array
    mu: float
    share: float

    def moved(self, by: Array, step: float = 1.0) -> State:
        """The multipliers by a step along (dlam, dnu)."""
        n = len(self.lam)
        return self._replace(lam=self.lam + step * by[:n], nu=self.nu + step * by[n:])


def widest_output(E: float) -> float:
    """C = (e^{eps/2} + 1)/(e^{eps/2} - 1): the outputs of optima for [-1, 1] end at 0.6 to 1.8 of it."""
    root = math.sqrt(E)
    return (root + 1) / (root - 1)


@dataclass(frozen=True, eq=False)
class Problem:
    """Knots (n,) from -1 to 1, positive weights (n,) and even ones as their knots' share, E, and the stretch Y."""

    x: Array
    p: Array
    even: Array
    E: float
    reach: float

    @classmethod
    def of(cls, x: Array, p: Array, E: float) -> Problem:
        """With even weights 1/n and a stretch that holds the optimal outputs."""
        reach = (NARROW if math.log(E) < WIDE_FROM else WIDE) * widest_output(E)
        return cls(x, p, np.full(len(x), 1 / len(x)), E, reach)

    def weights(self, share: float) -> Array:
        """(1 - share) p + share even."""
        return (1 - share) * self.p + share * self.even

    def at(self, state: State) -> ColumnValue:
        """F at a point."""
        return ColumnValue(self.x, self.weights(state.share), state.lam, state.nu, self.E, self.reach)

    def bound(self, state: State) -> float:
        """sum lam: the dual objective, a bound on the expected variance where F >= 0."""
        return float(state.lam.sum())

    def objective(self, F: ColumnValue, mu: float) -> float:
        """What the path maximises, but for p.x^2 to see rounding by."""
        return float(F.lam.sum() + F.p @ self.x**2) + mu * F.integrals.log

    def gradient(self, F: ColumnValue, mu: float) -> Array:
        """Of the objective (2n,)."""
        mass, moment = F.rows(F.integrals.zero), F.rows(F.first)
        return np.concatenate([1 - mu * mass, mu * (self.x * mass - moment)])
