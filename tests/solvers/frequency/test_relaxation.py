"""The relaxation against a semidefinite program, and its group terms against what patterns can do."""

import math

import cvxpy as cp
import numpy as np
import pytest
from optldp.mechanisms import SolverError
from optldp.solvers import FrequencyProgram
from optldp.solvers.frequency.relaxation import Relaxation
from optldp.solvers.frequency.terms import violated_terms


def semidefinite_trace(program, groups, levels):
    """Least tr M^-1 over relaxed moments: M pi = 1, diagonals of marks, and the group terms' signs."""
    size, E = program.size, program.ratio
    Y = cp.Variable((size + 1, size + 1), PSD=True)
    M, v, w = Y[:size, :size], Y[:size, size], Y[size, size]
    constraints = [program.prior @ M == 1, cp.diag(M) == (E + 1) * v - E * w]
    for group, level in zip(groups, levels, strict=True):
        n = group.sum()
        first = (group @ v - n * w) / (E - 1)
        second = (group @ M @ group - 2 * n * (group @ v) + n * n * w) / (E - 1) ** 2
        constraints.append(second - (2 * level + 1) * first + level * (level + 1) * w >= 0)
    trace = sum(cp.matrix_frac(column, M) for column in np.eye(size))
    problem = cp.Problem(cp.Minimize(trace), constraints)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("terms", [0, 6])
def test_newton_finds_the_semidefinite_optimum(epsilon, terms):
    """Strong duality: the concave programme's best bound is the relaxed table's least trace."""
    rng = np.random.default_rng(4)
    program = FrequencyProgram(rng.dirichlet(np.ones(6)), math.exp(epsilon))
    groups = (rng.random((terms, 6)) < 0.6).astype(float)
    levels = rng.integers(0, 3, terms).astype(float)
    relaxation = Relaxation(program, groups, levels)
    state = relaxation.solve(1e-8)
    assert relaxation.bound(state) == pytest.approx(semidefinite_trace(program, groups, levels), rel=1e-5)


def test_moments_are_those_of_the_dual_table():
    """They satisfy what a table's moments satisfy: a mark's second moment is its mean, and rows sum to one."""
    program = FrequencyProgram(np.array([0.4, 0.3, 0.2, 0.1]), math.e)
    relaxation = Relaxation(program, np.zeros((0, 4)), np.zeros(0))
    state = relaxation.solve(1e-9)
    mean, second = relaxation.moments(state)
    np.testing.assert_allclose(np.diag(second), mean, rtol=1e-4)
    inverse = np.linalg.inv(state.root)
    np.testing.assert_allclose(inverse @ program.prior, 1, rtol=1e-4)


def test_a_ratio_too_large_for_doubles_is_an_error():
    """Zeros in the prior and e^epsilon near 1e7 leave no starting point."""
    program = FrequencyProgram(np.append(1.0, np.zeros(24)), math.exp(16))
    with pytest.raises(SolverError, match="no starting point"):
        Relaxation(program, np.zeros((0, 25)), np.zeros(0)).solve(1e-4)


def test_terms_found_are_violated_and_those_of_real_tables_are_none():
    """Random marks, weighted, have moments that no term cuts off; negative correlations beyond theirs are cut off."""
    rng = np.random.default_rng(5)
    marks = (rng.random((9, 200)) < 0.3).astype(float)
    weights = rng.dirichlet(np.ones(200))
    mean, second = marks @ weights, (marks * weights) @ marks.T
    assert len(violated_terms(mean, second, 50, rng)[1]) == 0
    shrunk = np.diag(mean) + 0.3 * (second - np.diag(mean)) - 0.02 * (1 - np.eye(9))
    groups, levels = violated_terms(mean, shrunk, 50, rng)
    assert len(levels) > 0
    values = (
        np.einsum("gx,xy,gy->g", groups, shrunk, groups) - (2 * levels + 1) * (groups @ mean) + levels * (levels + 1)
    )
    assert values.max() < 0
    assert len(np.unique(np.column_stack([groups, levels]), axis=0)) == len(levels)


def test_large_groups_are_found_at_the_level_that_cuts():
    """Five of a kind, two and a half marked on average without spread: no mixture of two and three has that."""
    mean = np.full(5, 0.5)
    second = np.full((5, 5), (2.5**2 - 2.5) / 20)
    np.fill_diagonal(second, 0.5)
    groups, levels = violated_terms(mean, second, 1, np.random.default_rng(6))
    assert groups.tolist() == [[1.0] * 5]
    assert levels.tolist() == [2.0]
