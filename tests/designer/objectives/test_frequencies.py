"""Designed tables for categories: private by proof, with evidence that holds for the whole budget."""

# Tests know which kind of mechanism or result they made; the types say only that it may be one of several.
# pyright: reportOptionalSubscript=false

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from optldp.designer import CategoricalPrior, Frequencies, design
from optldp.mechanisms import InputError, Metric
from optldp.mechanisms.promise import Ratios
from optldp.mechanisms.spaces.places import Places
from optldp.solvers import FrequencyProgram, Status, certified_frequency_bound


@pytest.mark.nightly
@given(st.integers(2, 7), st.floats(0.05, 8.0), st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_designs_are_private_and_their_numbers_are_the_table_s(size, epsilon, seed):
    """Privacy by whole numbers; the error is recomputed from the rounded table, the bound for the whole budget."""
    prior = np.random.default_rng(seed).dirichlet(np.ones(size))
    made = design(CategoricalPrior(range(size), prior), epsilon)
    assert made.mechanism.failures() == ()
    assert made.mechanism.max_log_ratio == pytest.approx(epsilon, rel=1e-6)
    program = FrequencyProgram(prior, math.exp(epsilon))
    assert made.value == pytest.approx(program.error(made.mechanism.probabilities), rel=1e-12)
    bound = certified_frequency_bound(prior, math.exp(epsilon), made.certificate.multipliers["certificate"])
    assert made.bound == pytest.approx(bound, rel=1e-12)
    assert made.bound <= made.value
    assert made.evidence.sampling == pytest.approx(1 - prior @ prior)
    assert made.bound >= made.evidence.sampling * (1 - 1e-12)


def test_the_table_carries_labels_and_evidence():
    """Rows are the categories in their order, and the provenance names the certificate."""
    made = design(CategoricalPrior(["x", "y", "z"], [6, 3, 1]), 1.0)
    assert made.mechanism.categories.labels == ("x", "y", "z")
    assert made.mechanism.provenance.method == "optimal"
    assert made.mechanism.provenance.certificate["bound"] == made.bound
    assert made.status is Status.OPTIMAL
    assert made.gap == (made.value - made.bound) / made.value <= 1e-3


def test_a_prior_s_scale_does_not_matter():
    """Counts are as good as shares."""
    one, other = (design(CategoricalPrior(range(3), p), 1.0) for p in ([60, 30, 10], [0.6, 0.3, 0.1]))
    assert one.value == pytest.approx(other.value, rel=1e-9)


@pytest.mark.parametrize(
    ("prior", "epsilon", "message"),
    [
        ([0.5, 0.5], 1.0, "one weight for each of 3"),
        ([0.5, 0.5, -0.1], 1.0, "non-negative"),
        ([0, 0, 0], 1.0, "positive sum"),
        ([np.nan, 1, 1], 1.0, "finite"),
        ([1, 1, 1], 0.0, "epsilon must be positive"),
    ],
)
def test_what_cannot_be_designed_for_is_refused(prior, epsilon, message):
    """Priors that are none, and budgets that are none."""
    with pytest.raises(InputError, match=message):
        design(CategoricalPrior(range(3), prior), epsilon)


def test_a_promise_of_pairs_that_is_pure_has_the_same_optimum():
    """Two programs, and two bounds, of the same privacy; what is promised is proved by whole numbers."""
    prior = CategoricalPrior(range(5), [0.4, 0.3, 0.1, 0.1, 0.1])
    known, made = (design(prior, one) for one in (1.0, Ratios(1.0 - np.eye(5))))
    assert max(known.bound, made.bound) <= min(known.value, made.value)
    assert made.mechanism.failures() == made.certificate.check().failures == ()
    assert (made.status, made.solver, made.evidence.sampling) == (Status.OPTIMAL, "columns", known.evidence.sampling)


@pytest.mark.slow
def test_places_have_a_table_for_their_shares():
    """Under privacy by distance reports are places, too, and the error is what randomised response cannot reach."""
    near = CategoricalPrior(Places([[0, 0], [0, 1], [1, 0], [1, 1]]), [4, 2, 1, 1])
    made = design(near, Metric(1.0), objective=Frequencies())
    assert made.mechanism.failures() == made.certificate.check().failures == ()
    assert made.bound <= made.value <= made.bound * (1 + 1e-3)
    assert made.value < design(near, 1.0, objective=Frequencies()).value
