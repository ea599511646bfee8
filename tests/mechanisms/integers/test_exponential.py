"""The rational bound of e^epsilon, against an independent computation with eighty digits."""

from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms.integers.exponential import exponential_below

getcontext().prec = 80


@given(st.floats(0, 16))
def test_the_bound_is_below_e_to_epsilon_and_within_1e_36_of_it(epsilon):
    """Decimal's exponential is correctly rounded to eighty digits."""
    bound = exponential_below(epsilon)
    below, exact = Decimal(bound.numerator) / Decimal(bound.denominator), Decimal(epsilon).exp()
    assert exact * (1 - Decimal("1e-36")) < below <= exact


@given(st.floats(1e-6, 16))
def test_the_bound_grows_with_the_budget(epsilon):
    """More budget never proves less."""
    assert exponential_below(epsilon) <= exponential_below(Fraction(epsilon) * Fraction(1001, 1000))


@pytest.mark.parametrize(
    ("epsilon", "p"),
    [
        (1e-6, 340282707203475525641996883601684575467),
        (0.1, 376070175854967949997811065875908726404),
        (1.0, 924983374546220337150911035843336795063),
        (1.1, 1022264725251957049509428564144370727881),
        (16.0, 3023786720639471391386628479363219963056598659),
    ],
)
def test_the_values_that_the_format_page_prints(epsilon, p):
    """Whoever writes a verifier in another language tests it with these."""
    assert exponential_below(epsilon) * 2**128 == p


def test_a_budget_of_zero_allows_no_ratio_but_one():
    """The series has one term."""
    assert exponential_below(0.0) == 1
