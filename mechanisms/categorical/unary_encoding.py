"""Unary encodings: one bit for each category, each bit flipped on its own; basic RAPPOR and OUE."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ..budget import check_epsilon
from ..errors import InputError, TableError
from ..integers.exponential import exponential_below
from ..integers.numerators import DENOMINATOR
from ..sampling.law import Words
from ..spaces.categories import Categories
from ..table.provenance import Provenance
from .bit_vectors import BitVectors

BITS_AT_ONCE = 2**24
"""Bits drawn at a time: 32 MB of random numbers."""

MOST_LISTED = 20
"""Categories whose 2^K reports are still listed."""


@dataclass(frozen=True, eq=False, repr=False)
class UnaryEncoding(BitVectors):
    """K bits: the own category's is one with probability p, every other with q, independently.

    A report Z with s ones has probability proportional to (q / (1 - q))^s under every category whose bit is zero, and r
    = p (1 - q) / (q (1 - p)) times that under those whose bit is one.

    Parameters
    ----------
    categories : Categories
    epsilon : float
    provenance : Provenance
    own_one, other_one : int
        p and q over 2^53, 0 < q < p < 2^53.

    Raises
    ------
    TableError
        Numerators out of order.

    Example
    -------
    >>> from optldp.mechanisms.categorical import optimised_unary
    >>> oue = optimised_unary(["a", "b", "c"], 1.0)
    >>> oue.own_support, round(oue.other_support, 4), oue.sample(["a", "c"]).shape
    (0.5, 0.2689, (2, 1))
    """

    kind: ClassVar[str] = "unary-encoding"
    own_one: int
    other_one: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (type(self.own_one) is type(self.other_one) is int and 0 < self.other_one < self.own_one < DENOMINATOR):
            raise TableError(
                f"a unary encoding needs whole numbers 0 < other_one < own_one < 2^53, "
                f"got {self.other_one!r} and {self.own_one!r}"
            )

    @property
    def own_support(self) -> float:
        return self.own_one / DENOMINATOR

    @property
    def other_support(self) -> float:
        return self.other_one / DENOMINATOR

    @property
    def support_ratio(self) -> float:
        return float(self.largest_ratio)

    @property
    def largest_ratio(self) -> Fraction:
        p, q = self.own_one, self.other_one
        return Fraction(p * (DENOMINATOR - q), q * (DENOMINATOR - p))

    @property
    def both_supported(self) -> tuple[float, float]:
        return self.own_support * self.other_support, self.other_support**2

    @property
    def independent(self) -> bool:
        """Each bit is drawn by itself."""
        return True

    def log_elsewhere(self, reports: np.ndarray) -> np.ndarray:
        """Return that of s ones: log((1 - p) q^s (1 - q)^(K - 1 - s))."""
        size, p, q = len(self.categories), self.own_support, self.other_support
        ones = np.arange(size + 1)
        logs = np.log1p(-p) + ones * np.log(q) + (size - 1 - ones) * np.log1p(-q)
        return logs[np.bitwise_count(reports).sum(axis=1, dtype=np.int64)]

    def draw(self, codes: np.ndarray, words: Words) -> np.ndarray:
        """Draw (N, ceil(K / 8)) uint8: the bits, the first highest, filled up with zeros."""
        size = len(self.categories)
        step = max(1, BITS_AT_ONCE // size)
        reports = np.empty((codes.size, self.n_bytes), dtype=np.uint8)
        for start in range(0, codes.size, step):
            block = codes[start : start + step]
            bits = bernoulli(self.other_one, block.size * size, words).reshape(block.size, size)
            bits[np.arange(block.size), block] = bernoulli(self.own_one, block.size, words)
            reports[start : start + step] = np.packbits(bits, axis=1)
        return reports

    def pmf(self, reports: ArrayLike) -> np.ndarray:
        bits = self.bits(self.checked_reports(reports)).astype(bool)
        p, q = self.own_support, self.other_support
        ones = bits.sum(axis=1, keepdims=True)
        rest = ones - bits, len(self.categories) - 1 - (ones - bits)  # ones and zeros among the other bits
        return np.where(bits, p, 1 - p) * q ** rest[0] * (1 - q) ** rest[1]

    def all_reports(self) -> np.ndarray:
        size = len(self.categories)
        if size > MOST_LISTED:
            raise InputError(f"reports can be listed for at most {MOST_LISTED} categories, got {size}")
        return np.packbits(np.arange(2**size)[:, None] >> np.arange(size)[::-1] & 1, axis=1)


def bernoulli(numerator: int, size: int, words: Words) -> np.ndarray:
    """Draw (size,) uint8 that are one with probability numerator / 2^53 exactly.

    Sixteen random bits decide unless they equal the leading ones of the probability, one time in 65,536; then 48
    more do.

    Example
    -------
    >>> from ..sampling.random_words import random_words
    >>> bernoulli(2**52, 3, random_words(np.random.default_rng(1))).dtype
    dtype('uint8')
    """
    threshold = numerator << 11  # over 2^64
    leading, following = np.uint16(threshold >> 48), np.uint64(threshold & (2**48 - 1))
    drawn = words(-(-size // 4)).view(np.uint16)[:size]
    ones = (drawn < leading).view(np.uint8)
    tied = np.flatnonzero(drawn == leading)
    ones[tied] = (words(tied.size) >> np.uint64(16)) < following
    return ones


def basic_rappor(categories: Categories | Sequence[object], epsilon: float) -> UnaryEncoding:
    """Return the symmetric unary encoding: p = 1 - q = sqrt(E) / (1 + sqrt(E)), E = e^epsilon.

    p is the largest numerator with (p / (1 - p))^2 <= L, a rational L <= E.

    Parameters
    ----------
    categories : Categories or sequence
        At least two, different, in the order of the numbers that they get.
    epsilon : float
        The budget, in nats.

    Returns
    -------
    encoding : UnaryEncoding

    Source
    ------
    Erlingsson, Pihur and Korolova (2014), without memoisation; Wang et al. (2017), section 4.2.

    Example
    -------
    >>> from optldp.mechanisms.categorical import basic_rappor
    >>> basic_rappor(["a", "b"], 1.0).own_support.__round__(4)
    0.6225
    """
    limit = exponential_below(check_epsilon(epsilon))
    scale = 2**256
    root = isqrt(limit.numerator * scale * scale // limit.denominator)  # at most scale times the root of L
    own = DENOMINATOR * root // (scale + root)
    return UnaryEncoding(Categories.of(categories), epsilon, Provenance("rappor"), own, DENOMINATOR - own)


def optimised_unary(categories: Categories | Sequence[object], epsilon: float) -> UnaryEncoding:
    """Return OUE: p = 1/2 and q = 1 / (1 + E), the least variance of rare categories among unary encodings.

    q is the least numerator with p (1 - q) <= L q (1 - p), a rational L <= E.

    Parameters
    ----------
    categories : Categories or sequence
        At least two, different, in the order of the numbers that they get.
    epsilon : float
        The budget, in nats.

    Returns
    -------
    encoding : UnaryEncoding

    Source
    ------
    Wang, Blocki, Li and Jha (2017), section 4.3.

    Example
    -------
    >>> from optldp.mechanisms.categorical import optimised_unary
    >>> oue = optimised_unary(["a", "b"], 1.0)
    >>> oue.failures(), round(oue.frequency_variance(0.0), 4)
    ((), 3.6827)
    """
    limit = exponential_below(check_epsilon(epsilon))
    other = -((-DENOMINATOR * limit.denominator) // (limit.numerator + limit.denominator))
    return UnaryEncoding(Categories.of(categories), epsilon, Provenance("oue"), DENOMINATOR // 2, other)
