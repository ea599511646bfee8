"""Linear queries answered best: against closed forms, all patterns weighed by another solver, and random tables."""

import math

import cvxpy as cp
import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers import Status
from optldp.solvers.frequency.frequency_program import Certificate, all_marks
from optldp.solvers.frequency.optimal_sets import solve_frequency
from optldp.solvers.frequency.workload import certified_workload_bound, merged_values, solve_workload, workload_cost

RNG = np.random.default_rng(7)

SKEWED = np.array([0.4, 0.25, 0.15, 0.1, 0.07, 0.03])

SINGULAR = np.array([[1.0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0], [0.5, 1, 2, 2, 1, 0]])


def weighed_over_all_patterns(prior, ratio, queries):
    """The least cost by Clarabel, of weights of every pattern there is."""
    patterns = 1 + (ratio - 1) * np.hstack(list(all_marks(prior.size)))
    weights = cp.Variable(patterns.shape[1], nonneg=True)
    information = (patterns / (prior @ patterns)) @ cp.diag(weights) @ patterns.T
    cost = cp.sum([cp.matrix_frac(query, information) for query in queries])
    problem = cp.Problem(cp.Minimize(cost), [patterns @ weights == 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value - (queries**2).sum(0) @ prior


def private_tables(size, ratio, many):
    """Tables of random patterns, each beside its complement, so that rows sum to one."""
    for _ in range(many):
        marks = RNG.random((size, 3 * size)) < 0.4
        patterns = np.where(np.hstack([marks, ~marks]), ratio, 1.0)
        weights = np.tile(RNG.dirichlet(np.ones(3 * size)), 2)
        yield patterns * weights / (1 + ratio)


@pytest.mark.parametrize("queries", [np.tri(6), np.eye(6), SINGULAR], ids=["prefix", "histogram", "singular"])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_it_is_the_optimum_of_another_solver_over_all_patterns(queries, epsilon):
    ratio = math.exp(epsilon)
    found = solve_workload(SKEWED, ratio, queries, tolerance=2e-3)
    known = weighed_over_all_patterns(SKEWED, ratio, queries)
    assert found.status == Status.OPTIMAL
    assert found.bound <= known * (1 + 1e-6)
    assert known <= found.value * (1 + 1e-6) <= known * (1 + 3e-3)


@pytest.mark.parametrize("prior", [np.full(12, 1 / 12), RNG.dirichlet(np.ones(40))], ids=["even", "random"])
def test_one_cut_is_answered_by_randomised_response(prior):
    """E / (E - 1)^2 whatever the prior: values that all queries treat alike are one."""
    cut = np.r_[np.ones(5), np.zeros(prior.size - 5)][None]
    found = solve_workload(prior, math.e, cut, tolerance=1e-4)
    assert found.value == pytest.approx(math.e / (math.e - 1) ** 2, rel=1e-5)
    assert found.solution.shape == (prior.size, 2)


def test_a_histogram_is_the_frequency_program_without_sampling():
    mine, theirs = solve_workload(SKEWED, 3.0, np.eye(6)), solve_frequency(SKEWED, 3.0)
    assert mine.value == pytest.approx(theirs.value - (1 - SKEWED @ SKEWED), rel=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("queries", [np.tri(20), np.kron(np.eye(4), np.ones((1, 5)))], ids=["prefix", "classes"])
def test_no_private_table_is_below_the_bound(queries):
    prior = RNG.dirichlet(np.ones(20))
    found = solve_workload(prior, 3.0, queries)
    assert (found.solution.max(1) > 0).all()
    assert found.solution.sum(1) == pytest.approx(1, abs=1e-12)
    assert (found.solution.max(0) <= 3.0 * found.solution.min(0) * (1 + 1e-9)).all()
    assert found.value == pytest.approx(workload_cost(prior, found.solution, queries), rel=1e-9)
    assert all(workload_cost(prior, table, queries) > found.bound for table in private_tables(20, 3.0, 20))


@pytest.mark.parametrize("size", [6, 20])
def test_any_certificate_proves_no_more_than_is_true(size):
    """Forged numbers: a random root, multipliers and diagonal of any sign."""
    prior, queries = RNG.dirichlet(np.ones(size)), RNG.normal(size=(3, size))
    least = min(workload_cost(prior, table, queries) for table in private_tables(size, 2.0, 30))
    for _ in range(30):
        half = RNG.normal(size=(size, size))
        root = half @ half.T
        nothing = np.zeros((0, size)), np.zeros(0), np.zeros(0)
        forged = Certificate(root, RNG.normal(size=size), RNG.normal(size=size), *nothing)
        order = merged_values(prior, queries)[0]
        assert order.size == size
        assert certified_workload_bound(prior, 2.0, queries, forged) <= least


def test_a_table_that_tells_nothing_of_a_query_has_no_cost():
    assert workload_cost([0.5, 0.5], np.full((2, 2), 0.5), [[1, 0]]) == math.inf
    halves = np.array([[0.75, 0.25]] * 2 + [[0.25, 0.75]] * 2)
    prior = np.full(4, 0.25)
    assert workload_cost(prior, halves, [[1, 1, 0, 0]]) == pytest.approx(3 / 4)
    assert workload_cost(prior, halves, [[1, 0, 0, 0]]) == math.inf


@pytest.mark.parametrize(
    ("queries", "says"),
    [
        (np.ones((2, 6)), "must tell values apart"),
        (np.ones((2, 5)), "a column for each of 6 values"),
        (np.full((1, 6), np.nan), "must be finite"),
        (np.ones(6), "a column for each of 6 values"),
    ],
)
def test_queries_that_are_none_are_refused(queries, says):
    with pytest.raises(InputError, match=says):
        solve_workload(SKEWED, 3.0, queries)
