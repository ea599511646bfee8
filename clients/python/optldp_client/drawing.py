"""Drawing: from a value and random words of 64 bits to an output and its report.

docs/exact-table-format.md, "Drawing a report", has the steps. Nothing here reads files, and no message holds a value.
"""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

DENOMINATOR = 2**53
NUMBER = (int, float)

random_bytes: Callable[[int], bytes] = os.urandom
"""The platform's secure generator; the conformance vectors put given words in its place."""


def random_words(many: int) -> tuple[int, ...]:
    """Return random whole numbers of 64 bits.

    Raises
    ------
    OSError
        The secure generator fails or gives too little.
    """
    drawn = random_bytes(8 * many)
    if len(drawn) != 8 * many:
        raise OSError(f"the secure generator must give {8 * many} bytes, got {len(drawn)}")
    return struct.unpack(f"<{many}Q", drawn)


@dataclass(frozen=True)
class Tails:
    """Geometric tails: the step of their lattice; how often, in 2^53, each binary digit of a number of steps is one."""

    step: float
    odds: tuple[int, ...]


@dataclass(frozen=True)
class Table:
    """A table that is proved private, made by `read_table`: how to draw from it, and what it says.

    Attributes
    ----------
    units : str
    epsilon : float
        The budget that each report of a value spends; proved.
    knots : tuple of float
        The first and the last end the domain.
    low, high : tuple of float
        The ends of the outputs; a point where they are equal.
    checksum : str
    """

    units: str
    epsilon: float
    knots: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    checksum: str
    sums: Sequence[Sequence[int]] = field(repr=False)
    _top: tuple[float, ...] = field(repr=False)
    _refuges: dict[float, float] = field(repr=False)
    _tails: Tails | None = field(repr=False)
    _cells: bool = field(repr=False)

    @property
    def identifier(self) -> str:
        """The table's name in files of reports."""
        return "t" + self.checksum.removeprefix("sha256:")[:12]

    def index(self, value: float) -> int:
        """Draw the number of an output, from 0, for a value of the domain; it spends epsilon again each time.

        Raises
        ------
        ValueError
            The value is no number of the domain. The message does not say which it is.
        OSError
            The secure generator fails or gives too little; nothing was drawn.
        """
        k, weight = self.placed(value)
        return self._output(k, weight, *random_words(2))

    def report(self, value: float) -> float:
        """Draw a report, in the units of the table, for a value of the domain; raises as `index` does."""
        k, weight = self.placed(value)
        knot, output, *places = random_words(2 + self._cells)
        j = self._output(k, weight, knot, output)
        low, high = self.low[j], self.high[j]
        if low == high:
            return low
        if self._tails is None:
            (place,) = places
            report = min(low + (high - low) * ((2 * (place >> 12) + 1) / DENOMINATOR), self._top[j])
            return self._refuges.get(report, report)
        digits = self._tails.odds
        words = random_words(len(digits))
        steps = 0.0  # summed from the lowest digit on, in doubles, as every client does
        for i, odds in enumerate(digits):
            steps += 2.0**i * ((words[i] >> 11) < odds)
        beyond = steps * self._tails.step
        return high - beyond if low == float("-inf") else low + beyond

    def rounded(self, value: object, offset: float) -> int:
        """Return the number of the knot that a value is rounded to by an offset from 0 to 1; raises as `index` does."""
        k, share = self._between(value)
        return k + (share > offset)

    def placed(self, value: object) -> tuple[int, int]:
        """Return the knot before a value, and how often, in 2^53, it is rounded up; raises as `index` does."""
        k, share = self._between(value)
        return k, round(share * DENOMINATOR)

    def _between(self, value: object) -> tuple[int, float]:
        knots = self.knots
        if not isinstance(value, NUMBER) or isinstance(value, bool) or not knots[0] <= value <= knots[-1]:
            raise ValueError(f"the value must be a number from {knots[0]} to {knots[-1]}, got another")
        value = float(value)
        k = min(bisect_right(knots, value) - 1, len(knots) - 2)
        return k, (value - knots[k]) / (knots[k + 1] - knots[k])

    def _output(self, k: int, weight: int, knot: int, output: int) -> int:
        return bisect_right(self.sums[k + ((knot >> 11) < weight)], output >> 11)
