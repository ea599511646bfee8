"""Cohorts: one report from each client, to the right table, in whatever way clients are dealt out."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer import ClientCohort, OneReportClient, ValueCohort
from optldp.designer.cohort import cohort_of
from optldp.mechanisms import InputError, TabulatedMechanism, duchi, grr, square_wave
from optldp.mechanisms import exact_if_possible as exact

TABLE = exact(duchi([0, 1], 1.0))


def telling(values):
    """A table so little private that a test sees who reported."""
    return exact(grr(values, 15.9))


@pytest.mark.parametrize("kind", ["values", "clients"])
def test_a_cohort_reports_once(kind):
    rng = np.random.default_rng(1)
    values = [0.1, 0.5, 0.9]
    cohort = cohort_of(values if kind == "values" else [lambda _: 0.5] * 3, 1.0)
    assert not cohort.has_reported
    assert cohort.report(TABLE, rng).shape == (3,)
    assert cohort.has_reported
    for again in (lambda: cohort.report(TABLE, rng), lambda: cohort.deal(1, rng)):
        with pytest.raises(InputError, match="budget of these clients, epsilon 1, must be spent once only"):
            again()


@given(st.integers(2, 30), st.data())
def test_dealing_puts_every_client_into_one_part(n, data):
    n_first = data.draw(st.integers(1, n - 1))
    parts = ClientCohort([lambda _, i=i: float(i) for i in range(n)], 1.0).deal(n_first, np.random.default_rng(n))
    assert [part.n_clients for part in parts] == [n_first, n - n_first]
    reports = [part.report(TABLE, np.random.default_rng(0)) for part in parts]
    assert sorted(np.concatenate(reports)) == list(range(n))


def test_dealt_values_are_all_there_and_in_random_order():
    values = np.linspace(0, 1, 40)
    parts = ValueCohort(values, 15.9).deal(20, np.random.default_rng(4))
    table = telling(values)
    reports = np.concatenate([part.report(table, np.random.default_rng(2)) for part in parts])
    assert np.array_equal(np.sort(reports), values)
    assert (reports[:20] > 0.5).any()
    assert (reports[:20] < 0.5).any()


def test_after_dealing_the_parts_report_and_the_whole_does_not():
    rng = np.random.default_rng(1)
    cohort = ValueCohort(np.linspace(0, 1, 10), 1.0)
    parts = cohort.deal(4, rng)
    assert cohort.has_reported
    for part in parts:
        assert part.epsilon == 1.0
        part.report(TABLE, rng)
    for one in (cohort, *parts):
        with pytest.raises(InputError, match="must be spent once only"):
            one.report(TABLE, rng)


@pytest.mark.parametrize("n_first", [0, 3, -1])
def test_both_parts_need_clients(n_first):
    cohort = ValueCohort([0.1, 0.2, 0.3], 1.0)
    with pytest.raises(InputError, match=f"both parts must have clients, got {n_first} of 3"):
        cohort.deal(n_first, np.random.default_rng(1))
    assert not cohort.has_reported


def test_a_table_beyond_the_budget_gets_no_report():
    asked = []
    for cohort in (ValueCohort([0.5], 1.0), ClientCohort([lambda table: asked.append(table) or 0.5], 1.0)):
        with pytest.raises(InputError, match=r"epsilon 1: the log-ratio must be at most 1, got 1.9999"):
            cohort.report(exact(duchi([0, 1], 2.0)), np.random.default_rng(1))
        assert not cohort.has_reported
    assert asked == []


def test_a_client_that_fails_does_not_give_the_others_back_their_budget():
    """Whoever was asked before it has reported: asking all of them again would be a second report."""

    def failing(_: TabulatedMechanism) -> float:
        raise ConnectionError

    cohort = ClientCohort([lambda _: 0.5, failing], 1.0)
    with pytest.raises(ConnectionError):
        cohort.report(TABLE, np.random.default_rng(1))
    with pytest.raises(InputError, match="must be spent once only"):
        cohort.report(TABLE, np.random.default_rng(1))


def test_a_copied_cohort_has_no_second_budget():
    rng = np.random.default_rng(1)
    cohort = ValueCohort([0.1, 0.2], 1.0)
    with pytest.raises(InputError, match="must not be copied"):
        copy.deepcopy(cohort)
    shallow = copy.copy(cohort)
    cohort.report(TABLE, rng)
    with pytest.raises(InputError, match="must be spent once only"):
        shallow.report(TABLE, rng)


def test_values_are_copied_and_not_to_be_had():
    values = np.array([0.25, 0.75])
    cohort = ValueCohort(values, 15.9)
    values[:] = 0.0
    reports = cohort.report(telling([0.0, 0.25, 0.75, 1.0]), np.random.default_rng(3))
    assert reports.tolist() == [0.25, 0.75]
    public = [getattr(cohort, name) for name in dir(cohort) if not name.startswith("_")]
    assert not any(isinstance(one, np.ndarray) for one in public)


def test_reports_are_the_tables_own_sample():
    values = np.linspace(0, 1, 50)
    expected = exact(square_wave([0, 1], 1.0)).sample(values, np.random.default_rng(8))
    assert np.array_equal(
        ValueCohort(values, 1.0).report(exact(square_wave([0, 1], 1.0)), np.random.default_rng(8)), expected
    )


def test_a_client_of_its_own_answers_the_first_table_only():
    client = OneReportClient(0.5, 1.0, np.random.default_rng(1))
    assert client(TABLE) in TABLE.high
    with pytest.raises(InputError, match="must be spent once only"):
        client(exact(duchi([0, 1], 0.5)))
    with pytest.raises(InputError, match=r"the log-ratio must be at most 1, got 1.9999"):
        OneReportClient(0.5, 1.0, np.random.default_rng(1))(exact(duchi([0, 1], 2.0)))


def test_a_cohort_is_taken_as_it_is():
    cohort = ValueCohort([0.5], 1.0)
    assert cohort_of(cohort, 2.0) is cohort


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: ValueCohort([], 1.0), "values must be a non-empty one-dimensional array"),
        (lambda: ValueCohort([0.5, np.nan], 1.0), "values must be finite, got nan in row 2"),
        (lambda: ValueCohort([0.5, 2.0], 1.0, domain=(0, 1)), "values must lie in [0, 1], got 1 of 2 outside"),
        (lambda: ValueCohort([0.5], 0.0), "epsilon must be positive"),
        (lambda: ClientCohort([], 1.0), "clients must be functions of a table, at least one, got 0 objects"),
        (lambda: cohort_of([print, 3.0], 1.0), "clients must be functions of a table"),  # type: ignore[list-item]
        (lambda: cohort_of(["a", "b"], 1.0), "values must be numbers"),
    ],
)
def test_bad_clients_are_one_line(make, says):
    with pytest.raises(InputError) as refusal:
        make()
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)
