"""Numbers of users are whole and not too many, in whatever holds counts and in every sum of two of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.estimators import CategoryCounts, PersonalisedCounts, ReportCounts, Service
from optldp.estimators.counting.group import ReportGroup
from optldp.estimators.counting.user_numbers import MOST_USERS, exact_sum, total_users, whole_counts, whole_numbers
from optldp.estimators.frequencies.support_counts import SupportCounts
from optldp.estimators.key_values.counts import ShownCounts
from optldp.mechanisms import InputError, PersonalisedMechanism, duchi, make_exact
from optldp.mechanisms.categorical import categorical_grr, optimised_unary
from optldp.mechanisms.key_value import key_value_response

TABLE = make_exact(duchi([0.0, 1.0], 1.0)).mechanism
GRR = categorical_grr("abc", 1.0)
OUE = optimised_unary("abc", 1.0)
LEVELS = PersonalisedMechanism([categorical_grr("abc", epsilon) for epsilon in (0.5, 1.0)], 0.3)
PAIRS = key_value_response("ab", TABLE, 1.0)


def reports(counts):
    return ReportCounts((Service("a", TABLE),), (ReportGroup((0,), np.array([[0], [1]]), counts),))


def supports(counts):
    """The users are the sum of what is given, as for the other kinds."""
    return SupportCounts(OUE, np.array([*counts, 0]), sum(np.asarray(counts).tolist()))


def shown(counts):
    users = sum(np.asarray(counts).tolist())
    return ShownCounts(PAIRS, users, np.array([counts, [0, 0]]))


HOLDERS = {
    "reports": reports,
    "categories": lambda counts: CategoryCounts(GRR, np.array([0, 1]), counts),
    "supports": supports,
    "levels": lambda counts: PersonalisedCounts(LEVELS, np.array([0, 1]), np.array([1, 1]), counts),
    "pairs": shown,
}


@pytest.mark.parametrize("name", HOLDERS)
def test_as_many_users_as_may_be_are_held_but_not_twice(name):
    """A sum of two that would not fit is refused, not wrapped."""
    most = HOLDERS[name](np.array([MOST_USERS - 1, 1]))
    assert most.n_users == MOST_USERS
    with pytest.raises(InputError, match=r"at most 2\^53 users together, got 180143985094819"):
        _ = most + most


@pytest.mark.parametrize("name", HOLDERS)
@pytest.mark.parametrize("wrong", [[2**62, 2**62], [2**63 - 1, 2**63 - 1], [2**62, -(2**62)], [MOST_USERS, 1]])
def test_counts_whose_sum_leaves_its_type_are_refused(name, wrong):
    with pytest.raises(InputError, match=r"2\^53 users|at least|from 0 on"):
        HOLDERS[name](np.array(wrong))


@pytest.mark.parametrize("name", ["reports", "categories", "levels"])
@pytest.mark.parametrize(
    "wrong", [[0, 1], [-1, 1], [1.0, 1.0], [True, True], [None, 1], [1], [1, 1, 1], [[1, 1]], ["1", "1"], [2**64, 1]]
)
def test_counts_that_are_no_positive_whole_numbers_one_for_each_row_are_refused(name, wrong):
    with pytest.raises(InputError):
        HOLDERS[name](np.array(wrong))


@pytest.mark.parametrize(
    ("supported", "users"),
    [([1, 2, 4], 3), ([-1, 0, 0], 3), ([1, 1], 3), ([1.0, 1.0, 1.0], 3), ([0, 0, 0], -1), ([0, 0, 0], 2.0),
     ([0, 0, 0], True), ([[0, 0, 0]], 3)],
)  # fmt: skip
def test_supports_are_of_so_many_users(supported, users):
    with pytest.raises(InputError):
        SupportCounts(OUE, np.array(supported), users)


@pytest.mark.parametrize(
    ("counts", "users"),
    [([[2, 2], [0, 0]], 3), ([[0, 0], [MOST_USERS, MOST_USERS]], MOST_USERS), ([[-1, 0], [0, 0]], 3),
     ([[1, 1]], 3), ([[0.0, 0], [0, 0]], 3), ([[0, 0], [0, 0]], 1.5)],
)  # fmt: skip
def test_a_key_is_shown_to_so_many_users(counts, users):
    with pytest.raises(InputError):
        ShownCounts(PAIRS, users, np.array(counts))


def test_what_no_user_can_have_sent_is_refused():
    """Categories and levels that there are not."""
    with pytest.raises(InputError, match="reports"):
        CategoryCounts(GRR, np.array([3]), np.array([1]))
    with pytest.raises(InputError, match="levels must be among the 2"):
        PersonalisedCounts(LEVELS, np.array([2]), np.array([1]), np.array([1]))
    with pytest.raises(InputError, match="levels and reports must be as many, got 1 and 2"):
        PersonalisedCounts(LEVELS, np.array([1]), np.array([1, 0]), np.array([1]))


@pytest.mark.parametrize(("given", "kind"), [([2**32], np.int32), ([-(2**31) - 1], np.int32), ([2**63], np.int64)])
def test_a_number_that_does_not_fit_is_refused_and_not_cut(given, kind):
    """2^32 would become 0, an output that there is."""
    with pytest.raises(InputError, match="outputs must fit in int"):
        whole_numbers("outputs", np.array(given), kind)


def test_a_group_refuses_an_output_that_would_be_cut():
    with pytest.raises(InputError, match="outputs must fit in int32, got 0 to 4294967297"):
        ReportGroup((0,), np.array([[0], [2**32 + 1]]), np.array([1, 1]))


@given(st.lists(st.integers(0, 2**63 - 1), max_size=50))
def test_sums_are_exact_whatever_their_size(values):
    assert exact_sum(np.array(values, dtype=np.int64)) == sum(values)


@given(st.lists(st.integers(1, 2**53), max_size=4))
def test_a_total_is_exact_or_refused(values):
    if sum(values) <= MOST_USERS:
        assert total_users(values) == sum(values)
        assert whole_counts("counts", np.array(values, dtype=np.int64), least=1).tolist() == values
    else:
        with pytest.raises(InputError, match=r"at most 2\^53 users together"):
            whole_counts("counts", np.array(values), least=1)
