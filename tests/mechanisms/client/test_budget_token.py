"""A token: spent once, on a table within its budget, by one thread, and never copied."""

import copy
import multiprocessing
import os
import pickle
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from optldp.designer import Pure
from optldp.mechanisms import (
    Approximate,
    BudgetToken,
    InputError,
    Metric,
    TabulatedMechanism,
    duchi,
    gaussian,
    geometric,
    piecewise,
)
from optldp.mechanisms.exactness.make_exact import exact_if_possible as exact
from optldp.mechanisms.promise import Ratios, Sensitive


def test_a_second_report_is_refused_by_name():
    token = BudgetToken(1.0, owner="client 7")
    assert not token.is_spent
    token.spend(exact(duchi([0, 1], 1.0)))
    assert token.is_spent
    with pytest.raises(InputError, match=r"budget of client 7, epsilon 1, must be spent once only") as refusal:
        token.spend(exact(duchi([0, 1], 0.1)))
    assert "\n" not in str(refusal.value)


def test_less_than_the_budget_spends_it_all():
    token = BudgetToken(1.0)
    token.spend(exact(duchi([0, 1], 0.25)))
    with pytest.raises(InputError, match="must be spent once only"):
        token.spend(exact(duchi([0, 1], 0.25)))


def test_a_table_beyond_the_budget_is_refused_and_costs_nothing():
    token = BudgetToken(1.0)
    with pytest.raises(
        InputError, match=r"the budget of this client, epsilon 1: the log-ratio must be at most 1, got 1.09999"
    ):
        token.spend(exact(piecewise([0, 1], 1.1)))
    assert not token.is_spent
    token.spend(exact(piecewise([0, 1], 1.0)))


def test_what_a_table_claims_is_not_believed():
    """A table built for epsilon 2 that says 1 does not verify, so no client answers it."""
    token = BudgetToken(1.0)
    with pytest.raises(InputError, match=r"must keep within the budget of .*: the log-ratio must be at most 1"):
        token.spend(replace(exact(duchi([0, 1], 2.0)), epsilon=1.0))
    assert not token.is_spent


def test_a_claim_larger_than_the_truth_does_no_harm():
    BudgetToken(1.0).spend(replace(exact(duchi([0, 1], 1.0)), epsilon=5.0))


def test_heirs_have_the_budget_that_the_giver_lost():
    token = BudgetToken(1.0)
    heirs = token.pass_on(2)
    assert [heir.epsilon for heir in heirs] == [1.0, 1.0]
    for use in (lambda: token.pass_on(2), lambda: token.spend(exact(duchi([0, 1], 1.0)))):
        with pytest.raises(InputError, match="must be spent once only"):
            use()
    for heir in heirs:
        heir.spend(exact(duchi([0, 1], 1.0)))


@pytest.mark.parametrize("copying", [copy.copy, copy.deepcopy, pickle.dumps])
def test_it_cannot_be_copied(copying):
    with pytest.raises(InputError, match="must not be copied or pickled"):
        copying(BudgetToken(1.0))


def test_its_budget_cannot_be_raised():
    with pytest.raises(AttributeError):
        BudgetToken(1.0).epsilon = 2.0  # pyright: ignore[reportAttributeAccessIssue] -- the point of the test


def test_of_many_threads_one_spends():
    token, table, start = BudgetToken(1.0), exact(duchi([0, 1], 1.0)), threading.Barrier(8)
    spent = []

    def use() -> None:
        start.wait()
        try:
            token.spend(table)
        except InputError:
            return
        spent.append(True)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert spent == [True]


@pytest.mark.parametrize("epsilon", [0.0, -1.0, np.nan, 17.0])
def test_a_budget_must_be_usable(epsilon):
    with pytest.raises(InputError, match="epsilon must be"):
        BudgetToken(epsilon)


def _spent_in_a_child(fork) -> bool:
    """Whether a forked child could spend a token of its parent."""
    token, table = BudgetToken(1.0), exact(duchi([0, 1], 1.0))
    told = fork(token, table)
    assert not token.is_spent
    token.spend(table)  # the parent keeps its own
    return told


def _by_os(token: BudgetToken, table: TabulatedMechanism) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads, which other tests may leave
        child = os.fork()
    if child == 0:
        os._exit(_answer(token, table))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == SPENT


def _by_grandchild(token: BudgetToken, table: TabulatedMechanism) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
        if child == 0:
            os._exit(SPENT if _by_os(token, table) else REFUSED)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == SPENT


def _by_multiprocessing(token: BudgetToken, table: TabulatedMechanism) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        child = multiprocessing.get_context("fork").Process(target=lambda: os._exit(_answer(token, table)))
        child.start()
    child.join()
    return child.exitcode == SPENT


REFUSED, SPENT = 3, 4


def _answer(token: BudgetToken, table: TabulatedMechanism) -> int:
    for use in (lambda: token.spend(table), lambda: token.pass_on(2)):
        try:
            use()
        except InputError as error:
            if "in a forked one" not in str(error):
                return SPENT
        else:
            return SPENT
    return REFUSED


@pytest.mark.parametrize("fork", [_by_os, _by_grandchild, _by_multiprocessing])
def test_a_forked_child_has_no_second_budget(fork):
    """Whichever way it was forked, whatever it is asked, and though its process number may be used again."""
    assert not _spent_in_a_child(fork)


def test_a_used_process_number_makes_no_token_usable_again(monkeypatch):
    """A descendant may have the number of the process that made the token, once that one is gone."""
    token, home = BudgetToken(1.0), os.getpid()
    monkeypatch.setattr("optldp.mechanisms.client.budget_token._forks", 2)
    assert os.getpid() == home
    with pytest.raises(InputError, match="in a forked one"):
        token.spend(exact(duchi([0, 1], 1.0)))


class TestOtherPromises:
    """A budget pays for promises of its own kind; that of all but a delta for pure ones too."""

    GAUSS = exact(gaussian([0, 1], Approximate(1.0, 1e-6)))
    COUNTS = exact(geometric([0, 1, 2], Metric(1.0)))
    PURE = exact(duchi([0, 1], 1.0))
    HOURS = exact(replace(geometric([0, 1, 2], Metric(0.5)), promise=Metric(0.5, period=24.0)))

    @pytest.mark.parametrize(
        ("budget", "table"),
        [
            (Approximate(1.0, 1e-6), GAUSS),
            (Approximate(2.0, 1e-3), GAUSS),
            (Approximate(1.0, 1e-9), PURE),
            (Metric(1.0), COUNTS),
            (Metric(1.5), COUNTS),
            (Ratios([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), COUNTS),
            (Metric(0.5), HOURS),
            (Pure(1.0), PURE),
        ],
    )
    def test_what_keeps_within_the_budget_is_paid_for(self, budget, table):
        token = BudgetToken(budget)
        token.spend(table)
        assert token.is_spent
        assert (token.privacy, token.epsilon) == (budget, budget.epsilon)

    @pytest.mark.parametrize(
        ("budget", "table", "says"),
        [
            (16.0, GAUSS, "epsilon 16: it promises epsilon 1, delta 1e-06, which is another kind of promise"),
            (16.0, COUNTS, "epsilon 16: it promises epsilon 1 per unit, which is another kind of promise"),
            (Approximate(16.0, 0.9), COUNTS, "it promises epsilon 1 per unit, which is another kind of promise"),
            (Metric(16.0), PURE, "epsilon 16 per unit: it promises epsilon 1, which is another kind of promise"),
            (Metric(16.0), GAUSS, "it promises epsilon 1, delta 1e-06, which is another kind"),
            (Approximate(1.0, 0.9e-6), GAUSS, "delta must be at least the divergence at epsilon 1"),
            (Approximate(0.9, 1e-6), GAUSS, "delta must be at least the divergence at epsilon 0.9"),
            (Approximate(0.5, 1e-6), PURE, "delta must be at least the divergence at epsilon 0.5"),
            (Metric(0.9), COUNTS, "the log-ratio must be at most 0.9"),
            (Sensitive(1.0, [True, False, True]), COUNTS, "the log-ratio must be at most 1"),
            (Sensitive(1.0, [True, False]), COUNTS, "must be of each knot, got one of 2 values for 3 knots"),
            (Metric(0.5, period=3.0), COUNTS, "the log-ratio must be at most 0.5"),
        ],
    )
    def test_what_does_not_is_refused_and_costs_nothing(self, budget, table, says):
        token = BudgetToken(budget)
        with pytest.raises(InputError) as refusal:
            token.spend(table)
        assert says in str(refusal.value)
        assert "\n" not in str(refusal.value)
        assert not token.is_spent
