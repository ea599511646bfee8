"""Drawing reports by whole numbers: random words of 64 bits in, no rejection, every comparison one of integers.

Two words choose the knot and the output, for every value. A report may take more words: how many, the report tells.
"""

from dataclasses import dataclass

import numpy as np

from ..errors import TableError
from ..integers.numerators import DENOMINATOR
from ..sampling.drawing import invert_rows
from ..sampling.guide import places_among
from ..sampling.law import RowFreeLaw, WithinCell, Words
from ..sampling.random_words import draw53


def ordered_bits(values: np.ndarray) -> np.ndarray:
    """Return 64-bit integers in the order of the doubles, -0 being 0, so that comparing values compares integers.

    Example
    -------
    >>> bool(np.all(np.diff(ordered_bits(np.array([-2.5, -1e-300, 0.0, 1e-300, 3.0]))) > 0))
    True
    """
    bits = (values + 0.0).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(2**63 - 1))


def rounded(knots: np.ndarray, knot_bits: np.ndarray, values: np.ndarray, words: Words) -> np.ndarray:
    """Return the knot's number (N,) that each value in the domain is rounded to at random.

    The right knot's chance is a whole number over 2^53, within 2^-51 of (x - x_k) / (x_{k+1} - x_k).

    Example
    -------
    >>> from ..sampling.random_words import random_words
    >>> knots = np.array([0.0, 1.0, 4.0])
    >>> rounded(knots, ordered_bits(knots), knots, random_words(None))
    array([0, 1, 2])
    """
    index = places_among(knots, values, keys=(knot_bits, ordered_bits(values))) - 1
    index = np.minimum(index, knots.size - 2)
    left = knots[index]
    share = (values - left) / (knots[index + 1] - left)
    return index + (draw53(words, values.size) < np.rint(share * DENOMINATOR).astype(np.int64))


@dataclass(frozen=True, eq=False)
class ExactLaw:
    """An exact table made ready to draw from.

    Attributes
    ----------
    knots, low, high : ndarray
        Those of the table.
    cumulative : (n, m) ndarray of int64
        Running sums of the numerators of each row; the last is 2^53.
    within : RowFreeLaw
    knot_bits : (n,) ndarray of int64
        `ordered_bits` of the knots.
    """

    knots: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cumulative: np.ndarray
    within: RowFreeLaw
    knot_bits: np.ndarray

    @classmethod
    def of(
        cls, knots: np.ndarray, low: np.ndarray, high: np.ndarray, numerators: np.ndarray, within: WithinCell
    ) -> "ExactLaw":
        """Prepare the running sums and the knots' bits; TableError for a law that differs between rows."""
        if not isinstance(within, RowFreeLaw):
            raise TableError(f"an exact table's law within outputs must be the same for all rows, got {within.kind}")
        cumulative, bits = np.cumsum(numerators, axis=1), ordered_bits(knots)
        for array in (cumulative, bits):
            array.setflags(write=False)
        return cls(knots, low, high, cumulative, within, bits)

    def rows(self, values: np.ndarray, words: Words) -> np.ndarray:
        """Return the row (N,) that each value in the domain is rounded to at random, as `rounded` has it."""
        return rounded(self.knots, self.knot_bits, values, words)

    def draw_index(self, values: np.ndarray, words: Words) -> np.ndarray:
        """Return the output (N,) of a report for each value in the domain: two words each, one after the other."""
        rows = self.rows(values, words)
        return invert_rows(self.cumulative, rows, draw53(words, rows.size))

    def draw(self, values: np.ndarray, words: Words) -> np.ndarray:
        """Return one report (N,) for each value in the domain."""
        return self.within.draw_exact(self.low, self.high, self.draw_index(values, words), words)
