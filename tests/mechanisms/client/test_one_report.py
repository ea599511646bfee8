"""One client: fixed before it is asked, refusing by the table alone, and silent about its value whatever fails."""

import copy
import pickle
import traceback
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from optldp.mechanisms import (
    InputError,
    OneReportClient,
    SimulatedClient,
    TabulatedMechanism,
    duchi,
    grr,
    make_exact,
    piecewise,
)

from ...small_channels import OF_PAIRS

DOMAIN = (0.0, 1.0)
TABLE = make_exact(duchi(DOMAIN, 1.0)).mechanism
SECRET = 0.7319518
"""A value that shows wherever its text does."""


def everything_told(error: BaseException) -> str:
    """All that a program which reports errors could send: texts, causes, contexts and the locals of every frame."""
    parts: list[str] = []
    chain: list[BaseException] = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    for one in chain:
        told = traceback.TracebackException.from_exception(one, capture_locals=True)
        # The test's own frames know the secret; the client's do not.
        told.stack = traceback.StackSummary.from_list([f for f in told.stack if "test_one_report" not in f.filename])
        parts += ["".join(told.format(chain=False)), repr(one.args)]
    return "\n".join(parts)


def refusal_of(client, table) -> str:
    with pytest.raises(InputError) as caught:
        client(table)
    assert str(SECRET) not in everything_told(caught.value)
    assert caught.value.__context__ is None
    return str(caught.value)


TELLING = {domain: make_exact(grr(domain, 15.9)).mechanism for domain in ((0.0, 1.0), (-1e6, 2e6), (-3.0, -2.5))}
"""At an end, such a table says the other one once in 8 million times."""


@pytest.mark.slow
@given(st.floats(allow_nan=False), st.sampled_from(list(TELLING)))
def test_any_value_is_in_the_domain_before_it_is_asked(value, domain):
    """So values outside, infinite ones too, report as the ends do."""
    reports = {OneReportClient(value, 16.0, domain=domain)(TELLING[domain]) for _ in range(3)}
    assert reports <= set(domain)
    if not domain[0] < value < domain[1]:
        assert reports == {domain[0] if value <= domain[0] else domain[1]}


@pytest.mark.parametrize("value", [10**400, -(10**400), np.float32(0.5), np.int64(3), True])
def test_whatever_is_a_number_is_a_value(value):
    assert OneReportClient(value, 1.0, domain=DOMAIN)(TABLE) in TABLE.high


@pytest.mark.parametrize("value", [float("nan"), None, "0.7319518", b"0.7319518", [SECRET, SECRET], {"v": SECRET}])
@pytest.mark.parametrize(
    "make", [OneReportClient, lambda *a, **k: SimulatedClient(*a, **k, rng=np.random.default_rng(1))]
)
def test_what_is_no_number_is_refused_without_a_name(make, value):
    with pytest.raises(InputError, match="a client's value must be a number") as caught:
        make(value, 1.0, domain=DOMAIN)
    assert str(SECRET) not in str(caught.value)


def tables_it_does_not_answer() -> dict[str, object]:
    wide = make_exact(duchi([0.0, 1e9], 1.0)).mechanism
    liar = replace(make_exact(duchi(DOMAIN, 2.0)).mechanism, epsilon=1.0)
    return {
        "another domain": wide,
        "a narrower domain": make_exact(duchi([0.25, 0.5], 1.0)).mechanism,
        "beyond the budget": make_exact(piecewise(DOMAIN, 2.0)).mechanism,
        "in doubles": duchi(DOMAIN, 1.0),
        "a lie": liar,
        "no table": "table.json",
        "no table either": None,
    }


@pytest.mark.parametrize("kind", list(tables_it_does_not_answer()))
def test_a_refusal_is_of_the_table_alone_and_spends_nothing(kind):
    """The same words for every value, none of them the value's, and afterwards a good table is answered."""
    table = tables_it_does_not_answer()[kind]
    clients = [OneReportClient(value, 1.0, domain=DOMAIN) for value in (SECRET, 0.0, -1e300, 5.0)]
    assert len({refusal_of(client, table) for client in clients}) == 1
    for client in clients:
        assert not client.has_reported
        assert client(TABLE) in TABLE.high


def test_a_table_of_some_values_alone_is_no_question_to_a_client():
    """Which value is nearest would decide what is promised; a client says nothing of its own."""
    table = OF_PAIRS["sensitive"]
    client = OneReportClient(15.0, table.promise, domain=table.domain)
    with pytest.raises(InputError, match="for any value of its domain, got one that promises epsilon 2 of 3 sensitive"):
        client(table)
    assert not client.has_reported


def test_there_is_no_table_of_another_class():
    """It could draw by other numbers than those that are proved; and what is no table is no table."""
    with pytest.raises(TypeError, match="TabulatedMechanism is final"):
        type("Meddling", (TabulatedMechanism,), {})
    client: Any = OneReportClient(SECRET, 1.0, domain=DOMAIN)
    assert "must be asked through a table, got str" in refusal_of(client, "table")


@pytest.mark.parametrize("failure", [ValueError, MemoryError, RecursionError, GeneratorExit])
def test_a_failure_to_draw_is_told_without_the_value_and_spends_the_budget(monkeypatch, failure):
    """Neither in its text, nor in causes, contexts, or the locals of the frames that an error carries with it."""

    def failing(self, x, rng=None, *, clip=False):
        copies = list(x)
        raise failure(f"cannot draw for {copies}")

    client = OneReportClient(SECRET, 1.0, domain=DOMAIN)
    monkeypatch.setattr(TabulatedMechanism, "sample", failing)
    assert "a report must be drawn without a fault" in refusal_of(client, TABLE)
    assert client.has_reported


def test_stopping_the_program_stops_it_without_the_value(monkeypatch):
    def stopped(self, x, rng=None, *, clip=False):
        raise KeyboardInterrupt(str(x))

    client = OneReportClient(SECRET, 1.0, domain=DOMAIN)
    monkeypatch.setattr(TabulatedMechanism, "sample", stopped)
    with pytest.raises(KeyboardInterrupt) as caught:
        client(TABLE)
    assert str(SECRET) not in everything_told(caught.value)


def test_a_second_report_is_refused_without_the_value():
    client = OneReportClient(SECRET, 1.0, domain=DOMAIN)
    client(TABLE)
    assert "must be spent once only" in refusal_of(client, make_exact(duchi(DOMAIN, 0.5)).mechanism)


def test_no_printout_copy_or_pickle_holds_the_value():
    client = OneReportClient(SECRET, 1.0, domain=DOMAIN)
    shown = [repr(client), str(client), f"{client}", repr([client]), str(dir(client))]
    shown += [repr(getattr(client, name)) for name in dir(client)]
    assert not any(str(SECRET) in text for text in shown)
    with pytest.raises(TypeError):
        vars(client)
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps, lambda one: one.__reduce__()):
        with pytest.raises((InputError, TypeError)):
            duplicate(client)
    held = client._OneReportClient__held  # pyright: ignore[reportAttributeAccessIssue] -- what a debugger would find
    assert str(SECRET) not in repr(held)
    with pytest.raises(InputError, match="must not be copied"):
        pickle.dumps(held)


def test_it_takes_no_generator():
    """Reports in earnest are drawn by the operating system; a simulation has its own class."""
    rng = np.random.default_rng(5)
    with pytest.raises(TypeError):
        OneReportClient(0.5, 1.0, rng)  # type: ignore[misc,call-arg]
    with pytest.raises(TypeError):
        OneReportClient(0.5, 1.0, domain=DOMAIN, rng=rng)  # type: ignore[call-arg]
    with pytest.raises(InputError, match=r"must be a numpy[.]random[.]Generator, got NoneType"):
        SimulatedClient(0.5, 1.0, domain=DOMAIN, rng=None)  # type: ignore[arg-type]


def test_seeds_of_numpy_do_not_decide_its_report():
    table = make_exact(grr(np.linspace(0, 1, 101), 0.1)).mechanism

    def reports() -> list[float]:
        np.random.seed(1)  # noqa: NPY002 -- what must not matter
        return [OneReportClient(0.5, 1.0, domain=DOMAIN)(table) for _ in range(8)]

    assert reports() != reports()


def test_a_simulated_client_is_the_tables_own_sample():
    rng, same = np.random.default_rng(8), np.random.default_rng(8)
    reports = [SimulatedClient(v, 1.0, domain=DOMAIN, rng=rng)(TABLE) for v in (0.1, 0.9, 7.0)]
    assert reports == [float(TABLE.sample([v], same)[0]) for v in (0.1, 0.9, 1.0)]


def test_a_simulated_client_reports_once_and_through_its_own_tables():
    client = SimulatedClient(0.5, 1.0, domain=DOMAIN, rng=np.random.default_rng(1))
    for kind, table in tables_it_does_not_answer().items():
        with pytest.raises(InputError):
            client(table)  # type: ignore[arg-type]
        assert kind
    client(TABLE)
    with pytest.raises(InputError, match="must be spent once only"):
        client(TABLE)


@pytest.mark.parametrize(
    ("domain", "says"),
    [((1.0, 0.0), "low < high"), ((0.0, np.inf), "finite"), (3.0, "two numbers"), ((0, "a"), "two numbers"),
     ((0, 1, 2), "two numbers"), ((np.nan, 1.0), "finite")],
)  # fmt: skip
def test_a_domain_must_be_usable(domain, says):
    with pytest.raises(InputError, match=says) as caught:
        OneReportClient(SECRET, 1.0, domain=domain)
    assert str(SECRET) not in everything_told(caught.value)


@pytest.mark.parametrize("value", [0.0, 0.3, 1.0, 7.0])
def test_its_law_is_the_tables_own_whose_enumeration_equals_the_proof(monkeypatch, value):
    """From the same random bytes both draw the same report, so tests of the table's law are tests of the client's."""
    for seed in range(50):
        stream = np.random.default_rng(seed).bytes(4096)
        monkeypatch.setattr("os.urandom", lambda size, stream=stream: stream[:size])
        client = OneReportClient(value, 1.0, domain=(0, 1))
        assert client(TABLE) == TABLE.sample([min(value, 1.0)])[0]
