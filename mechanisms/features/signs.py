"""How far a number is from its group's reference: times the sign of the group, or as a place among all groups."""

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
        _set_centred(self, centres, reach)
        if self.signs.ndim != 1 or self.signs.size < 2 or (np.abs(self.signs) != 1).any():
            raise InputError("signs must be 1 or -1 of at least two groups, got others")
        if self.centres.shape != self.signs.shape:
            raise InputError(f"there must be a centre of each of {self.signs.size} groups, got {self.centres.size}")

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the feature (N,) of records (N, 2)."""
        groups, apart = _apart(self, columns)
        return self.signs[groups] * (apart if self.reach else 1.0)

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


@dataclass(frozen=True, eq=False)
class Sides:
    """2 g + (1 + t) / 2, of a group's number g, the first column, and t: y - m_g over reach, cut to [-1, 1].

    A table whose knots are 0, 1, ..., 2 k - 1 rounds it at random to the lower or the upper side of the group.

    Parameters
    ----------
    centres : (k,) array_like of float
        m, in the units of y, the second column.
    reach : float
        Positive, in the units of y.

    Raises
    ------
    InputError
        Fewer than two centres, or a reach that is not positive and finite.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.mechanisms.features import Sides
    >>> Sides([10.0, 20.0], 5.0).of(np.array([[0, 10.0], [1, 99.0], [1, 18.0]]))
    array([0.5, 3. , 2.3])
    """

    name: ClassVar[str] = "sides"
    width: ClassVar[int] = 2
    centres: np.ndarray
    reach: float

    def __init__(self, centres: ArrayLike, reach: float) -> None:
        _set_centred(self, centres, reach)
        if self.centres.size < 2 or not self.reach:
            raise InputError(f"sides are of at least two groups and a positive reach, got {self.centres.size} groups")

    def of(self, columns: np.ndarray) -> np.ndarray:
        """Return the feature (N,) of records (N, 2)."""
        groups, apart = _apart(self, columns)
        return 2 * groups + (1 + apart / self.reach) / 2

    def extremes(self, low: ArrayLike, high: ArrayLike) -> tuple[float, float]:
        """Return the range of all groups, whatever the box."""
        return 0.0, 2.0 * self.centres.size - 1

    def to_document(self) -> dict[str, Any]:
        """Return it as JSON."""
        return {"formula": self.name, "centres": self.centres.tolist(), "reach": self.reach}

    @classmethod
    def from_members(cls, told: Mapping[str, Any]) -> Sides:
        """Return the one that a document holds; InputError or TableError for another."""
        require_keys("sides", told, ("formula", "centres", "reach"))
        return cls(numbers_from_document("centres", told["centres"]), as_number("reach", told["reach"]))


def _set_centred(made: Signs | Sides, centres: ArrayLike, reach: float) -> None:
    object.__setattr__(made, "centres", np.array(centres, dtype=float))
    object.__setattr__(made, "reach", float(reach))
    if made.centres.ndim != 1 or not np.isfinite(made.centres).all():
        raise InputError("there must be a finite centre of each group, got others")
    if not 0 <= made.reach < np.inf:
        raise InputError(f"the reach of {made.name} must be finite and not negative, got {made.reach!r}")


def _apart(made: Signs | Sides, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the groups (N,) of records (N, 2), and how far each number is from its group's centre, within reach."""
    groups = np.clip(np.rint(columns[:, 0]), 0, made.centres.size - 1).astype(int)
    return groups, np.clip(columns[:, 1] - made.centres[groups], -made.reach, made.reach)
