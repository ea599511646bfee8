"""The sign of a user's group, alone or times how far a number is from its group's reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..documents.table import as_number, numbers_from_document, require_keys
from ..errors import InputError


@dataclass(frozen=True, eq=False)
class Signs:
    """s_g, or s_g times y - m_g cut to [-reach, reach], where g, the first column, numbers the group, and y is the
    second column.

    Its range does not grow with the number of groups. Features whose signs are uncorrelated between groups together
    identify each group's mean.

    Parameters
    ----------
    signs : (k,) array_like of float
        1 or -1 of each group.
    centres : (k,) array_like of float
        m, in the units of y.
    reach : float
        Positive, in the units of y; 0 for the sign alone.

    Raises
    ------
    InputError
        Other signs, another number of centres, or a reach that is negative or not finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.features import Signs
    >>> made = Signs([1, -1], [10.0, 20.0], 5.0)
    >>> made.of(np.array([[0, 12.0], [1, 99.0]])), made.extremes([0, 0], [1, 99])
    (array([ 2., -5.]), (-5.0, 5.0))
    """

    name: ClassVar[str] = "signs"
    width: ClassVar[int] = 2
    signs: np.ndarray
    centres: np.ndarray
    reach: float

    def __init__(self, signs: ArrayLike, centres: ArrayLike, reach: float) -> None:
        object.__setattr__(self, "signs", np.array(signs, dtype=float))
        object.__setattr__(self, "centres", np.array(centres, dtype=float))
        object.__setattr__(self, "reach", float(reach))
        if self.signs.ndim != 1 or self.signs.size < 2 or (np.abs(self.signs) != 1).any():
            raise InputError("signs must be 1 or -1 of at least two groups, got others")
        if self.centres.shape != self.signs.shape or not np.isfinite(self.centres).all():
            raise InputError(f"there must be a finite centre of each of {self.signs.size} groups, got others")
        if not 0 <= self.reach < np.inf:
            raise InputError(f"the reach of signs must be finite and not negative, got {self.reach!r}")

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the feature (N,) of records (N, 2)."""
        groups = np.clip(np.rint(columns[:, 0]), 0, self.signs.size - 1).astype(int)
        if not self.reach:
            return self.signs[groups]
        return self.signs[groups] * np.clip(columns[:, 1] - self.centres[groups], -self.reach, self.reach)

    def extremes(self, low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
        """Return a range that holds all values, whatever the box."""
        most = self.reach or 1.0
        return -most, most

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        vectors = {"signs": self.signs.tolist(), "centres": self.centres.tolist()}
        return {"formula": self.name, **vectors, "reach": self.reach}

    @classmethod
    def from_members(cls, told: Mapping[str, Any]) -> Signs:
        """Return the one that a document holds; InputError or TableError for another."""
        require_keys("signs", told, ("formula", "signs", "centres", "reach"))
        vectors = {name: numbers_from_document(name, told[name]) for name in ("signs", "centres")}
        return cls(**vectors, reach=as_number("reach", told["reach"]))
