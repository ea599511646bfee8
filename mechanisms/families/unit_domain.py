"""What every closed-form family starts from: knots scaled to [-1, 1], a budget safe from rounding."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon, inner_epsilon
from ..errors import InputError
from ..sampling.law import Uniform, WithinCell
from ..sampling.own_reports import cells_of_points
from ..table.knots import check_knots
from ..table.provenance import Provenance
from ..table.table import TabulatedMechanism
from ..table.unit_interval import UnitInterval

FORMULA_MARGIN = 2e-15
"""Budget given up for the roundings of a closed form, a few more than `inner_epsilon` allows for."""


def budget_of_formulas(epsilon: float) -> float:
    """Return the budget that closed forms are evaluated at: below epsilon by what their rounding may add.

    Example
    -------
    >>> 0 < 1 - budget_of_formulas(1.0) < 1e-11
    True
    """
    return inner_epsilon(check_epsilon(epsilon)) - FORMULA_MARGIN


@dataclass(frozen=True, eq=False)
class UnitDomain:
    """Knots, their place in [-1, 1], and e^epsilon as families use it.

    Attributes
    ----------
    knots : (n,) ndarray
        In the user's units.
    unit : UnitInterval
        Their scale.
    epsilon : float
        The budget that the table will claim.
    inner : float
        The slightly smaller budget that formulas use.
    excess : float
        e^inner - 1, accurate for small budgets.
    """

    knots: np.ndarray
    unit: UnitInterval
    epsilon: float
    inner: float
    excess: float

    @classmethod
    def of(cls, knots: ArrayLike, epsilon: float) -> "UnitDomain":
        """Check knots and epsilon (InputError) and scale the knots."""
        values, inner = check_knots(knots), budget_of_formulas(epsilon)
        unit = UnitInterval.of(values)
        if np.any(np.diff(unit.knots) <= 0):
            raise InputError("knots must be further apart than 1e-16 of the domain: leave the nearest ones out")
        return cls(values, unit, float(epsilon), inner, math.expm1(inner))

    @property
    def position(self) -> np.ndarray:
        """(n,) places of the knots in [-1, 1], both ends exact."""
        return self.unit.knots

    @property
    def ratio(self) -> float:
        """e^inner, the largest ratio of two rows."""
        return 1.0 + self.excess

    def table(
        self,
        low: np.ndarray,
        high: np.ndarray,
        probabilities: np.ndarray,
        method: str,
        parameters: Mapping[str, Any],
        within: WithinCell | None = None,
    ) -> TabulatedMechanism:
        """Return the table whose outputs have these ends in the scaled domain, sorted.

        A cell too thin for the doubles of the user's units becomes a point, as does one whose doubles all are points
        already, and equal points become one with their summed probability: all that only forgets, so privacy and row
        sums stay exact.
        """
        low, high = self.unit.values(low), self.unit.values(high)
        columns, low, high, probabilities = _merged(low, high, probabilities)
        collapsed = np.where(cells_of_points(low, high), low, high)
        again, low, high, probabilities = _merged(low, collapsed, probabilities)
        return TabulatedMechanism(
            knots=self.knots,
            low=low,
            high=high,
            probabilities=probabilities,
            epsilon=self.epsilon,
            within=(within or Uniform()).take(columns[again]),
            provenance=Provenance(method, parameters),
        )


def _merged(
    low: np.ndarray, high: np.ndarray, probabilities: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sort outputs and make equal ones into one: the old column of each that is left, its ends and probabilities."""
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    starts = np.flatnonzero(np.r_[True, (np.diff(low) > 0) | (np.diff(high) > 0)])
    return order[starts], low[starts], high[starts], np.add.reduceat(probabilities[:, order], starts, axis=1)
