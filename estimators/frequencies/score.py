"""Intervals for single frequencies that cover near zero too: which of them the unbiased estimate does not contradict.

An unbiased estimate u_k is an average over the users of numbers whose variance, at any frequency t of the category, is
a known quadratic function V_k(t).  Its score test asks how far u_k lies from t in standard errors *at t*, not at the
estimate, which is why it also holds where a standard error at the estimate would be zero or too small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..estimate import NumberEstimate
from ..intervals import CONFIDENCE, Interval, normal_quantile

LEAST_VARIANCE = 1e-300
"""Keeps a quotient of two zeros away."""


@dataclass(frozen=True, eq=False)
class Score:
    r"""Unbiased estimates (K,), and the variance of a user's number for each at every frequency of its category.

    The profile of the quadratic log-likelihood, with all other frequencies free and the own one between 0 and 1, is

        D_k(t) = n (u_k - t)^2 / V_k(t) - n (u_k - m)^2 / V_k(m),   m the nearest point to u_k of [0, 1],

    and the interval is where D_k(t) is at most the square of the normal quantile.  Both ends are roots of a quadratic
    equation.  For a report that supports the category or does not, it is Wilson's interval of a binomial probability.
    The second term makes the interval longer where u_k is below zero, so that it is never empty: coverage is that of
    the first term or more.

    Others stay free, though they are not negative either: with that known too the profile looks narrower, and is false.
    The largest of many rare categories' noise passes for frequency, for which frequent ones are cut: by randomised
    response of 42 countries the intervals of the one that most have held 60% to 80% of the time, in 20 repetitions
    (docs/accuracy/frequencies.md).

    Parameters
    ----------
    value : (K,) ndarray of float
        u, which may be negative.
    constant, slope, square : (K,) ndarray of float, or float
        V_k(t) = constant + slope t + square t^2.
    n : int
        Users.

    Source: Wilson (1927), "Probable inference, the law of succession, and statistical inference"; the second term as in
    Feldman and Cousins (1998), with the quantile that holds everywhere instead of one that depends on t.

    Example
    -------
    >>> found = Score(np.array([-0.05, 0.2]), np.array([1.0, 1.0]), 0.0, 0.0, 400).interval(0.95)
    >>> found.low.round(3), found.high.round(3)
    (array([0.   , 0.102]), array([0.06 , 0.298]))
    """

    value: np.ndarray
    constant: np.ndarray | float
    slope: np.ndarray | float
    square: np.ndarray | float
    n: int

    def variances(self, place: np.ndarray) -> np.ndarray:
        """Return V (K,) at these frequencies, not negative."""
        return np.maximum(self.constant + place * (self.slope + place * self.square), 0.0)

    def interval(self, confidence: float) -> Interval:
        """Return the ends (K,) of the intervals, within [0, 1]; InputError for a confidence outside (0, 1)."""
        u, inside = self.value, np.clip(self.value, 0.0, 1.0)
        beyond = (u - inside) ** 2 / np.maximum(self.variances(inside), LEAST_VARIANCE)
        limit = normal_quantile(confidence) ** 2 / self.n + np.where(u == inside, 0.0, beyond)
        # (u - t)^2 <= limit V(t), whose left side less the right is not positive at t = m
        lead, half = 1.0 - limit * self.square, u + limit * self.slope / 2
        root = np.sqrt(np.maximum(half**2 - lead * (u**2 - limit * self.constant), 0.0))
        return Interval(_within((half - root) / lead), _within((half + root) / lead), confidence)

    def holding(self, value: np.ndarray, confidence: float) -> Interval:
        """Return the intervals, lengthened to an estimate (K,) where that is not in them."""
        ends, kept = self.interval(confidence), _within(value)
        return Interval(np.minimum(ends.low, kept), np.maximum(ends.high, kept), confidence)

    def of(self, which: int) -> Score:
        """Return that of one category."""
        only = slice(which, which + 1)
        constant, slope, square = (
            np.broadcast_to(term, self.value.shape)[only] for term in (self.constant, self.slope, self.square)
        )
        return Score(self.value[only], constant, slope, square, self.n)

    def sum(self, which: np.ndarray, variance: float) -> Score:
        """Return that of the sum of some categories, whose variance is taken as the same at every sum."""
        return Score(self.value[which].sum(keepdims=True), variance * self.n, 0.0, 0.0, self.n)


def _within(ends: np.ndarray) -> np.ndarray:
    return np.clip(ends, 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class ScoredNumber(NumberEstimate):
    """A frequency, or the sum of some, with the interval of a score; as `NumberEstimate` else.

    Parameters
    ----------
    score : Score
        Of one number.

    Example
    -------
    >>> from optldp.estimators import count, estimate_frequencies
    >>> from optldp.mechanisms.categorical.table import categorical_grr
    >>> counts = count(categorical_grr(["a", "b", "c"], 1.0), np.repeat([0, 1, 2], [50, 30, 20]))
    >>> estimate_frequencies(counts, method="mle").share(["a"])
    ScoredNumber(value=0.770494, std_error=0.137281, low=0.521922, high=1, confidence=0.95, n=100, method='mle')
    """

    score: Score | None = None

    def interval(self, confidence: float = CONFIDENCE) -> Interval:
        """Return the score's interval, which holds the value; InputError for a confidence outside (0, 1)."""
        assert self.score is not None
        ends = self.score.holding(np.array([self.value]), confidence)
        return Interval(float(ends.low[0]), float(ends.high[0]), confidence)
