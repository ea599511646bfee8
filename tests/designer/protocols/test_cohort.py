"""Cohorts: one report from each client, to the right table, in whatever way clients are dealt out."""

import copy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.designer import ClientCohort
from optldp.designer.protocols.cohort import ValueCohort, cohort_of
from optldp.mechanisms import InputError, OneReportClient, duchi, grr, make_exact, square_wave

TABLE = make_exact(duchi([0, 1], 1.0)).mechanism
LOW, HIGH = TABLE.high.tolist()
WAVE = make_exact(square_wave([0, 1], 1.0)).mechanism


def telling(values):
    """A table so little private that a test sees who reported."""
    return make_exact(grr(values, 15.9)).mechanism


@pytest.mark.parametrize("kind", ["values", "clients"])
def test_a_cohort_reports_once(kind):
    rng = np.random.default_rng(1)
    values = [0.1, 0.5, 0.9]
    cohort = cohort_of(values if kind == "values" else [lambda _: LOW] * 3, 1.0)
    assert not cohort.has_reported
    assert cohort.report(TABLE, rng).shape == (3,)
    assert cohort.has_reported
    for again in (lambda: cohort.report(TABLE, rng), lambda: cohort.deal(1, rng)):
        with pytest.raises(InputError, match="budget of these clients, epsilon 1, must be spent once only"):
            again()


@pytest.mark.nightly
@given(st.integers(2, 30), st.data())
def test_dealing_puts_every_client_into_one_part(n, data):
    n_first = data.draw(st.integers(1, n - 1))
    asked = []
    clients = [lambda _, i=i: asked.append(i) or LOW for i in range(n)]
    parts = ClientCohort(clients, 1.0).deal(n_first, np.random.default_rng(n))
    assert [part.n_clients for part in parts] == [n_first, n - n_first]
    assert [part.report(TABLE, np.random.default_rng(0)).size for part in parts] == [n_first, n - n_first]
    assert sorted(asked) == list(range(n))


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
            cohort.report(make_exact(duchi([0, 1], 2.0)).mechanism, np.random.default_rng(1))
        assert not cohort.has_reported
    assert asked == []


class Silent(Exception):  # noqa: N818 -- a client's own
    """An error that cannot even say what it is."""

    def __str__(self) -> str:
        raise RuntimeError


def raising(error: BaseException):
    def client(_: object) -> float:
        raise error

    return client


BAD_CLIENTS = {
    "raises": (raising(ConnectionError("timed out")), "ConnectionError: timed out"),
    "raises silently": (raising(Silent()), "Silent"),
    "raises a base": (raising(GeneratorExit()), "GeneratorExit"),
    "commands the terminal": (raising(ValueError("\x1b[2J\r\nred\u202e")), r"ValueError: \x1b[2J red\u202e"),
    "talks": (raising(ValueError("x" * 10**6)), f"ValueError: {'x' * 80} ..."),
    "nan": (lambda _: float("nan"), "nan is no output of the table"),
    "inf": (lambda _: float("inf"), "inf is no output of the table"),
    "foreign": (lambda _: 0.5, "0.5 is no output of the table"),
    "text": (lambda _: "0.5", "str is no number"),
    "nothing": (lambda _: None, "NoneType is no number"),
    "array": (lambda _: np.array([0.5]), "ndarray is no number"),
    "bool": (lambda _: True, "bool is no number"),
    "complex": (lambda _: 1j, "complex is no number"),
    "huge": (lambda _: 10**400, "OverflowError: int too large to convert to float"),
    "an old client": (OneReportClient(0.5, 1.0, domain=(0, 9)), "InputError: a table must have the client's own"),
}


@pytest.mark.parametrize("kind", list(BAD_CLIENTS))
def test_a_client_that_fails_loses_its_own_report_only(kind):
    """It is named by its place and what it did, in printable words; its budget is gone like everybody's."""
    client, says = BAD_CLIENTS[kind]
    cohort = ClientCohort([lambda _: LOW, client, lambda _: HIGH], 1.0)
    assert cohort.report(TABLE, np.random.default_rng(1)).tolist() == [LOW, HIGH]
    assert (cohort.failures.asked, cohort.failures.count) == (3, 1)
    assert cohort.failures.first[0].startswith(f"client 2: {says}")
    assert str(cohort.failures).isprintable()
    assert len(str(cohort.failures)) < 200
    with pytest.raises(InputError, match="must be spent once only"):
        cohort.report(TABLE, np.random.default_rng(1))


def test_only_the_first_failures_are_told_and_all_are_counted():
    silent: Any = lambda _: None  # noqa: E731
    cohort = ClientCohort([silent] * 700 + [lambda _: LOW], 1.0)
    assert cohort.report(TABLE, np.random.default_rng(1)).tolist() == [LOW]
    assert cohort.failures.count == 700
    assert [text.split(":")[0] for text in cohort.failures.first] == [f"client {i}" for i in range(1, 6)]
    assert str(cohort.failures).endswith("and 695 more")


def test_places_of_failures_are_those_before_dealing():
    clients = [raising(ValueError(str(i))) if i in (3, 7) else lambda _: LOW for i in range(1, 11)]
    parts = ClientCohort(clients, 1.0).deal(5, np.random.default_rng(3))
    for part in parts:
        part.report(TABLE, np.random.default_rng(1))
    both = parts[0].failures + parts[1].failures
    assert (both.asked, both.count) == (10, 2)
    assert sorted(both.first) == ["client 3: ValueError: 3", "client 7: ValueError: 7"]


def test_if_all_fail_that_is_said():
    cohort = ClientCohort([raising(ConnectionError())] * 3, 1.0)
    with pytest.raises(InputError, match="at least one client must report, got none: 3 of 3 clients gave no report"):
        cohort.report(TABLE, np.random.default_rng(1))


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_stopping_the_program_is_no_failure_of_a_client(stop):
    cohort = ClientCohort([lambda _: LOW, raising(stop())], 1.0)
    with pytest.raises(stop):
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
    expected = WAVE.sample(values, np.random.default_rng(8))
    assert np.array_equal(ValueCohort(values, 1.0).report(WAVE, np.random.default_rng(8)), expected)


def test_a_cohort_of_clients_who_hold_their_values():
    values = np.linspace(-1, 2, 50)
    cohort = ClientCohort([OneReportClient(value, 1.0, domain=(0, 1)) for value in values], 1.0)
    assert set(cohort.report(TABLE, np.random.default_rng(1)).tolist()) == {LOW, HIGH}
    assert cohort.failures.count == 0


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
