"""A panel: who reports when follows from names alone, and what all reports of a user spend is bounded exactly."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.mechanisms.categorical import categorical_grr
from optldp.mechanisms.over_time import Panel

SALT = "0123456789abcdef" * 2
USERS = [f"user {number}" for number in range(4000)]


def panel(periods=6, reports=1, epsilon=1.0, shares=None) -> Panel:
    return Panel(categorical_grr(["no", "yes"], epsilon / reports), periods, reports, epsilon, SALT, shares)


def test_each_user_has_so_many_different_periods_and_each_period_its_share_of_users():
    turns = panel(periods=6, reports=2).turns(USERS)
    assert turns.shape == (4000, 2)
    assert (turns[:, 0] < turns[:, 1]).all()
    many = np.bincount(turns.ravel(), minlength=7)
    assert many[0] == 0
    assert (abs(many[1:] - 4000 / 3) < 4 * math.sqrt(4000 / 3 * 2 / 3)).all()


def test_shares_say_how_many_report_in_each_period():
    turns = panel(periods=3, shares=[1, 0, 3]).turns(USERS)
    many = np.bincount(turns.ravel(), minlength=4)
    assert many[2] == 0
    assert abs(many[3] - 3000) < 4 * math.sqrt(4000 * 3 / 16)


def test_a_name_is_one_user_however_it_was_typed_and_another_salt_draws_anew():
    mine, theirs = panel(), Panel(categorical_grr(["no", "yes"], 1.0), 6, 1, 1.0, "f" * 32)
    assert mine.turns(["Zoe\u0308"]) == mine.turns(["Zo\u00eb"])
    assert (mine.turns(USERS) != theirs.turns(USERS)).any()


@pytest.mark.parametrize("reports", [1, 2])
def test_no_two_histories_are_told_apart_by_more_than_the_budget_of_a_life(reports):
    """Exactly, by all sets of reports of all pairs of histories of three periods, turns given, as they are public."""
    made = panel(periods=3, reports=reports)
    numerators = made.mechanism.numerators  # pyright: ignore[reportAttributeAccessIssue] -- a table of categories
    (turns,) = made.turns(["ann"]).tolist()
    largest = Fraction(0)
    for one, other in product(product((0, 1), repeat=3), repeat=2):
        for sent in product((0, 1), repeat=reports):
            law = [
                math.prod(
                    Fraction(int(numerators[history[turn - 1]][report]))
                    for turn, report in zip(turns, sent, strict=True)
                )
                for history in (one, other)
            ]
            largest = max(largest, law[0] / law[1])
    assert Fraction(math.exp(made.epsilon)) * Fraction(999, 1000) < largest <= Fraction(math.exp(made.epsilon))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"periods": 1}, "periods must be a whole number from 2"),
        ({"reports": 7}, "reports must be a whole number from 1 to 6"),
        ({"epsilon": 0.5}, "1 reports of a user must spend at most 0.5, got 1.0 each"),
        ({"salt": "x"}, "the salt must be 32 hexadecimal digits"),
        ({"shares": [1, 2]}, "there must be a share for each of 6 periods"),
        ({"shares": [0] * 6}, "shares must have a sum from 1"),
        ({"mechanism": 3}, "a way over time is of a table of numbers or a mechanism for categories"),
    ],
)
def test_what_makes_no_panel_is_refused_in_one_line(change, said):
    whole = {"mechanism": categorical_grr(["no", "yes"], 1.0), "periods": 6, "reports": 1, "epsilon": 1.0, "salt": SALT}
    with pytest.raises(InputError, match=said):
        Panel(**{**whole, **change})


@pytest.mark.parametrize("period", [0, 7, True, "3"])
def test_a_period_that_there_is_not_is_refused(period):
    with pytest.raises(InputError, match="the period must be a whole number from 1 to 6"):
        panel().in_turn(["ann"], period)
