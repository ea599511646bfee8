"""What reports tell of the error of a mean, given what each counts as: moments, slopes, curvature, and a lower bound.

`decoder` asks no more of them, whether they are those of one table, as here, or of several, as in `summed`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from ...mechanisms.errors import InputError
from ..arrays import Array
from ..robust.sets import BoxSet
from .error_program import ROUNDING, MeanError, Multipliers, check_users, error_of_moments, moments


class Curvature(Protocol):
    """Half the matrix of second derivatives of w.v by the numbers of reports, (M, M), positive definite as solved."""

    def times(self, values: Array) -> Array:
        """Return its product with M numbers."""
        ...

    def solve(self, right: Array) -> Array:
        """Return the solution for one or several right sides, (M,) or (M, k); zero for reports that nobody makes."""
        ...


class DecoderBase(ABC):
    """What the path asks of reports: how errors and their slopes follow from what these M reports count as.

    Attributes
    ----------
    knots : (n,) ndarray
    priors : BoxSet
    users : int
    """

    knots: Array
    priors: BoxSet
    users: int

    @abstractmethod
    def with_priors(self, priors: BoxSet) -> Self:
        """Return the same with another set of priors."""

    @abstractmethod
    def moments(self, values: Array) -> tuple[Array, Array]:
        """Return v_i and b_i, (n,) each."""

    @abstractmethod
    def slopes(self, values: Array) -> Array:
        """Return (2n, M) derivatives of b, then of v."""

    @abstractmethod
    def curvature(self, worst: Array) -> Curvature:
        """Return that of w.v."""

    @abstractmethod
    def pull(self, worst: Array, nu: Array) -> Array:
        """Return (M,) what the curvature times the best decoder for w and nu is."""

    @property
    @abstractmethod
    def outputs(self) -> int:
        """Terms of the sums that moments are, for what rounding adds to them."""

    @abstractmethod
    def reach(self, values: Array) -> float:
        """Return the largest |number| that a user counts as."""

    def error(self, values: Array) -> MeanError:
        """Return R and its parts for any decoder, rounded up.

        Parameters
        ----------
        values : (M,) ndarray
            What each report counts as.
        """
        size = self.reach(values) + float(np.abs(self.knots).max())
        return error_of_moments(*self.moments(values), self.priors, self.users, self.outputs, size)

    def values(self, worst: Array, nu: Array) -> Array:
        """Return the decoder, (M,), of least w.v - nu.b."""
        return self.curvature(worst).solve(self.pull(worst, nu))

    def bound(self, found: Multipliers) -> float:
        """Return a lower bound on R for every decoder of these reports, from any multipliers (lambda is not used).

        Example
        -------
        >>> from optldp.solvers.robust.sets import BoxSet
        >>> even = np.full(2, 0.5)
        >>> program = DecoderProgram(np.array([-1.0, 1.0]), np.eye(2), BoxSet(even, even), 10)
        >>> program.bound(Multipliers(even, even, even, 0.0, 0.0, np.zeros(2)))  # reports are values: no error at all
        0.0
        """
        if not (found.weight_up >= 0 and found.weight_down >= 0):
            return 0.0
        users, nu, curvature = float(self.users), found.nu, self.curvature(found.worst)
        values = curvature.solve(pull := self.pull(found.worst, nu))
        left = pull - curvature.times(values)  # what a solution lacks costs its square
        v, b = self.moments(values)
        taken = found.weight**2 / (4 * users) + float(left @ curvature.solve(left))
        terms = float(found.worst @ v) + float(np.abs(nu) @ (np.abs(b) + np.sqrt(v))) + taken
        square = float(found.worst @ v) - float(nu @ b) - taken - terms * ROUNDING * (self.outputs + len(b))
        square -= found.weight * math.sqrt(max(square, 0.0)) * ROUNDING * len(b)  # as in `ErrorProgram.bound`
        return math.sqrt(max(square, 0.0) / users) * (1 - ROUNDING)


@dataclass(frozen=True, eq=False)
class DecoderProgram(DecoderBase):
    """A table, the possible priors, and the number of users.

    Parameters
    ----------
    knots : (n,) ndarray
        In any unit.
    probabilities : (n, m) ndarray
        Rows that sum to one; reports of probability zero count as zero.
    priors : BoxSet
    users : int
        N >= 1.

    Raises
    ------
    InputError
        A shape does not fit, or a number is out of range.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.biased import DecoderProgram, trusted
    >>> table = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> program = DecoderProgram(np.array([0.0, 1.0]), table, trusted(np.array([0.5, 0.5]), 2.0), 1000)
    >>> program.users
    1000
    """

    knots: Array
    probabilities: Array
    priors: BoxSet
    users: int

    def __post_init__(self) -> None:
        require_rows(self.probabilities, len(self.knots), len(self.priors.low))
        check_users(self.users)

    def with_priors(self, priors: BoxSet) -> Self:
        return replace(self, priors=priors)

    def moments(self, values: Array) -> tuple[Array, Array]:
        return moments(self.knots, values, self.probabilities)

    def slopes(self, values: Array) -> Array:
        return np.concatenate([self.probabilities, 2 * self.probabilities * (values - self.knots[:, None])])

    def curvature(self, worst: Array) -> Diagonal:
        return Diagonal(worst @ self.probabilities)

    def pull(self, worst: Array, nu: Array) -> Array:
        return (worst * self.knots + 0.5 * nu) @ self.probabilities

    @property
    def outputs(self) -> int:
        return self.probabilities.shape[1]

    def reach(self, values: Array) -> float:
        return float(np.abs(values).max())


class Diagonal:
    """The curvature of one table: how often each report is made under w."""

    def __init__(self, often: Array) -> None:
        self.often, self.inverse = often, 1 / np.where(often > 0, often, np.inf)

    def times(self, values: Array) -> Array:
        return self.often * values

    def solve(self, right: Array) -> Array:
        return (right.T * self.inverse).T


def require_rows(probabilities: Array, n: int, bounds: int) -> None:
    """Raise an InputError unless a table has a row of probabilities, and bounds on a weight, for each of n knots."""
    if probabilities.ndim != 2 or len(probabilities) != n or bounds != n:
        shape = probabilities.shape
        raise InputError(f"a decoder needs a row and bounds for each of {n} knots, got a table of shape {shape}")
    # Rows in doubles sum to 1 but for rounding, which grows with their length.
    if not (np.all(probabilities >= 0) and np.allclose(probabilities.sum(1), 1, rtol=0, atol=1e-9)):
        raise InputError("the rows of a table must be non-negative and sum to one")
