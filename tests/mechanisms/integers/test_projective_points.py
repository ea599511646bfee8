"""Points of projective spaces: each line once, numbered in order; inner products against sums one at a time."""

from itertools import product

import numpy as np
import pytest
from optldp.mechanisms.integers.finite_field import finite_field
from optldp.mechanisms.integers.projective_points import many_points, point_numbers, points

SPACES = [(2, 1), (2, 4), (3, 3), (4, 3), (5, 2), (8, 2), (9, 2)]


@pytest.mark.parametrize(("q", "length"), SPACES)
def test_points_are_the_vectors_that_start_with_a_one_in_order(q, length):
    """Of all vectors, those whose first entry that is not zero is one; sorted as they are written."""
    every = [v for v in product(range(q), repeat=length) if next((x for x in v if x), 0) == 1]
    assert points(np.arange(many_points(q, length)), q, length).tolist() == [list(v) for v in every]


@pytest.mark.parametrize(("q", "length"), SPACES)
def test_every_vector_lies_on_the_line_of_its_number(q, length):
    """All multiples of a point have its number, and there are no others."""
    field, numbers = finite_field(q), np.arange(many_points(q, length))
    vectors = points(numbers, q, length)
    seen = set()
    for factor in range(1, q):
        multiples = field.products[factor, vectors]
        assert np.array_equal(point_numbers(multiples, field), numbers)
        seen |= {tuple(v) for v in multiples.tolist()}
    assert len(seen) == q**length - 1


@pytest.mark.parametrize("q", [2, 3, 4, 7, 9, 256])
def test_elements_have_a_negative_and_an_inverse(q):
    field, every = finite_field(q), np.arange(q)
    assert (field.sums[every, field.negatives] == 0).all()
    assert (field.products[every[1:], field.inverses[1:]] == 1).all()


@pytest.mark.parametrize("length", [1, 2, 3, 6])
@pytest.mark.parametrize("q", [2, 5, 7])
def test_inner_products_are_sums_of_products(monkeypatch, q, length):
    """Over whole numbers modulo a prime, whole and a few rows at a time."""
    rng = np.random.default_rng(q + length)
    left, right = rng.integers(0, q, (40, length)), rng.integers(0, q, (30, length))
    assert finite_field(q).inner(left[:30].T, right.T).tolist() == ((left[:30] * right).sum(axis=1) % q).tolist()
    for at_once in (2**20, 90):
        monkeypatch.setattr("optldp.mechanisms.integers.finite_field.PRODUCTS_AT_ONCE", at_once)
        assert finite_field(q).inner_table(left, right.T, 30).tolist() == (left @ right.T % q).tolist()
