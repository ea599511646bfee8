"""What an exact table's whole numbers show of each promise: where it is tightest, and whether it is kept there.

Promises of pairs of knots are one here, whatever they are called. Another promise is a class in the room `promise` and
a function here, which says of rows of numerators what is wrong with them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..integers.columns import LARGEST_EXPONENT, largest_divergence
from ..integers.exponential import exponential_below
from ..integers.numerators import BLOCK_ENTRIES, tightest_output
from ..promise import Approximate, OfPairs, Promise

NEAR = 1e-12
"""Share of a log-ratio, and of one, by which doubles may be off that are computed from whole numbers: what is farther
below its limit needs no whole numbers to be decided."""


@dataclass(frozen=True)
class Evidence:
    """Where a promise is tightest, in whole numbers.

    Attributes
    ----------
    output : int
        The output of the largest ratio; of a promise of pairs, of the largest log-ratio for what its pair is promised.
    largest, smallest : int
        Its two numerators over 2^53.
    limit : Fraction
        Proved to be at most e^epsilon, or e to the log-ratio that is promised of the two.
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
    if isinstance(promise, OfPairs):
        return _of_pairs(promise, knots, numerators)
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


def _of_pairs(promise: OfPairs, knots: np.ndarray, numerators: np.ndarray) -> Evidence:
    """By the pairs of which all others follow: along a path log-ratios add up, and so do what they may be."""
    said = promise.said(knots)
    tight = tightest(promise, said, numerators)
    for logs, i, k in _log_ratios(promise, said, numerators):
        rows, outputs = np.nonzero(logs > said[i, k][:, None] * (1 - NEAR) - NEAR)
        for row, j in zip(rows.tolist(), outputs.tolist(), strict=True):
            pair = int(i[row]), int(k[row])
            limit = _limit(promise, said, knots, *pair)
            if int(numerators[pair[0], j]) > limit * int(numerators[pair[1], j]):
                return _at(Tight(math.inf, *pair, j), numerators, limit, said)
    return _at(tight, numerators, _limit(promise, said, knots, tight.i, tight.k), None)


def _limit(promise: OfPairs, said: np.ndarray, knots: np.ndarray, i: int, k: int) -> Fraction:
    return exponential_below(min(promise.exactly(said, knots, i, k), Fraction(LARGEST_EXPONENT)))


def _at(tight: Tight, numerators: np.ndarray, limit: Fraction, broken: np.ndarray | None) -> Evidence:
    largest, smallest = int(numerators[tight.i, tight.j]), int(numerators[tight.k, tight.j])
    fault = "" if broken is None else fault_of(tight, broken, largest, smallest)
    return Evidence(tight.j, largest, smallest, limit, fault=fault)


def fault_of(tight: Tight, said: np.ndarray, largest: float, smallest: float) -> str:
    """Return in words that two knots have too much of a log-ratio, for probabilities or numerators.

    Example
    -------
    >>> fault_of(Tight(2.0, 0, 1, 3), np.array([[0.0, 0.5], [0.5, 0.0]]), 0.75, 0.25)
    'the log-ratio must be at most 0.5, got 1.0986122886681096 at output 3 between knots 0 and 1: 0.75 / 0.25'
    """
    return (
        f"the log-ratio must be at most {said[tight.i, tight.k]:g}, got {log_ratio(largest, smallest)} at output "
        f"{tight.j} between knots {tight.i} and {tight.k}: {largest} / {smallest}"
    )


class Tight(NamedTuple):
    """Where a promise of pairs is tightest: knots i and k, output j, and the share used of what these may have."""

    share: float
    i: int
    k: int
    j: int


def tightest(promise: OfPairs, said: np.ndarray, matrix: np.ndarray) -> Tight:
    """Return where probabilities or numerators (n, m) come nearest to what is said of a pair, or go farthest beyond.

    Example
    -------
    >>> from ..promise import Metric
    >>> promise, knots = Metric(1.0), np.array([0.0, 2.0])
    >>> tightest(promise, promise.said(knots), np.array([[0.75, 0.25], [0.25, 0.75]]))[1:]
    (0, 1, 0)
    """
    best = Tight(-1.0, 0, 0, 0)
    for logs, i, k in _log_ratios(promise, said, matrix):
        most, none = said[i, k][:, None], np.where(logs > 0, np.inf, 0.0)
        with np.errstate(over="ignore"):
            used = np.divide(logs, most, out=none, where=most > 0)  # a distance may be too small for a double
        row, j = np.unravel_index(int(np.argmax(used)), used.shape)
        if (share := float(used[row, j])) > best.share:
            best = Tight(share, int(i[row]), int(k[row]), int(j))
    return best


def _log_ratios(
    promise: OfPairs, said: np.ndarray, matrix: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Yield for some pairs at a time the log-ratio at each output (p, m), 0 for a negative one, and both knots (p,)."""
    first, second = promise.pairs(said)
    size = max(1, BLOCK_ENTRIES // matrix.shape[1])
    for start in range(0, first.size, size):
        i, k = first[start : start + size], second[start : start + size]
        one, other = matrix[i], matrix[k]
        none = np.where(one > 0, np.inf, 0.0)
        with np.errstate(over="ignore"):
            more = np.divide(np.maximum(one - other, 0), other, out=none, where=other > 0)
        yield np.log1p(more), i, k


def log_ratio(largest: float, smallest: float) -> float:
    """Return log(largest / smallest) as a double, infinite for a smallest of zero.

    Example
    -------
    >>> log_ratio(1, 1), log_ratio(1, 0)
    (0.0, inf)
    """
    return math.log1p((largest - smallest) / smallest) if smallest else math.inf
