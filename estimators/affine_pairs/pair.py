r"""A pair of linear estimates, one for each end of an interval, whose biases over a class are proved.

Weights on outcomes h+ and h- are chosen from reports that are used for nothing else. For every p of the class

    a . p <= h+ . q_p + B+,  B+ = max over the class of (a - A h+) . p,  and  a . p >= h- . q_p + B-,

so that [h- . Y - reach- + B-, h+ . Y + reach+ + B+] holds a . p whenever two averages of independent numbers are within
their reach of what is expected.

Source: Armstrong and Kolesar (2018), "Optimal inference in a class of regression models"; Low (1997), "On nonparametric
confidence intervals", for why ends want their own estimates.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...solvers.modulus.estimates import Reference, largest_over
from ...solvers.modulus.largest import nearest
from ...solvers.modulus.polyhedron import Polyhedron
from ...solvers.one_thread import one_thread
from ..intervals import normal_quantile
from .outcomes import Outcomes
from .split import split

STEPS = 100
"""Of expectation maximisation, from the start: stopped early it is smooth, as fits of few reports should be."""

STEPS_OF_CLASS = 20
"""The same under an assumption, whose prior it starts at and need not go far from."""

MIXED = 0.1
"""Share of the start in what estimates are chosen at, so that no outcome is impossible there."""

RARE = 10
"""Reports of an outcome below which a sample says little of how many there are."""


@dataclass(frozen=True, eq=False)
class Pairs:
    """What chooses pairs of estimates, and what they are made of.

    Parameters
    ----------
    outcomes : Outcomes
        At least two users.
    polyhedron : Polyhedron
        The class that is assumed.
    start : (K,) ndarray of float
        Positive weights of the class that the fit begins at, such as the prior's.
    chosen_at : (K,) ndarray of float, optional
        Where estimates are chosen, if not at a fit.

    Example
    -------
    >>> coin = Outcomes(np.array([0.0, 1.0]), np.array([[0.75, 0.25], [0.25, 0.75]]), np.array([500, 500]), False)
    >>> pairs = Pairs(coin, Polyhedron.simplex(2), np.array([0.5, 0.5]))
    >>> low, high = pairs.ends(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]]), 0.95)
    >>> bool(0.4 < low[0] < 0.5 < high[0] < 0.6)
    True
    """

    outcomes: Outcomes
    polyhedron: Polyhedron
    start: np.ndarray
    chosen_at: np.ndarray | None = None

    @cached_property
    def _split(self) -> tuple[Outcomes, Outcomes]:
        return split(self.outcomes)

    def seen_at(self, outcomes: Outcomes, polyhedron: Polyhedron) -> Pairs:
        """Return the same of more points, at which no more mass is thought to be when estimates are chosen."""
        weights = np.zeros(outcomes.points.size)
        weights[np.searchsorted(outcomes.points, self.outcomes.points)] = self._weights
        return Pairs(outcomes, polyhedron, weights, chosen_at=weights)

    @cached_property
    def _weights(self) -> np.ndarray:
        return self.fit(self._split[0]) if self.chosen_at is None else self.chosen_at

    def fit(self, seen: Outcomes) -> np.ndarray:
        """Return weights (K,) of the class that explain some reports, none of them zero."""
        if not seen.n:
            return self.start
        weights, law, shares = self.start, seen.law, seen.shares
        for _ in range(STEPS if self.polyhedron.is_simplex else STEPS_OF_CLASS):
            weights = weights * (law @ (shares / (weights @ law)))
            weights = weights / weights.sum()
        if not self.polyhedron.is_simplex:
            matrix, _ = seen.in_errors((1.0 - MIXED) * weights + MIXED * self.start, seen.n)
            weights = nearest(self.polyhedron, matrix, matrix @ weights)
        return (1.0 - MIXED) * weights + MIXED * self.start

    @cached_property
    def _chosen(self) -> _Chosen:
        rest = self._split[1]
        matrix, outcomes_of = rest.in_errors(self._weights, rest.n)
        return _Chosen(Reference(self.polyhedron, matrix, self._weights), outcomes_of, rest)

    @one_thread()
    def ends(self, most: np.ndarray, least: np.ndarray, confidence: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of intervals of numbers: (F,) from below, and from above.

        Parameters
        ----------
        most, least : (F, K) ndarray
            What mass at each knot adds to each number at most, and at least.
        confidence : float
        """
        high = self.highest(most, confidence)
        return -self.highest(-least, confidence), high

    @one_thread()
    def highest(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Return the upper ends (F,) alone, each missed by half of what intervals of that confidence may miss."""
        z, chosen = normal_quantile(confidence), self._chosen
        h = chosen.reference.estimates(functionals, z) @ chosen.outcomes_of
        bias = largest_over(functionals - h @ self.outcomes.law.T, self.polyhedron)
        return np.minimum(chosen.upper(h, z) + bias, functionals.max(axis=1))


class _Chosen(NamedTuple):
    """What some users have chosen, and the reports of all others."""

    reference: Reference
    outcomes_of: np.ndarray
    rest: Outcomes

    def upper(self, h: np.ndarray, z: float) -> np.ndarray:
        """(F,) averages of estimates over the reports, plus their reach.

        Guard against leverage: a mean that is d larger than the sample's, for outcomes that it has too few of, has a
        variance that is larger by d R, R what these are above the mean. So d = z sqrt((v + d R) / n), which is the
        score interval (Wilson 1927) where one outcome counts. R is what skewness says of outcomes that were seen, and
        the largest weight of those that were hardly.
        """
        n, shares = self.rest.n, self.rest.shares
        mean = h @ shares
        off = h - mean[:, None]
        variance = off**2 @ shares
        skew = np.maximum(off**3 @ shares, 0.0)
        reach = np.divide(skew, variance, out=np.zeros_like(skew), where=variance > 0)
        if (rare := self.rest.counts < RARE).any():
            reach = np.maximum(reach, off[:, rare].max(axis=1))
        half = z**2 * reach / (2.0 * n)
        return mean + half + np.sqrt(z**2 * variance / max(n - 1, 1) + half**2)
