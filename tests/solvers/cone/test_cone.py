"""The cone: what a matrix promises, membership, and the least column above another."""

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.cone import Cone, blocks, circle, line, pure, ratios, sensitive, value_budgets


def test_the_rows_imply_the_closed_matrix(cone):
    """The shortest paths along the rows, by way of nodes of no value too, are the log-ratios between values."""
    between = np.full((cone.nodes, cone.nodes), np.inf)
    np.fill_diagonal(between, 0)
    between[cone.below, cone.above] = cone.logs
    for k in range(cone.nodes):
        between = np.minimum(between, between[:, k, None] + between[k])
    assert between[np.ix_(cone.places, cone.places)] == pytest.approx(cone.closed, rel=1e-11)


def test_the_closed_matrix_promises_the_same(cone):
    """It is closed, and its own cone has the same columns."""
    again = Cone.of(cone.closed)
    assert again.closed == pytest.approx(cone.closed, rel=1e-12)
    raised = cone.raised(np.random.default_rng(1).random((7, 50)))
    assert again.raised(raised) == pytest.approx(raised, rel=1e-12)


def test_a_raised_column_is_the_least_of_the_cone_above(cone):
    """It is in the cone and above, below others of the cone that are above, and raising it again changes nothing."""
    rng = np.random.default_rng(2)
    given = rng.random((7, 50)) * (rng.random((7, 50)) < 0.8)
    raised = cone.raised(given)
    assert cone.holds(raised)
    assert (raised >= given).all()
    assert cone.raised(raised) == pytest.approx(raised, rel=1e-12)
    for inside in (cone.raised(given + rng.random((7, 50))), cone.raised(1.7 * given)):
        assert (raised <= inside * (1 + 1e-12)).all()


def test_what_is_outside_is_said(cone):
    """An entry beyond what any other allows is an excess of that share."""
    s = np.exp(-cone.closed[:, [0]])  # the column of value 0's own edges, largest there
    s[~np.isfinite(s)] = 0
    s = cone.raised(s)
    assert cone.holds(s)
    finite = np.isfinite(cone.closed[0]) & (cone.places != cone.places[0])
    if finite.any():
        s[0] = 1.5 * (np.exp(cone.closed[0, finite]) * s[finite, 0]).min()
        assert cone.excess(s) == pytest.approx(0.5)
        assert not cone.holds(s)


@pytest.mark.parametrize(
    ("made", "rows"),
    [
        (pure(9, 1.0), 18),
        (line(np.arange(9), 1.0), 16),
        (circle(np.arange(9), 9, 1.0), 18),
        (value_budgets(np.arange(1, 10)), 18),
        (blocks([0, 0, 0, 1, 1, 1, 2, 2, 2], 1.0, 3.0), 24),
        (sensitive(np.arange(9) < 4, 1.0), 13),
        (ratios(np.abs(np.subtract.outer(np.arange(9), np.arange(9)))), 16),
    ],
)
def test_few_rows_say_all(made, rows):
    """Rows of hand counts: two an edge, one where a leaf is free."""
    assert len(made.logs) == rows


def test_a_grid_by_its_steps_needs_its_neighbours_alone():
    """4 x 4 places, distances of steps along the axes: 24 neighbours, each both ways."""
    places = np.stack(np.meshgrid(range(4), range(4)), -1).reshape(-1, 2)
    made = ratios(np.abs(places[:, None] - places).sum(2))
    assert len(made.logs) == 48


def test_by_the_smaller_epsilon_twice_the_smallest_is_promised_at_most():
    """D_ij = min(e_i, e_j, 2 e_(1))."""
    e = np.array([0.5, 3.0, 0.8, 2.0])
    wanted = np.minimum(np.minimum(e[:, None], e), 1.0)
    np.fill_diagonal(wanted, 0)
    assert value_budgets(e, rule="min").closed == pytest.approx(wanted)


def test_values_at_distance_zero_have_one_row():
    """They share a node, whoever asks."""
    made = ratios(np.array([[0, 0, 2.0], [0, 0, 2.0], [2.0, 2.0, 0]]))
    assert made.places.tolist() == [0, 0, 1]
    assert made.raised(np.array([[1.0], [2.0], [2.0]])).ravel().tolist() == [2, 2, 2]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: ratios(np.array([[0, -1.0], [1, 0]])), "log-ratios must be 0 or more .* got .*-1.0.* values 0 and 1"),
        (lambda: ratios(np.array([[0, np.nan], [1, 0]])), "log-ratios must be 0 or more"),
        (lambda: ratios(np.zeros((2, 3))), "square"),
        (lambda: ratios(np.array([[0, 0, 1.0], [1, 0, 0], [0, 1, 0]])), "cycle of zero log-ratios"),
        (lambda: pure(1, 1.0), "at least two"),
        (lambda: pure(3, 0.0), "epsilon must be positive"),
        (lambda: line(np.array([1.0, 0.0]), 1.0), "nowhere decrease"),
        (lambda: line(np.array([1.0, 1.0]), 1.0), "two different values"),
        (lambda: line(np.array([0.0, 1.0]), 2000.0), "add up to at most 700"),
        (lambda: circle(np.arange(3), 0, 1.0), "period must be positive"),
        (lambda: value_budgets([1.0, 0.0]), "epsilons of values"),
        (lambda: value_budgets([1.0, 2.0], rule="most"), "rule must be"),  # pyright: ignore[reportArgumentType] -- a wrong one
        (lambda: blocks(["a"], 1.0, 2.0), "at least two values"),
        (lambda: blocks(["a", "b"], 1.0, -2.0), "across must be positive"),
        (lambda: sensitive(np.ones(3, dtype=bool), 1.0), "some values must be sensitive and some not"),
        (lambda: sensitive(np.zeros(3, dtype=bool), 1.0), "some values must be sensitive and some not"),
        (lambda: pure(3, 1.0).raised(np.ones(3)), "an entry for each of 3 values"),
    ],
)
def test_what_makes_no_sense_is_refused(wrong, words):
    """One line each: requirement, value, cure."""
    with pytest.raises(InputError, match=words):
        wrong()
