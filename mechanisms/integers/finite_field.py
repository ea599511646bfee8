"""Arithmetic in the field of q elements, by tables: what an exactly uniform family of hash functions is made of."""

from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

from ..errors import InputError

LARGEST_FIELD = 256
"""Its tables still come at once; more values than that help at budgets above 5.5 and over 700 categories only."""


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
