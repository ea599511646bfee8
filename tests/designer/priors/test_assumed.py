"""What intervals assume and what designs guarantee over are the same sets of priors."""

import numpy as np
import pytest
from optldp.designer import FactorAmbiguity, Guarantee, Prior, RelativeAmbiguity, TotalVariationAmbiguity, design
from optldp.designer.priors import AssumedAmbiguity, ambiguity_of, assumption_of
from optldp.estimators.assumptions import Factor, Monotone, Shape, Unimodal, exempt_needed
from optldp.estimators.assumptions.base import Assumed
from optldp.mechanisms import InputError
from optldp.solvers.modulus.largest import largest

PRIOR = Prior.on_knots(np.linspace(0.0, 6.0, 7), [2, 5, 7, 6, 4, 2, 1], source="public")
ALL = [
    Factor(PRIOR, 1.5),
    Factor(PRIOR, 1.0, exempt=0.05),
    Factor(PRIOR, 1.5, exempt=0.05),
    Shape(PRIOR, 1.0, exempt=0.05),
    Shape(PRIOR, 1.05),
    Shape(PRIOR, 1.05, exempt=0.02),
    Unimodal(2.0),
    Unimodal(2.0, exempt=0.1),
    Monotone(3.0),
]


@pytest.mark.parametrize("assume", ALL, ids=lambda one: one.label)
def test_the_largest_expectation_is_that_of_what_intervals_assume(assume):
    held = Assumed.of(assume, PRIOR.knots).polyhedron
    for values in np.random.default_rng(1).uniform(0.0, 4.0, (3, PRIOR.knots.size)):
        found, worst = ambiguity_of(assume).around(PRIOR).largest(values)
        assert found == pytest.approx(largest(values, held).bound, abs=1e-6)
        assert worst @ values == pytest.approx(found, abs=1e-6)
        assert exempt_needed(assume, PRIOR.knots, worst) <= assume.exempt + 1e-7


@pytest.mark.parametrize("assume", ALL, ids=lambda one: one.label)
def test_the_polytope_of_the_set_has_a_centre_that_meets_the_assumption(assume):
    polytope = ambiguity_of(assume).around(PRIOR).polytope()
    centre = polytope.prior(polytope.centre())
    assert centre.sum() == pytest.approx(1.0)
    assert exempt_needed(assume, PRIOR.knots, centre) <= assume.exempt + 1e-9


@pytest.mark.parametrize("assume", ALL, ids=lambda one: one.label)
def test_there_and_back_is_the_same_set(assume):
    back = assumption_of(ambiguity_of(assume), PRIOR)
    assert ambiguity_of(back) == ambiguity_of(assume) or back is assume


@pytest.mark.parametrize("ambiguity", [FactorAmbiguity(2.0), TotalVariationAmbiguity(0.1)])
def test_a_set_of_priors_comes_back_from_what_it_assumes(ambiguity):
    assert ambiguity_of(assumption_of(ambiguity, PRIOR)) == ambiguity


def test_a_set_without_an_assumption_is_refused():
    with pytest.raises(InputError, match="got another set of priors: weights within"):
        assumption_of(RelativeAmbiguity(0.1), PRIOR)


@pytest.mark.slow
def test_a_design_guarantees_what_is_assumed_with_a_certificate():
    made = design(PRIOR, 1.0, objective=Guarantee(AssumedAmbiguity(Shape(PRIOR, 1.05, exempt=0.02))))
    assert made.gap < 1e-5
    alone, anything = (
        design(PRIOR, 1.0, objective=Guarantee(AssumedAmbiguity(one))).value
        for one in (Shape(PRIOR, 1.05), Shape(PRIOR, 1.05, exempt=0.2))
    )
    assert alone < made.value < anything


def test_a_class_that_fixes_weights_is_refused():
    with pytest.raises(InputError, match="must leave all weights free"):
        AssumedAmbiguity(Factor(PRIOR, 1.0)).around(PRIOR).polytope()


def test_a_class_of_all_priors_is_said_to_be_minimax():
    every = AssumedAmbiguity(Monotone(6.0))
    assert every.contains_every(PRIOR)
    assert not AssumedAmbiguity(Monotone(5.0)).contains_every(PRIOR)
