"""A floor of pieces as a vector of numbers that need only be non-negative, for a general descent method.

Lengths are in units of (E + 1)/(E - 1), the reach of two outputs, and masses in units of the window.  The ends of the
pieces are cumulative sums of widths and gaps: from the lowest end upwards, or, for symmetric floors, from the middle
outwards, which halves the vector.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from .floor import PieceFloor
from .gradient import FloorGradient

LEAST_WIDTH = 1e-3
"""Of a piece: it adds its square over twelve to the variance, a millionth, and keeps the derivatives accurate."""

LEAST_WINDOWS = 1e-5
"""Of a piece's mass: less of it is no piece."""


class FloorForm:
    """Vectors of floors with m pieces.

    Attributes
    ----------
    ends : (2m, k) ndarray
        The ends low_1, high_1, low_2, ... as linear functions of the lengths, the first k entries of a vector.
    masses : (m, r) ndarray
        The masses of the pieces as linear functions of the other r entries.
    least : (k + r,) ndarray
        Lower bounds of the entries.
    """

    def __init__(self, pieces: int, symmetric: bool, ratio: float) -> None:
        self.ratio, self.unit = ratio, (ratio + 1) / (ratio - 1)
        if symmetric:
            above = np.tril(np.ones((pieces, pieces)))  # from the middle: half a width or half a gap, and so on
            self.ends = np.vstack([-above[::-1], above])
            half = (pieces + 1) // 2
            self.masses = np.vstack([np.eye(half), np.eye(half)[: pieces - half][::-1]])
            is_width = np.arange(pieces) % 2 == (0 if pieces % 2 else 1)
        else:
            self.ends = np.tril(np.ones((2 * pieces, 2 * pieces)))
            self.masses = np.eye(pieces)
            is_width = np.arange(2 * pieces) % 2 == 1
        lengths = np.where(is_width, LEAST_WIDTH, 0.0)
        if not symmetric:
            lengths[0] = -np.inf
        self.least = np.concatenate([lengths, np.full(self.masses.shape[1], LEAST_WINDOWS)])

    @property
    def lengths(self) -> int:
        """k."""
        return self.ends.shape[1]

    def floor(self, vector: Array) -> PieceFloor:
        """Return the floor of a vector at or above `least`."""
        ends = np.maximum.accumulate(self.unit * (self.ends @ vector[: self.lengths]))
        return PieceFloor.of_windows(ends[::2], ends[1::2], self.masses @ vector[self.lengths :], self.ratio)

    def vector(self, floor: PieceFloor) -> Array:
        """Return the vector of a floor, or of the nearest one that has a vector."""
        ends = np.column_stack([floor.low, floor.high]).ravel() / self.unit
        lengths = np.linalg.lstsq(self.ends, ends, rcond=None)[0]
        masses = np.linalg.lstsq(self.masses, floor.in_windows(self.ratio), rcond=None)[0]
        return np.maximum(np.concatenate([lengths, masses]), self.least)

    def windows(self) -> Array:
        """Return the gradient of the floor's mass in windows, which must be 1 or more."""
        return np.concatenate([np.zeros(self.lengths), self.masses.sum(axis=0)])

    def pull_back(self, change: FloorGradient, floor: PieceFloor) -> Array:
        """Return derivatives by the entries of the vector, a row for each value of `change`."""
        by_ends = np.stack([change.low, change.high], axis=2).reshape(change.value.size, -1)
        # of t = windows / (E - 1 + sum of windows)
        by_windows = (change.mass - (change.mass @ floor.mass)[:, None]) * (1 - floor.total) / (self.ratio - 1)
        return np.hstack([self.unit * by_ends @ self.ends, by_windows @ self.masses])
