"""The likelihood of bit vectors: each component is one bit, and an observation is likelier where its bit is set."""

import numpy as np
from numpy.typing import ArrayLike

from ...mechanisms.errors import InputError
from .mixture import MixtureLikelihood

BLOCK_ROWS = 2**14
"""Observations worked on at a time: their sums stay in a core's cache while all bytes are added."""

BLOCK_BYTES = 2**25
"""Bytes of L formed at a time for the curvature: matrix products are at their best from some hundred rows on."""

MANY_ROWS = 2**15
"""Rows from which on it pays to add them up by two bytes at once, in 65536 places."""

BITS_OF_BYTE = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
"""(256, 8) the bits of every byte, the most significant first."""


class BitLikelihood(MixtureLikelihood):
    r"""R observations of K bits, whose probability under component k is one of two numbers, by bit k.

    With B the bits, L[o, k] = high_o if B[o, k] else low_o, so

        L w = low sum(w) + (high - low) (B w)   and   L^T v = (low . v) 1 + B^T ((high - low) v).

    B stays packed, R K / 8 bytes.  B w adds up one of 256 sums of eight weights for every byte; B^T v adds every value
    to one of 256 places for every byte, or of 65536 for every two, whose bits' sums are taken once.  A product costs
    about R K / 8 additions; the curvature costs R K^2 operations.

    Unary encodings are of this kind, and hashing, where the bits of a report are the categories it supports; two
    numbers a row leave room for reports of different budgets.  Only the ratio of a row's two numbers matters to the
    weights: a common factor adds a constant to the log-likelihood.

    Parameters
    ----------
    bits : (R, ceil(K / 8)) ndarray of uint8
        B, packed as by ``numpy.packbits(..., axis=1)``; bits beyond the K-th are ignored.
    counts : (R,) array_like
        How often each row was seen.
    n_components : int
        K.
    low, high : float or (R,) array_like of float
        Probability of a row, up to a factor of its own, under components whose bit is not set and is set.

    Raises
    ------
    InputError
        Bits of another shape or type, probabilities of another number than rows, or negative.

    Example
    -------
    >>> bits = np.packbits([[1, 0, 0], [0, 1, 1]], axis=1)
    >>> likelihood = BitLikelihood(bits, [3, 1], 3, low=0.2, high=0.6)
    >>> likelihood.mix(np.array([0.5, 0.25, 0.25])).round(12)
    array([0.4, 0.4])
    """

    def __init__(
        self, bits: np.ndarray, counts: ArrayLike, n_components: int, *, low: ArrayLike, high: ArrayLike
    ) -> None:
        super().__init__(counts, n_components)
        rows = _checked_bits(bits, (self.counts.size, -(-n_components // 8)))
        self._bytes = np.ascontiguousarray(rows.T)  # one row for each byte of all observations
        self._low = _checked_probabilities("low", low, self.counts.size)
        self._rise = _checked_probabilities("high", high, self.counts.size) - self._low

    def mix(self, weights: np.ndarray) -> np.ndarray:
        padded = np.zeros((len(self._bytes), 8))
        padded.reshape(-1)[: self.n_components] = weights
        sums = padded @ BITS_OF_BYTE.T
        mixed = np.zeros(self.counts.size)
        space = np.empty(BLOCK_ROWS)
        for start in range(0, mixed.size, BLOCK_ROWS):
            block = mixed[start : start + BLOCK_ROWS]
            term = space[: block.size]
            for table, column in zip(sums, self._bytes, strict=True):
                # "clip" spares a check and a copy; no byte is beyond its table.
                block += np.take(table, column[start : start + BLOCK_ROWS], out=term, mode="clip")
        return self._low * weights.sum() + self._rise * mixed

    def gather(self, values: np.ndarray) -> np.ndarray:
        return self._low @ values + bit_sums(self._bytes.T, self._rise * values)[: self.n_components]

    def curvature(self, values: np.ndarray) -> np.ndarray:
        total = np.zeros((self.n_components, self.n_components))
        rows = max(1, BLOCK_BYTES // (8 * self.n_components))
        for start in range(0, self.counts.size, rows):
            part = slice(start, start + rows)
            packed = np.ascontiguousarray(self._bytes[:, part].T)
            block = np.unpackbits(packed, axis=1, count=self.n_components).astype(np.float64)
            block *= self._rise[part, None]
            block += self._low[part, None]
            block *= np.sqrt(values[part])[:, None]
            total += block.T @ block
        return total


def bit_sums(bits: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return B^T v, for each bit the sum of the values of the rows in which it is set.

    Parameters
    ----------
    bits : (R, C) ndarray of uint8
        B, packed; quickest where columns lie together.
    values : (R,) ndarray of float

    Returns
    -------
    sums : (8 C,) ndarray of float
        Those of bits that only fill up the last byte among them.

    Example
    -------
    >>> bit_sums(np.packbits([[1, 0, 0], [1, 0, 1]], axis=1), np.array([0.5, 2.0]))
    array([2.5, 0. , 2. , 0. , 0. , 0. , 0. , 0. ])
    """
    columns, sums = bits.T, []
    paired = len(columns) // 2 * 2 if len(values) >= MANY_ROWS else 0
    for first, second in zip(columns[0:paired:2], columns[1:paired:2], strict=True):
        place = first.astype(np.intp)
        place <<= 8
        place |= second
        seen = np.bincount(place, values, 65536).reshape(256, 256)
        sums += [seen.sum(axis=1) @ BITS_OF_BYTE, seen.sum(axis=0) @ BITS_OF_BYTE]
    sums += [np.bincount(column, values, 256) @ BITS_OF_BYTE for column in columns[paired:]]
    return np.concatenate(sums)


def _checked_bits(bits: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    array = np.asarray(bits)
    if array.shape != shape or array.dtype != np.uint8:
        raise InputError(
            f"bits must be packed into bytes of shape {shape}, got shape {array.shape} of {array.dtype}: "
            "use numpy.packbits(..., axis=1)"
        )
    return array


def _checked_probabilities(name: str, given: ArrayLike, n_rows: int) -> np.ndarray:
    array = np.asarray(given, dtype=np.float64)
    if array.shape not in ((), (n_rows,)) or not ((array >= 0).all() and np.isfinite(array).all()):
        raise InputError(f"{name} must be one non-negative number, or one for each of {n_rows} rows, got {given!r}")
    return np.broadcast_to(array, n_rows)
