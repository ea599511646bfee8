"""Promises are plain data: what is no promise is refused in one line, and files say the rest."""

import math

import pytest
from optldp.designer import Pure
from optldp.mechanisms import Approximate, InputError, Metric, TableError
from optldp.mechanisms.promise import as_promise
from optldp.mechanisms.promise.document import KINDS, promise_from_document, promise_to_document


@pytest.mark.parametrize("delta", [0, 1, -1e-9, 1.5, math.nan, math.inf, "1e-6", True, None, 10**400])
def test_a_delta_lies_strictly_between_0_and_1(delta):
    """With 0 there is a pure promise, with 1 none."""
    with pytest.raises(InputError, match=r"^delta must lie strictly between 0 and 1, got [^\n]+$"):
        Approximate(1.0, delta)


@pytest.mark.parametrize("kind", [Pure, Metric, lambda epsilon: Approximate(epsilon, 0.5)])
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, 17, "one", None])
def test_every_promise_checks_its_epsilon(kind, epsilon):
    """As tables do."""
    with pytest.raises(InputError, match=r"^epsilon must be"):
        kind(epsilon)


@pytest.mark.parametrize("promise", [Pure(0.5), Approximate(1.0, 1e-300), Metric(1e-6)])
def test_a_promise_in_a_file_comes_back_as_it_was(promise):
    """A pure one needs no member of its own."""
    said = promise_to_document(promise)
    assert (said is None) == isinstance(promise, Pure)
    found = as_promise(promise.epsilon) if said is None else promise_from_document(promise.epsilon, said)
    assert found == promise
    assert type(found) is type(promise)


@pytest.mark.parametrize(
    "member",
    [
        None,
        [],
        "metric",
        {},
        {"kind": "pure"},
        {"kind": ["metric"]},
        {"kind": "approximate"},
        {"kind": "approximate", "delta": "1e-6"},
        {"kind": "approximate", "delta": True},
        {"kind": "approximate", "delta": [1e-6]},
        {"kind": "approximate", "delta": 1e-6, "epsilon": 2.0},
        {"kind": "approximate", "delta": 0.0},
        {"kind": "approximate", "delta": 1},
        {"kind": "metric", "delta": 1e-6},
        {"kind": "matrix", "log_ratios": [[0.0]]},
    ],
)
def test_a_member_that_says_something_else_is_refused(member):
    """Nothing that a reader does not know is left out silently."""
    with pytest.raises((TableError, InputError)):
        promise_from_document(1.0, member)


def test_kinds_of_files_are_those_that_are_not_pure():
    """Pure tables are written as ever."""
    assert Pure not in KINDS.values()
    assert all(kind.kind == name for name, kind in KINDS.items())
