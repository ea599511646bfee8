"""Arithmetic on reports: remainders of their 64 bits, and their decimal digits, as whole numbers.

No bit tells of either. Each comes with the sign, so that remainders of the bits with and without a sign are both seen,
and digits counted from below and from zero.
"""

from __future__ import annotations

import numpy as np

MODULI = (3, 5, 7, 9, 11)
"""Remainders of the 64 bits by these are looked at."""

DIGITS = 15
"""Decimal digits that every double tells apart."""

LARGEST = 2.0**62
"""Larger multiples of the last digit's unit are taken for this one."""

MOST_POWER = 300
"""Powers of ten beyond this one are no doubles, or imprecise ones."""


def remainders(reports: np.ndarray, modulus: int) -> np.ndarray:
    """Return twice the remainder of each report's 64 bits, plus one for a sign.

    Example
    -------
    >>> remainders(np.array([0.0, -0.0, 5e-324, 2e-323]), 3).tolist()
    [0, 5, 2, 2]
    """
    raw = np.ascontiguousarray(reports).view(np.uint64)
    rest = raw - raw // np.uint64(modulus) * np.uint64(modulus)
    return _with_sign(rest.view(np.int64), reports)


def leading_place(reports: np.ndarray) -> int:
    """Return the power of ten of the first digit of a typical report: the median of those that are not zero.

    Example
    -------
    >>> leading_place(np.array([0.0, 140.0, 950.0, np.inf]))
    2
    """
    sizes = np.abs(reports[np.isfinite(reports) & (reports != 0)])
    return int(np.floor(np.log10(np.median(sizes)))) if sizes.size else 0


def digit(reports: np.ndarray, lead: int, place: int) -> np.ndarray:
    """Return twice the decimal digit of each report that is `place` after that of 10^lead, plus one for a sign.

    Example
    -------
    >>> digit(np.array([1.25, -1.25, 0.1 + 0.2]), 0, 2).tolist()
    [10, 11, 0]
    """
    with np.errstate(over="ignore"):
        scaled = np.abs(reports) * 10.0 ** min(DIGITS - 1 - lead, MOST_POWER)
    units = np.rint(np.fmin(scaled, LARGEST)).astype(np.int64) // 10 ** (DIGITS - 1 - place)
    return _with_sign(units - units // 10 * 10, reports)


def last_digit(reports: np.ndarray) -> np.ndarray:
    """Return 20 times the zeros that end each report's 15 digits, plus twice the digit before, plus one for a sign.

    Example
    -------
    >>> last_digit(np.array([1.25, -1.25, 0.1 + 0.2, np.nan])).tolist()
    [250, 251, 286, 0]
    """
    sizes = np.abs(reports)
    known = np.isfinite(sizes) & (sizes > 10.0**-MOST_POWER)
    sizes = np.where(known, sizes, 1.0)
    power = DIGITS - 1 - np.floor(np.log10(sizes)).astype(np.int64)
    half = power // 2  # two factors, as one would not be a double for the smallest
    units = np.rint(sizes * 10.0 ** half.astype(np.float64) * 10.0 ** (power - half)).astype(np.int64)
    zeros = np.zeros_like(units)
    for step in (8, 4, 2, 1):
        shorter = units // 10**step
        ends = shorter * 10**step == units
        units = np.where(ends, shorter, units)
        zeros += step * ends
    return np.where(known, _with_sign(10 * zeros + units - units // 10 * 10, reports), 0)


def signed_words(code: int) -> str:
    """Return a code of `remainders` or `digit` in words.

    Example
    -------
    >>> signed_words(11)
    '-5'
    """
    return f"{'-' if code & 1 else '+'}{code // 2}"


def last_words(code: int) -> str:
    """Return a code of `last_digit` in words.

    Example
    -------
    >>> last_words(251)
    '-5 before 12'
    """
    return f"{signed_words(code % 20)} before {code // 20}"


def _with_sign(codes: np.ndarray, reports: np.ndarray) -> np.ndarray:
    return 2 * codes + np.signbit(reports)
