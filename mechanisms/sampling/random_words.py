"""Random words of 64 bits, of which all drawing by whole numbers is made: the operating system's, or a simulation's."""

import os

import numpy as np

from ..errors import InputError
from .law import Words


def random_words(rng: np.random.Generator | None) -> Words:
    """Return a source of random 64-bit words: the operating system's generator, or a simulation's.

    Raises InputError for an rng of another kind.

    Example
    -------
    >>> random_words(None)(3).dtype, random_words(np.random.default_rng(1))(2).size
    (dtype('uint64'), 2)
    """
    if rng is None:
        return lambda size: np.frombuffer(os.urandom(8 * size), dtype=np.uint64)
    if not isinstance(rng, np.random.Generator):
        raise InputError(f"rng must be a numpy.random.Generator, got {rng!r}: leave it out, or simulate with one")
    return lambda size: rng.integers(0, 2**64 - 1, size, dtype=np.uint64, endpoint=True)


def draw53(words: Words, size: int) -> np.ndarray:
    """Return (size,) whole numbers of 53 random bits, int64: the upper bits of as many words."""
    return (words(size) >> np.uint64(11)).astype(np.int64)
