r"""The length program: what honest intervals of linear numbers are long by the reports of a table, at a distribution.

Nothing is assumed of the distribution. For a number a . p the pair of affine estimates that knows the distribution g
has ends omega+ above and omega- below, the moduli of a and -a at the radius z = 1.96 (`departures`); its length is
their sum, some 1.2 times what any honest interval must have. A program is of several numbers, and wants the weighted
mean of their lengths least, or the largest of them.

Columns of tables are cut into staircase patterns c in {1, E}^n, as in `information_program`: information is linear in
their weights theta, so each omega is a quasi-convex function of theta.

Source: Armstrong and Kolesar (2018), "Optimal inference in a class of regression models".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..frequency.frequency_program import ROUNDING, checked_prior
from .departures import Departures

RADIUS = 1.959963984540054
"""z of 95%."""

JUDGED = 1e-3
"""Share of a length that judging a table may leave open: lengths are upper bounds."""


@dataclass(frozen=True, eq=False)
class LengthProgram:
    """A distribution, a ratio, numbers and how many report.

    Parameters
    ----------
    prior : (n,) ndarray
        g: non-negative, summing to 1.
    ratio : float
        E = e^epsilon > 1.
    numbers : (k, n) ndarray
        a: none equal for all values. Each is taken as a share of its own range.
    weights : (k,) ndarray
        How much each length counts; positive.
    users : int
        n.
    worst : bool
        Whether the largest weighted length counts, not their sum.

    Raises
    ------
    InputError
        What is none of these.

    Example
    -------
    >>> program = LengthProgram(np.full(4, 0.25), 3.0, np.array([[0.0, 0.0, 1.0, 1.0]]), np.ones(1), 10_000)
    >>> law = np.array([[0.75, 0.25], [0.75, 0.25], [0.25, 0.75], [0.25, 0.75]])
    >>> program.lengths(law).round(3)   # 3.92 (1 / 4 / n)^(1/2) / (1 / 2)
    array([0.039])
    """

    prior: Array
    ratio: float
    numbers: Array
    weights: Array
    users: int
    worst: bool = False

    def __post_init__(self) -> None:
        prior, numbers = checked_prior(self.prior, self.ratio, "values"), np.array(self.numbers, dtype=np.float64)
        if numbers.ndim != 2 or numbers.shape[1] != prior.size or not np.ptp(numbers, axis=1).all():
            raise InputError(f"numbers must tell {prior.size} values apart, a row each, got shape {numbers.shape}")
        low, span = numbers.min(1, keepdims=True), np.ptp(numbers, axis=1)[:, None]
        object.__setattr__(self, "prior", prior)
        object.__setattr__(self, "numbers", (numbers - low) / span)
        object.__setattr__(self, "weights", np.array(self.weights, dtype=np.float64))

    @property
    def size(self) -> int:
        """Number of values n."""
        return self.prior.size

    @property
    def both(self) -> Array:
        """The numbers upwards, then downwards (2 k, n)."""
        return np.vstack([self.numbers, -self.numbers])

    def departures(self, share: float, radius: float = RADIUS) -> Departures:
        """Departures of all numbers, upwards then downwards, before any table is known."""
        return Departures(self.prior, self.both, self.users, radius, share)

    def information(self, columns: Array) -> Array:
        """Return I (n, n) of columns (n, m); those that nobody reports are left out."""
        used = columns[:, self.prior @ columns > 0]
        return (used / (self.prior @ used)) @ used.T

    def lengths(self, columns: Array) -> Array:
        """Return the length (k,) of each number's interval, as a share of its range; no less than it is."""
        found = self.departures(JUDGED)
        found.settle(self.information(columns))
        return found.bounds().reshape(2, -1).sum(0)

    def worth(self, lengths: Array) -> float:
        """Return what lengths (k,) are worth together: their weighted sum, or the largest."""
        each = self.weights * lengths
        return float(each.max() if self.worst else each.sum())

    def value(self, columns: Array) -> float:
        """Return what a table is worth."""
        return self.worth(self.lengths(columns))

    def alone(self) -> float:
        """Return what no private table at all is worth less than: each number as if it were the only one.

        Where departures move mass from all values with a number above a cut to all below, or back, each in proportion
        to the prior, reports are of two values, and randomised response tells most of these. A number moves by the
        difference of its two means; the best cut counts.

        Example
        -------
        >>> program = LengthProgram(np.full(4, 0.25), 3.0, np.array([[1.0, 1.0, 0.0, 0.0]]), np.ones(1), 10_000)
        >>> round(program.alone(), 4)
        0.0392
        """
        return self.worth(np.array([self._alone(number) for number in self.numbers]))

    def _alone(self, number: Array) -> float:
        cuts = np.unique(number)[:-1]
        above = (number > cuts[:, None]).astype(np.float64)
        share = above @ self.prior
        kept = (share > 0) & (share < 1)
        above, share = above[kept], share[kept]
        apart = (above * number) @ self.prior / share - ((1 - above) * number) @ self.prior / (1 - share)
        arm = RADIUS / np.sqrt(self.users * response_information(share, self.ratio))
        lengths = apart * (np.minimum(arm, 1 - share) + np.minimum(arm, share))
        return float(lengths.max(initial=0.0)) * (1 - 8 * self.size * ROUNDING)


def response_information(share: ArrayLike, ratio: float) -> Array:
    """Return what one report by randomised response tells of the share of yes, as Fisher information.

    Example
    -------
    >>> float(response_information(0.5, 3.0))   # (3 - 1)^2 / (3 + 1)^2 / (1 / 4)
    1.0
    """
    yes = np.asarray(share, dtype=np.float64)
    return (ratio - 1) ** 2 / (ratio + 1) * (1 / (1 + (ratio - 1) * yes) + 1 / (ratio - (ratio - 1) * yes))
