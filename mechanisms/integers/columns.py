"""Whole numbers of a column against each other: the comparisons that every proof of privacy rests on."""

from fractions import Fraction

import numpy as np

from .numerators import BLOCK_ENTRIES, DENOMINATOR

LARGEST_EXPONENT = 40
"""Any two positive numerators over 2^53 are within e^36.8 of each other, so a bound on more need not be computed."""


def times_below(numerators: np.ndarray, limit: Fraction) -> np.ndarray:
    """Return floor(limit * numerator), at most 2^53: a whole number is above it just if it is above the product.

    Parameters
    ----------
    numerators : ndarray of int64
        From 0 to 2^53.
    limit : Fraction
        Positive.

    Returns
    -------
    ndarray of int64
        Of the same shape.

    Example
    -------
    >>> times_below(np.array([0, 3, 2**53]), Fraction(5, 2)).tolist()
    [0, 7, 9007199254740992]
    """
    p, q = limit.as_integer_ratio()
    whole = [min(p * each // q, DENOMINATOR) for each in numerators.ravel().tolist()]
    return np.array(whole, dtype=np.int64).reshape(numerators.shape)


def largest_divergence(numerators: np.ndarray, limit: Fraction) -> tuple[Fraction, int, int]:
    r"""Return the largest sum_y max(0, P(y | i) - L P(y | k)) over all ordered pairs of rows, and the pair.

    That is the hockey-stick divergence of order L, which bounds Pr(S | i) - L Pr(S | k) for every set S of outputs. The
    outputs where a term is positive are found by comparing whole numbers; their two sums are below 2^53 each. Most
    pairs are put aside by a sum that takes half the time. All are looked at, n^2 m: no way is known that takes less
    whatever the rows are (it finds the two points that are farthest apart in the sum of absolute differences).

    Parameters
    ----------
    numerators : (n, m) ndarray of int64
        Over 2^53, in rows that sum to it.
    limit : Fraction
        L, at most e^epsilon: a smaller one makes the divergence larger.

    Source: Balle and Wang (2018), theorem 5; Balle, Barthe and Gaboardi (2018), theorem 1.

    Example
    -------
    >>> largest_divergence(np.array([[3 * 2**51, 2**51], [2**51, 3 * 2**51]]), Fraction(2))
    (Fraction(1, 4), 1, 0)
    """
    p, q = limit.as_integer_ratio()
    worst, pair = 0, (0, 0)
    size = max(1, BLOCK_ENTRIES // max(numerators.shape[1], 1))
    for k, row in enumerate(numerators):
        threshold = times_below(row, limit)
        for first in range(0, len(numerators), size):
            block = numerators[first : first + size]
            near = np.flatnonzero(_beyond(block, threshold) > worst // q)
            mine, theirs = _both_above(block[near], row, threshold)
            for i, a, b in zip((first + near).tolist(), mine, theirs, strict=True):
                if q * a - p * b > worst:
                    worst, pair = q * a - p * b, (i, k)
    return Fraction(worst, q * DENOMINATOR), *pair


def _beyond(rows: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """The sum (n,) of what each row has above the threshold (m,), which is rounded down: no less than exactly."""
    differences = rows - threshold
    return np.maximum(differences, 0, out=differences).sum(axis=1)


def _both_above(rows: np.ndarray, row: np.ndarray, threshold: np.ndarray) -> tuple[list[int], list[int]]:
    """The sums of each of the rows, and of the one row, over the outputs where the former is above the threshold."""
    above = rows > threshold
    return (rows * above).sum(axis=1).tolist(), (row * above).sum(axis=1).tolist()
