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
from ..intervals import hoeffding_reach, normal_quantile
from .foretold import foretold, with_start
from .outcomes import Outcomes
from .split import LEAST_USERS, split

MIXED = 0.02
"""Share of the start in what estimates are chosen at, so that no outcome is impossible there. A tenth makes intervals
of those of whom 99% have one value a sixth longer."""

MIXED_OF_CLASS = 0.5
"""The same under an assumption, of which few reports fit the edges: intervals are a fifth longer at a fit alone, and as
short at the prior alone, which may be far from all that is assumed."""

NEARER = (0.7, 1.0, 1.5, 2.0, 3.0, 5.0)
"""Distances, in those that ends are off, of which few users' estimates have the one that is best foreseen."""

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
    proved_for : (K, m) ndarray of float, optional
        The law that biases are proved for, if another one than the outcomes' own chooses estimates.

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
    proved_for: np.ndarray | None = None

    @cached_property
    def _split(self) -> tuple[Outcomes, Outcomes]:
        if self.are_few:
            return self.outcomes.seen_by(np.zeros_like(self.outcomes.users)), self.outcomes
        return split(self.outcomes)

    @property
    def are_few(self) -> bool:
        """Whether users are too few for averages to be normal: ends hold for any number, and no report chooses."""
        return self.outcomes.n < LEAST_USERS

    @property
    def chooses(self) -> Outcomes:
        """The reports that choose estimates; none where they are few."""
        return self._split[0]

    @property
    def makes(self) -> Outcomes:
        """The reports that estimates are made of."""
        return self._split[1]

    def seen_at(self, outcomes: Outcomes, polyhedron: Polyhedron) -> Pairs:
        """Return the same of more points, at which no more mass is thought to be when estimates are chosen."""
        weights = np.zeros(outcomes.points.size)
        weights[np.searchsorted(outcomes.points, self.outcomes.points)] = self.weights
        return Pairs(outcomes, polyhedron, weights, chosen_at=weights)

    @cached_property
    def weights(self) -> np.ndarray:
        """(K,) where estimates are chosen."""
        return self.fit(self._split[0]) if self.chosen_at is None else self.chosen_at

    def fit(self, seen: Outcomes) -> np.ndarray:
        """Return weights (K,) of the class that explain some reports, none of them zero."""
        if not seen.n:
            return self.start
        weights = foretold(seen, self.start, MIXED)
        if self.polyhedron.is_simplex:
            return weights
        matrix, _ = seen.in_errors(weights, seen.n)
        return with_start(nearest(self.polyhedron, matrix, matrix @ weights), self.start, MIXED_OF_CLASS)

    @cached_property
    def _reference(self) -> tuple[Reference, np.ndarray]:
        """What estimates are chosen at, in errors of the reports that make them, and what each adds for outcomes."""
        matrix, outcomes_of = self.outcomes.in_errors(self.weights, self.makes.n)
        return Reference(self.polyhedron, matrix, self.weights), outcomes_of

    def estimates(self, functionals: np.ndarray, confidence: float, *, nearer: float = 1.0) -> Estimates:
        """Return the estimates of upper ends of numbers (F, K), by the reports that choose.

        They are best against distributions at the distance that ends are off, or that share of it.
        """
        reference, outcomes_of = self._reference
        h = reference.estimates(functionals, nearer * normal_quantile(confidence)) @ outcomes_of
        law = self.outcomes.law if self.proved_for is None else self.proved_for
        bias = largest_over(functionals - h @ law.T, self.polyhedron)
        return Estimates(h, bias, functionals.max(axis=1))

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
        if self.are_few:
            return self._highest_of_few(functionals, confidence)
        return self.estimates(functionals, confidence).upper(self.makes, confidence)

    def _highest_of_few(self, functionals: np.ndarray, confidence: float) -> np.ndarray:
        """Ends that hold for any number of users: their numbers are independent and within what outcomes add.

        Of several estimates each number has the one that is shortest if the start is true, whatever was reported.
        """
        expected, found, foreseen = self.weights @ self.outcomes.law, functionals.max(axis=1), functionals.max(axis=1)
        for nearer in NEARER:
            made = self.estimates(functionals, confidence, nearer=nearer)
            reach = hoeffding_reach(self.outcomes.widest(made.weights), self.outcomes.n, confidence) + made.bias
            better = (ahead := made.weights @ expected + reach) < foreseen
            foreseen = np.where(better, ahead, foreseen)
            found = np.where(better, np.minimum(made.weights @ self.outcomes.shares + reach, made.most), found)
        return found


class Estimates(NamedTuple):
    """Linear estimates, each of an upper end.

    Parameters
    ----------
    weights : (F, m) ndarray of float
        What each outcome adds.
    bias : (F,) ndarray of float
        By how much a number may exceed what its estimate expects, at most.
    most : (F,) ndarray of float
        What each number can be at all.
    """

    weights: np.ndarray
    bias: np.ndarray
    most: np.ndarray

    def upper(self, seen: Outcomes, confidence: float) -> np.ndarray:
        """Return upper ends (F,) by reports that chose nothing: averages, their reach and their bias."""
        return np.minimum(self.noise(seen).upper(confidence) + self.bias, self.most)

    def noise(self, seen: Outcomes) -> Noise:
        """Return what reports say that chose nothing, and how surely.

        The leverage R is what skewness says of outcomes that were seen, and the largest weight of those that were
        hardly.
        """
        n = seen.n
        mean, variance, skew, off = seen.moments(self.weights)
        skew = np.maximum(skew, 0.0)
        leverage = np.divide(skew, variance, out=np.zeros_like(skew), where=variance > 0)
        if (rare := seen.counts < RARE).any():
            leverage = np.maximum(leverage, off[:, rare].max(axis=1))
        return Noise(mean, variance / max(n - 1, 1), leverage / n)


class Noise(NamedTuple):
    """Averages and what is known of their errors, (F,) each.

    Parameters
    ----------
    mean, variance : (F,) ndarray of float
        Of the averages.
    leverage : (F,) ndarray of float
        R / n: by how much the variance of an average grows at most with its expectation.
    """

    mean: np.ndarray
    variance: np.ndarray
    leverage: np.ndarray

    @classmethod
    def together(cls, first: Noise, second: Noise) -> Noise:
        """Return that of sums of averages of two groups without users in common.

        Example
        -------
        >>> one = Noise(np.array([0.2]), np.array([0.01]), np.array([0.0]))
        >>> Noise.together(one, one).upper(0.95).round(3)
        array([0.677])
        """
        leverage = np.maximum(first.leverage, second.leverage)
        return cls(first.mean + second.mean, first.variance + second.variance, leverage)

    def upper(self, confidence: float) -> np.ndarray:
        """Return the largest expectations (F,) that the averages do not contradict.

        Guard against leverage: a mean that is d larger than the sample's, for outcomes that it has too few of, has a
        variance that is larger by d R, R what these are above the mean. So d = z sqrt((v + d R) / n), which is the
        score interval (Wilson 1927) where one outcome counts.
        """
        z = normal_quantile(confidence)
        half = z**2 * self.leverage / 2.0
        return self.mean + half + np.sqrt(z**2 * self.variance + half**2)
