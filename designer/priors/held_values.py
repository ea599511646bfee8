"""Values that are sorted once, and from then on rounded to any knots without being looked at one by one.

Equal values are one with its mass. Neighbouring ones stand in blocks, of which the mass and the first two moments about
the first value are kept; a block between two knots counts as a whole, and only those that a knot divides, at most one
per knot, are looked into. With offsets d from a block's first value c, and knots A <= c < B around the block,

    sum (x - A) = sum d + mass (c - A),    sum (x - A)(B - x) = mass (c - A)(B - c) + sum d (B - c - (c - A)) - sum d^2.

No term is larger than the mass times a power of B - A, so no more is lost than one value's own formula loses.
"""

from __future__ import annotations

import numpy as np

from .rounding import Rounded, Sums, interval_of, interval_sums, rounded_by

BLOCK = 1024
"""Values of a block: a hundred knots then look into a hundred thousand values at most, some milliseconds of work."""


class HeldValues:
    """Weighted points, sorted.

    Parameters
    ----------
    values : (N,) ndarray
        Finite. They are the object's own from then on, and sorted in place where there are no weights.
    weights : (N,) ndarray, optional
        Non-negative, with a positive sum; equal if not given.

    Example
    -------
    >>> held = HeldValues(np.array([0.25, 0.0]))
    >>> held.rounded(np.array([0.0, 1.0, 2.0]))
    (array([0.875, 0.125, 0.   ]), array([0.09375, 0.     ]))
    """

    def __init__(self, values: np.ndarray, weights: np.ndarray | None = None) -> None:
        if weights is None:
            values.sort()
        else:
            order = np.argsort(values, kind="stable")
            values, weights = values[order], weights[order]
        first = np.flatnonzero(np.diff(values, prepend=-np.inf))
        self.mass = _masses(first, values.size) if weights is None else np.add.reduceat(weights, first)
        self.values = values if first.size == values.size else values[first]
        self.starts = np.arange(0, self.values.size, BLOCK)
        self.ends = np.append(self.starts[1:], self.values.size)
        offsets = self.values - np.repeat(self.values[self.starts], self.ends - self.starts)
        self.block_mass = np.add.reduceat(self.mass, self.starts)
        self.firsts = np.add.reduceat(self.mass * offsets, self.starts)
        self.squares = np.add.reduceat(self.mass * offsets**2, self.starts)

    def rounded(self, knots: np.ndarray) -> Rounded:
        """Return weights (n,), summing to one, and rounding (n - 1,) on knots between which all the values are."""
        low, high = (interval_of(self.values[at], knots) for at in (self.starts, self.ends - 1))
        divided = np.flatnonzero(low != high)
        of_whole = self._of_whole(np.flatnonzero(low == high), knots)
        inner = (self.starts[divided, None] + np.arange(BLOCK)).ravel()
        inner = inner[inner < self.values.size]
        of_divided = interval_sums(self.values[inner], self.mass[inner], knots)
        return rounded_by(Sums(*(one + two for one, two in zip(of_whole, of_divided, strict=True))))

    def _of_whole(self, blocks: np.ndarray, knots: np.ndarray) -> Sums:
        """Sums over the blocks that no knot divides."""
        centre, mass, firsts = self.values[self.starts[blocks]], self.block_mass[blocks], self.firsts[blocks]
        k, count = interval_of(centre, knots), knots.size - 1
        left, right = centre - knots[k], knots[k + 1] - centre
        products = mass * left * right + firsts * (right - left) - self.squares[blocks]
        return Sums(
            np.bincount(k, mass, count),
            np.bincount(k, (firsts + mass * left) / (left + right), count),
            np.bincount(k, products, count),
        )


def _masses(first: np.ndarray, count: int) -> np.ndarray:
    """How often each distinct value occurs, from where it first does; ones that take no memory where none repeats."""
    if first.size == count:
        return np.broadcast_to(1.0, count)
    return np.diff(first, append=count).astype(np.float64)
