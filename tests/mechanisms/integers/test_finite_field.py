"""Finite fields: their tables satisfy the axioms, which leave no freedom but the numbering."""

from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.integers.finite_field import LARGEST_FIELD, finite_field, prime_power

ORDERS = [q for q in range(2, LARGEST_FIELD + 1) if prime_power(q)]


def test_prime_powers_are_those_of_a_plain_factorisation():
    """Exactly the numbers with one prime divisor."""
    for q in range(2, 1000):
        divisors = {p for p in range(2, q + 1) if q % p == 0 and all(p % d for d in range(2, p))}
        found = prime_power(q)
        assert (found is not None) == (len(divisors) == 1)
        if found:
            assert (found[0] ** found[1], {found[0]}) == (q, divisors)
    assert prime_power(1) is prime_power(0) is None


@pytest.mark.parametrize("q", ORDERS)
def test_the_tables_are_those_of_a_field(q):
    """Commutative groups by addition and, without zero, by multiplication; all triples, or 20,000 of many."""
    field = finite_field(q)
    add, times, all_of_them = field.sums, field.products, np.arange(q)
    for table, neutral in ((add, 0), (times, 1)):
        assert np.array_equal(table, table.T)
        assert np.array_equal(table[neutral], all_of_them)
    assert (times[0] == 0).all()
    assert (np.sort(add, axis=1) == all_of_them).all()
    assert (np.sort(times[1:], axis=1) == all_of_them).all()  # no divisors of zero, so inverses
    if q <= 27:
        a, b, c = (axis.ravel() for axis in np.indices((q, q, q)))
    else:
        a, b, c = np.random.default_rng(q).integers(0, q, (3, 20_000))
    assert np.array_equal(add[add[a, b], c], add[a, add[b, c]])
    assert np.array_equal(times[times[a, b], c], times[a, times[b, c]])
    assert np.array_equal(times[a, add[b, c]], add[times[a, b], times[a, c]])


@pytest.mark.parametrize("q", [2, 3, 5, 13, 251])
def test_fields_of_a_prime_are_arithmetic_modulo_it(q):
    """Nothing else would do for a seed that other programs read."""
    a, b = np.indices((q, q))
    field = finite_field(q)
    assert np.array_equal(field.sums, (a + b) % q)
    assert np.array_equal(field.products, a * b % q)


MODULI = {
    4: (1, 1), 8: (1, 0, 1), 16: (1, 0, 0, 1), 32: (1, 0, 0, 1, 0), 64: (1, 0, 0, 0, 0, 1), 128: (1, 0, 0, 0, 0, 0, 1),
    256: (1, 0, 0, 0, 1, 1, 0, 1), 9: (1, 0), 27: (1, 0, 2), 81: (1, 0, 1, 1), 243: (1, 0, 0, 0, 2), 25: (1, 1),
    125: (1, 0, 1), 49: (1, 0), 121: (1, 0), 169: (1, 3),
}  # fmt: skip
"""Coefficients of t^0, t^1, ... below the leading one, as docs/bundle-format-of-categories.md has them."""


@pytest.mark.parametrize("q", [q for q in ORDERS if prime_power(q)[1] > 1])  # pyright: ignore[reportOptionalSubscript]
def test_products_are_modulo_the_polynomials_of_the_format_page(q):
    """Another program must find the same hashes: long division, one coefficient at a time."""
    (p, m), tail = prime_power(q) or (0, 0), MODULI[q]
    for a, b in np.random.default_rng(q).integers(0, q, (200, 2)).tolist():
        left, right = ([number // p**i % p for i in range(m)] for number in (a, b))
        whole = [0] * (2 * m - 1)
        for i, j in product(range(m), range(m)):
            whole[i + j] += left[i] * right[j]
        for k in range(2 * m - 2, m - 1, -1):
            top, whole[k] = whole[k], 0
            for i in range(m):
                whole[k - m + i] -= top * tail[i]
        assert finite_field(q).products[a, b] == sum(c % p * p**i for i, c in enumerate(whole[:m]))
        assert finite_field(q).sums[a, b] == sum(
            (x + y) % p * p**i for i, (x, y) in enumerate(zip(left, right, strict=True))
        )


def test_tables_are_shared_and_cannot_be_written_to():
    """One user of the cache must not spoil it for the others."""
    field = finite_field(9)
    assert finite_field(9) is field
    for table in (field.sums, field.products):
        with pytest.raises(ValueError, match="read-only"):
            table[0, 0] = 1


@pytest.mark.parametrize("q", [-4, 0, 1, 6, 12, 255, 257, 65536])
def test_other_orders_are_refused(q):
    """No power of a prime, or too large to tabulate."""
    with pytest.raises(InputError, match=f"prime power of elements, at most 256, got {q}"):
        finite_field(q)
