"""A point inside the robust program on given outputs, and a move from it.

Every value has a slack, and an interior point keeps both positive while their products tend to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..unbiased.interior_point import Iterate


@dataclass(frozen=True, eq=False)
class RobustIterate:
    """A strictly interior point.

    Attributes
    ----------
    point : Iterate
        Outputs, floors, rows and their slacks; lambda and nu.
    x : (K,) ndarray
        Coordinates of the prior.
    eta, slack : (k,) ndarray
        Multipliers of the polytope's inequalities and right - rows x, all positive.
    tau : float
    """

    point: Iterate
    x: Array
    eta: Array
    slack: Array
    tau: float

    @property
    def pairs(self) -> list[tuple[Array, Array]]:
        """The values and slacks whose products tend to zero."""
        it = self.point
        return [(it.s, it.zs), (it.u, it.zu), (self.eta, self.slack)]

    @property
    def complementarity(self) -> float:
        """The duality gap on these outputs of a feasible point."""
        return sum(float(np.vdot(value, slack)) for value, slack in self.pairs)


@dataclass(frozen=True, eq=False)
class RobustMove:
    """A direction: multipliers, floors, coordinates and tau; changes of values and slacks in the order of `pairs`."""

    dlam: Array
    dnu: Array
    dt: Array
    dx: Array
    dtau: float
    values: list[Array]
    slacks: list[Array]

    def plus(self, share: float, other: RobustMove) -> RobustMove:
        return RobustMove(
            self.dlam + share * other.dlam,
            self.dnu + share * other.dnu,
            self.dt + share * other.dt,
            self.dx + share * other.dx,
            self.dtau + share * other.dtau,
            [one + share * two for one, two in zip(self.values, other.values, strict=True)],
            [one + share * two for one, two in zip(self.slacks, other.slacks, strict=True)],
        )
