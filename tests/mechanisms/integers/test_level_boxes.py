"""Boxes of several tables: whatever lies in them keeps every ratio."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from optldp.mechanisms.integers.level_boxes import level_boxes


def keeps(ratio: Fraction, large: np.ndarray, small: np.ndarray) -> bool:
    return all(x <= ratio * y for x, y in zip(large.ravel().tolist(), small.ravel().tolist(), strict=True))


def within(limit: float, t: int, n: int, m: int, rng: np.random.Generator, scale: float) -> np.ndarray:
    """Numbers of which no two of a column differ by more than the limit."""
    return scale * np.exp(rng.uniform(0, np.log(limit), (t, n, m)) + rng.uniform(-5, 5, m))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("between", [Fraction(11, 10), Fraction(3), None])
def test_whatever_lies_in_the_boxes_keeps_every_ratio(seed, between):
    """Opposite corners against each other, row against row and table against table; what is rare may become nothing."""
    rng = np.random.default_rng(seed)
    limits = [Fraction(7, 5), Fraction(2), Fraction(9)]
    wanted = within(float(min(filter(None, (between, limits[0])))), 3, 4, 50, rng, 30.0)
    least, most = level_boxes(wanted, limits, between)
    assert (least <= most).all()
    assert (least <= wanted + 1).all()
    for limit, low, high in zip(limits, least, most, strict=True):
        assert all(keeps(limit, high[i], low[k]) for i, k in permutations(range(4), 2))
    if between is not None:
        assert all(keeps(between, most[i], least[k]) for i, k in permutations(range(3), 2))


def test_boxes_lie_around_what_is_wanted_but_for_a_few_units():
    """With plenty of units, a box ends at most E + F + 2 of them below the number wanted."""
    wanted = within(1.3, 2, 3, 40, np.random.default_rng(1), 1e12)
    least, most = level_boxes(wanted, [Fraction(3, 2), Fraction(4)], Fraction(13, 10))
    assert (least <= wanted + 1).all()
    assert (most + 8 >= wanted).all()


def test_a_table_without_others_has_its_own_floors_alone():
    """One floor for each output, and its multiples."""
    least, most = level_boxes(np.array([[[10.4], [19.0]]]), [Fraction(2)], None)
    assert least.ravel().tolist() == [10, 10]
    assert most.ravel().tolist() == [20, 20]
