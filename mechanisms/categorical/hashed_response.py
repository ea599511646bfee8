"""Randomised response among the values of a hash of the category: what all families of hashes have in common."""

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from ..errors import TableError
from ..integers.numerators import DENOMINATOR
from .numbered_reports import NumberedReports


@dataclass(frozen=True, eq=False, repr=False)
class HashedResponse(NumberedReports):
    """A public seed, and randomised response among g hash values; a report is seed * g + value.

    Parameters
    ----------
    categories : Categories
    epsilon : float
    provenance : Provenance
    n_values : int
        g.
    own_value : int
        Probability of the hash itself, over 2^53; each other value has the same share of the rest.

    Raises
    ------
    TableError
        A numerator that leaves no equal whole shares to the others, or gives the hash itself less than an equal share.
    """

    n_values: int
    own_value: int

    def __post_init__(self) -> None:
        super().__post_init__()
        self.require_values()
        rest = DENOMINATOR - self.own_value if type(self.own_value) is int else -1
        if not (rest > 0 and rest % (self.n_values - 1) == 0 and self.own_value > rest // (self.n_values - 1)):
            raise TableError(
                f"own_value must be a whole number that leaves {self.n_values - 1} smaller equal shares of 2^53, "
                f"got {self.own_value!r}"
            )

    @abstractmethod
    def require_values(self) -> None:
        """Raise an error unless there are hashes of so many values."""

    @property
    @abstractmethod
    def n_hashes(self) -> int:
        """S, the number of seeds."""

    @property
    def n_reports(self) -> int:
        """S g."""
        return self.n_hashes * self.n_values

    @property
    def other_value(self) -> int:
        """Probability of each other value, over 2^53."""
        return (DENOMINATOR - self.own_value) // (self.n_values - 1)

    @property
    def own_support(self) -> float:
        return self.own_value / DENOMINATOR

    @property
    def support_ratio(self) -> float:
        return self.own_value / self.other_value

    def log_elsewhere(self, reports: np.ndarray) -> np.ndarray:
        """Return that of any hash value but the category's, beside any seed."""
        return np.full(len(reports), np.log(self.other_value / DENOMINATOR / self.n_hashes))

    @property
    def largest_ratio(self) -> Fraction:
        return Fraction(self.own_value, self.other_value)

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        mine = self.supported(self.checked_reports(reports))
        return np.where(mine, self.own_value, self.other_value) / (DENOMINATOR * self.n_hashes)
