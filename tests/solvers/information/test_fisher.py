"""The trace of the inverse Fisher information: against numerical inverses, cvxpy, and random tables."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import FrequencyProgram, Status, certified_frequency_bound, solve_frequency, solve_interval_fisher
from optldp.solvers.frequency.frequency_program import Certificate
from optldp.solvers.information.fisher import certified_interval_error, cumulative_importance, interval_quadratics

from ..information_oracle import all_intervals, all_patterns, cvxpy_trace, random_prior, random_private_table

SEEDS = st.integers(0, 2**32 - 1)


def importances(size, rng):
    half = rng.normal(size=(size, size))
    return [None, cumulative_importance(np.linspace(0, 1, size)), half @ half.T + np.eye(size)]


@pytest.mark.slow
@given(st.integers(2, 8), st.floats(0.3, 4.0), SEEDS)
def test_the_trace_is_that_of_the_inverse_information_on_the_simplex(size, epsilon, seed):
    """The information of n - 1 free frequencies, inverted numerically, and mapped back to all n."""
    rng = np.random.default_rng(seed)
    prior = random_prior(rng, size)
    table = random_private_table(rng, size, math.exp(epsilon), 3 * size)
    tangent = np.vstack([np.eye(size - 1), -np.ones(size - 1)])
    reduced = tangent.T @ (table / (prior @ table)) @ table.T @ tangent
    covariance = tangent @ np.linalg.inv(reduced) @ tangent.T
    for importance in importances(size, rng):
        weighing = np.eye(size) if importance is None else importance
        expected = np.trace(weighing @ covariance)
        assert FrequencyProgram(prior, math.e, importance).error(table) == pytest.approx(expected, rel=1e-6)


def test_cumulative_importance_is_the_squared_distance_of_distribution_functions():
    knots, rng = np.array([0.0, 1.0, 1.5, 4.0]), np.random.default_rng(1)
    change = rng.normal(size=4)
    change -= change.mean()
    expected = np.cumsum(change)[:-1] ** 2 @ np.diff(knots)
    assert change @ cumulative_importance(knots) @ change == pytest.approx(expected, rel=1e-12)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.5])
@pytest.mark.parametrize("size", [2, 4, 6])
@pytest.mark.parametrize("which", [0, 1, 2])
def test_the_optimum_over_intervals_is_cvxpy_s(size, epsilon, which):
    rng = np.random.default_rng(size)
    prior, importance = rng.dirichlet(np.ones(size)), importances(size, rng)[which]
    found = solve_interval_fisher(prior, math.exp(epsilon), importance=importance)
    weighing = np.eye(size) if importance is None else importance
    expected = cvxpy_trace(prior, math.exp(epsilon), all_intervals(size), weighing)
    assert found.value == pytest.approx(expected, rel=2e-5)
    assert found.bound == pytest.approx(expected, rel=2e-5)
    assert found.bound <= found.value
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
@pytest.mark.parametrize("which", [1, 2])
def test_an_importance_is_heeded_over_all_patterns_too(epsilon, which):
    """`solve_frequency` with an importance, beside cvxpy; its certificate needs the same importance."""
    rng = np.random.default_rng(4)
    prior, importance = rng.dirichlet(np.ones(5)), importances(5, rng)[which]
    ratio = math.exp(epsilon)
    found = solve_frequency(prior, ratio, importance=importance, tolerance=1e-5)
    expected = cvxpy_trace(prior, ratio, all_patterns(5), importance)
    assert found.value == pytest.approx(expected, rel=2e-5)
    assert found.bound == pytest.approx(expected, rel=2e-5)
    assert found.bound == certified_frequency_bound(prior, ratio, found.multipliers["certificate"], importance)


@pytest.mark.slow
@settings(max_examples=40)
@given(st.integers(2, 6), st.floats(0.3, 4.0), SEEDS)
def test_random_certificates_never_promise_more_than_tables_give(size, epsilon, seed):
    """Over intervals and over all patterns, by enumeration and by relaxation, with and without an importance."""
    rng = np.random.default_rng(seed)
    prior, ratio = random_prior(rng, size), math.exp(epsilon)
    root, multipliers = rng.normal(size=(size, size)) / size + np.eye(size), rng.normal(1, 1, size)
    nothing = np.zeros(size), np.zeros((0, size)), np.zeros(0), np.zeros(0)
    table = random_private_table(rng, size, ratio, 3 * size)
    for importance in importances(size, rng):
        best = solve_interval_fisher(prior, ratio, importance=importance, tolerance=1e-4)
        bound = certified_interval_error(prior, ratio, root, multipliers, importance)
        assert bound <= best.value * (1 + 1e-9)
        certificate = Certificate(root, multipliers, *nothing)
        error = FrequencyProgram(prior, ratio, importance).error(table)
        for most in (size, 0):
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("optldp.solvers.frequency.frequency_program.MOST_ENUMERATED", most)
                assert certified_frequency_bound(prior, ratio, certificate, importance) <= error * (1 + 1e-9)


@pytest.mark.nightly
def test_the_relaxation_with_an_importance_agrees_with_enumeration():
    """Ten knots both ways: the relaxation proves nearly as much, and no more."""
    prior, importance = np.full(10, 0.1), cumulative_importance(np.linspace(0, 1, 10))
    exact = solve_frequency(prior, math.e, importance=importance, tolerance=1e-4)
    with pytest.MonkeyPatch.context() as patch:
        for module in ("frequency_program", "optimal_sets"):
            patch.setattr(f"optldp.solvers.frequency.{module}.MOST_ENUMERATED", 0)
        relaxed = solve_frequency(prior, math.e, importance=importance, tolerance=1e-4)
    assert relaxed.bound <= exact.value
    assert relaxed.value >= exact.bound
    assert relaxed.bound == pytest.approx(exact.bound, rel=0.05)
    assert relaxed.value == pytest.approx(exact.value, rel=2e-3)


def test_quadratics_of_intervals_are_their_definition():
    rng = np.random.default_rng(2)
    half = rng.normal(size=(6, 6))
    W, ratio = half @ half.T, 3.0
    found = interval_quadratics(W, ratio)
    for a in range(7):
        for b in range(a, 7):
            c = np.ones(6)
            c[a:b] = ratio
            assert found[a, b] == pytest.approx(c @ W @ c, rel=1e-10)


@settings(max_examples=20)
@given(st.integers(2, 12), st.floats(0.2, 5.0), SEEDS)
def test_tables_keep_the_ratio_and_the_rows(size, epsilon, seed):
    prior, ratio = random_prior(np.random.default_rng(seed), size), math.exp(epsilon)
    found = solve_interval_fisher(prior, ratio)
    P = found.solution
    assert (P.max(0) / P.min(0)).max() <= ratio * (1 + 1e-12)
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-12)
    assert found.bound <= found.value
    assert found.gap <= 1e-6


def test_progress_is_told_after_each_round():
    """The bound never falls; both end at what is returned, but for the intervals left out of the table."""
    seen = []
    found = solve_interval_fisher(np.arange(1, 10) / 45, math.e, progress=seen.append)
    assert [one.step for one in seen] == list(range(1, found.steps + 1))
    assert len(seen) > 1
    assert (np.diff([one.bound for one in seen]) >= 0).all()
    assert seen[-1].bound == pytest.approx(found.bound, rel=1e-9)
    assert seen[-1].value == pytest.approx(found.value, rel=1e-6)


def test_what_makes_no_sense_is_refused():
    for tolerance in (0.0, 1.0, math.nan):
        with pytest.raises(InputError, match="strictly between 0 and 1"):
            solve_interval_fisher([0.5, 0.5], 2.0, tolerance=tolerance)
    with pytest.raises(InputError, match="symmetric"):
        FrequencyProgram(np.array([0.5, 0.5]), 2.0, np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(InputError, match="positive definite"):
        FrequencyProgram(np.array([0.5, 0.5]), 2.0, np.diag([1.0, 0.0]))
    with pytest.raises(InputError, match="of 2 knots"):
        certified_interval_error([0.5, 0.5], 2.0, np.eye(3), np.ones(2))
