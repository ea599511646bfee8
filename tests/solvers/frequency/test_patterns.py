"""Patterns to start from and to add, against brute force; and the weights that given patterns deserve."""

import math

import numpy as np
import pytest
from optldp.solvers import FrequencyProgram
from optldp.solvers.frequency import weights as frequency_weights
from optldp.solvers.frequency.frequency_program import all_marks
from optldp.solvers.frequency.patterns import (
    climb,
    climb_from,
    cyclic_family,
    enumerate_best,
    slack_marks,
    starting_marks,
)
from optldp.solvers.frequency.weights import polished, weigh_patterns


def random_problem(size, seed):
    """A program, with a W and multipliers as they occur."""
    rng = np.random.default_rng(seed)
    program = FrequencyProgram(rng.dirichlet(np.ones(size)), 3.0)
    root = np.linalg.inv(program.information(program.patterns((rng.random((size, 3 * size)) < 0.3).astype(float))))
    return program, root @ root, rng.random(size) * np.trace(root @ root) / size, rng


def gains_of(program, squared, multipliers, marks):
    s = program.patterns(marks)
    return np.array([c @ squared @ c / (program.prior @ c) - multipliers @ c for c in s.T])


def test_enumeration_finds_the_best_of_all_in_order():
    """Against all gains, sorted."""
    program, squared, multipliers, _ = random_problem(8, 1)
    marks, gains = enumerate_best(program, squared, multipliers, 10)
    every = gains_of(program, squared, multipliers, np.hstack(list(all_marks(8))))
    np.testing.assert_allclose(gains, np.sort(every)[::-1][:10], rtol=1e-9)
    np.testing.assert_allclose(gains, gains_of(program, squared, multipliers, marks), rtol=1e-9)


def test_ascents_end_where_no_single_change_gains():
    """Gains are those of the marks returned, and every neighbour is no better."""
    program, squared, multipliers, rng = random_problem(9, 2)
    marks, gains = climb(program, squared, multipliers, (rng.random((9, 20)) < 0.5).astype(float))
    np.testing.assert_allclose(gains, gains_of(program, squared, multipliers, marks), rtol=1e-8)
    for mark, gain in zip(marks.T, gains, strict=True):
        near = np.abs(mark[:, None] - np.eye(9))
        assert gains_of(program, squared, multipliers, near).max() <= gain + 1e-9 * abs(gain)


def test_ascents_from_many_starts_find_the_best_of_all():
    """Nine categories: the enumerated best is among them, best first, none twice."""
    program, squared, multipliers, rng = random_problem(9, 3)
    present = slack_marks(9), np.full(10, 0.1)
    marks, gains = climb_from(program, squared, multipliers, present, 40, rng)
    _, best = enumerate_best(program, squared, multipliers, 1)
    assert gains[0] == pytest.approx(best[0], rel=1e-9)
    assert (np.diff(gains) <= 0).all()
    assert len(np.unique(marks, axis=1).T) == marks.shape[1]


@pytest.mark.parametrize(("size", "marked"), [(7, 3), (12, 1), (30, 8), (31, 30)])
def test_families_are_cyclic_and_nearly_balanced(size, marked):
    """Each category is marked alike, each set has its size, and eigenvalues beside the first spread little."""
    family = cyclic_family(size, marked, 4, np.random.default_rng(7))
    assert family.shape == (size, 4 * size)
    assert (family.sum(0) == marked).all()
    assert (family.sum(1) == 4 * marked).all()
    values = np.linalg.eigvalsh(family @ family.T)[:-1]
    assert (1 / values).mean() * values.mean() < 1.03


def test_starts_hold_the_slack():
    """The all-1 pattern and the single marks, without which weights might not exist."""
    program = FrequencyProgram(np.full(9, 1 / 9), math.e)
    marks = starting_marks(program, np.random.default_rng(8))
    assert {tuple(column) for column in slack_marks(9).T} <= {tuple(column) for column in marks.T}


@pytest.mark.parametrize("epsilon", [0.05, 1.0, 5.0])
def test_a_dozen_steps_satisfy_the_conditions_of_optimality(epsilon, monkeypatch):
    """Rows sum to one, no present pattern gains, those of weight break even, and H is the inverse information."""
    monkeypatch.setattr(frequency_weights, "MAX_STEPS", 14)
    rng = np.random.default_rng(9)
    program = FrequencyProgram(rng.dirichlet(np.ones(7)), math.exp(epsilon))
    marks = np.hstack([slack_marks(7), (rng.random((7, 40)) < 0.4).astype(float)])
    s = program.patterns(marks)
    found = weigh_patterns(program, s, tolerance=1e-9)
    trace = np.trace(found.root)
    assert found.weights.min() > 0
    np.testing.assert_allclose(s @ found.weights, 1, atol=1e-9)
    np.testing.assert_allclose(found.root @ program.information(s * found.weights), np.eye(7), atol=1e-8)
    gains = gains_of(program, found.root @ found.root, found.multipliers, marks)
    assert gains.max() < 1e-6 * trace
    assert np.abs(gains * found.weights).max() < 1e-7 * trace


def test_polishing_changes_weights_by_no_more_than_it_must():
    """Row sums off by a millionth are right to rounding afterwards; weights move by about a millionth."""
    rng = np.random.default_rng(10)
    program = FrequencyProgram(np.full(6, 1 / 6), 4.0)
    s = program.patterns(np.hstack([slack_marks(6), (rng.random((6, 20)) < 0.4).astype(float)]))
    exact = weigh_patterns(program, s, tolerance=1e-8).weights
    made = polished(s, exact * (1 + 1e-6 * rng.normal(size=exact.size)))
    np.testing.assert_allclose(s @ made, 1, atol=1e-14)
    np.testing.assert_allclose(made, exact, rtol=1e-5)
