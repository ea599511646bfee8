"""Promises are plain data: what is no promise is refused in one line, and files say the rest."""

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from optldp.designer import Pure
from optldp.mechanisms import Approximate, InputError, Metric, TableError, TabulatedMechanism, make_exact, save_table
from optldp.mechanisms.promise import Blocks, ByValue, Ratios, Sensitive, as_promise
from optldp.mechanisms.promise.closure import closure
from optldp.mechanisms.promise.document import promise_from_document, promise_to_document
from optldp.mechanisms.promise.registry import PRIVACIES, promise_class


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


PAIRS = [
    Metric(0.3, distance=[[0, 1.1, math.inf], [1, 0, 0.7], [2, 0.1, 0]]),
    Metric(0.3, period=24.5),
    Ratios([[0, 1, 5], [math.inf, 0, 2], [5, 2, 0]]),
    ByValue([0.1, 0.7, 3.3]),
    ByValue([0.1, 0.7, 3.3], "min"),
    Blocks(["b", "a", "b"], 0.25, 3),
    Sensitive(1.3, [False, True, True]),
]
KNOTS = np.array([0.0, 0.1, 7.0])


@pytest.mark.parametrize("promise", PAIRS, ids=str)
def test_what_is_said_of_pairs_is_the_fraction_that_is_promised_and_implies_all_others(promise):
    """In doubles to the last place; what pairs leave out follows along paths of those that they name."""
    said, kept = promise.said(KNOTS), np.full((3, 3), np.inf)
    for i, k in zip(*promise.pairs(said), strict=True):
        exact = promise.exactly(said, KNOTS, int(i), int(k))
        assert abs(exact - Fraction(said[i, k])) <= Fraction(np.spacing(said[i, k]))
        kept[i, k] = said[i, k]
    assert closure(kept) == pytest.approx(closure(said), rel=1e-15)
    assert promise.limits(KNOTS) == pytest.approx(closure(said), rel=1e-15)
    assert (hash(promise), promise) == (hash(copy.deepcopy(promise)), copy.deepcopy(promise))
    assert "\n" not in promise.caution
    assert not promise.misfit(KNOTS)
    assert promise.leaves_out == bool(np.isinf(promise.limits(KNOTS)).any())


@pytest.mark.parametrize("promise", PAIRS, ids=str)
def test_a_promise_says_which_knots_it_is_not_of(promise):
    if promise.size is None:
        assert promise.misfit(10 * KNOTS) == "values round a circle must span less than 24.5, got 0 to 70"
    else:
        assert promise.misfit(np.arange(4.0)).endswith("must be of each knot, got one of 3 values for 4 knots")


def test_epsilon_is_the_largest_log_ratio_that_is_promised_in_the_end():
    """Paths may be shorter than what is said, and say something where nothing is."""
    assert [each.epsilon for each in PAIRS[2:]] == [7.0, 2.0, 0.2, 3.0, 1.3]
    assert Ratios([[0, 1, math.inf], [1, 0, 1], [9, 1, 0]]).epsilon == 2.0
    with pytest.raises(InputError, match="got 20 once paths are followed: give inf for less, or distances"):
        Ratios([[abs(i - k) if abs(i - k) < 2 else math.inf for k in range(21)] for i in range(21)])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Ratios([[0, 1]]), "must be a square matrix of at least two values, got shape"),
        (lambda: Ratios("all"), "must be a square matrix of numbers, got 'all'"),
        (lambda: Ratios([[0]]), "must be a square matrix of at least two values"),
        (lambda: Ratios([[0, 1], [1]]), "must be a square matrix of numbers"),
        (lambda: Metric(1.0, [[0, 1], [1, 0]], 3.0), "must be a matrix or round a circle, got both"),
        (lambda: Metric(1.0, period=math.inf), "period must be a positive number"),
        (lambda: ByValue([1.0]), "must be budgets of at least two values"),
        (lambda: ByValue("12"), "must be budgets, one for each value"),
        (lambda: ByValue([1.0, 20.0]), "epsilon must be at most 16"),
        (lambda: ByValue([1.0, 2.0], "max"), "rule must be average or min"),
        (lambda: Blocks("aab", 1, 2), "blocks must be names, one for each value"),
        (lambda: Blocks(["a", ["b"]], 1, 2), "blocks must be names or whole numbers"),
        (lambda: Blocks(["a", "a"], 1, 2), "at least two blocks, got 1"),
        (lambda: Blocks(["a", "b"], 0, 2), "within: epsilon must be positive"),
        (lambda: Sensitive(1.0, [1, 0]), "sensitive must be true or false of each value"),
        (lambda: Sensitive(1.0, [False, False]), "some values must be sensitive and some not, got none"),
    ],
)
def test_what_is_no_promise_of_pairs_is_refused_in_a_line(make, says):
    with pytest.raises(InputError) as refused:
        make()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("promise", [Pure(0.5), Approximate(1.0, 1e-300), Metric(1e-6), *PAIRS], ids=str)
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
        {"kind": "ratios"},
        {"kind": "ratios", "log_ratios": [[0, 2], [2, 0]]},
        {"kind": "ratios", "log_ratios": [[0, 1], [1, "0"]]},
        {"kind": "ratios", "log_ratios": [[0, 1], [1, True]]},
        {"kind": "ratios", "log_ratios": [[0, 10**400], [1, 0]]},
        {"kind": "ratios", "log_ratios": [[0, "-inf"], [1, 0]]},
        {"kind": "ratios", "log_ratios": {"0": 1}},
        {"kind": "metric", "distance": [[0, 1], [0, 1]]},
        {"kind": "metric", "distance": None},
        {"kind": "metric", "period": "24"},
        {"kind": "by-value", "epsilons": [1, 1]},
        {"kind": "by-value", "epsilons": [1, 1], "rule": 1},
        {"kind": "by-value", "epsilons": "11", "rule": "min"},
        {"kind": "blocks", "blocks": [0, 1.0], "within": 1, "across": 1},
        {"kind": "blocks", "blocks": ["a", "b"], "within": 1, "across": 1},
        {"kind": "sensitive", "sensitive": [1, 0]},
        {"kind": "sensitive", "sensitive": True},
    ],
)
def test_a_member_that_says_something_else_is_refused(member):
    """Nothing that a reader does not know is left out silently."""
    with pytest.raises((TableError, InputError)):
        promise_from_document(1.0, member)


def test_files_call_a_kind_as_the_command_line_does():
    """One registration is enough for both; `Pure` is among them, of which files say nothing."""
    assert all(promise_class(name).kind == name for name in PRIVACIES)
    assert promise_class("pure") is Pure


def test_a_promise_of_ones_own_is_saved_as_its_matrix_alone(tmp_path):
    """A file of a kind that nobody can read is never written."""

    class Own(Ratios):
        kind = "own"

    matrix = [[0.0, 0.7], [1.1, 0.0]]
    table, path = np.array([[0.6, 0.4], [0.35, 0.65]]), tmp_path / "m.json"
    made = TabulatedMechanism.from_points([0.0, 1.0], [0.0, 1.0], table, 1.1, promise=Own(matrix))
    with pytest.raises(InputError, match="of a kind that files know to be saved, got Own: design for Ratios"):
        save_table(make_exact(made).mechanism, path)
    assert not path.exists()
