"""Exact probabilities: whole numbers over 2^53, which doubles hold without rounding."""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from ..errors import TableError

DENOMINATOR = 2**53
"""Numerators, running sums of a row and 53 random bits are then exact doubles, in JavaScript too, and 64-bit integers
leave room for the sum of a thousand; one unit is 1.1e-16, the precision that tables are designed in anyway."""

BLOCK_ENTRIES = 2**17
"""Entries looked at at a time: what is made of them on the way stays in the cache and takes no memory to speak of."""

DIGIT_BITS, HALF_BITS, ADDED_UP = 16, 27, 2**20
"""Of the pieces of a whole weight and of a numerator, and how many products of them add up to 63 bits at most."""


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
    tightest, largest, smallest = 0, 0, 1
    for j, (a, b) in enumerate(pairs):
        if a * smallest > largest * b:
            tightest, largest, smallest = j, a, b
    return tightest, *pairs[tightest]


def over_one_denominator(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return whole numbers and a denominator whose quotients the values are.

    Example
    -------
    >>> over_one_denominator([Fraction(1, 2), Fraction(-2, 3)])
    ([3, -4], 6)
    """
    scale = lcm(*(value.denominator for value in values))
    return [value.numerator * (scale // value.denominator) for value in values], scale


def row_means(numerators: np.ndarray, means: Sequence[Fraction]) -> list[Fraction]:
    """Return sum_j numerators_ij means_j / 2^53 for every row i, exactly.

    Example
    -------
    >>> row_means(np.array([[2**52, 2**52]]), [Fraction(1), Fraction(2)])
    [Fraction(3, 2)]
    """
    places, scale = over_one_denominator(means)
    return [Fraction(total, scale * DENOMINATOR) for total in weighted_sums(numerators, places)]


def weighted_sums(numerators: np.ndarray, weights: Sequence[int]) -> list[int]:
    """Return sum_j numerators_ij weights_j for every row i, exactly, for whole weights of any size and sign.

    Both are cut into pieces of so few bits that 64-bit integers hold the sums of their products.

    Parameters
    ----------
    numerators : (n, m) ndarray of int64
        From 0 to 2^53.
    weights : sequence of m int

    Example
    -------
    >>> weighted_sums(np.array([[2**53, 1], [0, 2]]), [-3, 2**100]) == [2**100 - 3 * 2**53, 2**101]
    True
    """
    if len(weights) > ADDED_UP:
        parts = [weighted_sums(numerators[:, part], weights[part]) for part in (slice(ADDED_UP), slice(ADDED_UP, None))]
        return [one + two for one, two in zip(*parts, strict=True)]
    digits, found = _signed_digits(weights), []
    rows = max(1, BLOCK_ENTRIES // max(numerators.shape[1], 1))
    for first in range(0, len(numerators), rows):
        block = numerators[first : first + rows]
        low, high = ((part @ digits).tolist() for part in (block & (2**HALF_BITS - 1), block >> HALF_BITS))
        found += [_joined(one) + (_joined(two) << HALF_BITS) for one, two in zip(low, high, strict=True)]
    return found


def _signed_digits(weights: Sequence[int]) -> np.ndarray:
    """Return the weights' digits to the base 2^16, the least first, each with its weight's sign: (m, digits)."""
    count = max(weight.bit_length() for weight in weights) // DIGIT_BITS + 1
    raw = b"".join(abs(weight).to_bytes(count * DIGIT_BITS // 8, "little") for weight in weights)
    signs = np.array([-1 if weight < 0 else 1 for weight in weights])
    return np.frombuffer(raw, dtype="<u2").reshape(len(weights), count) * signs[:, None]


def _joined(digits: list[int]) -> int:
    """The number of these digits to the base 2^16, the least first, which may be of any size and sign."""
    total = 0
    for digit in reversed(digits):
        total = (total << DIGIT_BITS) + digit
    return total
