"""From many outputs to at most 2n: nothing is lost but the outputs."""

import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import UnbiasedProgram
from optldp.solvers.unbiased.interior_point import Iterate, newton_step
from optldp.solvers.unbiased.sparse_support import sparse_mechanism
from optldp.solvers.unbiased.starting_point import starting_outputs, starting_point
from optldp.solvers.unbiased.window_rows import stretched_rows


def interior(program: UnbiasedProgram, outputs_per_knot: int = 5, gap: float = 1e-7) -> Iterate:
    """A nearly optimal interior point on many more outputs than a basis has."""
    it = starting_point(program, starting_outputs(program, outputs_per_knot * len(program.knots) + 10))
    while it.complementarity > gap * abs(it.dual_objective):
        it = newton_step(program, it)
    return it


@pytest.mark.parametrize("seed", range(15))
def test_a_basic_mechanism_has_at_most_2n_outputs_and_costs_no_more(random_program, seed):
    program = random_program(seed)
    it = interior(program)
    outputs, P = sparse_mechanism(program, it.outputs, it.t)
    assert len(outputs) <= 2 * len(program.knots) < len(it.outputs)
    dense = program.objective(*stretched_rows(program, it.outputs, it.t))
    assert program.objective(outputs, P) <= dense * (1 + 1e-7)
    assert dense <= program.objective(it.outputs, it.probabilities) * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_a_basic_mechanism_is_feasible(random_program, seed):
    program = random_program(seed)
    it = interior(program)
    outputs, P = sparse_mechanism(program, it.outputs, it.t)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-14)
    np.testing.assert_allclose(P @ outputs, program.knots, rtol=0, atol=1e-13 * np.abs(outputs).max())
    assert P.min() > 0
    assert np.all(P.max(0) <= program.ratio * P.min(0) * (1 + 1e-15))
    assert np.all(np.diff(outputs) > 0)


@pytest.mark.parametrize("epsilon", [9.0, 12.0, 15.0])
def test_large_budgets_are_cleaned_up_too(epsilon):
    """Floors are of size 1/E there: what counts as nothing must be measured by the probabilities, E times as large."""
    program = UnbiasedProgram(np.linspace(-1, 1, 7), np.arange(1, 8) / 28, float(np.exp(epsilon)))
    it = interior(program, gap=1e-5)
    outputs, P = sparse_mechanism(program, it.outputs, it.t)
    assert len(outputs) <= 14 < len(it.outputs)
    np.testing.assert_allclose(P.sum(1), 1, rtol=0, atol=1e-14)


def test_a_basic_mechanism_stays_as_it_is(random_program):
    """Its floor is cleaned up to the same outputs and cost."""
    program = random_program(2, knots=(6, 6))
    it = interior(program)
    outputs, P = sparse_mechanism(program, it.outputs, it.t)
    again, Q = sparse_mechanism(program, outputs, P.min(0))
    assert len(again) <= len(outputs)
    assert program.objective(again, Q) == pytest.approx(program.objective(outputs, P), rel=1e-6)


def test_a_clean_up_that_would_cost_more_is_not_used(random_program, monkeypatch):
    """Where a fall by half is demanded, the dense rows come back."""
    monkeypatch.setattr("optldp.solvers.unbiased.sparse_support.COST_SLACK", -0.5)
    program = random_program(2, knots=(6, 6))
    it = interior(program)
    dense = stretched_rows(program, it.outputs, it.t)
    for got, expected in zip(sparse_mechanism(program, it.outputs, it.t), dense, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_floor_without_rows_is_an_error(random_program):
    program = random_program(2)
    with pytest.raises(SolverError):
        sparse_mechanism(program, np.array([-0.5, 0.5]), np.array([0.4, 0.4]))
