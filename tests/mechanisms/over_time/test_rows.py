"""Rows: a report of a user's own history, whose law no two histories tell apart by more than the budget."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from optldp.mechanisms import InputError, TableError, grr, make_exact
from optldp.mechanisms.over_time import HistoryRows

TABLE = make_exact(grr([0.0, 10.0], 1.0)).mechanism
ROWS = [[1.0, 0.0, 0.0], [1.0, -1.0, 1.0], [0.0, 0.5, 0.5]]
USERS = [f"user {number}" for number in range(2000)]


def rows(**change) -> HistoryRows:
    whole = {"mechanism": TABLE, "rows": ROWS, "shares": [1, 2, 1], "variances": [1.0] * 3, "epsilon": 1.0}
    return HistoryRows(**{**whole, "salt": "0" * 32, **change})


def test_no_two_histories_are_told_apart_by_more_than_the_budget_those_with_more_changes_included():
    """Exactly, by the laws of all histories of the two ends, of each row: the second is clipped at 0, 1, 0."""
    made, users = rows(), USERS[:40]
    every = np.array(list(product((0.0, 10.0), repeat=3)))
    limit = Fraction(math.exp(made.epsilon))
    for user in users:
        values = made.told([user] * len(every), every)
        assert ((values >= 0) & (values <= 10)).all()
        share = [Fraction(value) / 10 for value in values.tolist()]
        numerators = made.mechanism.numerators.tolist()  # pyright: ignore[reportAttributeAccessIssue] -- a table
        law = [[(1 - up) * low + up * high for low, high in zip(*numerators, strict=True)] for up in share]
        assert max(one[y] / other[y] for one, other in product(law, repeat=2) for y in (0, 1)) <= limit


@pytest.mark.parametrize("change", [{"rows": [["1", 0]]}, {"rows": [[10**400, 0]]}, {"shares": [10**400]}])
def test_a_file_with_text_or_a_huge_number_among_its_numbers_is_refused(change):
    members = {"mechanism": None, "rows": [[1.0, 0.0]], "shares": [1], "variances": [1.0], "epsilon": 1.0}
    whole = {**members, "salt": "0" * 32, "stays": False, **change}
    with pytest.raises((TableError, InputError), match=r"number|shares"):
        HistoryRows.from_members(whole, lambda _: TABLE)


def test_rows_follow_from_names_with_their_shares_and_end_with_their_last_weight():
    made = rows()
    which = made.beside(USERS)["row"]
    assert abs(np.bincount(which) / 2000 - [0.25, 0.5, 0.25]).max() < 0.05
    assert (made.turns(USERS)[:, 0] == np.array([1, 3, 3])[which]).all()


def test_a_value_that_is_missing_is_the_one_before_or_else_the_next():
    made = rows(rows=[[0.25, 0.25, 0.5]], shares=[1], variances=[1.0])
    assert made.told(["ann"] * 2, [[np.nan, 4, np.nan], [8, np.nan, 4]]).tolist() == [4.0, 6.0]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"mechanism": 3}, "rows are reported through a table of numbers"),
        ({"rows": [[0.0, 0.0]], "shares": [1], "variances": [1]}, "must have a weight that is not zero"),
        ({"rows": [[1.0]], "shares": [1], "variances": [1]}, "periods must be a whole number from 2"),
        ({"rows": [[1.0, math.inf]]}, "rows of finite weights"),
        ({"shares": [1]}, "there must be a share for each of 3 rows"),
        ({"variances": [1, 0, 1]}, "a positive variance for each of 3 rows"),
        ({"stays": True, "rows": [[1.0, -1.0]], "shares": [1], "variances": [1]}, "stays must be true or false"),
        ({"epsilon": 0.5}, "a report must spend at most 0.5, got 1.0"),
    ],
)
def test_what_makes_no_rows_is_refused_in_one_line(change, said):
    with pytest.raises(InputError, match=said):
        rows(**change)
