"""Exchanges of patterns against brute force over what a visit may change, and against closed forms of the optimum."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
from optldp.solvers import FrequencyProgram
from optldp.solvers.frequency import exchange as frequency_exchange
from optldp.solvers.frequency.exchange import Exchange
from scipy.optimize import minimize_scalar


def random_table(seed, size=7, columns=60, importance=False):
    """A table on its way, with multipliers of the right size."""
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(size, size))
    weighing = square @ square.T + np.eye(size) if importance else None
    program = FrequencyProgram(rng.dirichlet(np.ones(size)), math.e, weighing)
    marks = (rng.random((size, columns)) < 0.35).astype(float)
    weights = rng.random(columns) / columns
    weights *= size / np.sum(program.patterns(marks) @ weights)
    trace = program.trace_inverse(program.patterns(marks) * weights)
    return Exchange(program, trace * rng.dirichlet(np.ones(size)), marks, weights), rng


def lagrangian(table, charges, marks, weights):
    """tr(C M^-1) + charges . M pi of any table."""
    columns = table.program.patterns(marks[:, weights > 0]) * weights[weights > 0]
    return table.program.trace_inverse(columns) + charges @ columns.sum(1)


@pytest.mark.parametrize("importance", [False, True])
@pytest.mark.parametrize("weightless", [False, True])
def test_a_visit_makes_the_best_single_change_with_its_best_weight(monkeypatch, importance, weightless):
    """Against a scalar minimiser for each of the patterns that a visit of one change can lead to."""
    monkeypatch.setattr(frequency_exchange, "FLIPS", 1)
    table, rng = random_table(3, importance=importance)
    chosen = int(rng.integers(60))
    if weightless:
        table.weights[chosen] = 0
        table._restart()
    charges, marks, weights = table.charges, table.marks.copy(), table.weights.copy()
    visited = np.zeros(1, dtype=int) + chosen
    table._visit(visited)

    def least(candidate):
        def value(weight):
            tried, heavy = marks.copy(), weights.copy()
            tried[:, chosen], heavy[chosen] = candidate, weight
            return lagrangian(table, charges, tried, heavy)

        found: Any = minimize_scalar(value, bounds=(0, 2), method="bounded", options={"xatol": 1e-12})
        return min(found.fun, value(0.0)), found.x

    near = [marks[:, chosen], *np.abs(marks[:, chosen] - np.eye(7))]
    values = [least(candidate) for candidate in near]
    best = min(value for value, _ in values)
    reached = lagrangian(table, charges, table.marks, table.weights)
    assert reached == pytest.approx(best, rel=1e-10)
    assert reached < lagrangian(table, charges, marks, weights)
    if table.weights[chosen] > 0:
        assert table.weights[chosen] == pytest.approx(min(values)[1], rel=1e-4)
    np.testing.assert_array_equal(np.delete(table.marks, chosen, 1), np.delete(marks, chosen, 1))
    np.testing.assert_array_equal(np.delete(table.weights, chosen), np.delete(weights, chosen))


def test_patterns_of_a_block_are_taken_out_each_by_itself():
    """Five at a time: each becomes what it becomes when it is visited alone."""
    chosen = np.array([3, 17, 20, 41, 59])
    together, _ = random_table(4)
    together._visit(chosen)
    for column in chosen:
        alone, _ = random_table(4)
        alone._visit(np.array([column]))
        np.testing.assert_array_equal(together.marks[:, column], alone.marks[:, column])
        assert together.weights[column] == pytest.approx(alone.weights[column], rel=1e-9)


def test_what_is_kept_up_to_date_is_what_the_patterns_say():
    """After visits M, its inverse, and W are those formed from marks and weights."""
    table, _ = random_table(5, importance=True)
    for column in range(20):
        table._visit(np.array([column]))
    columns = table.program.patterns(table.marks[:, table.weights > 0]) * table.weights[table.weights > 0]
    inverse = np.linalg.inv(table.program.information(columns))
    np.testing.assert_allclose(table.inverse, inverse, rtol=1e-8, atol=1e-10)
    importance = table.program.importance
    assert importance is not None
    np.testing.assert_allclose(table.squared, inverse @ importance @ inverse, rtol=1e-8, atol=1e-10)


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "marked", "epsilon"), [(8, 2, 1.0), (9, 3, 0.7), (6, 1, 3.0)])
def test_sweeps_end_in_subset_selection_for_a_uniform_prior(size, marked, epsilon):
    """From random sets and wrong multipliers: all sets have Ye and Barg's size, rows sum to one, the error theirs."""
    rng = np.random.default_rng(6)
    ratio = math.exp(epsilon)
    program = FrequencyProgram(np.full(size, 1 / size), ratio)
    marks = (rng.random((size, 40 * size)) < 0.3).astype(np.float64)
    table = Exchange(program, np.full(size, 2.0), marks, np.full(40 * size, 1e-3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(60):
            table.sweep(rng)
    assert (table.marks.sum(0)[table.weights > 0] == marked).all()
    np.testing.assert_allclose(table.information @ program.prior, 1, atol=1e-3)
    mean = 1 + (ratio - 1) * marked / size
    diagonal = ((ratio**2 - 1) * marked / size + 1) / mean**2
    expected = 1 / size + (size - 1) ** 2 / (size * diagonal - size)
    assert np.trace(table.inverse) == pytest.approx(expected, rel=2e-3)


def test_patterns_that_are_added_have_no_weight_until_they_are_visited():
    """M stays what it was; a sweep gives weight where it helps."""
    table, rng = random_table(7)
    before = table.information.copy()
    table.add(np.eye(7))
    table._restart()
    np.testing.assert_allclose(table.information, before, atol=1e-12)
    assert (table.weights[60:] == 0).all()
    table.sweep(rng)
    assert (table.weights[60:] > 0).any()


def test_too_few_patterns_are_an_error():
    """Two sets tell three categories apart by no estimator."""
    program = FrequencyProgram(np.full(3, 1 / 3), 3.0)
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        Exchange(program, np.ones(3), np.array([[1.0, 1], [0, 1], [0, 1]]), np.ones(2))
