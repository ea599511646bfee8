"""The limits within which a table is made exact: the budget left for doubles, the largest bias."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from optldp.designer import Pure
from optldp.mechanisms import FAMILIES, TableError, laplace, make_exact
from optldp.mechanisms.sampling.law import Uniform
from optldp.mechanisms.table import exact_rounding
from optldp.mechanisms.table.exact_rounding import largest_distance, rounded_numerators

WIDTH = 5.0**12
"""A domain whose 1e-12th part, 2^-12, is a double."""


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0, 7.3, 16.0])
def test_a_ten_trillionth_of_the_budget_and_4e_16_are_left_for_logarithms_in_doubles(epsilon, monkeypatch):
    """The limit that ratios are rounded to, against Decimal's logarithm; those are the file's two constants."""
    seen = []

    def noted(probabilities, limit, means, targets):
        seen.append(limit)
        return np.full(probabilities.shape, 2**52)

    monkeypatch.setattr(exact_rounding, "round_rows", noted)
    ends, matrix = np.array([0.0, 1.0]), np.full((2, 2), 0.5)
    rounded_numerators(ends, ends, ends, matrix, Pure(epsilon), Uniform(), np.array([0.5, 0.5]))
    with localcontext(prec=60):
        (limit,) = seen
        left = Decimal(epsilon) - (Decimal(limit.numerator) / Decimal(limit.denominator)).ln()
        assert abs(left - Decimal(epsilon) / 10**13 - 4 / Decimal(10**16)) < Decimal("1e-34")


@pytest.mark.parametrize("off", [0, 1, -1])
def test_a_bias_of_a_trillionth_of_the_domain_is_the_largest_that_is_let_pass(off):
    """One output, so that nothing can be moved; the mean wanted is a hair nearer or farther, or just there."""
    knots, place = np.array([0.0, WIDTH]), np.zeros(1)
    wanted = np.array([2.0**-12 * (1 + off * 2.0**-40), 0.0])
    arguments = (knots, place, place, np.ones((2, 1)), Pure(1.0), Uniform(), wanted)
    if off <= 0:
        assert rounded_numerators(*arguments).tolist() == [[2**53], [2**53]]
    else:
        with pytest.raises(TableError, match=r"keep means within 1\.0e-12 of the domain, got 1\.0e-12: raise epsilon"):
            rounded_numerators(*arguments)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("off", [0, 1])
def test_beside_far_reports_eight_units_of_the_largest_are_let_pass(side, off):
    """At 2^50, whichever side, that is one; the next double is an eighth farther. The other report does not count."""
    knots, place = np.array([-WIDTH, -0.5 * WIDTH, 0.0]), np.array([-1.0, 2.0**50] if side > 0 else [-(2.0**50), 1.0])
    matrix, wanted = np.tile(np.abs(place) > 1, (3, 1)).astype(float), np.full(3, side * 2.0**50)
    wanted[0] -= side * (1 + off / 8)
    arguments = (knots, place, place, matrix, Pure(1.0), Uniform(), wanted)
    if off:
        with pytest.raises(TableError, match=r"keep means within 4\.1e-09 of the domain, got 4\.6e-09: raise epsilon"):
            rounded_numerators(*arguments)
    else:
        np.testing.assert_array_equal(rounded_numerators(*arguments), matrix * 2**53)


@pytest.mark.parametrize("width", [1e-6, 1.0, 1e6])
def test_the_largest_bias_is_a_share_of_the_domain_or_of_the_reports(width):
    """Duchi's reports at epsilon 1e-6 lie two million domains apart, which lets more pass, alike on every domain."""
    proof = make_exact(FAMILIES["duchi"]([0.0, width], 1e-6)).proof
    assert proof.ok
    assert 1e-12 < proof.relative_bias < 1e6 * 8.1 / 2**53


def test_a_law_that_differs_between_rows_is_refused_by_its_name():
    """With the way out."""
    table = laplace([0.0, 1.0], 1.0)
    arguments = (table.knots, table.low, table.high, table.probabilities, Pure(1.0), table.within, table.knots)
    with pytest.raises(TableError, match="got the exponential law within: use to_points"):
        rounded_numerators(*arguments)


def test_the_largest_distance_is_the_first_of_equal_ones():
    """Whichever sign it has."""
    means = [Fraction(1), Fraction(3), Fraction(2)]
    assert largest_distance(means, [Fraction(1), Fraction(5), Fraction(0)]) == (2, 1)
