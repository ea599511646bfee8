"""Few queries of many values: against all patterns weighed by another solver, and certificates forged."""

import math

import numpy as np
import pytest
from optldp.mechanisms import InputError
from optldp.solvers.cone import pure
from optldp.solvers.frequency.few_bound import FewCertificate, PointPrices, certified_few_bound
from optldp.solvers.frequency.few_queries import solve_few_queries
from optldp.solvers.frequency.frequency_program import all_marks
from optldp.solvers.frequency.workload import certified_workload_bound, solve_workload, workload_cost

from .test_workload import SKEWED, private_tables, weighed_over_all_patterns

RNG = np.random.default_rng(11)

PLACES = np.linspace(-1, 1, 6)

FEW = {
    "one": np.array([[0.0, 1.0, 1.5, 4.0, 4.2, 9.0]]),
    "moments": np.vstack([PLACES, PLACES**2]),
    "three": RNG.normal(size=(3, 6)),
    "four rows of rank two": RNG.normal(size=(4, 2)) @ RNG.normal(size=(2, 6)) + 3,
}


@pytest.mark.parametrize("queries", FEW.values(), ids=FEW)
@pytest.mark.parametrize("epsilon", [0.5, pytest.param(2.0, marks=pytest.mark.slow)])
def test_what_another_solver_finds_over_all_patterns_lies_between_value_and_bound(queries, epsilon):
    """With six values programs have many multipliers, and gaps close slowly: patterns are enumerated there."""
    found = solve_few_queries(SKEWED, math.exp(epsilon), queries, 1e-2)
    known = weighed_over_all_patterns(SKEWED, math.exp(epsilon), queries)
    assert found.bound <= known * (1 + 1e-6)
    assert known <= found.value * (1 + 1e-6) <= known * 1.02
    assert found.gap <= 0.1


@pytest.mark.nightly
@pytest.mark.parametrize(
    "queries",
    [np.vstack([np.linspace(-1, 1, 20), np.linspace(-1, 1, 20) ** 2]), RNG.normal(size=(3, 30))],
    ids=["moments", "dense"],
)
def test_singular_workloads_of_many_values_are_within_a_hundredth(queries):
    prior = np.full(queries.shape[1], 1 / queries.shape[1])
    found = solve_workload(prior, math.e, queries)
    assert found.gap <= 1e-2
    assert found.value == pytest.approx(workload_cost(prior, found.solution, queries), rel=1e-9)
    assert (found.solution.max(0) <= math.e * found.solution.min(0) * (1 + 1e-9)).all()
    assert found.solution.sum(1) == pytest.approx(1, abs=1e-12)
    assert found.bound == certified_workload_bound(prior, math.e, queries, found.multipliers["certificate"])


def test_no_column_gains_more_than_is_told():
    """Of all patterns; and the best of them gains nearly as much."""
    patterns = 1 + 2.0 * np.hstack(list(all_marks(6)))
    for _ in range(20):
        prices = PointPrices(pure(6, math.log(3)), SKEWED, RNG.normal(size=(6, 2)), RNG.random(6))
        each = (prices.numbers.T @ patterns) ** 2
        gains = (each.sum(0) / (SKEWED @ patterns) - prices.multipliers @ patterns) / (prices.weights @ patterns)
        told = prices.over_all(1e-3).gain
        assert gains.max() <= told <= gains.max() + 2e-3


@pytest.mark.parametrize("size", [6, 20])
def test_any_certificate_proves_no_more_than_is_true(size):
    """Forged numbers, of more queries than are priced too, and multipliers of any sign."""
    prior, queries = RNG.dirichlet(np.ones(size)), RNG.normal(size=(4, size))
    least = min(workload_cost(prior, table, queries) for table in private_tables(size, 2.0, 30))
    for scale in (0.1, 1.0, 10.0):
        forged = FewCertificate(scale * RNG.normal(size=(size, 4)), RNG.normal(size=size))
        assert certified_workload_bound(prior, 2.0, queries, forged) <= least


def test_a_certificate_that_is_no_better_than_nothing_proves_nothing():
    nothing = FewCertificate(np.zeros((6, 1)), np.ones(6))
    assert certified_few_bound(SKEWED, 2.0, FEW["one"], nothing) == 0


def test_a_certificate_of_other_queries_is_refused():
    forged = FewCertificate(np.zeros((6, 2)), np.ones(6))
    with pytest.raises(InputError, match=r"numbers must be finite numbers of shape \(6, 1\)"):
        certified_workload_bound(SKEWED, 2.0, FEW["one"], forged)
