"""A value, and the number of the privacy level that its user chose for it."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..sampling.domain import numbers
from ..sampling.law import Words
from .space import Space

SAME_EPSILON = 1e-9
"""Relative distance below which a budget is that of a level, written with other last digits."""


@dataclass(frozen=True, eq=False)
class HeldAtLevels:
    """Values of N users as their space holds them, and the numbers (N,) of their levels."""

    values: Any
    levels: np.ndarray

    def __len__(self) -> int:
        return self.levels.size


@dataclass(frozen=True, eq=False)
class ValuesAtLevels(Space):
    """Values of a space, each at one of t budgets.

    Parameters
    ----------
    values : Space
    epsilons : tuple of float
        Increasing.

    Example
    -------
    >>> from optldp.mechanisms.spaces.categories import Categories
    >>> space = ValuesAtLevels(Categories(["cook", "nurse"]), (0.5, 1.0))
    >>> space.admitted((["nurse", "cook"], [0, 1])).levels, space.level_numbers([1.0, 0.5])
    (array([0, 1]), array([1, 0]))
    """

    values: Space
    epsilons: tuple[float, ...]

    def admitted(self, values: tuple[Any, ArrayLike], *, clip: bool = False) -> HeldAtLevels:
        """Return values and levels, given as two lists of one length; numbers of levels are from 0."""
        held, levels = self.values.admitted(values[0], clip=clip), self.checked_levels(values[1])
        if len(held) != levels.size:
            raise InputError(f"values and levels must be as many, got {len(held)} and {levels.size}")
        return HeldAtLevels(held, levels)

    def sampled(self, held: HeldAtLevels, words: Words) -> HeldAtLevels:
        """Sample of each value what its space samples, whatever the level is."""
        return HeldAtLevels(self.values.sampled(held.values, words), held.levels)

    def content(self, value: object) -> bytes:
        """Return a pair of a value and the number of a level as bytes."""
        if not (isinstance(value, tuple) and len(value) == 2 and type(value[1]) is int):
            raise InputError("the value must be a pair of a value and the number of its level, got another: correct it")
        return struct.pack("<q", int(self.checked_levels([value[1]])[0])) + self.values.content(value[0])

    def of_content(self, content: bytes) -> HeldAtLevels:
        """Return the value and the level (1,)."""
        levels = self.checked_levels(list(struct.unpack("<q", content[:8])))
        return HeldAtLevels(self.values.of_content(content[8:]), levels)

    def level_numbers(self, epsilons: ArrayLike) -> np.ndarray:
        """Return the number (N,) of the level with each of these budgets.

        Raises InputError for budgets that are no level's, with their count and the first.
        """
        given, declared = numbers("levels", epsilons), np.array(self.epsilons)
        after = np.minimum(np.searchsorted(declared, given), declared.size - 1)
        nearest = after - ((after > 0) & (given - declared[after - 1] < declared[after] - given))
        known = np.abs(given - declared[nearest]) <= SAME_EPSILON * declared[nearest]
        self._require_known(known, given)
        return nearest

    def checked_levels(self, levels: ArrayLike) -> np.ndarray:
        """Return the numbers (N,) of levels as int64, or raise InputError with the count of others and the first."""
        given = np.asarray(levels)
        if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
            raise InputError(f"levels must be one-dimensional integers, got shape {given.shape} of {given.dtype}")
        self._require_known((given >= 0) & (given < len(self.epsilons)), given)
        return given.astype(np.int64)

    def _require_known(self, known: np.ndarray, given: Sequence[Any] | np.ndarray) -> None:
        if not known.all():
            first = int(np.argmin(known))
            raise InputError(
                f"levels must be among the {len(self.epsilons)} declared, 0 to {len(self.epsilons) - 1} with budgets "
                f"{', '.join(f'{epsilon:g}' for epsilon in self.epsilons)}, got {np.count_nonzero(~known)} that are "
                f"not, the first {given[first]} in row {first + 1}"
            )
