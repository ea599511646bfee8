"""A point inside the robust program on given outputs, and a move from it.

Every value has a slack, and an interior point keeps both positive while their products tend to zero.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array
from ..unbiased.correctors import Direction
from ..unbiased.interior_point import Interior, Iterate


@dataclass(frozen=True, eq=False)
class RobustIterate(Interior):
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
        return [*self.point.pairs, (self.eta, self.slack)]


@dataclass(frozen=True, eq=False)
class RobustMove(Direction):
    """A direction: multipliers, floors, coordinates and tau; changes of values and slacks in the order of `pairs`."""

    dlam: Array
    dnu: Array
    dt: Array
    dx: Array
    dtau: float
