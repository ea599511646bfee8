"""The information programs over given patterns, by general solvers, and private tables drawn at random."""

import itertools

import cvxpy as cp
import numpy as np
from optldp.solvers import InformationProgram
from optldp.solvers.linear_program import LinearProgram, solve_linear_program
from scipy import sparse


def all_patterns(size):
    """Marks (n, 2^n)."""
    return np.array(list(itertools.product([0.0, 1.0], repeat=size))).T


def all_intervals(size):
    """Marks (n, n (n + 1) / 2 + 1), the empty interval among them."""
    pairs = [(0, 0), *itertools.combinations(range(size + 1), 2)]
    return np.array([[1.0 if a <= i < b else 0.0 for a, b in pairs] for i in range(size)])


def highs_information(prior, ratio, marks):
    """The linear program over these patterns by HiGHS; its values are those of the definition."""
    patterns = 1 + (ratio - 1) * marks
    means = prior @ patterns
    values = prior @ (patterns * np.log(patterns / means))
    ones, count = np.ones(len(prior)), marks.shape[1]
    made = LinearProgram(-values, sparse.csc_array(patterns), ones, ones, np.zeros(count), np.full(count, np.inf))
    return -solve_linear_program(made).objective


def cvxpy_trace(prior, ratio, marks, importance):
    """The least tr(C M^-1) - p^T C p over these patterns, as a semidefinite program."""
    patterns = 1 + (ratio - 1) * marks
    weights = cp.Variable(marks.shape[1], nonneg=True)
    information = (patterns / (prior @ patterns)) @ cp.diag(weights) @ patterns.T
    half = np.linalg.cholesky(importance)
    trace = sum(cp.matrix_frac(column, information) for column in half.T)
    problem = cp.Problem(cp.Minimize(trace), [patterns @ weights == 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value - prior @ importance @ prior


def random_private_table(rng, size, ratio, columns):
    """Columns within the ratio, rows summing to one: any columns, and a last one for what is missing."""
    table = np.exp(rng.uniform(0, np.log(ratio), (size, columns))) * rng.random(columns)
    table /= table.sum(1).max() * (1 + 1 / (ratio - 1)) * 1.01
    table = np.column_stack([table, 1 - table.sum(1)])
    assert (table.max(0) <= ratio * table.min(0) * (1 + 1e-12)).all()
    return table


def mutual_information(prior, table):
    """By its definition, for tables without zeros."""
    return float(np.sum(prior[:, None] * table * np.log(table / (prior @ table))))


def random_prior(rng, size):
    """Even to concentrated."""
    return rng.dirichlet(np.full(size, rng.choice([0.2, 1.0, 10.0])))


def program_of(seed, size, ratio):
    return InformationProgram(random_prior(np.random.default_rng(seed), size), ratio)
