"""Steps on which all values lie are found, whatever the range, and never claimed where a value lies between them."""

import math

import numpy as np
import pytest
from optldp.designer import Prior
from optldp.designer.priors.even_knots import even_counts, fewest_even_knots


@pytest.mark.parametrize("scale", [1e-300, 1e-7, 1.0, 1e5, 1e250])
@pytest.mark.parametrize("width", [1.0, 2.5, 3.0, 7.2, 9.9, math.pi])
def test_the_counts_are_those_of_all_decimal_steps_that_fill_the_range(width, scale):
    """Each step of 1, 2, 2.5 or 5 times a power of ten that divides it, up to 400 times, divides one that is found."""
    found = even_counts(width * scale, 400)
    exact = (width * 10**places / step for places in range(4) for step in (1, 2, 2.5, 5))
    filling = {round(count) for count in exact if 0.5 < count < 400.5 and abs(count - round(count)) < 1e-9 * count}
    assert set(found) <= filling
    assert all(any(finer % count == 0 for finer in found) for count in filling)
    assert not any(a % b == 0 for a in found for b in found if a != b)


@pytest.mark.parametrize(
    ("values", "domain", "knots"),
    [
        ([0, 1, 4, 7], (0, 100), 101),
        ([0, 10, 40, 70], (0, 100), 11),
        ([0.1, 0.2, 0.3, 0.7], (0, 1), 11),
        ([0.25, 0.5], (0, 1), 5),
        ([18, 21, 90], (18, 90), 25),
        ([2003.5, 2004, 2010], (2003, 2013), 21),
        ([0, 100], (0, 100), 2),
        ([0, 12_000, 150_000], (0, 150_000), 26),
        ([0, 1e-12], (0, 2e-12), 3),
        ([0, 1, 4.1234, 7], (0, 100), None),
        ([0, 1, 2], (0, 1000), None),
        ([math.pi, 4, 5], None, None),
    ],
)
def test_values_on_steps_are_found_and_none_is_rounded(values, domain, knots):
    prior = Prior.from_data(values, domain=domain)
    assert fewest_even_knots(prior.on, prior.domain, 401) == knots
    if knots is not None:
        width = prior.domain[1] - prior.domain[0]
        assert prior.on(knots).rounding_variance <= 1e-15 * width**2
        assert all(prior.on(fewer).rounding_variance > 1e-9 * width**2 for fewer in range(2, min(knots, 60)))
        assert fewest_even_knots(prior.on, prior.domain, knots - 1 if knots > 2 else 2) in (None, 2)


def test_one_value_in_a_million_between_the_steps_is_enough_to_refuse_them():
    values = np.append(np.arange(999_999) % 41, 0.5 + 1e-3)
    prior = Prior.from_data(values, domain=(0, 40))
    assert fewest_even_knots(prior.on, prior.domain, 401) is None
