r"""What no private table answers few queries better than: all columns priced at once, by what they are read as.

With numbers Z (n, k), one line for each value, and multipliers lambda that obey

    |Z^T s|^2 <= (lambda . s)(pi . s)  for every column s that privacy allows,                                      (*)

no table answers queries R (n, k) with tr(R^T M^-1 R) < (tr R^T Z)^2 / sum(lambda). A column enters through k + 2 sums
alone. Read as a point v of k numbers it gains, per unit of weight w . s, w >= pi,

    g(v) = max_s (2 v . Z^T s - |v|^2 pi . s - lambda . s) / w . s,

most of all at v = Z^T s / (pi . s), and with the largest g lambda + g w obeys (*). As a maximum of functions that are
linear but for -|v|^2 times at most one, g lies in a cell of sides h nowhere above

    the largest g at its corners + |h|^2 / 4,

so cells are cut until none matters: the line's bound (`channel/line_bound`), in few dimensions and for one privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..arrays import Array
from ..cone import Cone, cheapest, pure
from .frequency_program import ROUNDING

MOST_QUERIES = 3
"""That all columns are priced for: cells that matter are some (1 / tolerance)^(k / 2)."""

RANK = 1e-9
"""Singular values below this share of the largest are rounding."""

RECHECKED = 3e-4
"""Share of a bound that pricing anew may leave."""

FLOOR = 0.1
"""Share of even weights below which no w is: a tiny one lets a column be huge."""

MOST = 400_000
"""Corners priced, at most; what is open then is a looser bound."""

TOLD = 200
"""Corners of each round of cuts that are told, the best ones."""

POLISHING = 4
"""Steps from a point to its best column, and from there to the point that this is best read as."""


@dataclass(frozen=True, eq=False)
class FewCertificate:
    """What proves (*) of this module.

    Attributes
    ----------
    numbers : (n, q) ndarray
        Z Q^T, for queries W = Q R^T: what it is worth is told by its singular directions alone, three at most.
    multipliers : (n,) ndarray
        lambda.
    """

    numbers: Array
    multipliers: Array


class Priced(NamedTuple):
    """What pricing all columns says.

    Attributes
    ----------
    gain : float
        No column gains more per unit of w.
    points : (p, k) ndarray
        The best corners of each round of cuts.
    """

    gain: float
    points: Array


@dataclass(frozen=True, eq=False)
class PointPrices:
    """Multipliers of few queries, and what they make of every column.

    Parameters
    ----------
    cone : Cone
        A tree of n values.
    prior : (n,) ndarray
    numbers : (n, k) ndarray
        Z.
    multipliers : (n,) ndarray
        lambda.

    Example
    -------
    >>> import numpy as np
    >>> from optldp.solvers.cone import pure
    >>> from optldp.solvers.frequency.few_bound import PointPrices
    >>> even = np.full(2, 0.5)  # 1[x = 1] of two values: M^-1 of randomised response at epsilon = ln 3, times it
    >>> prices = PointPrices(pure(2, np.log(3)), even, np.array([[-0.75], [1.25]]), np.array([0.75, 0.75]))
    >>> prices.over_all(1e-6).gain < 2  # to be raised by so much
    True
    """

    cone: Cone
    prior: Array
    numbers: Array
    multipliers: Array

    @property
    def weights(self) -> Array:
        """w, nowhere below the prior."""
        return np.maximum(self.prior, FLOOR / self.prior.size)

    def at(self, points: Array) -> tuple[Array, Array]:
        """Return g at points (p, k), and the columns (n, p) that gain it."""
        squares = self.prior[:, None] * (points**2).sum(1)
        costs = self.multipliers[:, None] + squares - 2 * self.numbers @ points.T
        prices, columns = cheapest(self.cone, costs, self.weights)
        return -prices, columns

    def read(self, columns: Array) -> Array:
        """Return what columns (n, p) gain most read as (p, k)."""
        return (self.numbers.T @ columns / (self.prior @ columns)).T

    def gaining(self, points: Array) -> Array:
        """Return what columns that gain are read as (p, k), most gain first: those that ascents from points end at."""
        for _ in range(POLISHING):
            points = np.unique(self.read(self.at(points)[1]), axis=0)
        gains = self.at(points)[0]
        order = np.argsort(-gains, kind="stable")
        return points[order[gains[order] > 0]]

    def over_all(self, slack: float) -> Priced:
        """Return what no column gains more than, to within a slack."""
        low, sides = self._window()
        corners = np.stack(np.meshgrid(*[[0.0, 1.0]] * low.size, indexing="ij"), -1).reshape(-1, low.size)
        cells, found, best, count = np.zeros((1, low.size)), [], -math.inf, 0
        while True:
            at, which = np.unique((cells[:, None] + corners).reshape(-1, low.size), axis=0, return_inverse=True)
            gains = self.at(low + at * sides)[0]
            found.append((low + at * sides)[np.argsort(-gains)[:TOLD]])
            best, count = max(best, float(gains.max())), count + len(at)
            tops = gains[which.ravel()].reshape(len(cells), -1).max(1) + (sides**2).sum() / 4
            open_ = tops > best + slack
            if not open_.any() or count > MOST:
                gain = float(tops.max()) if open_.any() else best + slack
                return Priced(gain + self._margin(low, sides), np.vstack(found))
            cells, sides = (2 * cells[open_][:, None] + corners).reshape(-1, low.size), sides / 2

    def _window(self) -> tuple[Array, Array]:
        """Return the lowest corner and the sides of a box with every point that a column is best read as."""
        w = self.weights
        least = float(cheapest(self.cone, self.prior[:, None], w)[0][0])
        low, high = (cheapest(self.cone, numbers, w)[0] for numbers in (self.numbers, -self.numbers))
        reach = np.maximum(np.abs(low), np.abs(high)) / least
        return -reach, 2 * reach

    def _margin(self, low: Array, sides: Array) -> float:
        """Return what rounding may add to a gain."""
        size = np.abs(self.multipliers).max() + 2 * np.abs(self.numbers).max() * np.abs(low).sum() + (low**2).sum()
        return 8 * self.prior.size * ROUNDING * float(size / self.weights.min())


def proved(wanted: Array, numbers: Array, multipliers: Array) -> float:
    """Return what tr(R^T M^-1 R) is at least, by numbers and multipliers that obey (*): of their multiples the best."""
    trace, total = float((wanted * numbers).sum()), float(multipliers.sum())
    return trace**2 / total if trace > 0 and total > 0 else 0.0


def certified_few_bound(prior: Array, ratio: float, queries: Array, certificate: FewCertificate) -> float:
    """Return what tr(W M^-1 W^T) is at least with any private table, whatever the certificate's numbers.

    Parameters
    ----------
    prior : (n,) ndarray
    ratio : float
        E = e^epsilon.
    queries : (q, n) ndarray
        W, without their means at the prior.
    certificate : FewCertificate
    """
    left, sizes, right = np.linalg.svd(certificate.numbers, full_matrices=False)
    kept = np.flatnonzero(sizes > RANK * sizes[0])[:MOST_QUERIES]
    numbers, wanted = left[:, kept] * sizes[kept], (right[kept] @ queries).T
    prices = PointPrices(pure(prior.size, math.log(ratio)), prior, numbers, certificate.multipliers)
    hoped = proved(wanted, numbers, certificate.multipliers)
    if not hoped > 0:
        return 0.0
    # As good a multiple as any: g is then in the bound's own units.
    gain = prices.over_all(RECHECKED * hoped).gain
    return proved(wanted, numbers, certificate.multipliers + gain * prices.weights)
