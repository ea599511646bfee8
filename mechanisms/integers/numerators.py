"""Exact probabilities: whole numbers over 2^53, which doubles hold without rounding."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from operator import mul

import numpy as np

from ..errors import TableError

DENOMINATOR = 2**53
"""Numerators, running sums of a row and 53 random bits are then exact doubles, in JavaScript too, and 64-bit integers
leave room for the sum of a thousand; one unit is 1.1e-16, the precision that tables are designed in anyway."""

BLOCK_ENTRIES = 2**17
"""Entries looked at at a time: what is made of them on the way stays in the cache and takes no memory to speak of."""


def to_numerators(probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities times 2^53 as whole numbers, or raise TableError where they are none.

    Parameters
    ----------
    probabilities : (n, m) ndarray
        Between 0 and 1; whole multiples of 2^-53, in rows that sum to one exactly.

    Returns
    -------
    (n, m) ndarray of int64

    Raises
    ------
    TableError
        The first probability that is no multiple, or the first row with another sum.

    Example
    -------
    >>> to_numerators(np.array([[0.75, 0.25]])).tolist()
    [[6755399441055744, 2251799813685248]]
    """
    numerators = np.empty(probabilities.shape, dtype=np.int64)
    rows = max(1, BLOCK_ENTRIES // max(probabilities.shape[1], 1))
    for first in range(0, len(probabilities), rows):
        block = probabilities[first : first + rows]
        scaled = block * float(DENOMINATOR)
        wrong = np.argwhere((np.rint(scaled) != scaled) | (scaled < 0) | (scaled > DENOMINATOR))
        if wrong.size:
            i, j = wrong[0]
            found = f"{float(block[i, j])!r} at row {first + i}, output {j}"
            raise TableError(f"exact probabilities must be multiples of 2^-53, got {found}")
        numerators[first : first + rows] = scaled
        check_numerators(numerators[first : first + rows], first)
    numerators.setflags(write=False)  # what was proved stays what is drawn from
    return numerators


def check_numerators(numerators: np.ndarray, first: int = 0) -> np.ndarray:
    """Return the (n, m) int64 matrix if it is one of probabilities over 2^53, or raise TableError.

    It may be part of a larger one, of which its first row has this number.

    Example
    -------
    >>> check_numerators(np.array([[2**53, 1]]))
    Traceback (most recent call last):
        ...
    optldp.mechanisms.errors.TableError: row 0 must sum to 2^53 exactly, got 1 more
    """
    wrong = np.argwhere((numerators < 0) | (numerators > DENOMINATOR))
    if wrong.size:
        i, j = wrong[0]
        raise TableError(f"numerators must lie in 0..2^53, got {numerators[i, j]} at row {first + i}, output {j}")
    upper, lower = (numerators >> 26).sum(axis=1), (numerators & (2**26 - 1)).sum(axis=1)  # neither can overflow
    excess = [(a << 26) + b - DENOMINATOR for a, b in zip(upper.tolist(), lower.tolist(), strict=True)]
    for i, units in enumerate(excess, start=first):
        if units:
            raise TableError(f"row {i} must sum to 2^53 exactly, got {abs(units)} {'more' if units > 0 else 'less'}")
    return numerators


def tightest_output(numerators: np.ndarray) -> tuple[int, int, int]:
    """Return the output of largest ratio, and its largest and smallest numerator; infinite ratios come first.

    Example
    -------
    >>> tightest_output(np.array([[1, 3, 0], [2, 1, 0]]))
    (1, 3, 1)
    """
    pairs = list(zip(numerators.max(axis=0).tolist(), numerators.min(axis=0).tolist(), strict=True))
    ratios = [Fraction(a, b) if b else Fraction(a and 2 * DENOMINATOR) for a, b in pairs]
    j = ratios.index(max(ratios))
    return j, *pairs[j]


def row_means(numerators: np.ndarray, means: Sequence[Fraction]) -> list[Fraction]:
    """Return sum_j numerators_ij means_j / 2^53 for every row i, exactly.

    Example
    -------
    >>> row_means(np.array([[2**52, 2**52]]), [Fraction(1), Fraction(2)])
    [Fraction(3, 2)]
    """
    scale = lcm(*(mean.denominator for mean in means))
    places = [int(mean * scale) for mean in means]
    return [Fraction(sum(map(mul, row.tolist(), places)), scale * DENOMINATOR) for row in numerators]
