"""Numbers between two ends, all of them or some alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..sampling.domain import admitted_values, require_knots
from .space import Space


@dataclass(frozen=True, eq=False)
class Interval(Space):
    """Numbers from `low` to `high`.

    Parameters
    ----------
    low, high : float
    units : str
        For people to read.
    only : (n,) ndarray, optional
        The values that there are reports of, increasing, where a promise does not hold between them.

    Example
    -------
    >>> Interval(0.0, 10.0).admitted([2, 10])
    array([ 2., 10.])
    """

    low: float
    high: float
    units: str = ""
    only: np.ndarray | None = None

    @property
    def domain(self) -> tuple[float, float]:
        """Both ends."""
        return self.low, self.high

    def admitted(self, values: ArrayLike, *, clip: bool = False) -> np.ndarray:
        """Return numbers (N,) as doubles; with `clip` those outside are moved to the nearer end, with a warning."""
        held = admitted_values(values, self.low, self.high, clip=clip)
        if self.only is not None:
            require_knots(held, self.only)
        return held

    def content(self, value: object) -> bytes:
        """Return a number as the eight bytes of a double."""
        number = plain_number(value, self.low, self.high)
        if number is None:
            raise InputError(f"the value must be a number in [{self.low:g}, {self.high:g}], got another: clip it")
        return struct.pack("<d", number)

    def of_content(self, content: bytes) -> np.ndarray:
        """Return the number (1,)."""
        return self.admitted(struct.unpack("<d", content))


def plain_number(value: object, low: float, high: float) -> float | None:
    """Return a value as a double if it is a number from low to high, else None; -0 is 0.

    Example
    -------
    >>> plain_number(-0.0, 0.0, 1.0), plain_number("0", 0.0, 1.0), plain_number(float("nan"), 0.0, 1.0)
    (0.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return None
    try:
        number = float(value) + 0.0
    except Exception:  # a number of somebody's own making; what it says may be the value
        return None
    return number if low <= number <= high else None
