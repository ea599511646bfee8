r"""No more than this do mixed reports tell: clones of the report that differs hide it among the others.

Let two rows P and P' of a randomizer have ratios of at most p and total variation beta; put alpha = beta / (p - 1) and
g = 1 - alpha (p + 1). Then P = alpha p U + alpha U' + g V and P' = alpha U + alpha p U' + g V with laws U, U' and V,
and whatever another user's value is, its row is at least alpha U + alpha U' + s g V with s = 1 / p or more. So each of
the others draws from U, U' or V with probabilities alpha, alpha and s g, and from a law of its own else. Who sees for
every report which of these laws it came from, but not whose it is, sees the counts (a, b, c) of U, U' and V alone, and

    delta(E) = E[(l_1 a + l_2 b + l_3 c)_+] / n,  l = (p - E, 1 - p E, (1 - E) / s),  E = e^epsilon,

for n users who all draw like the others. It falls with s, and is largest over all pairs of rows where beta is: its
derivative in alpha is the mean of a convex function over the outer points l_1 and l_2 less what it is at points between
them of the same mean. So pairs may be bounded together, by their largest beta and least s.

Given how many are clones, the rest is one sum over a binomial. One clone more hides more, and a convex function's mean
grows with every fair step more, so that counts may be taken in blocks, each with its end on the safe side.

Source: Wang, Peng, Li, Xu, Wang, Yang (2023), "Privacy amplification via shuffling: unified, simplified, and
tightened", whose variation ratio (p, beta, q = p) this is; Feldman, McMillan and Talwar (2022), "Stronger privacy
amplification by shuffling for Rényi and approximate differential privacy", who know p alone; Balle, Bell, Gascón and
Nissim (2019), "The privacy blanket of the shuffle model", theorem 5.1, for l. The first source leaves the count c out,
as if V were all that others draw from; that is a little too small where rows differ on V (docs/mixing-reports.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property

import numpy as np

from .binomials import Bulk, Excesses, block_edges, bulk, rounding
from .bracket import bracket

CUT = 1e-7
"""Masses below this share of delta, relative to the mode, are left out and bounded."""

ROOM = 1e-13
"""For the few operations that make a threshold or a logarithm."""


class Clones:
    """An upper bound on the divergence of mixed reports of n users when one user's value changes.

    Parameters
    ----------
    n : int
        Users, at least 2.
    p : Fraction
        Above 1.
    beta : Fraction
        Positive, at most (p - 1) / (p + 1).
    s : Fraction
        Share of V that all others are sure to have, from 1 / p to 1.
    delta : float
        Least delta that will be asked for; the neglected terms are far below it.
    left_out : Fraction
        Mass of V, at most g, of which s does not hold. Who draws from it is seen to say nothing: as l of V is below 0,
        that makes the divergence no smaller, and all else holds as before.

    Example
    -------
    >>> from fractions import Fraction
    >>> from optldp.mechanisms.shuffling import Clones
    >>> clones = Clones(10_000, Fraction(2718281, 10**6), Fraction(4274, 10**4), Fraction(1), 1e-6)
    >>> round(clones.epsilon(1e-6), 4)
    0.0414
    """

    def __init__(
        self, n: int, p: Fraction, beta: Fraction, s: Fraction, delta: float, left_out: Fraction = Fraction(0)
    ) -> None:
        self.p, self.s, self.cut = p, s, CUT * delta
        either = 2 * beta / (p - 1)
        self.all = either + s * (1 - either * (p + 1) / 2 - left_out)
        """Probability of U, U' or V for one of the others."""
        self.either = either / self.all
        """Of U or U' for one that is a clone."""
        others = bulk(n - 1, self.all, self.cut)
        edges = block_edges(others.first, others.first + others.mass.size)
        self.clones = edges[:-1] + 1.0
        self.mass = np.add.reduceat(others.mass, edges[:-1] - others.first) * (1 + others.slack)
        outside = max(each.outside for each in self._given)
        self.lost = others.outside + float(p * self.all) * (1 + ROOM) * outside

    @cached_property
    def _given(self) -> list[Bulk]:
        """How many of the clones are from U or U', for each number of them."""
        return [bulk(int(number), self.either, self.cut) for number in self.clones]

    @cached_property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        """The fewest and the most of them in each block."""
        first = min(each.first for each in self._given)
        last = max(each.first + each.mass.size for each in self._given)
        edges = block_edges(first, last)
        return edges[:-1], edges[1:] - 1

    @cached_property
    def _weights(self) -> np.ndarray:
        """No less than the probability of each block of these, for each number of clones."""
        first, last = self._ends
        made = np.zeros((self.clones.size, first.size))
        for row, each in zip(made, self._given, strict=True):
            every = np.zeros(last[-1] + 1 - first[0])
            every[each.first - first[0] :][: each.mass.size] = each.mass
            row[:] = np.add.reduceat(every, first - first[0]) * (1 + each.slack)
        return made

    @cached_property
    def _sums(self) -> Excesses:
        half, most = Fraction(1, 2), self._ends[1]
        return Excesses([bulk(int(each), half, self.cut) for each in most], (most / 2).tolist())

    @cached_property
    def _drift(self) -> np.ndarray:
        """What a threshold is, over (E - 1) / (E + 1), for each number of clones and each block."""
        # A clone of U or U' instead of V adds (1 / s - (p + 1) / 2) (E - 1) in the mean; what varies of it only adds to
        # a convex function's mean, so that is as if the block had the most.
        up = self.s * (self.p + 1) <= 2
        of_either, of_clones = float((self.p + 1) / (2 * (self.p - 1))), float(1 / (self.s * (self.p - 1)))
        either = np.minimum(self._ends[1] if up else self._ends[0], self.clones[:, None])
        return (of_either * either + of_clones * (self.clones[:, None] - either)) * (1 - ROOM)

    def delta(self, more: float) -> float:
        """Return no less than the divergence at epsilon = log(1 + more)."""
        scale = float((self.p - 1) * self.all) * (2 + more)
        sums = self._sums.at_most(more / (2 + more) * self._drift * (1 - ROOM))
        each = scale * (self._weights * sums).sum(axis=1) / self.clones
        found = float(self.mass @ np.minimum(each, 1.0))
        return found * (1 + ROOM + rounding(self._ends[0].size + self.clones.size)) + self.lost

    def exceeds(self, epsilon: float, delta: float) -> bool:
        """Return whether the bound on the divergence at epsilon is above delta."""
        return self.at(epsilon) > delta

    def at(self, epsilon: float) -> float:
        """Return no less than the divergence at epsilon."""
        return self.delta(math.expm1(epsilon) * (1 - ROOM))

    def epsilon(self, delta: float) -> float:
        """Return no less than the least epsilon at which the divergence is within delta."""
        if not self.exceeds(0.0, delta):
            return 0.0
        _, high = bracket(self.delta, float(self.p - 1) * (1 + ROOM), delta)  # at e^epsilon = p it is 0
        return math.log1p(high) * (1 + ROOM)
