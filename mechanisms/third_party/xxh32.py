"""XXH32 of short texts under many seeds at once: what other packages hash by, with numpy alone."""

import numpy as np

from ..errors import InputError

PRIMES = tuple(np.uint32(prime) for prime in (2654435761, 2246822519, 3266489917, 668265263, 374761393))

LONGEST = 15
"""Bytes; longer texts are hashed in stripes, which no number of a category needs."""


def xxh32(text: bytes, seeds: np.ndarray) -> np.ndarray:
    """Return the hash (N,) uint32 of a text under each seed (N,) uint32.

    Source: Collet, "xxHash fast digest algorithm", the specification of XXH32, for inputs of less than 16 bytes.

    Raises
    ------
    InputError
        A text of more than 15 bytes.

    Example
    -------
    >>> hex(xxh32(b"", np.zeros(1, dtype=np.uint32))[0])
    '0x2cc5d05'
    """
    if len(text) > LONGEST:
        raise InputError(f"a text to hash must have at most {LONGEST} bytes, got {len(text)}")
    first, second, third, fourth, fifth = PRIMES
    with np.errstate(over="ignore"):
        found = seeds.astype(np.uint32) + fifth + np.uint32(len(text))
        whole = len(text) // 4 * 4
        for word in np.frombuffer(text[:whole], dtype="<u4"):
            found = _turned(found + np.uint32(word) * third, 17) * fourth
        for byte in text[whole:]:
            found = _turned(found + np.uint32(byte) * fifth, 11) * first
        found = (found ^ (found >> np.uint32(15))) * second
        found = (found ^ (found >> np.uint32(13))) * third
        return found ^ (found >> np.uint32(16))


def _turned(words: np.ndarray, by: int) -> np.ndarray:
    """Words with their bits moved left, those that fall out coming in on the right."""
    return (words << np.uint32(by)) | (words >> np.uint32(32 - by))
