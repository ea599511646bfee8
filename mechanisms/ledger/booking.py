"""What a ledger needs to know of a mechanism: its cost, and how its values and reports are written down."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class BookedMechanism(ABC):
    """A mechanism that was proved private by whole numbers.

    Attributes
    ----------
    checksum : bytes
        That of its document: other mechanisms' reports are others.
    epsilon : float
        What a report costs.
    """

    checksum: bytes
    epsilon: float

    @abstractmethod
    def content(self, value: object) -> bytes:
        """Return a value as bytes, equal values alike, or raise InputError without showing it."""

    @abstractmethod
    def draw(self, content: bytes) -> bytes:
        """Draw a report by the operating system's generator and return it as text."""

    @abstractmethod
    def read(self, text: bytes) -> Any:
        """Return the report of such a text."""


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
