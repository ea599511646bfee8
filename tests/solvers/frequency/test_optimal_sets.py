"""The table of least frequency error, against general solvers, closed forms and its own symmetries."""

import itertools
import math

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.mechanisms import InputError
from optldp.solvers import FrequencyProgram, Status, certified_frequency_bound, solve_frequency
from optldp.solvers.frequency import frequency_program as frequency_program
from optldp.solvers.frequency import optimal_sets as frequency_optimum


def subset_selection_error(size, ratio):
    """Ye and Barg's scheme at the best subset size d: M has all diagonals equal, and equal eigenvalues beside K at 1.

    With z = (K + (E - 1) d) / K the mean of a pattern, the diagonal is ((E^2 - 1) d / K + 1) / z^2.
    """
    d = np.arange(1, size)
    z = (size + (ratio - 1) * d) / size
    diagonal = ((ratio**2 - 1) * d / size + 1) / z**2
    return (1 / size + (size - 1) ** 2 / (size * diagonal - size)).min() - 1 / size


def cvxpy_error(prior, ratio):
    """The program over all patterns as a semidefinite program."""
    size = len(prior)
    s = np.array(list(itertools.product([1.0, ratio], repeat=size)))[:-1].T
    weights = cp.Variable(s.shape[1], nonneg=True)
    information = (s / (prior @ s)) @ cp.diag(weights) @ s.T
    trace = sum(cp.matrix_frac(column, information) for column in np.eye(size))
    problem = cp.Problem(cp.Minimize(trace), [s @ weights == 1])
    problem.solve(solver=cp.CLARABEL)
    return problem.value - prior @ prior


@pytest.mark.sampled(4)
@pytest.mark.parametrize("size", range(2, 7))
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.5])
def test_the_optimum_is_cvxpy_s(size, epsilon):
    """Random priors with all patterns given to Clarabel."""
    prior = np.random.default_rng(size).dirichlet(np.ones(size))
    found = solve_frequency(prior, math.exp(epsilon), tolerance=1e-5)
    expected = cvxpy_error(prior, math.exp(epsilon))
    assert found.value == pytest.approx(expected, rel=2e-5)
    assert found.bound == pytest.approx(expected, rel=2e-5)
    assert found.status is Status.OPTIMAL


@pytest.mark.parametrize("size", [2, 3, 6, 11, 16])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0, 4.0])
def test_a_uniform_prior_leads_to_subset_selection(size, epsilon):
    """Closed form, at the best whole subset size."""
    found = solve_frequency(np.full(size, 1 / size), math.exp(epsilon), tolerance=1e-4)
    expected = subset_selection_error(size, math.exp(epsilon))
    assert found.value == pytest.approx(expected, rel=1e-4)
    assert found.value >= expected * (1 - 1e-9)
    assert found.bound <= expected * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1.0, 4.0])
def test_subset_selection_lies_between_error_and_bound_of_many_categories(epsilon):
    """Thirty categories, where the certificate is the relaxation's and patterns come from ascents."""
    found = solve_frequency(np.full(30, 1 / 30), math.exp(epsilon))
    expected = subset_selection_error(30, math.exp(epsilon))
    assert found.bound * (1 - 1e-9) <= expected <= found.value * (1 + 1e-9)
    assert found.gap < 1e-3


@pytest.mark.nightly
def test_relaxation_and_ascents_agree_with_enumeration(monkeypatch):
    """The same ten categories both ways: neither the error nor the bound of the one crosses the other's."""
    prior = 1 / np.arange(1, 11)
    prior /= prior.sum()
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        exact = solve_frequency(prior, math.exp(epsilon), tolerance=1e-4)
        with monkeypatch.context() as patch:
            patch.setattr(frequency_optimum, "MOST_ENUMERATED", 0)
            patch.setattr(frequency_program, "MOST_ENUMERATED", 0)
            relaxed = solve_frequency(prior, math.exp(epsilon), tolerance=1e-4)
        assert relaxed.value >= exact.bound
        assert relaxed.bound <= exact.value
        assert relaxed.value == pytest.approx(exact.value, rel=1e-3)
        assert relaxed.bound == pytest.approx(exact.bound, rel=0.02)


@pytest.mark.nightly
def test_group_terms_close_what_pairs_leave_open():
    """Without terms the relaxation of GRR's territory proves nothing; with them it closes."""
    prior = 1 / np.arange(1, 25)
    found = solve_frequency(prior / prior.sum(), math.exp(4))
    assert found.gap < 1e-3
    assert len(found.multipliers["certificate"].levels) > 0


@pytest.mark.slow
@given(st.integers(2, 7), st.floats(0.2, 4.0), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_tables_keep_the_ratio_and_the_rows(size, epsilon, seed):
    """Columns take the values c and E c, rows sum to one, and evidence is recomputed."""
    rng = np.random.default_rng(seed)
    prior, ratio = rng.dirichlet(np.full(size, 0.5)), math.exp(epsilon)
    found = solve_frequency(prior, ratio)
    P = found.solution
    assert P.min() > 0
    assert (P.max(0) / P.min(0)).max() <= ratio * (1 + 4e-16)
    np.testing.assert_allclose(P.sum(1), 1, atol=1e-13)
    assert found.value == pytest.approx(FrequencyProgram(prior, ratio).error(P), rel=1e-12)
    assert found.bound == pytest.approx(
        certified_frequency_bound(prior, ratio, found.multipliers["certificate"]), rel=1e-12
    )
    assert found.bound <= found.value * (1 + 1e-9)
    assert found.gap <= 1e-3


@pytest.mark.nightly
@given(st.integers(3, 7), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_relabelling_categories_relabels_the_optimum(size, seed):
    """The error does not depend on the order of the categories."""
    rng = np.random.default_rng(seed)
    prior = rng.dirichlet(np.ones(size))
    one, other = (solve_frequency(p, math.e, tolerance=1e-5).value for p in (prior, rng.permutation(prior)))
    assert one == pytest.approx(other, rel=2e-5)


@pytest.mark.nightly
@given(st.integers(2, 7), st.floats(0.2, 3.0), st.integers(0, 2**32 - 1))
@settings(max_examples=15, deadline=None)
def test_more_budget_never_hurts(size, epsilon, seed):
    """What a smaller budget attains is no less than what a larger one is certified not to beat, and mostly more."""
    prior = np.random.default_rng(seed).dirichlet(np.ones(size))
    tight, loose = (solve_frequency(prior, math.exp(e)) for e in (epsilon, epsilon + 0.2))
    assert loose.bound < tight.value
    assert loose.value < tight.value


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 3.0])
@pytest.mark.parametrize("prior", [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0.4, 0.6]])
def test_categories_of_no_mass_are_estimated_too(prior, epsilon):
    """The error counts every category: no floor is needed, not even for a point mass."""
    found = solve_frequency(prior, math.exp(epsilon))
    assert found.status is Status.OPTIMAL
    assert np.linalg.matrix_rank(found.solution) == len(prior)


def test_warner_s_response_is_optimal_for_two_categories():
    """Whatever the prior: the error is E / (E - 1)^2 * 2 + 1 - |pi|^2."""
    for share in (0.5, 0.8, 1.0):
        prior = np.array([share, 1 - share])
        expected = 2 * math.e / (math.e - 1) ** 2 + 1 - prior @ prior
        assert solve_frequency(prior, math.e, tolerance=1e-6).value == pytest.approx(expected, rel=1e-6)


@pytest.mark.nightly
def test_the_number_of_columns_is_kept_and_costs_error_alone():
    """Fewer columns than the optimum would like: the gap is open and says so."""
    prior = np.full(24, 1 / 24)
    few = solve_frequency(prior, math.e, max_columns=130)
    assert few.solution.shape[1] <= 130
    assert few.status is Status.GAP_OPEN
    assert few.bound < subset_selection_error(24, math.e) < few.value < 1.1 * few.bound


@pytest.mark.parametrize("size", [12, 30, 42])
def test_a_coarse_tolerance_leaves_a_table(size):
    """Patterns that are light beside the heaviest may be all that some row has."""
    prior = 1 / np.arange(1, size + 1)
    found = solve_frequency(prior / prior.sum(), math.exp(4), tolerance=0.5)
    assert found.solution.min() > 0
    np.testing.assert_allclose(found.solution.sum(1), 1, atol=1e-13)


def test_progress_is_told_after_each_round():
    """Errors fall from round to round."""
    seen = []
    found = solve_frequency(np.full(16, 1 / 16), math.e, tolerance=1e-4, progress=seen.append)
    assert [one.step for one in seen] == list(range(1, found.steps + 1))
    assert len(seen) > 1
    assert (np.diff([one.value for one in seen]) < 0).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [({"tolerance": 0.0}, "strictly between 0 and 1"), ({"max_columns": 15}, "at least 16 for 3 categories")],
)
def test_options_that_make_no_sense_are_refused(options, message):
    """A tolerance of zero would never be reached; slack and starts need their columns."""
    with pytest.raises(InputError, match=message):
        solve_frequency([0.2, 0.3, 0.5], math.e, **options)
