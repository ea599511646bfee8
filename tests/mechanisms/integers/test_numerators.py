"""Whole numbers over 2^53: which are refused, with the first fault's place; ratios and means without rounding."""

from fractions import Fraction

import numpy as np
import pytest
from optldp.mechanisms import TableError
from optldp.mechanisms.integers.numerators import (
    ADDED_UP,
    check_numerators,
    row_means,
    tightest_output,
    to_numerators,
    weighted_sums,
)

D = 2**53


@pytest.mark.parametrize(
    ("matrix", "place"),
    [
        ([[-0.5, 1.5]], r"got -0\.5 at row 0, output 0"),
        ([[0.5, 0.5], [0.0, 1.0 + 2**-52]], r"got 1\.0000000000000002 at row 1, output 1"),
        ([[0.5, 1e200]], r"got 1e\+200 at row 0, output 1"),
        ([[0.25, 2.0**-54], [0.1, 0.9]], r"got 5\.55\d+e-17 at row 0, output 1"),
        ([[1.0, float("nan")]], "got nan at row 0, output 1"),
    ],
)
def test_probabilities_must_be_whole_multiples_between_zero_and_one(matrix, place):
    """Below, above, far above, between two multiples, not a number; the first fault is the one that is named."""
    with pytest.raises(TableError, match=rf"^exact probabilities must be multiples of 2\^-53, {place}$"):
        to_numerators(np.array(matrix))


def test_the_ends_of_the_range_are_probabilities():
    """Zero and one are multiples, as are all between; the type is that of 64-bit whole numbers."""
    made = to_numerators(np.array([[0.0, 1.0], [2.0**-53, 1 - 2.0**-53]]))
    assert made.tolist() == [[0, D], [1, D - 1]]
    assert made.dtype == np.int64


@pytest.mark.parametrize(
    ("matrix", "place"),
    [
        ([[1, D - 1], [-1, D + 1], [D + 2, -2]], "got -1 at row 1, output 0"),
        ([[0, D], [D - 1, D + 1]], "got 9007199254740993 at row 1, output 1"),
    ],
)
def test_numerators_outside_of_the_range_are_refused_at_the_first_of_them(matrix, place):
    """Rows, then outputs, both counted from zero."""
    with pytest.raises(TableError, match=rf"^numerators must lie in 0\.\.2\^53, {place}$"):
        check_numerators(np.array(matrix))


@pytest.mark.parametrize(("excess", "words"), [(1, "1 more"), (-1, "1 less"), (-(2**26), "67108864 less")])
def test_a_row_must_sum_to_one_to_the_last_unit(excess, words):
    """The first row that does not, and by how much."""
    matrix = np.array([[D, 0], [D // 2 + excess, D // 2], [0, 0]])
    with pytest.raises(TableError, match=rf"^row 1 must sum to 2\^53 exactly, got {words}$"):
        check_numerators(matrix)


def test_a_sum_that_overflows_64_bits_is_seen():
    """1025 outputs of probability one: their sum is 2^53 again, modulo 2^63."""
    with pytest.raises(TableError, match=f"got {1024 * D} more"):
        check_numerators(np.full((1, 1025), D))


def test_an_output_that_one_row_alone_can_make_is_tighter_than_any_finite_ratio():
    """The largest finite ratio is 2^53 - 1; an output that no row makes has no ratio."""
    assert tightest_output(np.array([[0, 1, D - 1, 0], [0, D - 1, 0, 1]])) == (2, D - 1, 0)
    assert tightest_output(np.array([[0, 1, D - 1], [0, D - 1, 1]])) == (1, D - 1, 1)
    assert tightest_output(np.array([[0, D], [0, D]])) == (1, D, D)


def test_means_of_rows_are_fractions():
    """Thirds are no doubles; signs, and denominators of different outputs, are kept."""
    means = [Fraction(1, 3), Fraction(-2, 7), Fraction(5)]
    matrix = [[D - 3, 1, 2], [1, 2, D - 3]]
    found = row_means(np.array(matrix), means)
    assert found == [sum(a * mean for a, mean in zip(row, means, strict=True)) / D for row in matrix]


@pytest.mark.parametrize("bits", [1, 15, 16, 17, 200])
def test_weighted_sums_are_those_of_whole_numbers_of_any_size(bits):
    """Beside Python's own integers: both signs, numerators at both ends, more rows than a block holds."""
    rng = np.random.default_rng(bits)
    numerators = rng.integers(0, D, (3000, 50), endpoint=True)
    numerators[0], numerators[1] = 0, D
    weights = [int(sign) * int.from_bytes(rng.bytes(25)) % 2**bits for sign in rng.choice([-1, 1], 50)]
    weights[:2] = 2**bits, -(2**bits)
    expected = [sum(a * w for a, w in zip(row, weights, strict=True)) for row in numerators.tolist()]
    assert weighted_sums(numerators, weights) == expected


@pytest.mark.slow
def test_as_many_largest_products_as_fit_add_up_without_overflow():
    """One column more than the pieces have room for, all at their largest."""
    row = np.full((1, ADDED_UP + 1), D - 1)
    weight = 2**48 - 1
    assert weighted_sums(row, [weight] * (ADDED_UP + 1)) == [(ADDED_UP + 1) * (D - 1) * weight]
