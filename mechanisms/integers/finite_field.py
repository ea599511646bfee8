"""Arithmetic in the field of q elements, by tables: what an exactly uniform family of hash functions is made of."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import product

import numpy as np

from ..errors import InputError

LARGEST_FIELD = 256
"""Its tables still come at once; more values than that help at budgets above 5.5 and over 700 categories only."""

PRODUCTS_AT_ONCE = 2**20
"""Inner products that are formed at a time."""


@dataclass(frozen=True, eq=False)
class FiniteField:
    """The field of q = p^m elements, numbered 0..q - 1; 0 and 1 are the neutral elements.

    Attributes
    ----------
    order : int
    sums, products : (q, q) ndarray of int16
    """

    order: int
    sums: np.ndarray
    products: np.ndarray

    @cached_property
    def negatives(self) -> np.ndarray:
        """(q,) what each element adds up to zero with."""
        return np.argmin(self.sums, axis=1)

    @cached_property
    def inverses(self) -> np.ndarray:
        """(q,) what each element makes one with; 0 of zero, which has none."""
        return np.argmax(self.products == 1, axis=1)

    def inner(self, left: Iterable[np.ndarray], right: Iterable[np.ndarray]) -> np.ndarray:
        """Return the inner products (N,) int16 of two rows of N vectors, given entry by entry: d times (N,); O(N d)."""
        value = np.int16(0)
        for one, other in zip(left, right, strict=True):
            value = self.sums[value, self.products[one, other]]
        return np.asarray(value)

    def inner_table(self, left: np.ndarray, right: Iterable[np.ndarray], size: int) -> np.ndarray:
        """Return the inner products (S, K) int16 of each of S vectors with each of K; O(S K).

        Each is the sum of what two halves of the entries give, and of the left ones there are few different halves.

        Parameters
        ----------
        left : (S, d) ndarray of int
            Elements of the field.
        right : iterable of d (K,) ndarrays of int
            Entry by entry, of which one is needed at a time.
        size : int
            K.
        """
        half, entries = left.shape[1] // 2, iter(right)
        first, of_first = self._partial(left[:, :half], entries, size)
        second, of_second = self._partial(left[:, half:], entries, size)
        table = np.empty((len(left), size), dtype=np.int16)
        step = max(1, PRODUCTS_AT_ONCE // size)
        for start in range(0, len(left), step):
            part = slice(start, start + step)
            table[part] = self.sums[first[of_first[part]], second[of_second[part]]]
        return table

    def _partial(self, left: np.ndarray, entries: Iterator[np.ndarray], size: int) -> tuple[np.ndarray, np.ndarray]:
        """Inner products (M, K) of the M different vectors on the left with the next entries, and which of M, (S,)."""
        kinds, which = np.unique(left, axis=0, return_inverse=True)
        value = np.zeros((len(kinds), size), dtype=np.int16)
        for column in kinds.T:
            value = self.sums[value, self.products[column[:, None], next(entries)]]
        return value, which.reshape(-1)


def prime_power(q: int) -> tuple[int, int] | None:
    """Return (p, m) with q = p^m for a prime p, or None where there are none.

    Example
    -------
    >>> prime_power(8), prime_power(12)
    ((2, 3), None)
    """
    p = next((d for d in range(2, q + 1) if q % d == 0), None)
    m = 0
    while p and q % p == 0:
        q, m = q // p, m + 1
    return (p, m) if p and q == 1 else None


@cache
def finite_field(q: int) -> FiniteField:
    """Return the field of q elements: polynomials of degree below m over the integers modulo p.

    Element sum_i c_i p^i stands for sum_i c_i t^i; products are modulo the first irreducible monic polynomial.

    Raises
    ------
    InputError
        q is no power of a prime, or above 256.

    Example
    -------
    >>> field = finite_field(4)
    >>> field.products[2].tolist(), field.sums[2].tolist()
    ([0, 2, 3, 1], [2, 3, 0, 1])
    """
    parts = prime_power(q) if 2 <= q <= LARGEST_FIELD else None
    if parts is None:
        raise InputError(f"a field must have a prime power of elements, at most {LARGEST_FIELD}, got {q}")
    p, m = parts
    places = p ** np.arange(m)
    digits = np.arange(q)[:, None] // places % p
    sums = ((digits[:, None, :] + digits[None, :, :]) % p) @ places
    powers = _powers_of_t(p, m)
    convolved = np.zeros((q, q, 2 * m - 1), dtype=np.int64)
    for i in range(m):
        convolved[:, :, i : i + m] += digits[:, None, i, None] * digits[None, :, :]
    products = (convolved @ powers % p) @ places
    tables = sums.astype(np.int16), products.astype(np.int16)
    for table in tables:
        table.setflags(write=False)
    return FiniteField(q, *tables)


def _powers_of_t(p: int, m: int) -> np.ndarray:
    """Coefficients (2m - 1, m) of t^0 .. t^(2m-2) modulo an irreducible polynomial of degree m."""
    tail = _irreducible_tail(p, m)
    powers = np.zeros((max(2 * m - 1, m), m), dtype=np.int64)
    powers[:m] = np.eye(m, dtype=np.int64)
    for k in range(m, 2 * m - 1):
        shifted = np.roll(powers[k - 1], 1)
        top, shifted[0] = shifted[0], 0
        powers[k] = (shifted - top * tail) % p
    return powers[: 2 * m - 1]


def _irreducible_tail(p: int, m: int) -> np.ndarray:
    """Coefficients below t^m of the first monic polynomial of degree m that is no product of two of lower degree."""
    reducible = set()
    for d in range(1, m // 2 + 1):
        for left in product(range(p), repeat=d):
            for right in product(range(p), repeat=m - d):
                whole = np.convolve([*left, 1], [*right, 1]) % p
                reducible.add(tuple(whole[:m].tolist()))
    return np.array(next(tail for tail in product(range(p), repeat=m) if tail not in reducible), dtype=np.int64)
