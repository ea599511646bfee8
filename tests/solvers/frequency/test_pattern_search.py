"""The search of patterns finds what looking at all of them finds, and dense queries are proved by it."""

import math

import numpy as np
import pytest
from optldp.solvers import FrequencyProgram
from optldp.solvers.frequency import pattern_search
from optldp.solvers.frequency.frequency_program import enumerated_violation
from optldp.solvers.frequency.pattern_search import searched_violation
from optldp.solvers.frequency.tightening import without_terms
from optldp.solvers.frequency.workload import solve_workload


@pytest.mark.parametrize("ratio", [1.5, math.e, 150.0])
def test_it_is_the_largest_violation_of_all_patterns(ratio):
    """W of low and of full rank, multipliers too small and nearly large enough."""
    rng = np.random.default_rng(3)
    for rank, share in ((2, 0.5), (9, 0.98)):
        numbers, prior = rng.standard_normal((9, rank)), rng.dirichlet(np.ones(9))
        squared, program = numbers @ numbers.T, FrequencyProgram(prior, ratio)
        even = without_terms(squared, np.zeros(9))
        multipliers = prior * enumerated_violation(program, squared, even) * share
        known = enumerated_violation(program, squared, without_terms(squared, multipliers))
        found = searched_violation(prior, ratio, squared, multipliers)
        assert known > 0
        assert known * (1 - 1e-12) <= found <= known * (1 + 1e-7)  # rounding is allowed for upwards alone


def test_what_would_take_too_long_proves_nothing(monkeypatch):
    monkeypatch.setattr(pattern_search, "MOST_NODES", 10)
    assert searched_violation(np.full(9, 1 / 9), 3.0, np.eye(9), np.full(9, 0.01)) == math.inf


@pytest.mark.parametrize(
    "epsilon", [pytest.param(1.0, marks=pytest.mark.nightly), pytest.param(5.0, marks=pytest.mark.slow)]
)
def test_dense_queries_are_answered_within_a_hundredth(epsilon):
    """A relaxation alone leaves several hundredths at epsilon 1, and proves nothing at 5."""
    queries = np.random.default_rng(1).standard_normal((4, 24))
    found = solve_workload(np.full(24, 1 / 24), math.exp(epsilon), queries)
    assert 0.99 * found.value <= found.bound <= found.value
