"""What an exact table's whole numbers show of each promise: where it is tightest, and whether it is kept there.

A new promise is a class in `promise.py` and a function here, which says of rows of numerators what is wrong with them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from ..integers.columns import LARGEST_EXPONENT, largest_divergence, times_below
from ..integers.exponential import exponential_below
from ..integers.numerators import tightest_output
from ..promise import Approximate, Metric, Promise


@dataclass(frozen=True)
class Evidence:
    """Where a promise is tightest, in whole numbers.

    Attributes
    ----------
    output : int
        The output of the largest ratio; under `Metric` of the largest ratio for its distance.
    largest, smallest : int
        Its two numerators over 2^53.
    limit : Fraction
        Proved to be at most e^epsilon, or e^(epsilon times the distance) of the two.
    divergence : Fraction or None
        Under `Approximate`, the largest sum over outputs of max(0, P(y | x) - limit P(y | x')).
    fault : str
        What breaks the promise; empty for nothing.
    """

    output: int
    largest: int
    smallest: int
    limit: Fraction
    divergence: Fraction | None = None
    fault: str = ""


def evidence(promise: Promise, knots: np.ndarray, numerators: np.ndarray) -> Evidence:
    """Return what numerators (n, m) over 2^53 at these knots show of a promise, comparing whole numbers alone."""
    if isinstance(promise, Metric):
        return _metric(promise, knots, numerators)
    limit = exponential_below(promise.epsilon)
    output, largest, smallest = tightest_output(numerators)
    if isinstance(promise, Approximate):
        return _approximate(promise, numerators, Evidence(output, largest, smallest, limit))
    fault = ""
    if largest * limit.denominator > limit.numerator * smallest:
        fault = (
            f"the log-ratio must be at most {promise.epsilon:g}, got {log_ratio(largest, smallest)} "
            f"at output {output}: {largest} / {smallest}"
        )
    return Evidence(output, largest, smallest, limit, fault=fault)


def _approximate(promise: Approximate, numerators: np.ndarray, found: Evidence) -> Evidence:
    """By the hockey-stick divergence of all ordered pairs of rows; between knots it is convex in both."""
    divergence, i, k = largest_divergence(numerators, found.limit)
    fault = ""
    if divergence > Fraction(promise.delta):
        fault = (
            f"delta must be at least the divergence at epsilon {promise.epsilon:g}, {float(divergence)}, "
            f"got {promise.delta:g}: rows {i} and {k}"
        )
    return Evidence(found.output, found.largest, found.smallest, found.limit, divergence, fault)


def _metric(promise: Metric, knots: np.ndarray, numerators: np.ndarray) -> Evidence:
    """By neighbouring knots: their distances add up to that of any two, and so do their log-ratios at most."""
    worst, tightest, fault = -1.0, None, ""
    for k, gap in enumerate(_gaps(knots)):
        limit = exponential_below(min(Fraction(promise.epsilon) * gap, Fraction(LARGEST_EXPONENT)))
        pair = numerators[k : k + 2]
        low, high = pair.min(axis=0), pair.max(axis=0)
        over = np.flatnonzero(high > times_below(low, limit))
        with np.errstate(divide="ignore", invalid="ignore"):
            steep = np.where(high > 0, (high - low) / low, 0.0)
        j = int(over[0]) if over.size else int(np.argmax(steep))
        here = math.log1p(steep[j]) / float(gap)
        if over.size and not fault:
            fault = (
                f"the log-ratio per unit must be at most {promise.epsilon:g}, got {here} at output {j} between knots "
                f"{k} and {k + 1}: {high[j]} / {low[j]}"
            )
            worst = math.inf
            tightest = Evidence(j, int(high[j]), int(low[j]), limit, fault=fault)
        elif here > worst:
            worst, tightest = here, Evidence(j, int(high[j]), int(low[j]), limit)
    assert tightest is not None  # a table has two knots
    return tightest


def _gaps(knots: np.ndarray) -> list[Fraction]:
    exact = [Fraction(knot) for knot in knots.tolist()]
    return [right - left for left, right in pairwise(exact)]


def log_ratio(largest: int, smallest: int) -> float:
    """Return log(largest / smallest) as a double, infinite for a smallest of zero.

    Example
    -------
    >>> log_ratio(1, 1), log_ratio(1, 0)
    (0.0, inf)
    """
    return math.log1p((largest - smallest) / smallest) if smallest else math.inf
