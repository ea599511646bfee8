r"""No less than this do mixed reports tell: somebody counts two kinds of reports, and compares.

All others hold one value; of one user it is known that the value is one of two. Outputs are put in three classes: those
that speak for the one, those that speak for the other, and all else. With class probabilities P, P' of the two and z
of the others, n users and counts (a, b, c) of the classes,

    delta(E) = E[(l_1 a + l_2 b + l_3 c)_+] / n,  l = (P - E P') / z,  E = e^epsilon,

for counts of n users who are all like the others, is the hockey-stick divergence of the two laws of the counts; that of
the mixed reports themselves is no smaller. Numbers of a + b are taken in blocks: all are at the first one, and what
those of the block have more is taken at its mean; by Jensen's inequality that is no more.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .binomials import UNIT, Excesses, block_edges, bulk
from .bracket import bracket

CUT = 1e-7
"""Masses below this share of delta, relative to the mode, are left out, which makes bounds smaller."""

BLOCKS = 64
"""Of a + b at least: a narrow one keeps what that sum tells."""

ROOM = 1e-13
"""For the few operations that make a logarithm or a factor."""

TERMS = 64
"""Rounded operations of a threshold, with room."""


@dataclass(frozen=True)
class Distinguisher:
    """Three classes of outputs, with their probabilities under three values.

    Parameters
    ----------
    one, other : tuple of Fraction
        Under the two values, of which one is a user's: outputs that speak for the one, for the other, and the rest.
    rest : tuple of Fraction
        Under the value of all others; positive but for the last.

    Example
    -------
    >>> from fractions import Fraction
    >>> from optldp.mechanisms.shuffling import Distinguisher
    >>> third = Fraction(1, 3)
    >>> flip = Distinguisher((2 * third, third, Fraction(0)), (third, 2 * third, Fraction(0)), (third, 2 * third, 0))
    >>> round(flip.epsilon(1000, 1e-6), 3)
    0.078
    """

    one: tuple[Fraction, Fraction, Fraction]
    other: tuple[Fraction, Fraction, Fraction]
    rest: tuple[Fraction, Fraction, Fraction]

    def epsilon(self, n: int, delta: float) -> float:
        """Return an epsilon at which the counts of n users' classes have a divergence of at least delta; 0 for none."""
        counts = _Counts(self, n, CUT * delta)
        if counts.delta(0.0) < delta:
            return 0.0
        ratio = max(float(p / q) for p, q in zip(self.one, self.other, strict=True) if q)
        low, _ = bracket(counts.delta, ratio, delta)
        return math.log1p(low) * (1 - ROOM)


class _Counts:
    """The divergence of the counts' two laws, bounded from below."""

    def __init__(self, classes: Distinguisher, n: int, cut: float) -> None:
        first, second, _ = classes.rest
        self.n = n
        told = bulk(n, first + second, cut)
        edges = block_edges(told.first, told.first + told.mass.size, BLOCKS)
        starts = edges[:-1] - told.first
        self.told = edges[:-1].astype(np.float64)
        sums = np.add.reduceat(told.mass, starts)
        more = np.arange(told.mass.size) - np.repeat(starts, np.diff(edges))
        mean = np.add.reduceat(told.mass * more, starts) / sums
        self.least_more, self.most_more = mean * (1 - 4 * told.slack), mean * (1 + 4 * told.slack)
        self.weights = sums * (1 - told.slack) ** 2 / (1 + told.outside) * (1 - ROOM)
        share = first / (first + second)
        self.share = float(share)
        self.centres = np.floor(self.told * self.share)
        self.sums = Excesses([bulk(int(each), share, cut) for each in self.told], self.centres.tolist())
        self.one, self.other, self.rest = (
            np.array([float(each) for each in law]) for law in (classes.one, classes.other, classes.rest)
        )

    def delta(self, more: float) -> float:
        """Return no more than the divergence at epsilon = log(1 + more)."""
        theirs, occurs = (1 + more) * self.other, self.rest > 0
        ratio, size = (
            np.divide(each, self.rest, out=np.zeros(3), where=occurs) for each in (self.one - theirs, self.one + theirs)
        )
        rounded = TERMS * UNIT * float(size.sum())
        steepness = ratio[0] - ratio[1] - rounded
        if steepness <= 0:
            return 0.0
        drift = self.share * ratio[0] + (1 - self.share) * ratio[1] - ratio[2]
        others = self.told - self.centres
        known = ratio[0] * self.centres + ratio[1] * others + ratio[2] * (self.n - self.told)
        known = known + drift * (self.least_more if drift > 0 else self.most_more)
        threshold = (rounded * self.n - known) / steepness
        sums = self.sums.at_least(threshold * np.where(threshold > 0, 1 + ROOM, 1 - ROOM))
        return float(self.weights @ sums) * steepness / self.n * (1 - ROOM)
