"""Normal numbers as whole numbers, of a public seed: the same on every machine and in every language.

Word i of a seed, from 1 on, is what SplitMix64 gives: z = seed + i * 0x9E3779B97F4A7C15, then
z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9, z = (z ^ (z >> 27)) * 0x94D049BB133111EB, z = z ^ (z >> 31), modulo 2^64. Its
four parts of 16 bits, the lowest first, are the places of four numbers among the 65536 quantiles of the normal law at
odd multiples of 2^-17, times 2048, rounded.

Source: Steele, Lea and Flood (2014), "Fast splittable pseudorandom number generators".
"""

from functools import cache
from statistics import NormalDist

import numpy as np

BITS, SCALE = 16, 2048.0
PARTS = 4
"""Numbers in a word."""


@cache
def quantiles() -> np.ndarray:
    """Return the 65536 quantiles, whole numbers as doubles.

    Example
    -------
    >>> found = quantiles()
    >>> found[[0, 2**15 - 1, 2**15, -1]].tolist(), bool((np.diff(found) >= 0).all())
    ([-8857.0, 0.0, 0.0, 8857.0], True)
    """
    half, inverse = 2 ** (BITS - 1), NormalDist().inv_cdf
    upper = np.rint(SCALE * np.array([inverse((half + place + 0.5) / 2**BITS) for place in range(half)]))
    found = np.concatenate([-upper[::-1], upper]) + 0.0
    found.setflags(write=False)
    return found


@cache
def _short_quantiles() -> np.ndarray:
    """The same in 16 bits: 128 KB stay in a processor's cache, so that a number takes a nanosecond or two."""
    return quantiles().astype(np.int16)


@cache
def spread() -> float:
    """Return the standard deviation of the quantiles; a little below `SCALE`.

    Example
    -------
    >>> round(spread() / SCALE, 4)
    1.0
    """
    return float(np.sqrt((quantiles() ** 2).mean()))


def seeded_words(seeds: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return words (N, n) of seeds (N,) uint64 by their numbers (n,) or (N, n), from 1 on.

    Example
    -------
    >>> seeded_words(np.zeros(1, dtype=np.uint64), np.array([1, 2]))
    array([[16294208416658607535,  7960286522194355700]], dtype=uint64)
    """
    z = seeds[:, None] + numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def seeded_normals(seeds: np.ndarray, first: np.ndarray, many: int) -> np.ndarray:
    """Return so many normal numbers (N, many) of seeds (N,), from words first + 1, first + 2 and so on; (N,) or one.

    Example
    -------
    >>> seeded_normals(np.zeros(1, dtype=np.uint64), np.array(0), 3).tolist()
    [[1749.0, -98.0, 829.0]]
    """
    whole = -(-many // PARTS)
    words = seeded_words(seeds, np.asarray(first).reshape(-1, 1) + np.arange(1, whole + 1))
    places = np.ascontiguousarray(words).astype("<u8", copy=False).view("<u2").reshape(len(seeds), PARTS * whole)
    return np.take(_short_quantiles(), places[:, :many]).astype(float)
