"""The scale of closed forms, programs and decoders: the line between the outermost knots, mapped to [-1, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike


@dataclass(frozen=True, eq=False)
class UnitInterval:
    """The line's middle and half-width, its knots as places in [-1, 1], and the way there and back.

    Attributes
    ----------
    middle, half : float
        In the user's units.
    knots : (n,) ndarray
        Places of the knots, by their distances to both ends: the first and last are exactly -1 and 1, which `places`
        misses by a little.

    Example
    -------
    >>> unit = UnitInterval.of([0.0, 30.0, 100.0])
    >>> unit.middle, unit.half, unit.knots
    (50.0, 50.0, array([-1. , -0.4,  1. ]))
    >>> unit.values(unit.places(np.array([20.0, 150.0])))
    array([ 20., 150.])
    """

    middle: float
    half: float
    knots: np.ndarray

    @classmethod
    def of(cls, knots: ArrayLike) -> UnitInterval:
        """Return the scale of increasing knots (n,), n >= 2, such as those of a prior or the ends of a domain."""
        points = np.asarray(knots, dtype=np.float64)
        low, high = float(points[0]), float(points[-1])
        scaled = ((points - low) - (high - points)) / (high - low)
        return cls(0.5 * (low + high), 0.5 * (high - low), scaled)

    def places(self, values: np.ndarray) -> np.ndarray:
        """Return values as places: -1 and 1 are the outermost knots, to rounding."""
        return (values - self.middle) / self.half

    def values(self, places: np.ndarray) -> np.ndarray:
        """Return places, outputs of a program for instance, in the user's units."""
        return self.middle + self.half * places
