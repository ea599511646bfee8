"""Budgets that users choose from, as a promise."""

import math

import pytest
from optldp.designer import Levels
from optldp.mechanisms import InputError


def test_only_proportions_of_shares_matter():
    """They sum to one; without any, all levels have as many users."""
    assert Levels([1, 2], shares=[3, 1]) == Levels([1, 2], shares=[0.75, 0.25])
    assert Levels([1, 2, 4]).shares == pytest.approx([1 / 3] * 3)


def test_everybody_is_promised_the_largest_budget():
    """So that code that knows one budget alone errs on the safe side."""
    assert Levels([0.5, 2]).epsilon == 2


@pytest.mark.parametrize(
    ("budgets", "options", "says"),
    [
        ([1], {}, "2 to 256 different"),
        ([2, 1], {}, "increasing order"),
        ([1, 1], {}, "different budgets"),
        ([0, 1], {}, "epsilon must be positive"),
        ([1, 2], {"shares": [1]}, "2 positive numbers"),
        ([1, 2], {"shares": [1, 0]}, "2 positive numbers"),
        ([1, 2], {"shares": [1, math.inf]}, "2 positive numbers"),
        ([1, 2], {"leakage": -1}, "leakage must be at least 0"),
        ([1, 2], {"leakage": math.nan}, "leakage must be at least 0"),
        ([1, 2], {"level_epsilon": -1}, "level_epsilon must be positive"),
    ],
    ids=str,
)
def test_levels_that_make_no_sense_are_refused_in_one_line(budgets, options, says):
    """Each part by itself."""
    with pytest.raises(InputError, match=says):
        Levels(budgets, **options)
